"""Conversions between the core's handles and tensors, which the modules behind class Tensor share.

A handle is a float (see core/tensor/tensor.h). The tensor that holds it releases it, so a handle that no tensor holds
has to be released by whoever asked the core for it.
"""

from __future__ import annotations

import operator
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from .._C import ffi, lib
from .._handle import adopt
from .._handle import shape_of as shape_of
from .._handle import strides_of as strides_of
from .errors import raise_pending
from .keys import KEY_BITS
from .tensor_class import Tensor as Tensor
from .type_names import type_name as type_name

if TYPE_CHECKING:
    from .._tensor.tensor import Tensor as TensorType

_SPARSE = KEY_BITS["sparse"]
NONE = -(2**63)
"""OW_NONE: an integer argument that was not given."""

OVERFLOW = "Overflow when unpacking long long"


def wrap(handle: float) -> TensorType:
    """The tensor of a new handle; raises the pending error when there is no handle. What classes derived from Tensor
    say of results comes after that, where the dispatcher asks them."""
    if not handle:
        raise_pending()
    tensor: TensorType = adopt(handle, Tensor)
    return tensor


def tensors_in(values: Iterable[Any]) -> list[Any]:
    """The tensors among values, and in lists of them."""
    found: list[Any] = []
    for value in values:
        if isinstance(value, Tensor):
            found.append(value)
        elif isinstance(value, (list, tuple)):
            found += tensors_in(value)
    return found


def exchange(tensor: Any, other: Any) -> Any:
    """Gives two tensors each other's memory and shape. Their handles stay, for whoever has one in hand."""
    lib.exchange(tensor._h, other._h)
    edge = tensor._edge
    if edge is not None and edge[0].collects:
        edge[0].describe(tensor)  # its gradient has the new shape
    return tensor


def same_view(handle: float) -> float:
    """A new handle for the same elements, which the caller makes a tensor of a class that was asked for."""
    if lib.keys(handle) & _SPARSE:
        raise NotImplementedError("a sparse tensor cannot be of a class of its own; to_dense() gives one that can")
    sizes = shape_of(handle)
    return lib.as_strided(handle, sizes, strides_of(handle), len(sizes), lib.storage_offset(handle), -1)


def address_of(handle: float) -> Any:
    """The first element as a pointer that `ffi` accepts."""
    return ffi.cast("char *", lib.data_ptr(handle))


# ---- arguments ----------------------------------------------------------------------------------------------


def is_integer(value: Any) -> bool:
    """True if the value counts as an int: it has `__index__` and is no bool."""
    return type(value) is int or (not isinstance(value, bool) and hasattr(value, "__index__"))


def exact_integer(value: Any) -> int:
    """An int that is of no class derived from it: one whose comparisons and sums are those of numbers."""
    return int.__index__(operator.index(value))


def integer(function: str, name: str, value: Any, position: int = 1) -> int:
    """An argument that must be an int."""
    if type(value) is int:
        return value
    try:
        if is_integer(value):
            return operator.index(value)
    except TypeError:  # arrays have `__index__`, and most refuse
        pass
    raise TypeError(f"{function}(): argument '{name}' (position {position}) must be int, not {type_name(value)}")


def integers(function: str, name: str, values: Sequence[Any], position: int = 1) -> tuple[int, ...]:
    """Sizes given one by one (`f(2, 3)`), or as one sequence (`f((2, 3))`); `values` are the arguments."""
    if not values:
        raise TypeError(f'{function}() missing 1 required positional arguments: "{name}"')
    if len(values) == 1 and isinstance(values[0], (tuple, list)):
        values = values[0]
    for value in values:
        if not is_integer(value):
            raise TypeError(
                f"{function}(): argument '{name}' (position {position}) must be tuple of ints, not {type_name(value)}"
            )
    result = tuple(map(operator.index, values))
    if result and (max(result) >= 2**63 or min(result) < -(2**63)):
        raise ValueError(OVERFLOW)
    return result
