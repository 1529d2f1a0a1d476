"""The places of elements in nests of expressions over indices, of which kernels are made."""

from __future__ import annotations

from pathlib import Path

from codegen import library
from codegen.dtypes import FLOAT32, INT64
from codegen.expr import Literal, Name
from codegen.model.compute import Border
from codegen.nest.by_name import ByName
from codegen.nest.of import of

BLUR = """\
- func: blur(Tensor self, Tensor weight, Tensor centres) -> Tensor
  doc: D.
  compute:
    value[..., y]: sum(self[..., y + 2 * i - 1] * weight[i] for i in range(3)) + self[..., centres[y]]
    outside: {self: 0}
  dtypes: floating
  derivatives: none
"""


def test_places(tmp_path: Path) -> None:
    (tmp_path / "ops.yaml").write_text(BLUR)
    (operator,) = library.read(tmp_path / "ops.yaml")
    nest = ByName(of(operator, FLOAT32))
    places = {(each.tensor, str(each.trees[-1])): each for each in nest.places}
    shifted = places["self", "y + 2 * i - 1"]
    assert shifted.indices[0].affine is not None
    assert dict(shifted.indices[0].affine.factors) == {"y": Literal(1), "i": Literal(2)}
    assert (shifted.sure, shifted.border, shifted.dtype) == ((False,), 0.0, FLOAT32)
    assert places["centres", "y"].border is Border.ERROR
    assert places["centres", "y"].dtype == INT64
    (gathered,) = (each for each in nest.places if each.computed)
    assert nest.depends(gathered.trees[0], "y")
    (reduction,) = nest.reductions.values()
    assert [each.name for each in reduction.ranges] == ["i"]
    assert {nest.place(Name(name)) for name in reduction.tested} == {shifted}
    assert len(nest.stores) == 1
