"""The graph: a node for each recorded call, which knows the nodes whose outputs it was computed from.

An edge is a pair (node, number): the output `number` of what the node stands for. A tensor that is part of a graph has
one (`Tensor._edge`). Gradients flow from a node along the edges of its inputs.
"""

from __future__ import annotations

import itertools
import weakref
from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, TypeAlias

from .._base.devices import BY_NUMBER, CPU
from .._base.dtypes import BY_CODE
from .._base.notes import explained
from .._base.type_names import type_name
from .._dispatch.torch_dispatch import detached, dispatches
from .._handle import NodeBase, alias, edges, excluded, kept, meta, set_edge, versions
from .grad_mode import AUTOGRAD
from .saved_tensors import Packed, PackedInputs

Edge: TypeAlias = "tuple[Node, int]"
Hook: TypeAlias = Callable[..., Any]

_RELEASED = (
    "Trying to backward through the graph a second time (or directly access saved tensors after they have already been "
    "freed). Saved intermediate values of the graph are freed when you call .backward() or autograd.grad(). Specify "
    "retain_graph=True if you need to backward through the graph a second time or if you need to access saved tensors "
    "after calling backward."
)


class InputMetadata(NamedTuple):
    """The metadata of an output of a node, which is an input of the backward pass."""

    shape: list[int]
    dtype: Any
    device: Any
    is_nested_tensor: bool = False
    is_cpp_nested_tensor: bool = False


class Node(NodeBase):
    """One step of a computation: what its gradients are computed from, and where they go to.

    `metas` are the shape, the number of the dtype and the device of each output, as `meta()` has them. A subclass for
    each operator is generated from the formulas in ops.yaml: `save` keeps what they need, `apply` computes them. What
    every call needs of it is the core's (core/python/node_type.c).
    """

    __slots__ = ("__weakref__", "_metadata", "_shown")

    _metadata: dict[str, Any]
    _shown: tuple[int, ...]
    takes_undefined = False
    """True if `apply` is called even when no output has a gradient."""
    kept_results: tuple[int, ...] = ()
    """The outputs that a formula uses."""
    saved_names: tuple[tuple[str, ...], ...] = ((), (), ())
    """Names of the saved inputs, values and outputs, under which they can be read: `node._saved_self`."""
    results_needed_by: tuple[int, ...] | None = None
    """Indices of the edges whose gradient formulas use the results; None: all of them."""
    is_of_users = False
    """True if code of users sees the gradients, and may keep them."""
    collects = False
    """True for the node of a leaf, which accumulates gradients."""
    of_complex = False
    """True if the result is complex, so that the derivatives in the formulas are to be conjugated."""
    inputs: tuple[int, ...] | None = None
    """Indices of the call's arguments that have gradients; None: all of them."""
    linear: tuple[tuple[int, ...], ...] = ()
    """Indices of the call's arguments of which together the result is a linear function while all others stay; empty
    where it is none of some."""
    listed: int | None = None
    """Index of the argument that is a list of tensors, each of which has a gradient."""

    @classmethod
    def differentiated(cls, arguments: Sequence[Any]) -> Sequence[Any]:
        """The arguments of a call that have gradients."""
        if cls.listed is not None:
            tensors: Sequence[Any] = arguments[cls.listed]
            return tensors
        return arguments if cls.inputs is None else [arguments[index] for index in cls.inputs]

    # ---- what the formulas use ----

    def save(self, *arguments: Any) -> None:
        """Keeps what the formulas need of the arguments."""

    def apply(self, *grads: Any) -> Sequence[Any]:
        """The gradients by the inputs, given those by the outputs."""
        raise NotImplementedError

    @classmethod
    def conjugating(cls) -> type[Node]:
        """The class of nodes whose result is complex."""
        return cls

    def keep_results(self, results: Sequence[Any]) -> None:
        """Saves outputs: without their edges, which would refer back to the node."""
        indices = self.kept_results
        if not self._needs_results:
            return
        used = zip(indices, self.used_results(), strict=True)
        self.results = tuple([_kept(results[n]) if n < len(results) and is_used else (None, 0) for n, is_used in used])

    @property
    def _needs_results(self) -> bool:
        """True if a gradient is asked for whose formula uses outputs."""
        return self.results_needed_by is None or any(self.edges[index] for index in self.results_needed_by)

    def used_results(self) -> Sequence[bool]:
        """Return for each of `kept_results` whether a formula uses it, given which arguments are kept."""
        return [True] * len(self.kept_results)

    def _unpacked(self) -> tuple[Any, ...]:
        """`saved()` where that is not as usual."""
        tensors = self.tensors
        if tensors is None:
            raise released()
        if versions(tensors) != self.versions:
            for tensor, now, then in zip(tensors, versions(tensors), self.versions, strict=True):
                if now != then:
                    raise _modified(tensor, tensor._edge, now, then)
        return tensors.tensors() if isinstance(tensors, PackedInputs) else tensors

    def _unpacked_results(self) -> tuple[Any, ...]:
        """`saved_results()` where that is not as usual."""
        if self.results is None:
            raise released()
        results = []
        for number, (tensor, version) in zip(self.kept_results, self.results, strict=True):
            now = versions((tensor,))[0]
            if now != version:
                raise _modified(tensor, (self, number), now, version)
            if type(tensor) is Packed:
                tensor = tensor.tensor()
            if tensor is not None and not excluded() & AUTOGRAD and is_differentiable(tensor.dtype):
                tensor = same(tensor)
                set_edge(tensor, (self, number))
            results.append(tensor)
        return tuple(results)

    # ---- what users see ----

    def name(self) -> str:
        """Return the node's name in torch, such as `AddBackward0`."""
        return type(self).__name__

    @property
    def next_functions(self) -> tuple[tuple[Node | None, int], ...]:
        """The nodes that gradients go on to, and of which of their outputs they are gradients."""
        return tuple([(None, 0) if edge is None else (edge[0], edge[0].outward(edge[1])) for edge in self.edges])

    @property
    def shown(self) -> Sequence[int]:
        """The outputs that users know, which are those of the function that they called. Others, which were computed
        for gradients, are counted after these."""
        try:
            return self._shown
        except AttributeError:
            return range(len(self.metas))

    @shown.setter
    def shown(self, numbers: tuple[int, ...]) -> None:
        self._shown = numbers

    def outward(self, number: int) -> int:
        """The number of an output, as users know it."""
        return self._numbers().index(number)

    def inward(self, number: int) -> int:
        """The number of the output that users know by this one."""
        return self._numbers()[number]

    def _numbers(self) -> Sequence[int]:
        shown, all_of_them = self.shown, range(len(self.metas))
        if len(shown) == len(all_of_them):
            return shown
        return [*shown, *[each for each in all_of_them if each not in shown]]

    @property
    def metadata(self) -> dict[str, Any]:
        """A dict of facts about the node, set by users and by anomaly detection (the traceback of the call)."""
        try:
            return self._metadata
        except AttributeError:
            self._metadata = {}
            return self._metadata

    @property
    def _input_metadata(self) -> tuple[InputMetadata, ...]:
        """Shape, dtype and device of each output; of one that has no gradient no shape, and dtype None."""
        return tuple([described(self.metas[number]) for number in self.shown])

    def _sequence_nr(self) -> int:
        """Return a number that grows with each node that is made."""
        return self.number

    def register_hook(self, fn: Hook) -> RemovableHandle:
        """Calls `fn(grad_inputs, grad_outputs)` after the node; a result of it replaces `grad_inputs`."""
        return RemovableHandle(hooks_of(self).after, fn)

    def register_prehook(self, fn: Hook) -> RemovableHandle:
        """Calls `fn(grad_outputs)` before the node; a result of it replaces `grad_outputs`."""
        return RemovableHandle(hooks_of(self).before, fn)

    @property
    def what(self) -> str:
        """The name without what all names have in common, as messages give it."""
        return self.name().rpartition("Backward")[0] or self.name()

    def __getattr__(self, name: str) -> Any:
        """Return a value saved for the formulas: `_saved_self`, `_saved_dim`, `_saved_result`."""
        wanted = name.removeprefix("_saved_")
        inputs, values, results = self.saved_names
        if name == wanted or wanted not in (*inputs, *values, *results):
            raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")
        if wanted in values:
            return self.values[values.index(wanted)]
        if wanted in inputs:
            # (as it was kept: formulas of complex numbers see real ones as complex ones)
            saved = NodeBase.saved(self)
            return saved if self.listed is not None else saved[inputs.index(wanted)]
        return self.saved_results()[results.index(wanted)] if self._needs_results else None

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *[f"_saved_{name}" for names in self.saved_names for name in names]]

    def __call__(self, *grads: Any) -> Any:
        gradients = tuple(self.apply(*grads))
        return gradients[0] if len(gradients) == 1 else gradients

    def __repr__(self) -> str:
        return f"<{type(self).__name__} object at {id(self):#x}>"


class Hooks:
    """The hooks that users registered on a node; most nodes have none."""

    __slots__ = ("after", "before", "gradients", "of_outputs", "retains")

    def __init__(self) -> None:
        self.before: OrderedDict[int, Hook] = OrderedDict()
        self.after: OrderedDict[int, Hook] = OrderedDict()
        self.of_outputs: dict[int, OrderedDict[int, Hook]] = {}
        self.gradients: dict[int, Any] = {}
        """The `grad` of outputs, though these are no leaves."""
        self.retains: set[int] = set()
        """The outputs to whose `grad` is added what arrives."""


class HolomorphicNode(Node):
    """A node whose formulas multiply by the derivative: for complex results torch multiplies by its conjugate."""

    __slots__ = ()

    @classmethod
    def conjugating(cls) -> type[Node]:
        """Return the class of such nodes that conjugate the gradient of complex results."""
        kind: type[Node] | None = cls.__dict__.get("_conjugating")
        if kind is None:
            kind = type(cls.__name__, (_Conjugating, cls), {"__slots__": (), "of_complex": True})
            cls._conjugating = kind  # type: ignore[attr-defined]
        return kind


class _Conjugating(Node):
    __slots__ = ()

    def saved(self) -> tuple[Any, ...]:
        """Real numbers beside complex ones as complex ones: a logarithm or a root of them may not be real."""
        return tuple(
            each.to(each.dtype.to_complex()) if hasattr(each, "_h") and each.is_floating_point() else each
            for each in super().saved()
        )

    def apply(self, *grads: Any) -> Sequence[Any]:
        gradients = super().apply(*[grad.conj_physical() for grad in grads])
        return [None if each is None else each.conj_physical() for each in gradients]


def described(meta: tuple[Any, int, int] | None) -> InputMetadata:
    """Return what a node remembers of an output; `meta` is None for an output that has no gradient."""
    if meta is None:
        return InputMetadata([], None, CPU)
    shape, code, device = meta
    return InputMetadata([*shape], None if code == ANY_DTYPE else BY_CODE[code], BY_NUMBER[device])


def hooks_of(node: Node) -> Hooks:
    """Return the hooks of a node, which gets an empty collection where it has none."""
    hooks: Hooks = node.hooks or Hooks()
    node.hooks = hooks
    return hooks


ANY_DTYPE = -1
"""The number in place of that of a dtype, where gradients may have any."""


class AccumulateGrad(Node):
    """The end of the graph at a leaf: adds up what arrives there."""

    __slots__ = ("accumulated_hooks", "grad", "grad_dtype", "variable_reference")
    collects = True

    def __init__(self, variable: Any) -> None:
        super().__init__(())
        self.grad: Any = None
        self.accumulated_hooks: OrderedDict[int, Hook] | None = None
        self.variable_reference = weakref.ref(variable)
        self.grad_dtype: Any = ...
        """The dtype of gradients, None: any; `...`: that of the leaf."""
        self.describe(variable)

    def describe(self, variable: Any) -> None:
        """Note what gradients of the leaf are."""
        shape, code, has_no_values = meta(variable)
        if self.grad_dtype is not ...:
            code = ANY_DTYPE if self.grad_dtype is None else self.grad_dtype.code
        self.metas = ((shape, code, has_no_values),)

    @property
    def variable(self) -> Any:
        """The leaf, while it lives."""
        return self.variable_reference()

    def name(self) -> str:
        """Return torch's name of the node."""
        return "torch::autograd::AccumulateGrad"

    def _sequence_nr(self) -> int:
        return _LAST  # as in torch, whose engine so comes to leaves first


_LAST = 2**64 - 1


class RemovableHandle:
    """A hook that was registered: `remove()` takes it away, as leaving a `with` block does."""

    __module__ = "opweave.utils.hooks"
    _ids = itertools.count()

    def __init__(self, hooks: OrderedDict[int, Hook], hook: Hook) -> None:
        if not callable(hook):
            raise TypeError(f"a hook must be callable, not {type_name(hook)}")
        self.id = next(self._ids)
        self._hooks = weakref.ref(hooks)
        hooks[self.id] = hook

    def remove(self) -> None:
        """Remove the hook; removed already, it stays so."""
        hooks = self._hooks()
        if hooks is not None:
            hooks.pop(self.id, None)

    def __getstate__(self) -> tuple[Any, ...]:
        return self._hooks(), self.id, ()

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        hooks, self.id = state[:2]
        self._hooks = weakref.ref(OrderedDict() if hooks is None else hooks)
        RemovableHandle._ids = itertools.count(max(self.id + 1, next(self._ids)))

    def __enter__(self) -> RemovableHandle:
        return self

    def __exit__(self, *exception: object) -> None:
        self.remove()


def same(tensor: Any) -> Any:
    """The same elements without history: as the class says where the tensor stands for others."""
    return detached(tensor) if dispatches(type(tensor)) else alias(tensor)


def _kept(tensor: Any) -> tuple[Any, int]:
    return (same(tensor), *versions((tensor,))) if dispatches(type(tensor)) else kept(tensor)


def is_differentiable(dtype: Any) -> bool:
    """True if tensors of this dtype can have gradients."""
    return bool(dtype.is_floating_point or dtype.is_complex)


def part_of_graph(result: Any, node: Node) -> None:
    """Makes a tensor the only output of the node."""
    node.metas = (meta(result),)
    set_edge(result, (node, 0))


def take_history(tensor: Any, node: Node) -> None:
    """Makes a tensor that was overwritten the only output of the node."""
    node.metas = (meta(tensor),)
    take_edge(tensor, (node, 0))


def take_edge(tensor: Any, edge: Edge) -> None:
    """Gives a tensor another history. Its `grad`, and whether that is kept though it is no leaf, go with it."""
    before: Edge | None = tensor._edge
    set_edge(tensor, edge)
    if before is None:
        return
    (old_node, number), (node, index) = before, edge
    if isinstance(old_node, AccumulateGrad):
        if old_node.grad is not None:
            hooks_of(node).gradients[index] = old_node.grad
    elif old_node.hooks is not None:
        hooks: Hooks = old_node.hooks
        if number in hooks.gradients:
            hooks_of(node).gradients[index] = hooks.gradients.pop(number)
        if number in hooks.retains:
            hooks.retains.discard(number)
            hooks_of(node).retains.add(index)


def edges_of(arguments: Sequence[Any]) -> tuple[Edge | None, ...]:
    """The edge of each argument that is a tensor with a recorded history, None for the others."""
    result: tuple[Edge | None, ...] = edges(*arguments)
    return result


def released() -> RuntimeError:
    """Return the error of reading what a node has kept after a backward pass has freed it."""
    return explained(RuntimeError(_RELEASED), "docs/autograd.md#backward-a-second-time")


def _modified(tensor: Any, edge: Edge | None, now: int, then: int) -> RuntimeError:
    origin = (
        "" if edge is None or edge[0].collects else f", which is output {edge[0].outward(edge[1])} of {edge[0].what},"
    )
    text = (
        "one of the variables needed for gradient computation has been modified by an inplace operation: "
        f"[{tensor.type()} {list(tensor.shape)}]{origin} is at version {now}; expected version {then} instead. "
        "Hint: enable anomaly detection to find the operation that failed to compute its gradient, with "
        "opweave.autograd.set_detect_anomaly(True, check_nan=False)."
    )
    return explained(RuntimeError(text), "docs/autograd.md#modified-by-an-inplace-operation")
