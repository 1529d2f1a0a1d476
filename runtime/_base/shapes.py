"""Arithmetic of shapes in Python, for factories, composites and users."""

from __future__ import annotations

import math
import operator
from collections.abc import Sequence
from typing import Any

from .dtypes import EXPORTS
from .finfo import number_of_computation
from .handles import is_integer, type_name
from .types import Size
from .warn import warn

_CHANNELS_LAST = 2
"""ow_order"""

__all__ = [
    "arange_length",
    "broadcast_shapes",
    "checked_shape",
    "expands_to",
    "inclusive_range",
    "moved_dims",
    "permuted_strides",
    "unflattened_sizes",
    "wrap_dim",
]


def broadcast_shapes(*shapes: int | Sequence[int]) -> Size:
    """The shape that tensors of the given shapes broadcast to; an int stands for a shape of one dimension.

    Raises RuntimeError when two sizes differ and neither is one, ValueError for negative ones.
    """
    given = [(shape,) if isinstance(shape, int) else tuple(shape) for shape in shapes]
    result = [1] * max(map(len, given), default=0)
    for index, shape in enumerate(given):
        refusal = (
            f"Attempting to broadcast a dimension of length {{b}} at {{place}}! Mismatching argument at index {index} "
            f"had {shape}; but expected shape should be broadcastable to {result}"
        )
        result = common_shape(result, shape, refusal)
        if any(size < 0 for size in result):
            raise ValueError("Attempting to broadcast a dimension with negative length!")
    return Size(result)


def expands_to(shape: Sequence[int], wider: Sequence[int]) -> bool:
    """Return whether a tensor of the one shape expands to the other."""
    extra = len(wider) - len(shape)
    return extra >= 0 and all(n in (1, m) for n, m in zip(shape, wider[extra:], strict=True))


def common_shape(left: Sequence[int], right: Sequence[int], refusal: str) -> list[int]:
    """The shape that two broadcast to.

    `refusal` is the message where sizes `a` and `b` do not fit, the last such: at `dim`, or at `index` from the end.
    """
    ndim = max(len(left), len(right))
    result = [1] * (ndim - len(left)) + list(left)
    for index in range(-1, -1 - len(right), -1):
        a, b = result[index], right[index]
        if a != b and 1 not in (a, b):
            raise RuntimeError(refusal.format(a=a, b=b, dim=ndim + index, place=index))
        result[index] = b if a == 1 else a
    return result


def wrap_dim(dim: Any, ndim: int) -> int:
    """A dimension counted from the front; a tensor without dimensions counts as having one."""
    if not is_integer(dim):
        raise TypeError(f"argument 'dim' must be int, not {type_name(dim)}")
    extent = max(ndim, 1)
    index = operator.index(dim)
    if not -extent <= index < extent:
        raise IndexError(
            f"Dimension out of range (expected to be in range of [{-extent}, {extent - 1}], but got {index})"
        )
    return index % extent


def distinct_dims(dims: Sequence[Any], ndim: int) -> list[int]:
    """Dimensions counted from the front, of which none may be named twice."""
    indices = [wrap_dim(dim, ndim) for dim in dims]
    for index in indices:
        if indices.count(index) > 1:
            raise RuntimeError(f"dim {index} appears multiple times in the list of dims")
    return indices


def packed_strides(sizes: Sequence[int], order: Sequence[int]) -> list[int]:
    """Strides without gaps of dimensions that lie in memory in this order, the slowest one first."""
    strides, step = [1] * len(sizes), 1
    for dim in reversed(order):
        strides[dim] = step
        step *= max(sizes[dim], 1)
    return strides


def permuted_strides(sizes: Sequence[int], order: Sequence[int]) -> list[int]:
    """The same for an order that a user gives, which must name every dimension once."""
    if len(order) != len(sizes):
        raise RuntimeError(
            "Number of dimensions in size does not match the length of the physical_layout; i.e. len(size) = "
            f"{len(sizes)} is not equal to len(physical_layout) = {len(order)}"
        )
    if len(set(order)) < len(order):
        raise RuntimeError("Duplicate dim not allowed")
    for dim in reversed(order):
        if not 0 <= dim < len(sizes):
            raise RuntimeError(
                f"Dimension out of range (expected to be between 0 and {len(sizes) - 1}, but got {dim} at index "
                f"{order.index(dim)}).  NB: negative dims not currently supported; file an issue if you want it."
            )
    return packed_strides(sizes, order)


def strides_in_order(sizes: Sequence[int], order: int) -> tuple[int, ...]:
    """Strides without gaps, by ow_order: in C's order, or with the channels, dimension 1, next to each other."""
    ndim = len(sizes)
    if order < _CHANNELS_LAST:
        return tuple(packed_strides(sizes, range(ndim)))
    if ndim != order + 2:
        ending = "_3d" if order > _CHANNELS_LAST else ""
        raise RuntimeError(f"required rank {order + 2} tensor to use channels_last{ending} format")
    return tuple(packed_strides(sizes, (0, *range(2, ndim), 1)))


def moved_dims(ndim: int, source: int | Sequence[int], destination: int | Sequence[int]) -> tuple[int, ...]:
    """The order of dimensions in which those of `source` are at the positions `destination`."""
    given = [list(dims) if isinstance(dims, (list, tuple)) else [dims] for dims in (source, destination)]
    if len(given[0]) != len(given[1]):
        raise RuntimeError(
            f"movedim: Invalid source or destination dims: source ({given[0]} dims) should contain the same number of "
            f"dims as destination ({given[1]} dims)"
        )
    sources, indices = ([wrap_dim(dim, ndim) for dim in dims] for dims in given)
    for name, wrapped, dims in (("source", sources, given[0]), ("destination", indices, given[1])):
        if len(set(wrapped)) != len(wrapped):
            raise RuntimeError(f"movedim: repeated dim in `{name}` ({dims})")
    if not ndim:
        return ()
    moved = dict(zip(indices, sources, strict=True))
    others = iter([dim for dim in range(ndim) if dim not in sources])
    return tuple(moved[index] if index in moved else next(others) for index in range(ndim))


def unflattened_sizes(sizes: Sequence[int], extent: int, dim: int) -> list[int]:
    """The sizes that a dimension of `extent` positions is to have, with one -1 replaced."""
    if not sizes:
        raise RuntimeError("unflatten: sizes must be non-empty")
    known = math.prod(size for size in sizes if size != -1)
    for index, size in enumerate(sizes):
        if size < -1:
            raise RuntimeError(
                "unflatten got an unexpected error:\n"
                f"invalid shape dimension {size} at index {index} of shape {list(sizes)}"
            )
    inferred = [*sizes].count(-1)
    if inferred > 1:
        raise RuntimeError("unflatten got an unexpected error:\nonly one dimension can be inferred")
    if inferred and not known and not extent:
        raise RuntimeError(
            f"unflatten got an unexpected error:\ncannot reshape tensor of 0 elements into shape {list(sizes)} because "
            "the unspecified dimension size -1 can be any value and is ambiguous"
        )
    if (known == 0 or extent % known) if inferred else known != extent:
        raise RuntimeError(
            f"unflatten: Provided sizes {list(sizes)} don't multiply up to the size of dim {dim} ({extent}) in the "
            "input tensor"
        )
    return [extent // known if size == -1 else size for size in sizes]


def checked_shape(indices: Any, shape: Any) -> Size:
    """Return the shape given to `unravel_index`, checked; one int is a shape of one dimension."""
    if indices.is_complex() or indices.is_floating_point() or indices.dtype.scalar_name == "Bool":
        raise TypeError(f"expected 'indices' to be integer dtype, but got {indices.dtype}")
    if not isinstance(shape, (int, Sequence)):
        raise TypeError(f"expected 'shape' to be int or sequence of ints, but got {type(shape)}")
    sizes = (shape,) if isinstance(shape, int) else tuple(shape)
    for size in sizes:
        if not isinstance(size, int):
            raise TypeError(f"expected 'shape' sequence to only contain ints, but got {type(size)}")
    if min(sizes, default=0) < 0:
        raise ValueError(f"'shape' cannot have negative values, but got {sizes}")
    return Size(sizes)


def check_range(start: float, end: float, step: float) -> None:
    """Refuses, as torch does, a step of zero, bounds that the step leads away from, and infinite ones."""
    if step == 0:
        raise RuntimeError("step must be nonzero")
    if not (math.isfinite(start) and math.isfinite(end)):
        raise RuntimeError(f"unsupported range: {start} -> {end}")
    if (end < start) if step > 0 else (end > start):
        raise RuntimeError("upper bound and lower bound inconsistent with step sign")


def arange_length(start: float, end: float, step: float, dtype: Any = None) -> int:
    """Return the number of values `start`, `start + step`, ... before `end`: exact for integers, else in float64.

    Of the dtype int64 the three are, as in torch, cut to integers first; of narrower ones the values are.
    """
    check_range(start, end, step)
    if dtype is not None and dtype.itemsize < 4:  # positions are otherwise computed in float64
        for each in (start, end, step):
            number_of_computation(each, dtype)
    if dtype is EXPORTS["int64"]:
        start, end, step = int(start), int(end), int(step)
        if not step:
            raise ValueError("step must be nonzero")
    if isinstance(start, int) and isinstance(end, int) and isinstance(step, int):
        return -((start - end) // step)
    length = math.ceil((end - start) / step)
    if length >= 2**63:
        raise RuntimeError(f"invalid size, possible overflow? A range of {length} values has more than 64 bits count")
    return length


def inclusive_range(start: float, end: float, step: float, dtype: Any) -> tuple[float, float, int]:
    """The first value, the step and the number of values of `range`, which ends with `end`. Of an integer dtype the
    three are, as in torch, cut to integers first."""
    warn(
        "opweave.range is deprecated and will be removed in a future release because its behavior is inconsistent with "
        "Python's range builtin. Instead, use opweave.arange, which produces values in [start, end)."
    )
    if any(isinstance(each, complex) for each in (start, end, step)):
        raise RuntimeError("value cannot be converted to type double without overflow")
    check_range(start, end, step)
    if dtype is not None and not dtype.is_floating_point:
        start, end, step = int(start), int(end), int(step)
        check_range(start, end, step)
    return start, step, math.floor((end - start) / step) + 1
