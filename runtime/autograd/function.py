"""`Function`: operations whose gradients the user computes."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any, NoReturn

from .. import handles
from .._handle import meta, set_edge, versions
from ..dtypes import BY_CODE
from . import saved_tensors as hooks
from .modes import is_grad_enabled, no_grad
from .node import RELEASED, Node, edges_of
from .recording import check_inplace, unrecorded
from .views import rebase


class Context:
    """`ctx`, which forward and backward of one call of a Function share: this, and what they set as attributes."""

    __slots__ = ("__dict__", "_reference")

    def __init__(self, node: FunctionNode) -> None:
        self._reference = weakref.ref(node)  # which refers to the context

    @property
    def _node(self) -> FunctionNode:
        node = self._reference()
        if node is None:
            raise RuntimeError("the graph that this context belongs to is gone")
        return node

    @property
    def needs_input_grad(self) -> tuple[bool, ...]:
        """Of which arguments of forward are gradients wanted?"""
        return tuple([edge is not None for edge in self._node.edges])

    @property
    def next_functions(self) -> tuple[tuple[Node | None, int], ...]:
        """The nodes that gradients go on to, and of which of their outputs they are gradients."""
        return self._node.next_functions

    def name(self) -> str:
        return self._node.name()

    # ---- what forward calls ----

    def save_for_backward(self, *tensors: Any) -> None:
        """Keeps inputs and outputs (None too) for `saved_tensors`."""
        for tensor in tensors:
            if tensor is not None and not isinstance(tensor, handles.Tensor):
                raise TypeError(
                    f"save_for_backward can only save variables, but argument is of type {type(tensor).__name__}"
                )
        self._node.to_save = tensors

    def mark_dirty(self, *args: Any) -> None:
        """Says which inputs forward has overwritten."""
        self._node.dirty = args

    def mark_non_differentiable(self, *args: Any) -> None:
        """Says which outputs have no gradient."""
        self._node.not_differentiable = args

    def set_materialize_grads(self, value: bool) -> None:
        """Are gradients that are not there handed to backward as zeros (the default), or as None?"""
        self._node.materializes = value

    # ---- what backward calls ----

    @property
    def saved_tensors(self) -> tuple[Any, ...]:
        """What forward gave to `save_for_backward`. Raises RuntimeError when it is released, or was overwritten."""
        return self._node.saved_tensors


class FunctionNode(Node):
    """The node of a call of a Function."""

    __slots__ = ("context", "dirty", "function", "materializes", "not_differentiable", "outputs", "to_save")

    takes_undefined = True

    def __init__(self, function: Any, edges: tuple[Any, ...]) -> None:
        self.context = Context(self)
        super().__init__(edges)
        self.function = function
        self.dirty: tuple[Any, ...] = ()
        self.not_differentiable: tuple[Any, ...] = ()
        self.to_save: tuple[Any, ...] = ()
        self.materializes = True
        self.outputs: dict[int, Any] = {}

    def __getattr__(self, name: str) -> Any:
        """What forward has set on `ctx`, which in torch is the node."""
        try:
            return self.context.__dict__[name]
        except KeyError:
            raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'") from None

    @property
    def saved_tensors(self) -> tuple[Any, ...]:
        """What forward has saved; outputs with their history where one is recorded."""
        if self.tensors is None:
            raise RuntimeError(RELEASED)
        found = list(self.saved())
        for place, number in self.outputs.items():
            if is_grad_enabled():
                found[place] = found[place].detach()
                set_edge(found[place], (self, number))
        return tuple(found)

    def keep_saved(self, results: Sequence[Any]) -> None:
        """After forward: outputs are kept without their edges, which would refer back to the node."""
        kept = []
        for place, tensor in enumerate(self.to_save):
            number = next((n for n, result in enumerate(results) if result is tensor), None)
            if number is not None and tensor is not None and tensor._edge is not None and tensor._edge[0] is self:
                self.outputs[place] = number
                tensor = tensor.detach()
            kept.append(tensor)
        self.to_save = ()
        self.tensors, self.versions = tuple(kept), versions(tuple(kept))

    def name(self) -> str:
        return f"{self.function.__name__}Backward"

    def apply(self, *grads: Any) -> Sequence[Any]:
        if self.materializes:
            grads = tuple([
                self._zeros(number) if grad is None else grad for number, grad in enumerate(grads)
            ])  # fmt: skip
        found = self.function.backward(self.context, *grads)
        found = tuple(found) if isinstance(found, (tuple, list)) else (found,)
        if len(found) > len(self.edges) and all(each is None for each in found[len(self.edges) :]):
            found = found[: len(self.edges)]
        if len(found) != len(self.edges):
            raise RuntimeError(
                f"function {self.name()} returned an incorrect number of gradients (expected {len(self.edges)}, got "
                f"{len(found)})"
            )
        for place, grad in enumerate(found):
            if grad is not None and not isinstance(grad, handles.Tensor):
                raise RuntimeError(
                    f"expected Variable or None (got {type(grad).__name__}) as gradient {place} of {self.name()}"
                )
        return found

    def _zeros(self, number: int) -> Any:
        from .._operators import FUNCTIONS

        shape, code = self.metas[number]
        return FUNCTIONS["zeros"](shape, dtype=BY_CODE[code])


class Function:
    """An operation with `forward(ctx, ...)` and `backward(ctx, *grads)` as static methods, called by `apply(...)`.

    backward gives a gradient, or None, for each argument of forward. With `setup_context(ctx, inputs, output)` forward
    takes no `ctx`. `ctx.needs_input_grad` says which gradients are wanted. The interface is that of
    torch.autograd.Function.
    """

    __module__ = "opweave.autograd"

    @staticmethod
    def forward(*args: Any, **kwargs: Any) -> Any:
        raise NotImplementedError("You must implement the forward function for custom autograd.Function.")

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> Any:
        raise NotImplementedError("setup_context is not implemented.")

    @staticmethod
    def backward(ctx: Any, *grad_outputs: Any) -> Any:
        raise NotImplementedError(
            "You must implement either the backward or vjp method for your custom autograd.Function to use it with "
            "backward mode AD."
        )

    vjp = backward

    def __call__(self, *args: Any, **kwargs: Any) -> NoReturn:
        raise RuntimeError("an autograd function is not called itself: use `apply`, with static forward and backward")

    @classmethod
    def apply(cls, *args: Any, **kwargs: Any) -> Any:
        """Calls forward; the result has backward as its derivative."""
        node = _node_class(cls)(cls, edges_of(args))
        separate = cls.setup_context is not Function.setup_context

        def run() -> Any:
            if not separate:
                return cls.forward(node.context, *args, **kwargs)
            found = cls.forward(*args, **kwargs)
            cls.setup_context(node.context, args, found)
            return found

        output = unrecorded(run)
        results = output if isinstance(output, (tuple, list)) else (output,)
        if not any(node.edges):
            return output
        results = [_differentiable(node, args, number, result) for number, result in enumerate(results)]
        node.metas = tuple([_meta(result) for result in results])
        node.keep_saved(results)
        if hooks.entered:
            hooks.pack_inputs(node)
        return type(output)(results) if isinstance(output, (tuple, list)) else results[0]


def _meta(result: Any) -> tuple[Any, int]:
    return meta(result) if isinstance(result, handles.Tensor) else ((), 0)


def _differentiable(node: FunctionNode, inputs: tuple[Any, ...], number: int, result: Any) -> Any:
    """Makes a result an output of the node."""
    if not isinstance(result, handles.Tensor):
        return result
    excluded = any(result is each for each in node.not_differentiable)
    if excluded or not (result.dtype.is_floating_point or result.dtype.is_complex):
        return result
    if any(result is each for each in node.dirty):
        check_inplace(result)
        rebase(result, node)
        return result
    if any(result is each for each in inputs):
        result = result.detach()  # an input itself must stay what it is
    set_edge(result, (node, number))
    return result


_classes: dict[type, type[FunctionNode]] = {}


def _node_class(function: type) -> type[FunctionNode]:
    if function not in _classes:
        _classes[function] = type(f"{function.__name__}Backward", (FunctionNode,), {"__slots__": ()})
    return _classes[function]


def once_differentiable(fn: Callable[..., Any]) -> Callable[..., Any]:
    """Marks a backward whose results cannot be differentiated: to try raises RuntimeError."""

    @wraps(fn)
    def wrapper(ctx: Any, *args: Any) -> Any:
        recorded = is_grad_enabled() and any(isinstance(each, handles.Tensor) and each.requires_grad for each in args)
        with no_grad():
            found = fn(ctx, *args)
        if not recorded:
            return found
        results = found if isinstance(found, tuple) else (found,)
        refused = tuple([_refuse(each, args) for each in results])
        return refused if isinstance(found, tuple) else refused[0]

    return wrapper


class _Refusal(Node):
    __slots__ = ()

    def apply(self, *grads: Any) -> Sequence[Any]:
        raise RuntimeError("trying to differentiate twice a function that was marked with @once_differentiable")


def _refuse(result: Any, inputs: tuple[Any, ...]) -> Any:
    if result is None:
        return None
    result = result.detach()
    node = _Refusal(edges_of(inputs))
    node.metas = (meta(result),)
    set_edge(result, (node, 0))
    return result
