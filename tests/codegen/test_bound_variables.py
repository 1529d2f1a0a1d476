"""Variables of ranges belong to their reduction: under other names an expression is the same, and so are its gradients.

Operators and those of their gradients are computed by loops (codegen/check/indices.py) and compared with NumPy.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from numeric_gradients import computed, differences, gradient, read, steps

from codegen.errors import CodegenError
from codegen.expr import names
from codegen.model.compute import Compute
from codegen.model.operator import Operator

WORDS = ("i", "j", "k")
# Each reduction has a word of its own, `A` within `B`, and `C` apart from both.
CASES = {
    "sqrt(sum(x[n, {C}] ** 2 for {C} in range(x.size(1))))": lambda x: np.sqrt((x**2).sum(1)),
    "sum(x[n, {A}] for {A} in range(x.size(1))) * sum(x[n, {C} + 1] for {C} in range(x.size(1) - 1))": (
        lambda x: x.sum(1) * x[:, 1:].sum(1)
    ),
    "sum(x[n, {B}] * exp(-sum(x[n, {A}] ** 2 for {A} in range(x.size(1)))) for {B} in range(x.size(1)))": (
        lambda x: x.sum(1) * np.exp(-(x**2).sum(1))
    ),
    "sum(sqrt(sum((x[n, {A}] - x[{B}, {A}]) ** 2 for {A} in range(x.size(1))) + 1) for {B} in range(x.size(0)))": (
        lambda x: np.sqrt(((x[:, None] - x) ** 2).sum(2) + 1).sum(1)
    ),
    "sum(x[n, {C}] / top for {C} in range(x.size(1)))": lambda x: (x / x.max(1, keepdims=True)).sum(1),
}


def entry(folder: Path, value: str, word: str = "j") -> dict[str, Operator]:
    lets = f"let: {{top: 'max(x[n, {word}] for {word} in range(x.size(1)))'}}\n" if "top" in value else ""
    return read(folder, "Tensor x", f"{lets}size: {{n: x.size(0)}}\nvalue[n]: {value}\noutside: error")


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    case=st.sampled_from(sorted(CASES)),
    words=st.permutations(WORDS),
    apart=st.sampled_from(WORDS),
    seed=st.integers(0, 1000),
)
def test_names_of_variables_mean_nothing(tmp_path: Path, case: str, words: list[str], apart: str, seed: int) -> None:
    generator = np.random.default_rng(seed)
    x, grad = generator.uniform(0.5, 2, (3, 4)), generator.standard_normal(3)
    operators = entry(tmp_path, case.format(A=words[0], B=words[1], C=apart), words[2])
    np.testing.assert_allclose(computed(operators, {"x": x}), CASES[case](x), rtol=1e-12)
    expected = differences(operators, "x", {"x": x}, grad)
    np.testing.assert_allclose(gradient(operators, "x", {"x": x}, grad), expected, rtol=1e-6, atol=1e-7)


def test_what_differs_by_names_alone_is_one_reduction(tmp_path: Path) -> None:
    both = "sum(x[n, i] for i in range(x.size(1))) * sum(x[n, j] for j in range(x.size(1)))"
    first = steps(entry(tmp_path, both))[0].operator.body
    second = steps(entry(tmp_path, both.replace("[n, j]", "[n, i]").replace("for j", "for i")))[0].operator.body
    assert isinstance(first, Compute)
    assert isinstance(second, Compute)
    assert len(first.folds) == 1
    assert first.atoms == second.atoms


def test_terms_of_the_same_elements_are_one_sum(tmp_path: Path) -> None:
    lets = "let: {mean: 'sum(x[n, k] for k in range(3)) / 3', total: 'sum((x[n, k] - mean) ** 2 for k in range(3))'}"
    operators = read(tmp_path, "Tensor x", f"{lets}\nvalue[n]: (x[n, 1] - mean) / sqrt(total)")
    body = operators["one_backward_x"].body
    assert isinstance(body, Compute)
    grads = {name for name, each in body.reads.items() if each.tensor == "grad_output"}
    assert len(grads) == 1
    assert sum(not grads.isdisjoint(names(each.value)) for each in body.folds.values()) <= 2


def test_gradients_that_do_not_follow_are_refused(tmp_path: Path) -> None:
    with pytest.raises(CodegenError, match="the derivative of a product of reductions does not follow"):
        entry(tmp_path, "prod(sum(x[n, i] * j for i in range(x.size(1))) for j in range(2))")


def test_distances_within_sums_are_checked_at_once(tmp_path: Path) -> None:
    operators = read(
        tmp_path,
        "Tensor p",
        "size: {k: 3}\nvalue[i, k]: >-\n"
        "  sum(p[i, k] * sqrt(sum((p[i, d] - p[j, d]) ** 2 for d in range(3))) for j in range(p.size(0)))",
    )
    assert len(operators) == 4


@pytest.mark.parametrize(
    ("each", "count", "text"),
    [
        ("exp(a{})", 300, "the expressions are nested too deep"),
        ("a{0} * a{0}", 60, "parts with the names of 'let'"),
        ("a{0} * a{0}", 9, "the automatic gradients are nested too deep"),
    ],
)
def test_what_is_too_large_is_said_so(tmp_path: Path, each: str, count: int, text: str) -> None:
    lets = "".join(f"  a{number + 1}: {each.format(number)}\n" for number in range(count))
    with pytest.raises(CodegenError, match=text):
        read(tmp_path, "Tensor x", f"let:\n  a0: x[i] + 1\n{lets}value[i]: a{count}")


def test_variables_in_brackets_may_be_called_as_those_of_the_result(tmp_path: Path) -> None:
    """Causal softmax: `weight[i, j]` has variables of its own, whatever those of the result are called."""
    lets = "let:\n  top: max(x[n, j] for j in range(n + 1))\n  weight[n, k]: exp(x[n, k] - top)\n"
    value = "value[n, k]: weight[k, n] / sum(weight[n, j] for j in range(n + 1))\noutside: error"
    operators = read(tmp_path, "Tensor x", f"{lets}size: {{n: x.size(0), k: x.size(0)}}\n{value}")
    x = np.random.default_rng(3).uniform(-1, 1, (4, 4))
    weight = np.exp(x - np.array([row[: n + 1].max() for n, row in enumerate(x)])[:, None])
    expected = weight.T / np.tril(weight).sum(1, keepdims=True)
    np.testing.assert_allclose(computed(operators, {"x": x}), expected, rtol=1e-12)
