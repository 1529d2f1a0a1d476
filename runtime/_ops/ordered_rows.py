"""Rows that entries put in an order: how they are laid out, and elements at positions."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

from .._base.dtypes import EXPORTS
from .._base.shapes import broadcast_shapes, distinct_dims
from .._dispatch.ops import ops
from .assertions import assert_explained

__all__ = ["row_count", "row_element", "row_layout", "row_lines", "row_order", "row_places", "row_result"]

_INT64, _FLOAT32, _FLOAT64 = (EXPORTS[name] for name in ("int64", "float32", "float64"))
_EXACT = 1 << 24
"""The number up to which float32 has all integers."""
_ROW, _PLACE = "results", "across"


class RowLayout:
    """The shape that tensors are broadcast to, and the dimensions along which rows lie. `ndim` is that of elements of
    results; one without dimensions is a row here."""

    __slots__ = ("dims", "ndim", "shape")

    def __init__(self, shape: tuple[int, ...], dims: tuple[int, ...], ndim: int) -> None:
        self.shape = shape
        self.dims = dims
        self.ndim = ndim

    @property
    def front(self) -> tuple[int, ...]:
        """The other dimensions."""
        return tuple(dim for dim in range(len(self.shape)) if dim not in self.dims)

    @property
    def count(self) -> int:
        """The number of elements of a row."""
        return prod(self.shape[dim] for dim in self.dims)


def row_layout(operator: str, dim: Any, tensors: Sequence[tuple[Any, str]]) -> RowLayout:
    """Return how rows lie along `dim` in tensors with what each of them has one element for.

    Raises RuntimeError where a tensor has several elements for a row, or for a place in all rows.
    """
    given_shape = broadcast_shapes(*(tensor.shape for tensor, _ in tensors))
    shape = given_shape or (1,)
    given = range(len(shape)) if dim is None else [dim] if isinstance(dim, int) else dim
    layout = RowLayout(
        tuple(shape), tuple(sorted(distinct_dims(given, len(shape))) or range(len(shape))), len(given_shape)
    )
    for number, (tensor, extent) in enumerate(tensors):
        for back, size in enumerate(reversed(tensor.shape), 1):
            along = len(shape) - back in layout.dims
            if size != 1 and ((extent == _ROW and along) or (extent == _PLACE and not along)):
                what = "row" if extent == _ROW else "place in a row"
                raise RuntimeError(
                    f"{operator}(): argument {number + 1} has one element for each {what}, so its size at dimension "
                    f"{tensor.ndim - back} must be 1, not {size}"
                )
    return layout


def row_lines(layout: RowLayout, tensors: Sequence[tuple[Any, str]], exact: bool) -> tuple[Any, ...]:
    """Return the tensors with rows along the last dimension, of which those with one element for each row have one
    there. With `exact` they become numbers of a dtype that has all positions as well."""
    return tuple(_line(layout, _wide(tensor, layout.count) if exact else tensor, extent) for tensor, extent in tensors)


def _line(layout: RowLayout, tensor: Any, extent: str) -> Any:
    sizes = [1] * (len(layout.shape) - tensor.ndim) + list(tensor.shape)
    lines = tensor.reshape(sizes)
    if extent != _ROW:
        lines = lines.expand(layout.shape)
    moved = lines.permute((*layout.front, *layout.dims))
    return moved.reshape((*moved.shape[: len(layout.front)], 1 if extent == _ROW else layout.count))


def _wide(tensor: Any, count: int) -> Any:
    if not (tensor.is_floating_point() or tensor.is_complex()):
        return tensor.to(_INT64)
    return tensor.to(_FLOAT64) if tensor.dtype == _FLOAT32 and count > _EXACT else tensor


def row_places(line: Any, dtype: Any) -> Any:
    """Return the positions along a row; without a dtype they are integers."""
    return ops.arange(line.shape[-1], dtype=dtype, device=line.device)


def row_count(layout: RowLayout, line: Any) -> Any:
    """Return the length of the rows, in the dtype of positions: that of the line, or float64 where it has integers."""
    return ops.full((), layout.count, dtype=line.dtype if line.is_floating_point() else _FLOAT64, device=line.device)


def row_order(key: Any, line: Any) -> Any:
    """Return the places of elements in the ascending order of the key, which is stable; NaN is greatest."""
    return ops.sort(key.detach().expand(line.shape), stable=True)[1]


def row_element(operator: str, values: Any, position: Any) -> Any:
    """Return the elements at a position of each row, or of each element.

    Raises IndexError where a position is no integer or outside of the row.
    """
    count = values.shape[-1]
    if isinstance(position, int):
        if not 0 <= position < count:
            raise IndexError(f"{operator}(): position {position} is outside of a row of {count} elements")
        return values.narrow(-1, position, 1)
    inside = (position >= 0) & (position < count)
    if position.is_floating_point():
        inside = inside & (position == position.floor())
    text = f"{operator}(): a position is none of a row of {count} elements"
    assert_explained(inside, "IndexError", text, lambda: _outside(operator, position.masked_select(~inside), count))
    index = position.to(_INT64)
    index = index if index.ndim else index.reshape(1)
    front = broadcast_shapes(values.shape[:-1], index.shape[:-1])
    return values.expand((*front, count)).gather(-1, index.expand((*front, index.shape[-1])))


def _outside(operator: str, wrong: Any, count: int) -> IndexError:
    return IndexError(f"{operator}(): position {wrong[0].item():g} is none of a row of {count} elements")


def row_result(layout: RowLayout, values: Any, extent: str, order: Any, keepdim: bool) -> Any:
    """Return values where they belong: those of elements in the places that `order` says, or as they are where it is
    None, those of rows without the dimensions of these unless `keepdim`."""
    front = tuple(layout.shape[dim] for dim in layout.front)
    if extent == _ROW:
        kept = tuple(1 if dim in layout.dims else size for dim, size in enumerate(layout.shape))
        return values.expand((*front, 1)).reshape(kept if keepdim and layout.ndim else front)
    lines = values.expand((*front, layout.count))
    if order is not None:
        lines = ops.zeros_like(lines).scatter(-1, order, lines)
    sizes = tuple(layout.shape[dim] for dim in layout.dims) if layout.ndim else ()
    if extent == _PLACE:
        return lines.sum(tuple(range(len(front)))).reshape(sizes) if front else lines.reshape(sizes)
    if not layout.ndim:
        return lines.reshape(())
    back = sorted(range(len(layout.shape)), key=(*layout.front, *layout.dims).__getitem__)
    return lines.reshape((*front, *sizes)).permute(back)
