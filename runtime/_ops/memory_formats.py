"""Images and volumes whose channels lie next to each other in memory: results and gradients keep that order.

A function that is decorated computes in whatever order it likes; what it gives in another order is copied.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar, cast

from .._base.shapes import strides_in_order
from .._base.types import CHANNELS_LAST, contiguous_format, memory_format
from .._C import lib
from .._dispatch.ops import ops

__all__ = ["channels_back", "channels_moved", "in_memory_format", "keeps_memory_format", "suggested_format"]

F = TypeVar("F", bound=Callable[..., Any])


def suggested_format(*tensors: Any) -> memory_format:
    """Return the format with channels last that the first such tensor has, else the contiguous one."""
    for tensor in tensors:
        found = CHANNELS_LAST.get(lib.suggested_order(tensor._h))
        if found is not None:
            return found
    return contiguous_format


def in_memory_format(tensor: Any, format: memory_format) -> Any:
    """Return the image or volume itself where it has the strides of a new one in that format, else a copy. With
    channels last, one without a dimension for the batch has those of a batch of one."""
    if format is contiguous_format:
        return tensor.contiguous()
    ndim = format.order + 2
    if tensor.ndim != ndim:
        return in_memory_format(tensor.unsqueeze(0), format).squeeze(0) if tensor.ndim == ndim - 1 else tensor
    if tensor.stride() == strides_in_order(tensor.shape, format.order):
        return tensor
    # Where a size is one, the elements may lie in order beside strides that a new tensor would not have.
    dense = tensor.movedim(1, -1).reshape(-1)
    return dense.view(tensor.shape[0], *tensor.shape[2:], tensor.shape[1]).movedim(-1, 1)


def channels_moved(tensor: Any) -> tuple[Any, bool]:
    """Return the image or volume with its dimensions in the order of memory, and whether the channels are last then."""
    if suggested_format(tensor) is contiguous_format:
        return tensor, False
    return tensor.movedim(1, -1), True


def channels_back(result: Any, are_last: bool) -> Any:
    """Return one result or several with their channels as the second dimension, where they are the last one."""
    if not are_last:
        return result
    if isinstance(result, tuple):
        return tuple(channels_back(each, True) for each in result)
    return result.movedim(-1, 1)


def keeps_memory_format(count: int) -> Callable[[F], F]:
    """Make results have channels last, and gradients by the first `count` arguments, where one of these has; otherwise
    results are contiguous."""

    def decorated(function: F) -> F:
        @wraps(function)
        def keeping(input: Any, *args: Any, **named: Any) -> Any:
            leading = (input, *args[: count - 1])
            format = suggested_format(*leading)
            if format is not contiguous_format:
                input, *others = (
                    ops.with_gradient_format(each, format) if each.requires_grad else each for each in leading
                )
                args = (*others, *args[count - 1 :])
            result = function(input, *args, **named)
            if isinstance(result, tuple):
                return tuple(in_memory_format(each, format) for each in result)
            return in_memory_format(result, format)

        return cast(F, keeping)

    return decorated
