"""Two tensors that become each other."""

from __future__ import annotations

import copyreg
import weakref
from typing import Any

from .._autograd.grad_mode import no_grad
from .._base.handles import exchange

__all__ = ["swap_tensors"]


def swap_tensors(t1: Any, t2: Any) -> None:
    """Swap two tensors: elements, gradients, classes and attributes, while the objects stay.

    Args:
        t1 (Tensor): a leaf of the graph.
        t2 (Tensor): a leaf of the graph.

    Raises:
        RuntimeError: there are weak references to one, their classes have different slots, or one is the result of a
            call that was recorded.
    """
    for tensor, name in ((t1, "t1"), (t2, "t2")):
        node = tensor._edge[0] if tensor._edge is not None and tensor.is_leaf else None
        if any(each is not getattr(node, "variable_reference", None) for each in weakref.getweakrefs(tensor)):
            raise RuntimeError(f"Cannot swap {name} because it has weakref associated with it")
    slots = set(_slots(t1))
    if slots != set(_slots(t2)):
        raise RuntimeError("Cannot swap t1 and t2 if they have different slots")
    for tensor, name in ((t1, "t1"), (t2, "t2")):
        if not tensor.is_leaf:
            raise RuntimeError(f"Expected {name} to be a leaf: a recorded call has it as its result")
    # Each leaf keeps its node, which holds its gradient: what they know of is exchanged.
    needed, grads = (t1.requires_grad, t2.requires_grad), (t1.grad, t2.grad)
    with no_grad():
        for tensor in (t1, t2):
            tensor.grad = None
            tensor.requires_grad_(False)
        exchange(t1, t2)
    t1.__class__, t2.__class__ = t2.__class__, t1.__class__
    t1.__dict__, t2.__dict__ = t2.__dict__, t1.__dict__
    for slot in slots:
        _swap_slot(t1, t2, slot)
    for tensor, needs, grad in ((t1, needed[1], grads[1]), (t2, needed[0], grads[0])):
        tensor.requires_grad_(needs)
        tensor.grad = grad


def _slots(tensor: Any) -> list[str]:
    names: list[str] = copyreg._slotnames(type(tensor))  # type: ignore[attr-defined]
    return names


def _swap_slot(first: Any, second: Any, name: str) -> None:
    values = [getattr(each, name, ...) for each in (first, second)]
    for tensor, value in ((first, values[1]), (second, values[0])):
        if value is not ...:
            setattr(tensor, name, value)
        elif hasattr(tensor, name):
            delattr(tensor, name)
