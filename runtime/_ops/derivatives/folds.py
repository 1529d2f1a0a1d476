"""Gradients of reductions and scans with a state, by scans backwards."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import Any

from ..._dispatch.ops import ops
from .basic import dimensions, inverse_permutation

__all__ = ["fold_backward"]


def fold_backward(
    backward: Callable[..., Any],
    states: Callable[..., Any] | None,
    kept: Sequence[Any],
    dim: Any,
    keepdim: bool | None,
    grads: Sequence[Any],
    tensors: Sequence[Any],
    taken: Sequence[int],
    numbers: Sequence[Any],
    has_first: bool,
    targets: Sequence[Sequence[int]],
) -> tuple[Any, ...]:
    """Return the gradients by tensors of the shapes `targets`. `backward` takes the gradients of results, those of the
    tensors that are `taken`, the state before each element, and which elements are the first ones if it `has_first`.
    The states are those variables of what `states` gives that are `kept`, or without it `kept` themselves; `keepdim` is
    None of a scan.
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
        return tuple(tensors[0].new_zeros(size) for size in targets)
    if states is not None:
        every = states(*lines, -1, *numbers)
        every = every if isinstance(every, tuple) else (every,)
        kept = [every[place] for place in kept]
    else:
        kept = [*map(line, kept)]
    given = [each.expand([*leading, length]) for each in (*map(of_result, grads), *(lines[k] for k in taken), *kept)]
    # Backwards the first element comes last.
    first = [(ops.arange(length) == length - 1).expand([*leading, length])] if has_first else []
    count = () if keepdim is None else (length,)
    found = backward(*[each.flip([-1]) for each in given], *first, -1, *numbers, *count)
    found = found if isinstance(found, tuple) else (found,)
    ordered = [*leading, *(sizes[d] for d in dims)]
    return tuple(
        each.flip([-1]).reshape(ordered).permute(inverse_permutation(order)).reshape(shape).sum_to_size(size)
        for each, size in zip(found, targets, strict=True)
    )
