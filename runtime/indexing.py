"""Basic indexing and assignment: `t[...]` and `t[...] = value`.

The common indices are left to fast_index.py. All others are read in one pass, which gives the geometry of a view; the
core makes the view, and an assignment copies into it. Lists and tensors with dimensions as indices are refused.
"""

from __future__ import annotations

import operator
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from ._C import lib
from .assignment import Source, write
from .dtypes import dtype
from .errors import raise_pending
from .fast_index import fast_view
from .handles import OVERFLOW, shape_of, strides_of, type_name, wrap

if TYPE_CHECKING:
    from types import EllipsisType
    from typing import SupportsIndex, TypeAlias

    from .tensor import Tensor as TensorType

    Part: TypeAlias = SupportsIndex | slice | EllipsisType | None
    Index: TypeAlias = Part | tuple[Part, ...]

_LARGEST = 2**63 - 1

Tensor: Any = None
"""The class, set by bind() when tensor.py has made it."""


def bind(tensor: type) -> None:
    """Called once by tensor.py: this module and the class need each other."""
    global Tensor
    Tensor = tensor


class IndexingMethods:
    """Mixed into Tensor."""

    __slots__ = ()

    def __getitem__(self: Any, index: Index) -> TensorType:
        handle = fast_view(self._h, index)
        if handle:
            if type(self) is Tensor:
                t: TensorType = Tensor()
                t._h = handle
                return t
            return wrap(handle, self)
        handle, is_copied = _general_view(self._h, index)
        if is_copied:
            view, handle = handle, lib.clone_(handle, -1, False)
            lib.release(view)
        return wrap(handle, self)

    def __setitem__(self: Any, index: Index, value: Any) -> None:
        view = fast_view(self._h, index)
        if view:
            try:
                if write(view, value):
                    return
            finally:
                lib.release(view)
        _set_general(self._h, index, value)

    def __delitem__(self: Any, index: Any) -> None:
        raise TypeError("Tensor does not support deleting items")

    def __iter__(self: Any) -> Iterator[TensorType]:
        if not lib.ndim(self._h):
            raise TypeError("iteration over a 0-d tensor")
        return map(self.__getitem__, range(lib.size(self._h, 0)))

    def __reversed__(self: Any) -> Iterator[TensorType]:
        return map(self.__getitem__, range(len(self) - 1, -1, -1))

    def __contains__(self: Any, element: Any) -> bool:
        if not isinstance(element, (Tensor, int, float)) and type(element).__module__ != "numpy":
            raise RuntimeError(
                f"Tensor.__contains__ only supports Tensor or scalar, but you passed in a {type(element)}."
            )
        return bool((self == element).any().item())


def _set_general(handle: float, index: Any, value: Any) -> None:
    # The value comes before the index, as its mistakes do in torch.
    source = Source(value, handle)
    try:
        view, is_masked = _general_view(handle, index)
        try:
            # An index of bools that are not all true selects nothing, and takes every value.
            if not is_masked or lib.numel(view):
                source.expand_into(view)
        finally:
            lib.release(view)
    finally:
        source.release()


# ---- all indices --------------------------------------------------------------------------------------------


def _general_view(handle: float, index: Any) -> tuple[float, bool]:
    """The handle of the view that an index stands for, and whether reading it is to give a copy."""
    sizes, strides = shape_of(handle), strides_of(handle)
    items = _items(index, len(sizes))
    new_sizes, new_strides, offset, is_copied = _geometry(items, sizes, strides)
    # Only a view without elements can begin before the memory does: at the end of a negative stride.
    offset = max(0, offset + lib.storage_offset(handle))
    view = lib.as_strided(handle, new_sizes, new_strides, len(new_sizes), offset, -1)
    if not view:
        raise_pending()
    return view, is_copied


def _items(index: Any, ndim: int) -> list[Any]:
    """The parts of an index: ints, slices, bools, None and `...`, with one `...` exactly."""
    parts = index if isinstance(index, tuple) else (index,)
    if sum(map(_dimensions_of, parts)) > ndim:
        if ndim == 0 and parts is not index:
            _refuse_without_dimensions(index)
        raise IndexError(f"too many indices for tensor of dimension {ndim}")
    items: list[Any] = []
    for part in parts:
        if part is Ellipsis and Ellipsis in items:
            continue
        items.append(part if part is None or type(part) in _PLAIN_TYPES else _number(part))
    if Ellipsis not in items:
        items.append(Ellipsis)
    return items


_PLAIN_TYPES = frozenset((int, bool, slice, type(Ellipsis)))


def _dimensions_of(part: Any) -> int:
    """How many dimensions a part of an index stands for; bools and tensors that count as bools select none."""
    if part is None or part is Ellipsis or type(part) is bool:
        return 0
    if isinstance(part, Tensor) and _is_mask(part.dtype):
        return int(part.ndim)
    return 1


def _is_mask(of: dtype) -> bool:
    """bool, and uint8, which stood for it before there was bool."""
    return of.itemsize == 1 and not of.is_signed


def _refuse_without_dimensions(index: Any) -> None:
    """Raises what a single int or slice is told by a tensor without dimensions; returns for other indices."""
    if type(index) is slice:
        _slice_range(index, 0)
        raise IndexError("slice() cannot be applied to a 0-dim tensor.")
    if isinstance(index, int) or type(index).__module__ == "numpy":
        place = _number(index)
        if not -_LARGEST - 1 <= place <= _LARGEST:
            raise ValueError(OVERFLOW)
        if place:
            raise IndexError(f"index {place} is out of bounds for dimension 0 with size 0")
        raise IndexError(
            "invalid index of a 0-dim tensor. Use `tensor.item()` in Python to convert a 0-dim tensor to a number"
        )


def _number(part: Any) -> int | bool:
    """A part of an index of a type less common: an int, or a bool, which adds a dimension."""
    if isinstance(part, Tensor):
        if part.ndim:
            raise NotImplementedError("indexing with a tensor that has dimensions is not supported")
        if part.dtype.is_floating_point:
            raise IndexError("tensors used as indices must be long, int, byte or bool tensors")
        value: int = part.item()
        return bool(value) if _is_mask(part.dtype) else value
    try:
        return operator.index(part)
    except TypeError:
        pass
    kind = type(part)
    if isinstance(part, (str, bytes)):
        raise TypeError(f"new(): invalid data type '{kind.__name__}'")
    if hasattr(part, "__len__") and hasattr(part, "__getitem__") and not hasattr(part, "keys"):
        raise NotImplementedError(f"indexing with a sequence ({kind.__name__}) is not supported")
    raise IndexError(
        "only integers, slices (`:`), ellipsis (`...`), None and long or byte Variables are valid indices "
        f"(got {type_name(part)})"
    )


def _geometry(
    items: list[Any], sizes: tuple[int, ...], strides: tuple[int, ...]
) -> tuple[tuple[int, ...], tuple[int, ...], int, bool]:
    """Sizes, strides and offset of the view, and whether the index has bools, which make reading a copy."""
    new_sizes: list[int] = []
    new_strides: list[int] = []
    offset = 0
    masks: list[tuple[int, bool]] = []  # where each bool stands among the new dimensions, and the bool
    dim = 0
    ndim = len(sizes)
    named = sum(type(item) is int or type(item) is slice for item in items)
    for position, item in enumerate(items):
        if item is None:
            new_sizes.append(1)
            new_strides.append(sizes[dim] * strides[dim] if dim < ndim else 1)
        elif item is Ellipsis:
            end = dim + ndim - named
            new_sizes += sizes[dim:end]
            new_strides += strides[dim:end]
            dim = end
        elif type(item) is bool:
            masks.append((len(new_sizes), item))
        elif type(item) is slice:
            start, length, step = _slice_range(item, sizes[dim])
            new_sizes.append(length)
            # A step so large that it cannot be counted in bytes leads to one element, whose stride is never used.
            stride = strides[dim] * step
            new_strides.append(stride if abs(stride) <= _LARGEST else strides[dim])
            offset += start * strides[dim]
            dim += 1
        else:
            size = sizes[dim]
            if not -size <= item < size:
                if not -_LARGEST - 1 <= item <= _LARGEST:
                    raise ValueError(OVERFLOW)
                raise IndexError(f"index {item} is out of bounds for dimension {position} with size {size}")
            offset += (item + size if item < 0 else item) * strides[dim]
            dim += 1
    if masks:
        # All bools together are one dimension, of size one if all are true: in their place when they are neighbours.
        places = {place for place, _ in masks}
        place = places.pop() if len(places) == 1 else 0
        new_strides.insert(place, new_sizes[place] * new_strides[place] if place < len(new_sizes) else 1)
        new_sizes.insert(place, int(all(value for _, value in masks)))
    return tuple(new_sizes), tuple(new_strides), offset, bool(masks)


def _slice_range(part: slice, size: int) -> tuple[int, int, int]:
    """Start, number of positions and step."""
    start, stop, step = part.indices(size)
    if step < 0:
        raise ValueError("step must be greater than zero")
    return start, max(0, (stop - start + step - 1) // step), step
