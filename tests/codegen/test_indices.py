"""Expressions over indices, computed by loops: the reference of the tests of operators (codegen/check/indices.py)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from codegen import library
from codegen.check import indices
from codegen.dtypes import FLOAT64, INT32
from codegen.errors import CodegenError, render
from codegen.model.compute import Compute
from codegen.model.operator import Composite

SUMS = "sum(self[x + i] * (2 * i + 3) for i in range(-1, 2))"
SIGNAL = np.array([1.0, 10.0, 100.0])


def computed(folder: Path, schema: str, body: str, tensors: dict[str, Any], dtype: Any = FLOAT64, **others: Any) -> Any:
    """The only result of an operator."""
    path = folder / "one.yaml"
    lines = body.strip().replace("\n", "\n    ")
    head = f"- func: one({schema}) -> Tensor\n  doc: D.\n  compute:\n"
    path.write_text(f"{head}    {lines}\n  dtypes: [floating, int32]\n  derivatives: none\n")
    operator, *_ = library.read(path)
    body_of = operator.body.loops if isinstance(operator.body, Composite) else operator.body
    assert isinstance(body_of, Compute)
    (result,) = indices.results(operator, body_of, tensors, others, dtype)
    return result.tolist()


@pytest.mark.parametrize(
    ("rule", "expected"),
    [
        ("0", [53, 531, 310]),
        ("7", [60, 531, 345]),
        ("nearest", [54, 531, 810]),
        ("wrap", [153, 531, 315]),
        ("reflect", [63, 531, 360]),
        ("skip", [53, 531, 310]),
    ],
)
def test_rules_of_borders(tmp_path: Path, rule: str, expected: list[float]) -> None:
    body = f"size: {{x: self.size(0)}}\nvalue[x]: {SUMS}\noutside: {rule}"
    assert computed(tmp_path, "Tensor self", body, {"self": SIGNAL}) == expected


def test_what_a_kernel_would_refuse(tmp_path: Path) -> None:
    body = f"size: {{x: self.size(0)}}\nvalue[x]: {SUMS}\noutside: error"
    with pytest.raises(indices.RefusedError, match="index 0 of 'self' is outside"):
        computed(tmp_path, "Tensor self", body, {"self": SIGNAL})
    body = "size: {x: n - 1}\nrequire: {check: n != 3, message: 'n is {n}'}\nvalue[x]: self[x // n]\noutside: 0"
    for n, why in ((3, "requirement"), (0, "negative")):
        with pytest.raises(indices.RefusedError, match=why):
            computed(tmp_path, "Tensor self, int n", body, {"self": SIGNAL}, n=n)
    assert computed(tmp_path, "Tensor self, int n", body, {"self": SIGNAL}, n=5) == [1, 1, 1, 1]


def test_reductions_with_bounds_and_conditions(tmp_path: Path) -> None:
    numbers = {"self": np.array([[3, 1, 3], [2, 5, 5]], np.int32)}
    for reduction, expected in {
        "sum": [[3, 6], [2, 12]],
        "prod": [[3, 9], [2, 50]],
        "max": [[3, 3], [2, 5]],
        "min": [[3, 3], [2, 2]],
        "argmax": [[0, 0], [0, 1]],
        "argmin": [[0, 0], [0, 0]],
    }.items():
        generator = "self[..., x] for x in range(2 * n + 1) if (x != 1) | (self[..., 0] == 2)"
        body = f"size: {{n: 2}}\nvalue[..., n]: {reduction}({generator})\noutside: skip"
        assert computed(tmp_path, "Tensor self", body, numbers, INT32) == expected


def test_positions_of_several_ranges_and_dimensions_in_front(tmp_path: Path) -> None:
    values = np.array([[[1.0, 4.0, 4.0], [0.0, 4.0, 2.0]], [[0.0, 0.0, 0.0], [0.0, 0.0, 9.0]]])
    body = "value[...]: argmax(self[..., y, x] for y in range(self.size(-2)) for x in range(self.size(-1)))"
    assert computed(tmp_path, "Tensor self", body, {"self": values}) == [1, 5]
    body = "value[..., x]: sum(self[..., y, x] * other[..., y] for y in range(self.size(-2)))"
    tensors = {"self": values, "other": np.array([1.0, 10.0])}
    assert computed(tmp_path, "Tensor self, Tensor other", body, tensors) == [[1, 44, 24], [0, 0, 90]]


def test_indices_that_are_data_and_absent_tensors(tmp_path: Path) -> None:
    body = "value[t]: self[index[t]] + more[t]\noutside: {self: -1}"
    tensors = {"self": SIGNAL, "index": np.array([2, 5, -1, 0]), "more": None}
    assert computed(tmp_path, "Tensor self, Tensor index, Tensor? more", body, tensors) == [100, -1, -1, 1]


def test_negative_numbers_count_from_the_end(tmp_path: Path) -> None:
    rows = {"self": np.arange(12.0).reshape(3, 4)}
    ends = "value[y]: self[y, -1] - self[y, 0] + self[-2, 1]"
    assert computed(tmp_path, "Tensor self", ends, rows) == [8, 8, 8]
    assert computed(tmp_path, "Tensor self", "value[...]: self[..., -4]", rows) == [0, 4, 8]
    # What is computed does not, nor are small variables, which are numbers in the end.
    steps = "size: {k: 2}\nvalue[..., k]: self[..., k - 1]\noutside: 7"
    assert computed(tmp_path, "Tensor self", steps, rows) == [[7, 0], [7, 4], [7, 8]]
    with pytest.raises(indices.RefusedError):
        computed(tmp_path, "Tensor self", "value[...]: self[..., -5]", rows)


def test_positions_that_are_far(tmp_path: Path) -> None:
    halves = "size: {x: 5}\nvalue[x]: self[int(x * 0.5)]"
    assert computed(tmp_path, "Tensor self", halves, {"self": SIGNAL}) == [1, 1, 10, 10, 100]
    places = {"self": SIGNAL, "at": np.array([2**62])}
    for rule, value in (("7", "self[at[x]]"), ("skip", "sum(self[at[x] + i] for i in range(1))")):
        expected = [7] if rule == "7" else [0]
        body = f"value[x]: {value}\noutside: {{self: {rule}}}"
        assert computed(tmp_path, "Tensor self, Tensor at", body, places) == expected
    for rule, value in (("nearest", "self[at[x]]"), ("wrap", "self[at[x]]"), ("7", "self[at[x] * 4]")):
        with pytest.raises(indices.RefusedError):
            computed(tmp_path, "Tensor self, Tensor at", f"value[x]: {value}\noutside: {{self: {rule}}}", places)
    spans = "value[x]: sum(self[k] for k in range(at[x], at[x + 1]))\nsize: {x: at.size(0) - 1}\noutside: error"
    for ends in ([2**41, 2**41 + 2], [0, 2**41], [-(2**41), 0]):
        with pytest.raises(indices.RefusedError):
            computed(tmp_path, "Tensor self, Tensor at", spans, {"self": SIGNAL, "at": np.array(ends)})
    empty = {"self": SIGNAL, "at": np.array([2**41, 2**41])}
    assert computed(tmp_path, "Tensor self, Tensor at", spans, empty) == [0]


def test_names_with_variables_in_brackets(tmp_path: Path) -> None:
    # `j` is a variable of a range where the name is used, and of another one within it.
    body = """
let:
  scale: n * 2
  part[j, k]: scale * self[j] + sum(self[i] for i in range(k))
  twice[i]: part[i, 1] + part[i + 1, 2]
value[x]: sum(twice[j] * part[j, j] for j in range(2)) + part[x, 0]
"""
    a, b, c = 2 * SIGNAL
    first = (a + 1 + b + 11) * a + (b + 1 + c + 11) * (b + 1)
    expected = [first + each for each in (a, b, c)]
    assert computed(tmp_path, "Tensor self, int n", body + "outside: error", {"self": SIGNAL}, n=1) == expected


def test_tables(tmp_path: Path) -> None:
    body = "let: {step: {table: [0, -1, 1]}, w: [[1, 3], [2, -7]]}\n"
    body += "size: {x: self.size(0)}\nvalue[x]: sum(w[1, i] * self[x + step[i]] for i in range(2)) + step.size(0)\n"
    assert computed(tmp_path, "Tensor self", body + "outside: 0", {"self": SIGNAL}) == [
        2 + 3,
        20 - 7 + 3,
        200 - 70 + 3,
    ]
    body = "let: {t: [7, 8, 9]}\nvalue[x]: t[self[x] - 1] + t[-1]"
    assert computed(tmp_path, "Tensor self", body, {"self": np.array([1, 3])}, INT32) == [16, 18]
    with pytest.raises(indices.RefusedError, match="index 0 of 't' is outside"):
        computed(tmp_path, "Tensor self", body, {"self": np.array([0])}, INT32)
    body = "let: {t: [7, 8, 9]}\nvalue[x]: t[self[x]]\noutside: {t: wrap}"
    assert computed(tmp_path, "Tensor self", body, {"self": np.array([-1, 3])}, INT32) == [9, 7]


def test_places_that_are_data(tmp_path: Path) -> None:
    tensors = {"self": SIGNAL, "index": np.array([2, 0, 2])}
    for combination, expected in {
        "sum": [10, 0, 101],
        "prod": [10, 1, 100],
        "max": [10, -np.inf, 100],
        "min": [10, np.inf, 1],
        "sum, empty: 7": [10, 7, 101],
    }.items():
        name, _, empty = combination.partition(",")
        body = f"size: {{'index[n]': 3}}\nvalue[index[n]]: {{{name}: 'self[n]'{',' if empty else ''}{empty}}}"
        assert computed(tmp_path, "Tensor self, Tensor index", body, tensors) == expected
    for rule, expected in {"skip": [1, 0], "nearest": [1, 110], "wrap": [101, 10], "reflect": [101, 10]}.items():
        body = f"size: {{'3 * n': 2}}\nvalue[3 * n]: {{sum: 'self[n]'}}\noutside: {{value: {rule}}}"
        assert computed(tmp_path, "Tensor self", body, {"self": SIGNAL}) == expected
    body = "size: {'3 * n': 2}\nvalue[3 * n]: {sum: 'self[n]'}"
    with pytest.raises(CodegenError) as caught:
        computed(tmp_path, "Tensor self", body, {"self": SIGNAL})
    assert "the place '3 * n' cannot be proven to lie inside" in render(caught.value.diagnostics)
    body = "size: {'index[n]': 2}\nvalue[index[n]]: {sum: 'self[n]'}"
    with pytest.raises(indices.RefusedError, match="a place is outside"):
        computed(tmp_path, "Tensor self, Tensor index", body, tensors)


def test_names_take_variables_from_the_ranges_that_they_are_used_in(tmp_path: Path) -> None:
    body = """
let:
  weight: (i + 1) * self[x]
  both: weight + j
  own: sum(weight for i in range(2))
value[x]: sum(both for i in range(2) for j in range(1, 3)) + own + sum(weight for i in range(0, 1))
"""
    assert computed(tmp_path, "Tensor self", body, {"self": SIGNAL}) == [
        6 * each + 6 + 3 * each + each for each in SIGNAL
    ]


def test_floating_numbers_made_of_sizes_keep_their_fractions(tmp_path: Path) -> None:
    """What is the same in the whole call is computed once where it is an integer."""
    body = "value[i]: self[i] * (0.5 * self.size(0)) / sqrt(1.0 * self.size(0))\ndtype: float64"
    got = computed(tmp_path, "Tensor self", body, {"self": np.ones(3)})
    np.testing.assert_allclose(got, [1.5 / 3**0.5] * 3)
