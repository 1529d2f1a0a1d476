"""The backward pass: from the gradients of some outputs to those of all leaves, or of the tensors that are asked for.

Nodes are numbered as they are made, and every edge leads to a smaller number. So the one with the largest number of
those that a gradient has reached waits for no other: a heap of numbers gives the order in which torch's engine goes,
without a count of dependencies beforehand and without recursion.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from heapq import heapify, heappop, heappush
from typing import Any

from .._base.devices import BY_NUMBER
from .._base.dtypes import BY_CODE
from .._base.keys import KEY_BITS
from .._base.shapes import expands_to
from .._base.types import contiguous_format
from .._C import lib
from .._dispatch import profiling
from .._handle import alias, excluded, fits, with_keys
from . import anomaly_mode
from .grad_mode import AUTOGRAD, CONFINED, UNRECORDED, settings
from .hook_results import check_replaced, replaced
from .node import ANY_DTYPE, AccumulateGrad, Edge, Hook, Hooks, Node, hooks_of

storage_uses, flags = lib.storage_uses, lib.flags

NAMED = KEY_BITS["named"]
"""Gradients have no names, and what is saved for them is read without."""

_SPARSE = KEY_BITS["sparse"]

_DENSE = 4
"""OW_DENSE"""

_FIRST = 2**62
"""Added to the number of a leaf that gets its gradient before all other nodes."""


class _Arrived:
    """Gradients on their way into a node, one for each output. What nobody else can see may be added to in place."""

    __slots__ = ("grads", "node", "own")

    def __init__(self, node: Node, grads: list[Any], own: bool) -> None:
        self.node = node
        self.grads = grads
        self.own = own

    def add(self, number: int, grad: Any, own: bool) -> None:
        before = self.grads[number]
        if before is None:
            self.grads[number] = grad
            self.own = own
            return
        if self.own and excluded() & AUTOGRAD and storage_uses(before._h) == 1:
            before.add_(grad)
        else:
            self.grads[number] = before + grad
        self.own = len(self.grads) == 1


def _first(node: Node, number: int, grad: Any, own: bool) -> _Arrived:
    """The first of them."""
    count = len(node.metas)
    if count == 1:
        return _Arrived(node, [grad], own)
    arrived = _Arrived(node, [None] * count, own)
    arrived.grads[number] = grad
    return arrived


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
    needed = None if targets is None else _leading_to(targets, [node for (node, _), _ in roots], accumulate)
    cleared, added = (UNRECORDED, NAMED) if create_graph else (0, UNRECORDED | NAMED)
    if targets is not None:
        added |= CONFINED
    return with_keys(cleared, added, _pass_through, roots, keep_graph, targets, needed, accumulate)


def _pass_through(
    roots: Sequence[tuple[Edge, Any]],
    keep_graph: bool,
    targets: Sequence[Edge] | None,
    needed: dict[int, bool] | None,
    accumulate: bool,
) -> list[Any]:
    # Ctrl-C may leave a pass behind that is over: hooks, which ask for it, see that of the backward pass they are in.
    outer, _thread.pass_ = _thread.pass_, Pass(roots, needed)
    current = _thread.pass_
    recorder = profiling.recorder()
    span = None if recorder is None else recorder.innermost
    try:
        found = _run(current, roots, keep_graph, targets, needed, accumulate)
        for callback in current.callbacks:  # which may queue others
            callback()
        return found
    finally:
        _thread.pass_ = outer
        if recorder is not None:
            recorder.end_within(span)


class Pass:
    """A backward pass that is under way, for hooks that ask what it will come to."""

    def __init__(self, roots: Sequence[tuple[Edge, Any]], needed: dict[int, bool] | None) -> None:
        self._roots = roots
        self._reached: frozenset[int] | None = None if needed is None else frozenset(needed)
        self._needed = needed
        self.callbacks: list[Callable[[], object]] = []
        self.missing: dict[int, int] | None = None
        """The number of gradients that are still to arrive at each leaf that is to have them early."""

    def reaches(self, node: Node) -> bool:
        """True if gradients arrive at the node in this pass, or have arrived."""
        if self._reached is None:
            self._reached = frozenset(nodes_below([root for (root, _), _ in self._roots]))
        return node.number in self._reached

    def deliver_early(self, order: int) -> None:
        """Let leaves have their gradients as soon as these are complete, not when all other nodes are done.

        Args:
            order (int): the number of the node that is called now. Those with a larger one are done.
        """
        if self.missing is not None:
            return
        self.missing = {}
        late: set[int] = {root.number for (root, _), _ in self._roots}
        for number, node in nodes_below([root for (root, _), _ in self._roots]).items():
            if self._needed is not None and not self._needed.get(number):
                continue
            for edge in node.edges:
                if edge is None or not edge[0].collects:
                    continue
                if number > order:
                    late.add(edge[0].number)
                self.missing[edge[0].number] = self.missing.get(edge[0].number, 0) + 1
        for number in late:
            self.missing.pop(number, None)


class _Thread(threading.local):
    pass_: Pass | None = None


_thread = _Thread()


def queue_callback(callback: Callable[[], object]) -> None:
    """Calls a function when the backward pass that runs in this thread is over; from hooks only."""
    current = _thread.pass_
    if current is None:
        raise RuntimeError("Final callbacks can only be installed during backward pass.")
    current.callbacks.append(callback)


def current_pass() -> Pass | None:
    """The innermost backward pass of this thread."""
    return _thread.pass_


def is_confined() -> bool:
    """True if a backward pass that runs in this thread computes the gradients of some inputs only."""
    return bool(excluded() & CONFINED)


def _run(
    current: Pass,
    roots: Sequence[tuple[Edge, Any]],
    keep_graph: bool,
    targets: Sequence[Edge] | None,
    needed: dict[int, bool] | None,
    accumulate: bool,
) -> list[Any]:
    arrived: dict[int, _Arrived] = {}
    for (node, number), grad in roots:
        before = arrived.get(node.number)
        if before is None:
            arrived[node.number] = _first(node, number, grad, False)
        else:
            before.add(number, grad, False)
    wanted: dict[int, list[int]] = {}
    for index, (node, _) in enumerate(targets or ()):
        wanted.setdefault(node.number, []).append(index)
    captured: list[Any] = [None] * len(targets or ())
    recorder = profiling.recorder()
    watched = anomaly_mode.is_anomaly_enabled() or recorder is not None
    outer = None if recorder is None else recorder.innermost
    missing = current.missing
    queue = [-number for number in arrived]
    heapify(queue)
    while queue:
        order = -heappop(queue)
        if order > _FIRST:
            order -= _FIRST
        entry = arrived.pop(order)
        node = entry.node
        if needed is not None and order not in needed:
            continue
        if recorder is not None:
            _evaluated(recorder, node, outer)
        if node.hooks is not None:
            _before(node, entry)
            missing = current.missing
        grads = entry.grads
        if order in wanted:
            for index in wanted[order]:
                captured[index] = grads[targets[index][1]]  # type: ignore[index]
            entry.own = False
        if type(node) is AccumulateGrad:
            if accumulate and recorder is None:
                _accumulate(node, grads[0], entry.own)
            elif accumulate:
                _profiled(node, grads, partial(_accumulate, node, grads[0], entry.own))
            continue
        if needed is not None and needed[order] is False:
            continue  # a target itself, from which nothing that is asked for is reached
        if grads[0] is None and _is_undefined(node, grads):
            gradients: Sequence[Any] = (None,) * len(node.edges)
        else:
            gradients = _call(node, grads, needed) if watched or node.hooks is not None else node.apply(*grads)
        if not keep_graph:
            node.release()
        edges = node.edges
        if len(gradients) != len(edges):
            raise RuntimeError(
                f"Function {node.name()} returned an incorrect number of gradients (expected {len(edges)}, got "
                f"{len(gradients)})"
            )
        for index, edge in enumerate(edges):
            grad = gradients[index]
            if edge is None:
                continue
            following, number = edge
            key = following.number
            if needed is not None and key not in needed:
                continue
            own = False
            if grad is not None:
                expected = following.metas[number]
                if not fits(grad, expected):
                    grad = _fit(node, index, grad, expected)
                own = _is_own(node, entry, grad, gradients)
            into = arrived.get(key)
            if into is None:
                arrived[key] = _first(following, number, grad, own)
                if missing is None or key not in missing:
                    heappush(queue, -key)
            elif grad is not None:
                into.add(number, grad, own)
            if missing is not None and key in missing:
                missing[key] -= 1
                if not missing[key]:
                    heappush(queue, -key - _FIRST)
    return captured


def _evaluated(recorder: profiling.Recorder, node: Node, outer: profiling.Span | None) -> None:
    """Begins the span of all that the engine does for a node, after that of the node before it."""
    recorder.end_within(outer)
    if profiling.recorder() is recorder:  # a hook may have stopped it
        recorder.begin(f"autograd::engine::evaluate_function: {node.name()}").sequence = node.number


def _is_undefined(node: Node, grads: list[Any]) -> bool:
    """True if no output has a gradient, so no input gets one. (A user's function may make zeros of them.)"""
    return not node.takes_undefined and all(each is None for each in grads)


def _is_own(node: Node, entry: _Arrived, grad: Any, gradients: Sequence[Any]) -> bool:
    """True if nobody else can see the tensor: the node made it for one edge only, or was itself given so what it passes
    on, perhaps a view of it. (It may share memory with others nevertheless.)"""
    if len(gradients) > 1 and [grad is each for each in gradients].count(True) > 1:
        return False
    base, given = grad._base, entry.grads
    if base is None and not any(grad is each for each in given):
        return True
    if not entry.own or node.is_of_users or len(given) > 1 or len(gradients) > 1:
        return False
    return base is None or base is given[0] or base is given[0]._base


def _before(node: Node, entry: _Arrived) -> None:
    """The hooks of the outputs, and gradients that are kept though the tensor is no leaf."""
    hooks = hooks_of(node)
    entry.own = False  # a hook may keep what it is given
    for number, each in hooks.of_outputs.items():
        entry.grads[number] = _hooked(each.values(), entry.grads[number])
    for number in hooks.retains:
        hooks.gradients[number] = _sum(hooks.gradients.get(number), entry.grads[number])


def _hooked(hooks: Iterable[Hook], grad: Any) -> Any:
    for hook in [*hooks]:
        changed = hook(grad)
        if changed is not None:
            check_replaced(hook, changed, grad)
            grad = changed
    return grad


def _call(node: Node, grads: list[Any], needed: dict[int, bool] | None) -> Sequence[Any]:
    """The gradients by the inputs, with hooks and under the eyes of anomaly detection."""
    hooks = hooks_of(node)
    if hooks.before:
        grads = _prehooked(node, grads)
        if _is_undefined(node, grads):
            return (None,) * len(node.edges)
    watched = anomaly_mode.is_anomaly_enabled()
    apply = partial(anomaly_mode.call, node, grads) if watched else partial(node.apply, *grads)
    gradients: Sequence[Any] = _profiled(node, grads, apply)
    if hooks.after and len(gradients) == len(node.edges):
        ways = enumerate(zip(node.edges, gradients, strict=True))
        gradients = tuple([_seen(node, index, edge, grad, needed) for index, (edge, grad) in ways])
        for hook in [*hooks.after.values()]:
            changed = hook(gradients, _shown(node, grads))
            if changed is not None:
                gradients = replaced(hook, changed, gradients)
    return gradients


def _seen(node: Node, index: int, edge: Edge | None, grad: Any, needed: dict[int, bool] | None) -> Any:
    """A gradient by an input as hooks see it, which is as it goes on; None where nothing is asked for."""
    if needed is not None and (edge is None or edge[0].number not in needed):
        return None
    if grad is None or edge is None:
        return grad
    expected = edge[0].metas[edge[1]]
    return grad if fits(grad, expected) else _fit(node, index, grad, expected)


def _profiled(node: Node, grads: list[Any], call: Callable[[], Any]) -> Any:
    """The result of what a node does, as a span of its own where this thread is profiled."""
    recorder = profiling.recorder()
    if recorder is None:
        return call()
    return recorder.within(node.name(), profiling.BACKWARD_FUNCTION, grads, call, node.number)


def _prehooked(node: Node, grads: list[Any]) -> list[Any]:
    hooks: Hooks = node.hooks
    for hook in [*hooks.before.values()]:
        seen = _shown(node, grads)
        changed = hook(seen)
        if changed is not None:
            grads = [*grads]
            for number, grad in zip(node.shown, replaced(hook, changed, seen), strict=True):
                grads[number] = grad
    return grads


def _shown(node: Node, grads: Sequence[Any]) -> tuple[Any, ...]:
    """The gradients of the outputs that users know."""
    return tuple([grads[number] for number in node.shown])


def _fit(node: Node, index: int, grad: Any, expected: tuple[Any, int, int]) -> Any:
    """The gradient in the shape and dtype of what it is the gradient of: sums over what was broadcast."""
    shape, code, device = expected
    if grad.device is not BY_NUMBER[device]:
        raise RuntimeError(
            f"Function {node.name()} returned an invalid gradient at index {index} - expected device "
            f"{BY_NUMBER[device]} but got {grad.device}"
        )
    if grad.shape != shape:
        if not expands_to(shape, grad.shape):
            raise RuntimeError(
                f"Function {node.name()} returned an invalid gradient at index {index} - got {list(grad.shape)} but "
                f"expected shape compatible with {list(shape)}"
            )
        grad = grad.sum_to_size(shape)
    if code != ANY_DTYPE and grad.dtype is not BY_CODE[code]:
        dtype = BY_CODE[code]
        if grad.dtype.is_complex and not dtype.is_complex:
            grad = grad.real
        grad = grad.to(dtype)
    return grad


def _accumulate(leaf: AccumulateGrad, grad: Any, own: bool) -> None:
    """Adds to the gradient of a leaf what has arrived, which may be nothing, and calls the hooks."""
    variable = leaf.variable
    if variable is not None and not variable._requires_grad:  # it was asked for when it was used
        return
    if leaf.hooks is not None:
        (grad,) = _prehooked(leaf, [grad])
    if grad is not None:
        _add(leaf, variable, grad, own)
    if leaf.accumulated_hooks:
        for hook in [*leaf.accumulated_hooks.values()]:
            hook(variable)
    if leaf.hooks is not None:
        for hook in [*leaf.hooks.after.values()]:
            hook((), (grad,))


def _add(leaf: AccumulateGrad, variable: Any, grad: Any, own: bool) -> None:
    """The leaf keeps the tensor itself when nobody else can see it."""
    recording = not excluded() & AUTOGRAD
    if leaf.grad is None:
        if recording:
            keeps = _lies_as(grad, variable) and grad._base is None  # writes would go through a view
            leaf.grad = grad if keeps else _copy_as(grad, variable)
        else:
            base = grad._base
            is_alone = own and (
                storage_uses(grad._h) == 1
                if base is None
                else storage_uses(grad._h) == 2 and base.numel() == grad.numel()  # the base is alive by its view alone
            )
            keeps = is_alone and (_lies_as(grad, variable) or _may_lie_otherwise(grad))
            leaf.grad = _copy_as(grad, variable) if not keeps else grad if base is None else grad.detach()
    elif recording or _is_sparse(leaf.grad):  # to which a dense gradient cannot be added in place
        leaf.grad = leaf.grad + grad
    else:
        leaf.grad.add_(grad)


def _is_sparse(tensor: Any) -> bool:
    return bool(lib.keys(tensor._h) & _SPARSE)


def _strides_of_gradient(variable: Any) -> Any:
    """The leaf's own where its elements lie next to each other; None: in C order."""
    return variable.stride() if variable is not None and flags(variable._h) & _DENSE else None


def _lies_as(grad: Any, variable: Any) -> bool:
    """True if the gradient has the strides of the leaf."""
    strides = _strides_of_gradient(variable)
    if strides is None:
        return bool(grad.is_contiguous())
    own = grad.stride()
    return own is strides or all(
        size == 1 or stride == wanted for size, stride, wanted in zip(grad.shape, own, strides, strict=True)
    )


def _may_lie_otherwise(grad: Any) -> bool:
    """True if leaves do not decide how gradients lie, and the elements of this one lie next to each other."""
    return not settings.gradients_lie_as_leaves and bool(flags(grad._h) & _DENSE)


def _copy_as(grad: Any, variable: Any) -> Any:
    """A copy that lies so."""
    strides = _strides_of_gradient(variable)
    if strides is None or variable.is_contiguous() or _is_sparse(grad):
        return grad.clone(memory_format=contiguous_format)
    return grad.new_empty_strided(variable.shape, strides).copy_(grad)


def _sum(before: Any, grad: Any) -> Any:
    if grad is None:
        return before
    return alias(grad) if before is None and excluded() & AUTOGRAD else grad if before is None else before + grad


def nodes_below(roots: list[Node]) -> dict[int, Node]:
    """All nodes that gradients come to, by number."""
    nodes: dict[int, Node] = {}
    stack = roots
    while stack:
        node = stack.pop()
        if node.number not in nodes:
            nodes[node.number] = node
            stack.extend(edge[0] for edge in node.edges if edge is not None)
    return nodes


def _leading_to(targets: Sequence[Edge], roots: list[Node], accumulate: bool) -> dict[int, bool]:
    """The nodes on a way from the roots to a target; False of those from which none further on is reached.

    Nodes whose gradient is accumulated are called nevertheless, as in torch.
    """
    nodes = nodes_below(roots)
    ends = {node.number for node, _ in targets}
    needed: dict[int, bool] = {}
    for number in sorted(nodes):
        further = any(edge is not None and edge[0].number in needed for edge in nodes[number].edges)
        if further or number in ends:
            needed[number] = further or accumulate
    return needed
