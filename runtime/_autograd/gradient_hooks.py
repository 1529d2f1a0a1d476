"""Hooks that wait for the gradients of several tensors."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Any, Literal
from weakref import WeakKeyDictionary

from . import engine, record
from .gradient_edge import edge
from .node import RemovableHandle

__all__ = ["MultiHandle", "register_multi_grad_hook"]


class MultiHandle(RemovableHandle):
    """The hooks of several tensors: `remove()` takes all of them away, as leaving a `with` block does."""

    __module__ = "opweave.autograd.graph"

    def __init__(self, handles: tuple[RemovableHandle, ...]) -> None:
        self.handles = handles

    def remove(self) -> None:
        """Remove the hook from all tensors."""
        for handle in self.handles:
            handle.remove()

    def __getstate__(self) -> tuple[RemovableHandle, ...]:
        return self.handles

    def __setstate__(self, state: tuple[RemovableHandle, ...]) -> None:
        self.handles = state


class _Gathered:
    """The gradients that one backward pass has brought so far, and how many it will bring."""

    def __init__(self, count: int, expected: int) -> None:
        self.grads: list[Any] = [None] * count
        self.missing = expected


def register_multi_grad_hook(
    tensors: Sequence[Any], fn: Callable[[Any], None], *, mode: Literal["all", "any"] = "all"
) -> MultiHandle:
    """Calls `fn` in each backward pass: with a list of the gradients of all tensors when they are there, None of those
    that the pass does not come to; or with `mode="any"` once, with the first gradient.

    With `mode="any"` tensors that require no gradient are left out. Raises ValueError for other modes, AssertionError
    for tensors that require no gradient.
    """
    if mode not in ("all", "any"):
        raise ValueError(f"Expects mode to be one of ('all', 'any') but got {mode}")
    lock, passes = threading.Lock(), WeakKeyDictionary[engine.Pass, _Gathered]()
    if mode == "any":
        first = _first_of(fn, lock, passes)
        return MultiHandle(tuple([each.register_hook(first) for each in tensors if each.requires_grad]))
    tensors = tuple(tensors)
    for index, each in enumerate(tensors):
        if not each.requires_grad:
            raise AssertionError(f"Expected gradient function to be set, but tensors[{index}] does not require grad")
    nodes: list[Any] = []

    def gather(index: int, grad: Any) -> None:
        current = engine.current_pass()
        assert current is not None, "hooks of gradients are called by backward passes"
        with lock:
            gathered = passes.get(current)
            if gathered is None:
                gathered = passes[current] = _Gathered(
                    len(nodes), [current.reaches(node) for node in nodes].count(True)
                )
            gathered.grads[index] = grad
            gathered.missing -= 1
            is_last = not gathered.missing
        if is_last:
            fn(gathered.grads)

    handles = tuple([each.register_hook(_at(gather, index)) for index, each in enumerate(tensors)])
    nodes += [(edge(each) or (record.leaf(each), 0))[0] for each in tensors]
    return MultiHandle(handles)


def _at(gather: Callable[[int, Any], None], index: int) -> Callable[[Any], None]:
    return lambda grad: gather(index, grad)


def _first_of(
    fn: Callable[[Any], None], lock: threading.Lock, passes: WeakKeyDictionary[engine.Pass, Any]
) -> Callable[[Any], None]:
    def first(grad: Any) -> None:
        current = engine.current_pass()
        assert current is not None, "hooks of gradients are called by backward passes"
        with lock:
            is_first = current not in passes
            passes[current] = True
        if is_first:
            fn(grad)

    return first
