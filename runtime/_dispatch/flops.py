"""The numbers of additions and multiplications of calls, for the operators of which torch's profiler counts them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from math import prod
from typing import Any

from .._base.tensor_class import Tensor

__all__ = ["flops_of"]


def _products(first: int) -> Callable[[Sequence[Any]], int]:
    """Return the function that counts a product of matrices, of which this argument is the first."""

    def count(args: Sequence[Any]) -> int:
        one, other = args[first], args[first + 1]
        return int(2 * one.numel() * other.shape[-1])

    return count


def _conv2d(args: Sequence[Any]) -> int:
    input, weight, _, stride, padding, dilation, groups = args
    if input.dim() != 4 or not isinstance(padding, (int, tuple, list)):
        return 0
    sizes = []
    for dim in range(2):
        numbers = stride, padding, dilation
        step, margin, gap = (each if isinstance(each, int) else each[dim % len(each)] for each in numbers)
        sizes.append((input.shape[2 + dim] + 2 * margin - gap * (weight.shape[2 + dim] - 1) - 1) // step + 1)
    return int(2 * input.shape[0] * prod(sizes) * prod(weight.shape[2:]) * input.shape[1] * weight.shape[0] // groups)


def _elements(args: Sequence[Any]) -> int:
    return int(args[0].numel()) if isinstance(args[0], Tensor) else 0


_COUNTS: dict[str, Callable[[Sequence[Any]], int]] = {
    "mm": _products(0),
    "bmm": _products(0),
    "addmm": _products(1),
    "baddbmm": _products(1),
    "conv2d": _conv2d,
    "add": _elements,
    "mul": _elements,
}
"""The functions that count, by the operator's name in traces."""


def flops_of(name: str, args: Sequence[Any], around: Iterable[str]) -> int:
    """The number for a call that was made without an error, and within calls of these names; 0: it is not counted, or
    one of them is."""
    count = _COUNTS.get(name)
    return 0 if count is None or not _COUNTS.keys().isdisjoint(around) else count(args)
