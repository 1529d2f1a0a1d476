"""Gradients of what operators compute, where no formula says them: the operators are recorded and run backwards."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..._autograd.backward_api import grad as gradients
from ..._autograd.grad_mode import enable_grad, is_grad_enabled

__all__ = ["recorded_gradients"]


def recorded_gradients(function: Callable[..., Any], tensors: Sequence[Any], grads: Sequence[Any]) -> list[Any]:
    """Return the gradients by tensors of the results of `function(*tensors)`, which have the gradients `grads`; None of
    a tensor that needs none. They can be differentiated where gradients are recorded.

    Each tensor takes part as a view of its own: one may be computed of another, which is the graph around this one.
    """
    is_differentiable = is_grad_enabled()
    with enable_grad():
        views = [each.view_as(each) if each is not None and each.requires_grad else each for each in tensors]
        needed = [each for each in views if each is not None and each.requires_grad]
        known = [
            (result, grad)
            for result, grad in zip(function(*views), grads, strict=True)
            if grad is not None and result.requires_grad
        ]
        found = iter(
            gradients(
                [result for result, _ in known],
                needed,
                [grad for _, grad in known],
                create_graph=is_differentiable,
                allow_unused=True,
            )
            if known
            else [None] * len(needed)
        )
    return [next(found) if each is not None and each.requires_grad else None for each in views]
