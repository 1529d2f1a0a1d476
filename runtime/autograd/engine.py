"""The backward pass: from the gradients of some outputs to those of all leaves, or of the tensors that are asked for.

Nodes are numbered as they are made, and every edge leads to a smaller number. So the one with the largest number of
those that a gradient has reached waits for no other: a heap of numbers gives the order in which torch's engine goes,
without a count of dependencies beforehand and without recursion.
"""

from __future__ import annotations

from collections.abc import Sequence
from heapq import heapify, heappop, heappush
from typing import Any

from .._C import lib
from .._handle import alias, exclude, excluded
from . import anomaly
from .modes import AUTOGRAD
from .node import AccumulateGrad, Edge, Node


class _Arrived:
    """Gradients on their way into a node, one for each output. What the engine has added up itself is its own."""

    __slots__ = ("grads", "node", "owned")

    def __init__(self, node: Node) -> None:
        self.node = node
        self.grads: list[Any] = [None] * len(node.metas)
        self.owned = [False] * len(node.metas)

    def add(self, number: int, grad: Any, owned: bool) -> None:
        before = self.grads[number]
        if before is None:
            self.grads[number], self.owned[number] = grad, owned
        elif self.owned[number] and excluded() & AUTOGRAD and before.dtype is grad.dtype:
            before.add_(grad)
        else:
            self.grads[number], self.owned[number] = before + grad, True


def run(
    roots: Sequence[tuple[Edge, Any]],
    *,
    keep_graph: bool,
    create_graph: bool,
    targets: Sequence[Edge] | None = None,
    accumulate: bool = True,
) -> list[Any]:
    """Sends the gradients of the roots through the graph.

    With `targets`, only along the ways that lead to them: returns the gradients that arrive there, and with
    `accumulate` leaves among them get theirs added. Without, every leaf does.
    """
    before = excluded()
    exclude(before & ~AUTOGRAD if create_graph else before | AUTOGRAD)
    try:
        return _run(roots, keep_graph, targets, accumulate)
    finally:
        exclude(before)


def _run(
    roots: Sequence[tuple[Edge, Any]], keep_graph: bool, targets: Sequence[Edge] | None, accumulate: bool
) -> list[Any]:
    arrived: dict[int, _Arrived] = {}
    for (node, number), grad in roots:
        arrived.setdefault(node.number, _Arrived(node)).add(number, grad, False)
    needed = None if targets is None else _leading_to(targets, [node for (node, _), _ in roots])
    wanted: dict[int, list[int]] = {}
    for place, (node, _) in enumerate(targets or ()):
        wanted.setdefault(node.number, []).append(place)
    captured: list[Any] = [None] * len(targets or ())
    queue = [-number for number in arrived]
    heapify(queue)
    while queue:
        order = -heappop(queue)
        entry = arrived.pop(order)
        node, grads = entry.node, entry.grads
        if needed is not None and order not in needed:
            continue
        if node.tensor_hooks is not None:
            _call_tensor_hooks(node, entry)
        for place in wanted.get(order, ()):
            captured[place] = grads[targets[place][1]]  # type: ignore[index]
        if isinstance(node, AccumulateGrad):
            if accumulate:
                _accumulate(node, grads[0], entry.owned[0] and order not in wanted)
            continue
        if node.retained is not None and accumulate:
            for number in node.retained:
                node.retained[number] = _sum(node.retained[number], grads[number])
        if needed is not None and needed[order] is False:
            continue  # a target itself, from which nothing that is asked for is reached
        found = _call(node, grads)
        if not keep_graph:
            node.release()
        for edge, grad in zip(node.edges, found, strict=True):
            if edge is None or grad is None:
                continue
            following, number = edge
            key = following.number
            if needed is not None and key not in needed:
                continue
            meta = following.metas[number]
            if grad.dtype is not meta[1] or grad.shape != meta[0]:
                grad = _fit(node, grad, meta)
            into = arrived.get(key)
            if into is None:
                into = arrived[key] = _Arrived(following)
                heappush(queue, -key)
            into.add(number, grad, _is_own(grad, grads, found))
    return captured


def _call(node: Node, grads: list[Any]) -> Sequence[Any]:
    if node.pre_hooks:
        for hook in [*node.pre_hooks.values()]:
            changed = hook(tuple(grads))
            if changed is not None:
                grads = list(changed) if isinstance(changed, (tuple, list)) else [changed]
    if anomaly.enabled():
        found = anomaly.call(node, grads)
    else:
        found = node.apply(*grads)
    if len(found) != len(node.edges):
        raise RuntimeError(
            f"Function {node.name()} returned an incorrect number of gradients (expected {len(node.edges)}, got "
            f"{len(found)})"
        )
    if node.post_hooks:
        for hook in [*node.post_hooks.values()]:
            changed = hook(tuple(found), tuple(grads))
            if changed is not None:
                found = changed if isinstance(changed, (tuple, list)) else (changed,)
    return found


def _call_tensor_hooks(node: Node, entry: _Arrived) -> None:
    for number, hooks in (node.tensor_hooks or {}).items():
        grad = entry.grads[number]
        if grad is None:
            continue
        for hook in [*hooks.values()]:
            changed = hook(grad)
            entry.owned[number] = False  # a hook may keep what it is given
            if changed is not None:
                _check_hook(changed, grad)
                grad = changed
        entry.grads[number] = grad


def _check_hook(changed: Any, grad: Any) -> None:
    if not isinstance(changed, type(grad)):
        raise TypeError(f"expected Variable, but hook returned '{type(changed).__name__}'")
    if changed.shape != grad.shape:
        raise RuntimeError(
            f"hook '<lambda>' has changed the size of value: got {list(changed.shape)}, expected {list(grad.shape)}"
        )


def _is_own(grad: Any, given: list[Any], found: Sequence[Any]) -> bool:
    """Has the node made the tensor for this one edge, so that nobody else can see it?"""
    if any(grad is each for each in given) or sum(grad is each for each in found) > 1:
        return False
    return lib.storage_uses(grad._h) == 1


def _fit(node: Node, grad: Any, meta: tuple[Any, Any]) -> Any:
    """The gradient in the shape and dtype of what it is the gradient of: sums over what was broadcast."""
    shape, dtype = meta
    if grad.shape != shape:
        if not _expands_to(shape, grad.shape):
            raise RuntimeError(
                f"Function {node.name()} returned an invalid gradient at index "
                f"{_place(node, grad)} - got {list(grad.shape)} but expected shape compatible with {list(shape)}"
            )
        grad = grad.sum_to_size(shape)
    if grad.dtype is not dtype:
        if grad.dtype.is_complex and not dtype.is_complex:
            grad = grad.real
        grad = grad.to(dtype)
    return grad


def _place(node: Node, grad: Any) -> int:
    return next((place for place, edge in enumerate(node.edges) if edge is not None), 0)


def _expands_to(shape: Any, wider: Any) -> bool:
    extra = len(wider) - len(shape)
    return extra >= 0 and all(n in (1, m) for n, m in zip(shape, wider[extra:], strict=True))


def _accumulate(leaf: AccumulateGrad, grad: Any, owned: bool) -> None:
    """Adds to the gradient of a leaf, which keeps the tensor itself when nobody else can see it."""
    if grad is None:
        return
    if leaf.pre_hooks:
        for hook in [*leaf.pre_hooks.values()]:
            changed = hook((grad,))
            grad = grad if changed is None else changed[0] if isinstance(changed, tuple) else changed
    recording = not excluded() & AUTOGRAD
    if leaf.grad is None:
        if recording:
            leaf.grad = grad
        else:
            leaf.grad = grad if owned and grad.is_contiguous() else grad.clone(memory_format=_contiguous())
    elif recording:
        leaf.grad = leaf.grad + grad
    else:
        leaf.grad.add_(grad)
    if leaf.accumulated_hooks:
        for hook in [*leaf.accumulated_hooks.values()]:
            hook(leaf.variable)


def _contiguous() -> Any:
    from ..types import contiguous_format

    return contiguous_format


def retain(node: Node, number: int, grad: Any) -> None:
    """Keeps the gradient of what is no leaf."""
    node.retained = node.retained or {}
    node.retained[number] = _sum(node.retained.get(number), grad)


def _sum(before: Any, grad: Any) -> Any:
    if grad is None:
        return before
    return alias(grad) if before is None and excluded() & AUTOGRAD else grad if before is None else before + grad


def _leading_to(targets: Sequence[Edge], roots: list[Node]) -> dict[int, bool]:
    """The nodes on a way from the roots to a target; False of those from which none further on is reached."""
    nodes: dict[int, Node] = {}
    stack = roots
    while stack:
        node = stack.pop()
        if node.number not in nodes:
            nodes[node.number] = node
            stack.extend(edge[0] for edge in node.edges if edge is not None)
    ends = {node.number for node, _ in targets}
    needed: dict[int, bool] = {}
    for number in sorted(nodes):
        further = any(edge is not None and edge[0].number in needed for edge in nodes[number].edges)
        if further or number in ends:
            needed[number] = further
    return needed
