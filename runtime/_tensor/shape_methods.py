"""Methods of Tensor about its shape and its order in memory."""

# mypy: disable-error-code="no-any-return"
# (in a mixin `self` is an instance of the class that it is mixed into, which mypy calls Any)

from __future__ import annotations

from typing import Any, SupportsIndex, overload

from .._base.dtypes import EXPORTS, dtype
from .._base.errors import raise_pending
from .._base.handles import shape_of, strides_of
from .._base.tensor_class import Tensor
from .._base.types import Size, contiguous_format, memory_format, memory_order
from .._C import lib
from .._dispatch.binding import numpy_forms, overloads
from .._dispatch.ops import ops
from .._handle import SizeMethod
from .._representations.named.names import dimension

_CONTIGUOUS = 1
"""OW_CONTIGUOUS, a flag of handles."""
_C_ORDER, _CHANNELS_LAST = 1, 2
"""ow_order"""


def _size(self: Any, dim: Any = None) -> Size | int:
    """Return the shape as a `Size`, or the size of dimension `dim` as an int; not called, it is the number of elements.

    A negative `dim` counts from the end. Raises IndexError if the tensor has no such dimension, TypeError if `dim` is
    no integer.
    """
    if dim is None:
        return shape_of(self._h)
    size = lib.size(self._h, dim if type(dim) is int else dimension("size", self, dim))
    if size < 0:
        raise_pending()
    return size


_size.__name__ = _size.__qualname__ = "size"


class GeometryMethods:
    """Mixed into Tensor."""

    __slots__ = ()

    size = SizeMethod(_size)

    @overload
    def stride(self, dim: None = None) -> tuple[int, ...]: ...
    @overload
    def stride(self, dim: SupportsIndex) -> int: ...
    def stride(self: Any, dim: Any = None) -> tuple[int, ...] | int:
        """Return how many elements apart in memory neighbours along a dimension are: a tuple with one int for each
        dimension, or the int of dimension `dim`.

        Raises IndexError if the tensor has no such dimension, TypeError if `dim` is no integer.
        """
        strides = strides_of(self._h)
        if dim is None:
            return strides
        dim = dimension("stride", self, dim)
        if lib.size(self._h, dim) < 0:
            raise_pending()
        return strides[dim]

    def is_contiguous(self: Any, *, memory_format: memory_format = contiguous_format) -> bool:
        """Return whether the elements lie in memory in the order of their indices, without gaps.

        For the formats `channels_last` and `channels_last_3d`: whether they lie in that order; False unless the
        tensor has four or five dimensions.
        """
        order = memory_order("is_contiguous", memory_format)
        if order < _CHANNELS_LAST:
            return bool(lib.flags(self._h) & _CONTIGUOUS)
        return _is_channels_last(tuple(self.shape), strides_of(self._h), order + 2)

    def dim_order(self: Any) -> tuple[int, ...]:
        """Return the dimensions as a tuple of ints, from the largest stride to the smallest one."""
        strides = strides_of(self._h)
        return tuple(sorted(range(len(strides)), key=lambda dim: -strides[dim]))


def _view_as_dtype(input: Any, size: Any) -> Any:
    """The overload of `view` that takes a dtype."""
    return ops._view_dtype(input, size) if isinstance(size, dtype) else NotImplemented


def _view_as_named_dtype(*args: Any, **named: Any) -> Any:
    """The same overload where the dtype is given by its name."""
    return ops._view_dtype(*args, **named) if len(args) == 1 and named.keys() == {"dtype"} else NotImplemented


def _narrow_from_tensor(input: Any, dim: Any, start: Any, length: Any) -> Any:
    """The other overload of `narrow`: whose start is a tensor that holds one integer."""
    if isinstance(start, Tensor) and (start.ndim or start.dtype.is_floating_point or start.dtype is EXPORTS["bool"]):
        raise RuntimeError("start must be an 0-dim integral Tensor.")
    return NotImplemented


overloads["view"] = _view_as_dtype
numpy_forms["view"] = _view_as_named_dtype
overloads["narrow"] = _narrow_from_tensor


def _is_channels_last(sizes: tuple[int, ...], strides: tuple[int, ...], ndim: int) -> bool:
    """True if the elements are dense with the channels, dimension 1, innermost in memory."""
    if len(sizes) != ndim:
        return False
    expected = 1
    for dim in (1, *range(ndim - 1, 1, -1), 0):
        if sizes[dim] != 1:
            if strides[dim] != expected:
                return False
            expected *= sizes[dim]
    return True
