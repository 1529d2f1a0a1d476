"""Equations of bodies and gradients, as pages of operators show them."""

from __future__ import annotations

from pathlib import Path

import pytest

from codegen import library
from codegen.docs.typeset import LONGEST, equations, gradients
from codegen.model.operator import Operator

ENTRIES = """
- func: solarize(Tensor self, *, Scalar threshold=0.5) -> Tensor
  doc: Inverts the elements above `threshold`.
  elementwise: 1 - self if self > threshold else self
  dtypes: floating
  reference: none
  derivatives: auto
- func: half_square(Tensor self) -> Tensor
  doc: Half the square.
  elementwise: {floating: self * self / 2, integer: self * self // 2}
  reference: none
- func: long_sum(Tensor self) -> Tensor
  doc: A sum that is too long to be typeset.
  elementwise: LONG
  reference: none
- func: energy(Tensor self, int[1]? dim=None, bool keepdim=False) -> Tensor
  doc: Mean of squares.
  reduce: {map: self * self + 1, combine: acc + self, identity: 0, finalize: acc / count}
  dtypes: floating
  reference: none
- func: blurred(Tensor self) -> Tensor
  doc: Means of three neighbours.
  compute:
    'value[..., x]': sum(self[..., x + i - 1] for i in range(3)) / 3
    outside: {self: nearest}
    size: {x: 'self.shape[-1]'}
  dtypes: floating
  reference: none
""".replace("LONG", " + ".join(["log1p(sin(self))"] * 50))
EQUATIONS = {
    "solarize": [r"y = \begin{cases} 1 - x & \text{if } x > \mathit{threshold} \\ x & \text{otherwise} \end{cases}"],
    "half_square": [
        r"y = \frac{x \cdot x}{2}\quad \text{for floating}",
        r"y = \left\lfloor\frac{x \cdot x}{2}\right\rfloor\quad \text{for integer}",
    ],
    "long_sum": [],
    "energy": [r"y = \frac{\sum_k (x_k \cdot x_k + 1)}{n}"],
    "blurred": [r"\mathit{value}_{x} = \frac{\sum_{0 \le i < 3} \mathit{input}_{\ldots, x + i - 1}}{3}"],
}


@pytest.fixture(scope="module")
def operators(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Operator]:
    path: Path = tmp_path_factory.mktemp("entries") / "ops.yaml"
    path.write_text(ENTRIES, "utf-8")
    return {each.name: each for each in library.read(path, sound=True)}


@pytest.mark.parametrize("name", EQUATIONS)
def test_equations(operators: dict[str, Operator], name: str) -> None:
    assert equations(operators[name]) == EQUATIONS[name]


def test_gradients(operators: dict[str, Operator]) -> None:
    (formula,) = gradients(operators["solarize"])
    assert formula.argument == "self"
    assert formula.latex == (
        r"\frac{\partial L}{\partial x} = g \cdot \left(\begin{cases} -1 & \text{if } x > \mathit{threshold} \\ "
        r"1 & \text{otherwise} \end{cases}\right)"
    )
    assert len(formula.latex) < LONGEST
