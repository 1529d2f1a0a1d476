"""Views by strides, and views in place: tensors that become views of their own memory."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from .._base.handles import exchange, wrap
from .._C import lib
from .._handle import alias, as_view
from .op import Op

if TYPE_CHECKING:
    from .._tensor.tensor import Tensor

__all__ = ["detached", "strided_view"]


def strided_view(tensor: Any, size: Sequence[int], stride: Sequence[int], storage_offset: int | None) -> Tensor:
    """A view of the storage with this shape, these strides and this position of the first element."""
    if len(size) != len(stride):
        raise RuntimeError("mismatch in length of strides and shape")
    if stride and min(stride) < 0:
        raise RuntimeError(f"as_strided: Negative strides are not supported at the moment, got strides: {list(stride)}")
    offset = lib.storage_offset(tensor._h) if storage_offset is None else storage_offset
    return as_view(wrap(lib.as_strided(tensor._h, size, stride, len(size), offset, -1)), tensor)


def detached(tensor: Any) -> Tensor:
    """The same elements, part of no graph and no view that a graph knows of."""
    same: Tensor = alias(tensor)
    return same


def view_inplace(op: Op, args: Sequence[Any]) -> Any:
    """Makes the first argument the view that the operator gives of it."""
    return become(args[0], view_for(op, args))


def view_for(op: Op, args: Sequence[Any]) -> Any:
    """The view that a method in place is to make of its tensor."""
    try:
        return op.function(*args)
    except (RuntimeError, TypeError) as error:
        # Messages begin with the name of the function that was called, which is the one in place.
        rest = str(error).removeprefix(f"{op.name}()")
        if rest == str(error):
            raise
        raise type(error)(f"{op.name}_(){rest}") from None


def become(tensor: Any, view: Any) -> Any:
    """Gives a tensor the memory and shape of a view, which counts as writing to it."""
    lib.count_write(tensor._h)
    return exchange(tensor, view)
