"""Formulas of derivatives as the Python of graph nodes."""

from __future__ import annotations

from pathlib import Path

from codegen import library
from codegen.emit import formulas


def test_functions_are_told_from_arguments(tmp_path: Path) -> None:
    """A sum of the gradients by two results is called `total`, and so is an argument."""
    path = tmp_path / "one.yaml"
    path.write_text(
        "- func: one(Tensor total) -> (Tensor a, Tensor b)\n  doc: D.\n  dtypes: floating\n  derivatives: auto\n"
        "  compute:\n    a[x]: sqrt(total[x])\n    b[x]: total[x]\n"
    )
    operator = next(each for each in library.read(path) if each.name == "one")
    text = formulas.read(operator, operator.derivatives["total"], {}).text
    assert text == (
        "_globals['total'](one_backward_total(grad_a, total) if grad_a is not None else None, "
        "grad_b if grad_b is not None else None)"
    )
