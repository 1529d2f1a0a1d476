"""Gradients of rows, all of an operator's at once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..._base.shapes import broadcast_shapes
from ..rows import rows_by_operators
from .basic import dimensions
from .recorded import recorded_gradients

__all__ = ["gradients_of_rows", "rows_backward"]


def rows_backward(
    backward: Callable[..., Any],
    dim: Any,
    keepdim: bool,
    shapes: Sequence[Sequence[int]],
    grads: Sequence[tuple[Any, str]],
    inputs: Sequence[tuple[Any, str]],
    saved: Sequence[Any],
    numbers: Sequence[Any],
    targets: Sequence[tuple[Sequence[int], str]],
) -> tuple[Any, ...]:
    """Return the gradients by tensors of the shapes in `targets`. With each tensor stands what it has an element for:
    each one (`value`), each row (`results`), or each place in a row (`across`). `shapes` are those of all tensors of
    the operator, `saved` values of rows.
    """
    shape = list(broadcast_shapes(*shapes))
    along = dimensions(dim, len(shape))
    of_row = [1 if d in along else size for d, size in enumerate(shape)]
    of_place = [size if d in along else 1 for d, size in enumerate(shape)]
    # There may be no gradient but that of a result which does not depend on the targets.
    like = next(each for each, _ in (*grads, *inputs) if each is not None)

    def of_result(grad: Any, kind: str) -> Any:
        if grad is None:
            return like.new_zeros(())
        return grad if kind == "value" else grad.reshape(of_row if kind == "results" else of_place)

    given = [(of_result(*each), each[1]) for each in grads] + list(inputs)
    # One of them tells the shape of all.
    index = next(place for place, (_, kind) in enumerate(given) if kind == "value")
    tensors = [tensor.expand(shape) if place == index else tensor for place, (tensor, _) in enumerate(given)]
    tensors += [each.reshape(of_row) for each in saved]
    found = backward(*tensors, along, True, *numbers)
    found = found if isinstance(found, tuple) else (found,)
    return tuple(
        (each.reshape(of_place) if kind == "across" else each).sum_to_size(size)
        for each, (size, kind) in zip(found, targets, strict=True)
    )


def gradients_of_rows(
    function: Any,
    dim: Any,
    tensors: Sequence[Any],
    numbers: Sequence[Any],
    grads: Sequence[Any],
    wanted: Sequence[int],
) -> tuple[Any, ...]:
    """Return the gradients by the tensors at the places `wanted` of an operator whose gradients no other one computes:
    it is computed as operators of tensors once more."""
    ndim = max(each.ndim for each in tensors)
    along = dimensions(dim, ndim)

    def results(*tensors: Any) -> list[Any]:
        found = rows_by_operators(function.op, ndim, tensors, numbers, along)
        return [
            result if grad is None else result.reshape(grad.shape) for result, grad in zip(found, grads, strict=True)
        ]

    found = recorded_gradients(results, tensors, grads)
    return tuple(found[place] for place in wanted)
