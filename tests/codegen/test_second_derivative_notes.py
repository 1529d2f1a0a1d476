"""Where an automatic gradient has no derivative of its own, a note says so when the file is read."""

from __future__ import annotations

from pathlib import Path

import pytest

from codegen import library
from codegen.errors import Diagnostics
from codegen.model import adjoint
from codegen.model.paths import NoAdjointError

ENTRY = """\
- func: one(Tensor self) -> Tensor
  doc: D.
  compute:
    value[i]: sum(exp(self[i, k]) for k in range(self.size(1)))
  dtypes: floating
  derivatives: auto
"""


def notes(path: Path) -> list[str]:
    found = Diagnostics()
    library.read(path, path.name, hints=found)
    return [f"{each.line}:{each.column} {each.severity} {each.message}" for each in found]


def test_rows_of_too_many_reductions(tmp_path: Path) -> None:
    text = (Path(__file__).parents[2] / "examples" / "rows.yaml").read_text()
    path = tmp_path / "rows.yaml"
    path.write_text(text)
    assert notes(path) == []  # operators of tensors give them
    path.write_text(text.replace("/ total if mask", "/ cbrt(total) if mask"))
    (note,) = notes(path)
    assert note.startswith("28:16 note there are no second derivatives: the gradient would take more than 12 tensors")
    library.read(path)  # it is no mistake of a file that must have no hints


def test_expressions_over_indices(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "one.yaml"
    path.write_text(ENTRY)
    assert notes(path) == []
    added = adjoint.Adjoint.add

    def refusing(self: adjoint.Adjoint, path: adjoint.Path) -> None:
        if self.grad != "grad_output":
            raise NoAdjointError("a reason")
        added(self, path)

    monkeypatch.setattr(adjoint.Adjoint, "add", refusing)
    text = "6:16 note the gradient by 'self' has no derivative by '{}': a reason"
    assert notes(path) == [text.format("grad_output"), text.format("self")]
