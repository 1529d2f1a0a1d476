"""Factories whose length follows from their values: `range`, and the indices of triangles."""

from __future__ import annotations

import math
import warnings
from typing import TYPE_CHECKING, Any

from .._base.devices import CPU, device, on_device
from .._base.dtypes import EXPORTS, dtype
from .._base.handles import integer
from .._base.shapes import check_range
from .._base.types import check_placement, layout
from .._dispatch.ops import ops
from .._dispatch.store import store_sequence
from .._ops.joining import triangle_indices

if TYPE_CHECKING:
    from .tensor import Tensor

_INT64 = EXPORTS["int64"]


def inclusive_range(
    start: float = 0,
    end: float | None = None,
    step: float = 1,
    *,
    out: Tensor | None = None,
    dtype: dtype | None = None,
    layout: layout | None = None,
    device: device | str | None = None,
    requires_grad: bool = False,
) -> Tensor:
    """Return the numbers from `start` to `end`, which is included, in steps of `step`: `opweave.range`, deprecated.

    The shape is (n,), the dtype `dtype` or float32. Raises RuntimeError if `step` is zero or leads away from `end`.
    """
    warnings.warn(
        "opweave.range is deprecated and will be removed in a future release because its behavior is inconsistent with "
        "Python's range builtin. Instead, use opweave.arange, which produces values in [start, end).",
        UserWarning,
        stacklevel=2,
    )
    where = check_placement("range", layout=layout, device=device) or CPU
    if end is None:
        start, end = 0, start
    check_range(start, end, step)
    count = math.floor((end - start) / step) + 1
    steps: Any = ops.arange(count, dtype=float, device=where)
    values = (steps * step + start).to(dtype or EXPORTS["float"])
    result: Tensor = values if out is None else store_sequence(values, out)
    return result.requires_grad_() if requires_grad else result


def tril_indices(
    row: int,
    col: int,
    offset: int = 0,
    *,
    dtype: dtype = _INT64,
    layout: layout | None = None,
    device: device | str | None = None,
) -> Tensor:
    """Return the rows and columns of the elements of a matrix on the diagonal `offset` and below it.

    The shape is (2, n), the dtype int64 unless `dtype` is given. Raises RuntimeError for negative sizes, TypeError
    for sizes that are no integers.
    """
    return _triangle("tril_indices", row, col, offset, True, dtype, layout, device)


def triu_indices(
    row: int,
    col: int,
    offset: int = 0,
    *,
    dtype: dtype = _INT64,
    layout: layout | None = None,
    device: device | str | None = None,
) -> Tensor:
    """Return the rows and columns of the elements of a matrix on the diagonal `offset` and above it.

    The shape is (2, n), the dtype int64 unless `dtype` is given. Raises RuntimeError for negative sizes, TypeError
    for sizes that are no integers.
    """
    return _triangle("triu_indices", row, col, offset, False, dtype, layout, device)


def _triangle(
    function: str, rows: int, columns: int, offset: int, lower: bool, dtype: dtype, layout: Any, device: Any
) -> Tensor:
    where = check_placement(function, layout=layout, device=device)
    for position, (name, count) in enumerate((("row", rows), ("col", columns)), 1):
        if integer(function, name, count, position) < 0:
            raise RuntimeError(f"{name} must be non-negative, got{count}")
    indices: Tensor = on_device(where, _stacked, rows, columns, offset, lower)
    return indices.to(dtype)


def _stacked(rows: int, columns: int, offset: int, lower: bool) -> Any:
    return ops.stack(triangle_indices(rows, columns, offset, lower))
