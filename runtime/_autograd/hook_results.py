"""Checks of what hooks return in place of gradients."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from .._base.tensor_class import Tensor
from .._base.type_names import type_name

if TYPE_CHECKING:
    from .node import Hook

__all__ = ["check_replaced", "replaced"]


def replaced(hook: Hook, changed: Any, grads: Sequence[Any]) -> Sequence[Any]:
    """Return what a hook of a node returned for several gradients.

    Raises TypeError if that is no tuple of tensors, RuntimeError for another number, another shape or another dtype.
    """
    if not isinstance(changed, tuple):
        raise TypeError(f"expected tuple, but hook returned '{type_name(changed)}'")
    if len(changed) != len(grads):
        raise RuntimeError(
            f"hook '{_name(hook)}' has returned an incorrect number of values (got {len(changed)}, but expected "
            f"{len(grads)})"
        )
    for new, grad in zip(changed, grads, strict=True):
        if new is not None:
            check_replaced(hook, new, grad)
    return changed


def check_replaced(hook: Hook, new: Any, grad: Any) -> None:
    """Raise TypeError or RuntimeError if what a hook returned cannot stand for a gradient."""
    if grad is None:
        raise RuntimeError("can't replace a None gradient with a non-None value")
    if not isinstance(new, Tensor):
        raise TypeError(f"expected Variable, but hook returned '{type_name(new)}'")
    if new.dtype is not grad.dtype or new.device != grad.device:
        raise RuntimeError(
            f"hook '{_name(hook)}' has changed the type of value (was {grad.type()} got {new.type()}). Please return a "
            f"tensor of dtype {grad.dtype} on device {grad.device}."
        )
    if new.shape != grad.shape:
        raise RuntimeError(
            f"hook '{_name(hook)}' has changed the size of value. Please return one of size {list(grad.shape)}, not "
            f"{list(new.shape)}."
        )


def _name(hook: Hook) -> str:
    return getattr(hook, "__name__", "<unknown>")
