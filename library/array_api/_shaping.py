"""Functions that order and choose elements, whose arguments operators do not have or take in other ways."""

from __future__ import annotations

from typing import Any, NamedTuple

from .._base.dtypes import EXPORTS, dtype
from .._base.interchange import of_numpy
from .._base.shapes import broadcast_shapes as _common_shape
from .._base.shapes import distinct_dims
from .._base.tensor_class import Tensor
from .._dispatch.ops import ops
from ._derive import promoted, standard

__all__ = [
    "astype", "broadcast_arrays", "broadcast_shapes", "concat", "expand_dims", "flip", "isin", "nonzero", "repeat",
    "reshape", "roll", "searchsorted", "sort", "squeeze", "take", "take_along_axis",
    "unique_all", "unique_counts", "unique_inverse", "unique_values",
]  # fmt: skip

_INT64 = EXPORTS["int64"]


@standard
def astype(x: Any, dtype: dtype, /, *, copy: bool = True, device: Any = None) -> Any:
    """Return the elements as those of another dtype, in new memory unless `copy` is false and the dtype is the same.

    `dtype` may be one of NumPy's, as libraries give it that compute with arrays of any kind.
    """
    return x.to(device=device, dtype=of_numpy(dtype), copy=copy)


def broadcast_shapes(*shapes: tuple[int, ...]) -> tuple[int, ...]:
    """Return the shape that arrays of these shapes broadcast to. Raises ValueError where there is none."""
    try:
        return tuple(_common_shape(*shapes))
    except RuntimeError as error:
        raise ValueError(str(error)) from None


@standard
def broadcast_arrays(*arrays: Any) -> tuple[Any, ...]:
    """Return views of the shape that the arrays broadcast to."""
    shape = broadcast_shapes(*[each.shape for each in arrays])
    return tuple([ops.broadcast_to(each, shape) for each in arrays])


@standard
def concat(arrays: Any, /, *, axis: int | None = 0) -> Any:
    """Return the arrays joined along an axis; along none, all their elements."""
    tensors = promoted(*arrays)
    return ops.cat([ops.reshape(each, (-1,)) for each in tensors] if axis is None else tensors, axis or 0)


@standard
def expand_dims(x: Any, /, axis: Any) -> Any:
    """Return a view with dimensions of size one at these positions of the result."""
    axes = axis if isinstance(axis, tuple) else (axis,)
    for dim in sorted(distinct_dims(axes, x.ndim + len(axes))):
        x = ops.unsqueeze(x, dim)
    return x


@standard
def squeeze(x: Any, /, axis: Any) -> Any:
    """Return a view without these dimensions. Raises ValueError if one has a size other than one."""
    axes = axis if isinstance(axis, tuple) else (axis,)
    dims = distinct_dims(axes, x.ndim)
    if wrong := [dim for dim in dims if not x.ndim or x.shape[dim] != 1]:
        raise ValueError(f"dimension {wrong[0]} of the shape {tuple(x.shape)} cannot be left out: its size is not one")
    return ops.squeeze(x, dims)


@standard
def flip(x: Any, /, *, axis: Any = None) -> Any:
    """Return the elements in reverse order along the axes, or along all."""
    return ops.flip(x, list(range(x.ndim)) if axis is None else axis if isinstance(axis, tuple) else (axis,))


@standard
def roll(x: Any, /, shift: Any, *, axis: Any = None) -> Any:
    """Return the elements moved by `shift` positions along each axis, or along none in the order of the elements."""
    if axis is None:
        return ops.roll(x, shift)
    axes = axis if isinstance(axis, tuple) else (axis,)
    shifts = shift if isinstance(shift, tuple) else (shift,) * len(axes)
    return ops.roll(x, shifts, axes) if axes else ops.clone(x)


@standard
def reshape(x: Any, /, shape: tuple[int, ...], *, copy: bool | None = None) -> Any:
    """Return the elements in another shape: with `copy` in new memory, with False never there, but ValueError."""
    if copy:
        return ops.reshape(ops.clone(x), shape)
    if copy is None:
        return ops.reshape(x, shape)
    try:
        return ops.view(x, shape)
    except RuntimeError as error:
        raise ValueError(str(error)) from None


@standard
def nonzero(x: Any, /) -> Any:
    """Return the positions of elements other than zero, an array for each dimension."""
    if not x.ndim:
        raise ValueError("nonzero() takes arrays of one dimension or more")
    return tuple(ops.nonzero(x, as_tuple=True))


@standard
def repeat(x: Any, repeats: Any, /, *, axis: int | None = None) -> Any:
    """Return the parts along the axis, or all elements, each as often as `repeats` says."""
    return ops.repeat_interleave(x, repeats.to(_INT64) if isinstance(repeats, Tensor) else repeats, axis)


@standard
def take(x: Any, indices: Any, /, *, axis: int | None = None) -> Any:
    """Return the parts of x at these positions along the axis, which may be left out of an array of one dimension."""
    if axis is None:
        if x.ndim != 1:
            raise ValueError(f"an axis must be given for an array of {x.ndim} dimensions")
        axis = 0
    return ops.index_select(x, axis, _from_front(indices, x.shape[axis]))


@standard
def take_along_axis(x: Any, indices: Any, /, *, axis: int = -1) -> Any:
    """Return the elements of x at these positions along the axis."""
    return ops.take_along_dim(x, _from_front(indices, x.shape[axis]), axis)


def _from_front(indices: Any, size: int) -> Any:
    """Positions counted from the front, as operators take them."""
    wide = indices.to(_INT64)
    return ops.where(ops.lt(wide, 0), ops.add(wide, size), wide)


@standard
def sort(x: Any, /, *, axis: int = -1, descending: bool = False, stable: bool = True) -> Any:
    """Return the elements in order along the axis."""
    return ops.sort(x, axis, descending, stable=stable)[0]


@standard
def searchsorted(x1: Any, x2: Any, /, *, side: str = "left", sorter: Any = None) -> Any:
    """Return where in x1, which is sorted or put in order by `sorter`, the values of x2 are to be inserted."""
    x1, x2 = promoted(x1, x2)
    sorter = None if sorter is None else sorter.to(_INT64)
    return ops.searchsorted(x1, x2, side=side, sorter=sorter)


@standard
def isin(x1: Any, x2: Any, /, *, invert: bool = False) -> Any:
    """Return for each element of x1 whether it is among those of x2."""
    x1, x2 = promoted(x1, x2)
    return ops.isin(x1, x2, invert=invert)


# ---- distinct values ----------------------------------------------------------------------------------------


class UniqueAllResult(NamedTuple):
    """The result of `unique_all`."""

    values: Any
    indices: Any
    inverse_indices: Any
    counts: Any


class UniqueCountsResult(NamedTuple):
    """The result of `unique_counts`."""

    values: Any
    counts: Any


class UniqueInverseResult(NamedTuple):
    """The result of `unique_inverse`."""

    values: Any
    inverse_indices: Any


@standard
def unique_all(x: Any, /) -> UniqueAllResult:
    """Return the distinct values, where each is first, which one each element is, and how often there is each."""
    return _distinct(x)


@standard
def unique_counts(x: Any, /) -> UniqueCountsResult:
    """Return the distinct values and how often there is each."""
    found = _distinct(x)
    return UniqueCountsResult(found.values, found.counts)


@standard
def unique_inverse(x: Any, /) -> UniqueInverseResult:
    """Return the distinct values, and for each element of x which of them it is."""
    found = _distinct(x)
    return UniqueInverseResult(found.values, found.inverse_indices)


@standard
def unique_values(x: Any, /) -> Any:
    """Return the distinct values; NaN is distinct from NaN."""
    return _distinct(x).values


def _distinct(x: Any) -> UniqueAllResult:
    elements = ops.reshape(x, (-1,))
    order = _order(elements)
    ordered = ops.index_select(elements, 0, order)
    count = elements.shape[0]
    first = ops.ones((count,), dtype=EXPORTS["bool"])
    if count > 1:
        first[1:] = ops.ne(ordered[1:], ordered[:-1])
    places = ops.nonzero(first).reshape((-1,))
    inverse = ops.empty_like(order).scatter_(0, order, ops.sub(ops.cumsum(first, 0), 1))
    counts = ops.diff(places, append=ops.full((1,), count, dtype=_INT64))
    chosen = ops.index_select(order, 0, places)
    return UniqueAllResult(ops.index_select(elements, 0, chosen), chosen, ops.reshape(inverse, x.shape), counts)


def _order(elements: Any) -> Any:
    """The positions of equal elements one after the other, and the first of them first."""
    if not elements.is_complex():
        return ops.argsort(elements, 0, stable=True)
    by_imaginary = ops.argsort(ops.imag(elements), 0, stable=True)
    real = ops.index_select(ops.real(elements), 0, by_imaginary)
    return ops.index_select(by_imaginary, 0, ops.argsort(real, 0, stable=True))
