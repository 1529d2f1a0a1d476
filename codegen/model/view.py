"""The body `view`: other sizes and strides for the same memory."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ..dtypes import EVERY_DTYPE, DType
from ..expr.geometry import Geometry
from ..expr.typed import Arg, Op
from .body import Body
from .family import Family
from .parts import Requirement

if TYPE_CHECKING:
    from .operator import Declaration, Derivative, Operator

_SHAPES = {
    "swap": "the input's shape with dimensions {1} and {2} exchanged",
    "remove": "the input's shape without dimension {1}",
    "replace": "the input's shape with another size of dimension {1}",
    "insert": "the input's shape with a dimension of size 1 at {1}",
    "gather": "the input's sizes in the order {1}",
    "infer_size": "shape {0}, in which one size may be -1 and is computed",
    "expand_shape": "shape {1}, in which -1 keeps the input's size",
    "squeeze_shape": "the input's shape without dimensions of size 1",
}
"""The shape in words, by the function of geometry that gives it; braces hold the arguments of that function."""


@dataclass(frozen=True)
class View(Body):
    """A body that gives another shape, strides and offset to the memory of its first argument."""

    family = Family.VIEW

    shape: Geometry
    strides: Geometry
    offset: Geometry | None
    let: tuple[tuple[str, Geometry], ...]
    require: tuple[Requirement[Geometry, Geometry], ...]
    wrap: Mapping[str, Geometry]
    """Range of each dimension argument (`ndim` unless the entry says otherwise)."""
    copies: bool = field()
    line: int = field()

    def dtypes(
        self,
        declaration: Declaration,
        derivatives: Mapping[str, Derivative],
        complex_derivatives: Mapping[str, Derivative],
    ) -> frozenset[DType]:
        """A view reads no element."""
        return EVERY_DTYPE

    def shape_text(self, operator: Operator) -> str | None:
        tree: Geometry | None = self.shape
        if isinstance(tree, Arg):
            tree = dict(self.let).get(tree.name)
        if not isinstance(tree, Op) or tree.function not in _SHAPES:
            return ""
        names = [f"`{each.name.rstrip('_')}`" if isinstance(each, Arg) else "" for each in tree.operands]
        return _SHAPES[tree.function].format(*names)
