"""Long formulas have their common parts assigned to names, in the order in which Python computes them."""

from __future__ import annotations

from pathlib import Path

import pytest

from codegen import library
from codegen.emit import backward, derivatives, kernels
from codegen.expr import parse, shared_parts


def test_short_formulas_are_printed_as_they_are() -> None:
    assert shared_parts.text(parse("exp(x) * (1 - exp(x))")) == "exp(x) * (1 - exp(x))"


def test_parts_have_names_where_they_are_computed_first() -> None:
    part = "sin(x * y) * (x + y) / (1 + cos(x * y) * cos(x * y)) + exp(log1p(x) * log1p(y))"
    text = shared_parts.text(parse(f"({part} if {part} > n * 2 else n * 2) * ({part} + n * 2) * ({part}) - x"), ["n"])
    assert text == (
        "where((_part2 := sin((_part0 := x * y)) * (x + y) / (1 + (_part1 := cos(_part0)) * _part1) + "
        "exp(log1p(x) * log1p(y))) > n * 2, _part2, n * 2) * (_part2 + n * 2) * _part2 - x"
    )
    values = {"x": 0.3, "y": 0.8, "n": 0.1}
    functions = {"where": lambda c, a, b: a if c else b, **vars(__import__("math"))}
    direct = eval(part, functions, values)
    assert eval(text, functions, values) == direct * (direct + 0.2) * direct - 0.3


def test_names_that_build_on_names_take_no_longer_than_their_number(tmp_path: Path) -> None:
    names = ["a0: self * self + 1", *(f"a{k}: sin(a{k - 1}) * a{k - 1} + a{k - 1}" for k in range(1, 24))]
    (tmp_path / "chain.yaml").write_text(f"""\
- func: chain(Tensor self) -> Tensor
  doc: Doc.
  elementwise: {{let: {{{", ".join(names)}}}, value: a23 if a23 > 0 else 0}}
  dtypes: floating
  derivatives: auto
""")
    operators = library.read(tmp_path / "chain.yaml")
    assert len(derivatives.emit_class(operators[0], operators)) < 6000
    for operator in (*operators, *backward.operators(operators)):
        text = kernels.emit(operator)
        assert len(text or "") in range(1, 60_000)


def test_what_is_saved_does_not_depend_on_gradients(tmp_path: Path) -> None:
    """Conditions about arguments decide what is saved; gradients are not there yet."""
    path = tmp_path / "saved.yaml"
    path.write_text(
        """
- func: f(Tensor self, Tensor? other, int k) -> (Tensor a, Tensor b)
  doc: Doc.
  composite: return (self if other is None else self + k), self * self
  reference: none
  derivatives:
    self: (grad_b * self if grad_b is not None else None) if other is None else grad_a
    other: none
"""
    )
    operators = library.read(path)
    text = derivatives.emit_class(operators[0], operators)
    saved = text.partition("def save")[2].partition("def apply")[0]
    assert "grad_b" not in saved
    assert "if other is None" in saved


@pytest.mark.parametrize("rule", ["nearest", "reflect", "0", "skip"])
def test_reductions_that_read_the_same_elements_share_their_loop(tmp_path: Path, rule: str) -> None:
    """So what both are made of is computed once in each step."""
    path = tmp_path / "filtered.yaml"
    path.write_text(f"""\
- func: filtered(Tensor self) -> Tensor
  doc: Doc.
  compute:
    let: {{'weight[i]': 'exp(-square(self[x + i] - self[x]))'}}
    size: {{x: self.size(-1)}}
    value[x]: sum(weight[i] * self[x + i] for i in range(-2, 3)) / sum(weight[i] for i in range(-2, 3))
    outside: {rule}
  dtypes: [float32]
  derivatives: none
""")
    (operator,) = library.read(path)
    assert (kernels.emit(operator) or "").count("for (int64_t v_i =") == 1
