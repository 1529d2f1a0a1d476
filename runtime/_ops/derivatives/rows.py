"""Gradients of rows, all of an operator's at once."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from ..._base.shapes import broadcast_shapes
from .basic import dimensions
from .recorded import recorded_gradients

__all__ = ["rows_backward", "rows_by_operators"]


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


def rows_by_operators(
    function: Callable[..., Any],
    dim: Any,
    tensors: Sequence[Any],
    numbers: Sequence[Any],
    grads: Sequence[tuple[Any, str]],
    wanted: Sequence[int],
) -> tuple[Any, ...]:
    """Return the gradients by the tensors at the places `wanted` of an operator that `function` computes of tensors,
    numbers, the dimensions of a row and the number of its elements. With the gradient of each result stands what it has
    an element for, as in `rows_backward`.
    """
    shape = list(broadcast_shapes(*(each.shape for each in tensors)))
    along = dimensions(dim, len(shape))
    others = [d for d in range(len(shape)) if d not in along]
    of_row = [1 if d in along else size for d, size in enumerate(shape)]
    of_place = [size if d in along else 1 for d, size in enumerate(shape)]
    sizes = {"value": shape, "results": of_row, "across": of_place}

    def results(*tensors: Any) -> list[Any]:
        aligned = [each.reshape([1] * (len(shape) - each.ndim) + list(each.shape)) for each in tensors]
        found = function(*aligned, *numbers, along, math.prod(shape[d] for d in along))
        return [whole(each, kind) for each, (_, kind) in zip(found, grads, strict=True)]

    def whole(result: Any, kind: str) -> Any:
        if kind != "across":
            return result.expand(sizes[kind])
        return result.expand(shape).sum(others, True) if others else result.expand(shape)

    found = recorded_gradients(
        results, tensors, [None if grad is None else grad.reshape(sizes[kind]) for grad, kind in grads]
    )
    return tuple(found[place] for place in wanted)
