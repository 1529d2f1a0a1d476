"""Gradients of expressions over indices are tried when a file is checked: no wrong one is woven."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from types import MappingProxyType

import pytest

pytest.importorskip("opweave")

from opweave._weave import index_gradients
from opweave._weave.weave import WeaveError, read
from opweave.codegen.errors import Diagnostics
from opweave.codegen.model.operator import Operator

ENTRIES = {
    "distances": (
        "Tensor self, Tensor other",
        "value[i, j]: sqrt(sum((self[i, k] - other[j, k]) ** 2 for k in range(2)))",
    ),
    "sums of rows, by stages": (
        "Tensor self",
        "let: {total: 'sum(exp(self[i, k]) for k in range(self.size(1)))'}\nvalue[i, j]: exp(self[i, j]) / total",
    ),
    "recurrence": ("Tensor self", "value[..., t]: self[..., t] * value[..., t - 1] + self[..., t]\noutside: 0"),
    "a spread, which has no derivative where it is zero": (
        "Tensor self, int width",
        """let:
  mean: sum(self[t + i] for i in range(width)) / width
  deviation: sqrt(sum((self[t + i] - mean) ** 2 for i in range(width)) / width)
size: {t: self.size(0) - width + 1}
value[t]: mean + 2 * deviation
outside: error""",
    ),
    "size of a table": (
        "Tensor self",
        """let: {way: {table: [0, 1, 0, -1]}, weight: {table: [4/9, 1/9, 4/9, 1/9]}}
size: {x: self.size(-1)}
value[q, x]: weight[q] * self[q, x - way[q]] ** 2
outside: wrap""",
    ),
    "places of data": ("Tensor self, Tensor index", "size: {'index[n]': 3}\nvalue[index[n]]: {sum: 'self[n] ** 2'}"),
}


def entry(inputs: str, body: str, derivatives: str = "auto") -> str:
    lines = "".join(f"    {line}\n" for line in body.splitlines())
    head = f"- func: one({inputs}) -> Tensor\n  doc: D.\n  compute:\n"
    return f"{head}{lines}  dtypes: floating\n  derivatives: {derivatives}\n"


def operators(folder: Path, text: str) -> tuple[Operator, ...]:
    (folder / "one.yaml").write_text(text)
    return read(folder / "one.yaml", "one")


@pytest.mark.parametrize("name", ENTRIES)
def test_formulas_that_follow(name: str, tmp_path: Path) -> None:
    """Each formula, twice as large, is found: those of the entry, and those of its gradients."""
    found = operators(tmp_path, entry(*ENTRIES[name]))
    tried = 0
    for place, operator in enumerate(found[:3]):
        for target, formula in operator.derivatives.items():
            if formula.formula is None or "new_zeros" in formula.text or operator.name.count("backward") > 1:
                continue
            wrong = replace(formula, text=f"2 * ({formula.text})")
            derivatives = MappingProxyType({**operator.derivatives, target: wrong})
            changed = (*found[:place], replace(operator, derivatives=derivatives), *found[place + 1 :])
            diagnostics = Diagnostics()
            index_gradients.check(changed, diagnostics)
            assert f"gradient of '{operator.name}' by '{target}' contradicts" in str(list(diagnostics)), target
            tried += 1
    assert tried


@pytest.mark.parametrize(("formula", "is_right"), [("grad * 3", True), ("grad * 2", False)])
def test_declared_formulas(formula: str, is_right: bool, tmp_path: Path) -> None:
    text = entry("Tensor self", "value[i]: 3 * self[i]", f"{{self: {formula}}}")
    if is_right:
        operators(tmp_path, text)
        return
    with pytest.raises(WeaveError, match=r"one.yaml:6:2\d: error: the gradient of 'one' by 'self'"):
        operators(tmp_path, text)
