"""Gradients of reductions and scans with a state, by scans backwards."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import Any

from ..._dispatch.ops import ops
from .basic import dimensions, inverse_permutation

__all__ = ["fold_backward"]


def fold_backward(
    states: tuple[Callable[..., Any], Sequence[int]] | None,
    backward: Callable[..., Any],
    dim: Any,
    keepdim: bool | None,
    grads: Sequence[Any],
    tensors: Sequence[Any],
    numbers: Sequence[Any],
) -> Any:
    """Return the gradient by one of the tensors. `states` gives the state before each element, and which of its
    variables `backward` takes; `keepdim` is None of a scan.
    """
    tensors = ops.broadcast_tensors(list(tensors))
    shape = tensors[0].shape
    sizes = list(shape) or [1]
    dims = dimensions(dim, len(sizes))
    order = [d for d in range(len(sizes)) if d not in dims] + dims
    leading = [sizes[d] for d in order[: len(order) - len(dims)]]
    length = prod(sizes[d] for d in dims)

    def line(tensor: Any) -> Any:
        return tensor.reshape(sizes).permute(order).reshape([*leading, length])

    def of_result(grad: Any) -> Any:
        if grad is None:
            return next(each for each in grads if each is not None).new_zeros(())
        return line(grad) if keepdim is None else grad.reshape([*leading, 1])

    lines = [line(each) for each in tensors]
    if not lines[0].numel():
        return tensors[0].new_zeros(shape)
    kept = []
    if states is not None:
        every = states[0](*lines, -1, *numbers)
        every = every if isinstance(every, tuple) else (every,)
        kept = [every[place] for place in states[1]]
    taken = ops.broadcast_tensors([*map(of_result, grads), *lines, *kept])
    last = ops.arange(length) == length - 1  # backwards the first element comes last
    count = () if keepdim is None else (length,)
    found = backward(*[each.flip([-1]) for each in taken], last, -1, *numbers, *count).flip([-1])
    return found.reshape([*leading, *(sizes[d] for d in dims)]).permute(inverse_permutation(order)).reshape(shape)
