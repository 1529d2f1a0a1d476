"""`Function`: operations whose gradients the user computes."""

from __future__ import annotations

import inspect
import warnings
import weakref
from collections.abc import Callable, Sequence
from functools import wraps
from typing import TYPE_CHECKING, Any, NoReturn

from .._autograd import saved_tensors
from .._autograd.grad_mode import is_grad_enabled, no_grad
from .._autograd.inplace_views import rebase
from .._autograd.node import Node, edges_of, is_differentiable, released
from .._autograd.record import check_inplace
from .._base import handles
from .._base.devices import BY_NUMBER
from .._base.dtypes import BY_CODE
from .._base.type_names import type_name
from .._dispatch.ops import ops
from .._handle import alias, as_view, function_view, meta, needs_grad, packing, set_edge, versions

__all__ = ["Function", "FunctionCtx", "InplaceFunction", "once_differentiable"]


class FunctionCtx:
    """`ctx`, which forward and backward of one call of a Function share: this, and what they set as attributes."""

    __slots__ = ("__dict__", "_reference")

    saved_for_forward: tuple[Any, ...]

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
        """A tuple of bools: for each argument of forward, whether its gradient is wanted."""
        return tuple([edge is not None for edge in self._node.edges])

    @property
    def next_functions(self) -> tuple[tuple[Node | None, int], ...]:
        """The nodes that gradients go on to, and of which of their outputs they are gradients."""
        return self._node.next_functions

    def name(self) -> str:
        """Return the name of the node, such as `ExpBackward`."""
        return self._node.name()

    # ---- what forward calls ----

    def save_for_backward(self, *tensors: Any) -> None:
        """Keep inputs and outputs (None too) for `saved_tensors`. Raises TypeError for anything else."""
        for tensor in tensors:
            if tensor is not None and not isinstance(tensor, handles.Tensor):
                raise TypeError(
                    f"save_for_backward can only save variables, but argument is of type {type_name(tensor)}"
                )
        self._node.to_save = tensors

    def save_for_forward(self, *tensors: Any) -> None:
        """Keep tensors (None too) as `saved_for_forward`, for a `jvp`. Raises AssertionError for anything else."""
        if not all(tensor is None or isinstance(tensor, handles.Tensor) for tensor in tensors):
            raise AssertionError(
                "save_for_forward expects all arguments to be tensors; you should save non-tensors as attributes on "
                "ctx."
            )
        self.saved_for_forward = tensors

    def mark_dirty(self, *args: Any) -> None:
        """Mark inputs that forward has overwritten; it must return them. Raises RuntimeError for what is no tensor."""
        for index, value in enumerate(args):
            if not isinstance(value, handles.Tensor):
                kind = type_name(value)
                raise RuntimeError(f"mark_dirty can only accept variables, but argument {index} is of type {kind}")
        self._node.dirty = args

    def mark_non_differentiable(self, *args: Any) -> None:
        """Mark outputs that have no gradient."""
        self._node.not_differentiable = args

    def set_materialize_grads(self, value: bool) -> None:
        """Set whether backward is given zeros (the default) or None for outputs without a gradient."""
        self._node.materializes = value

    # ---- what backward calls ----

    @property
    def saved_tensors(self) -> tuple[Any, ...]:
        """The tensors that forward saved. Raises RuntimeError when they are released, or were overwritten."""
        return self._node.saved_tensors


class FunctionNode(Node):
    """The node of a call of a Function."""

    __slots__ = ("context", "dirty", "function", "materializes", "not_differentiable", "outputs", "to_save")

    takes_undefined = True
    is_of_users = True

    def __init__(self, function: Any, edges: tuple[Any, ...]) -> None:
        self.context = FunctionCtx(self)
        super().__init__(edges)
        self.function = function
        self.dirty: tuple[Any, ...] = ()
        self.not_differentiable: tuple[Any, ...] = ()
        self.to_save: tuple[Any, ...] = ()
        self.materializes = True
        self.outputs: dict[int, Any] = {}

    def __getattr__(self, name: str) -> Any:
        """Return an attribute that forward set on `ctx`, which in torch is the node."""
        try:
            return self.context.__dict__[name]
        except KeyError:
            raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'") from None

    @property
    def saved_tensors(self) -> tuple[Any, ...]:
        """The tensors that forward saved, outputs with their history.

        Raises RuntimeError after a backward pass that did not retain the graph.
        """
        if self.tensors is None:
            raise released()
        tensors = list(self.saved())
        for index, number in self.outputs.items():
            if is_grad_enabled():
                tensors[index] = tensors[index].detach()
                set_edge(tensors[index], (self, number))
        return tuple(tensors)

    def keep_saved(self, results: Sequence[Any]) -> None:
        """Save the tensors after forward: outputs without their edges, which would refer back to the node."""
        kept = []
        for index, tensor in enumerate(self.to_save):
            number = next((n for n, result in enumerate(results) if result is tensor), None)
            if number is not None and tensor is not None and self._is_output(tensor):
                self.outputs[index] = number
                tensor = tensor.detach()
            kept.append(tensor)
        self.to_save = self.dirty = self.not_differentiable = ()  # outputs among them refer to the node
        self.tensors, self.versions = tuple(kept), versions(tuple(kept))

    def _is_output(self, tensor: Any) -> bool:
        """True if the history of a result comes from the node: of a view that was written to by way of its base."""
        edge = tensor._edge
        return edge is not None and (edge[0] is self or _is_among(tensor, self.dirty))

    def name(self) -> str:
        """Return the name of the function with `Backward` behind it."""
        return f"{self.function.__name__}Backward"

    def apply(self, *grads: Any) -> Sequence[Any]:
        """Return the gradients by the arguments of forward that `backward` computes. Raises RuntimeError for another
        number of gradients, or for values other than tensors and None."""
        if self.materializes:
            grads = tuple([
                self._zeros(number) if grad is None else grad for number, grad in enumerate(grads)
            ])  # fmt: skip
        gradients = self.function.backward(self.context, *grads)
        gradients = tuple(gradients) if isinstance(gradients, (tuple, list)) else (gradients,)
        if len(gradients) > len(self.edges) and all(each is None for each in gradients[len(self.edges) :]):
            gradients = gradients[: len(self.edges)]
        if len(gradients) != len(self.edges):
            raise RuntimeError(
                f"function {self.name()} returned an incorrect number of gradients (expected {len(self.edges)}, got "
                f"{len(gradients)})"
            )
        for index, grad in enumerate(gradients):
            if grad is not None and not isinstance(grad, handles.Tensor):
                raise RuntimeError(
                    f"expected Variable or None (got {type_name(grad)}) as gradient {index} of {self.name()}"
                )
        return gradients

    def _zeros(self, number: int) -> Any:
        expected: Any = self.metas[number]
        if expected is None:
            return None
        shape, code, device = expected
        return ops.zeros(shape, dtype=BY_CODE[code], device=BY_NUMBER[device])


class Function:
    """An operation with `forward(ctx, ...)` and `backward(ctx, *grads)` as static methods, called by `apply(...)`.

    backward gives a gradient, or None, for each argument of forward. With `setup_context(ctx, inputs, output)` forward
    takes no `ctx`. `ctx.needs_input_grad` says which gradients are wanted. The interface is that of
    torch.autograd.Function.
    """

    __module__ = "opweave.autograd"

    if TYPE_CHECKING:  # derived classes have arguments of their own
        forward: Callable[..., Any]
        setup_context: Callable[..., Any]
        backward: Callable[..., Any]
        vjp: Callable[..., Any]
    else:

        @staticmethod
        def forward(*args: Any, **kwargs: Any) -> Any:
            """Return the results of the operation: to be defined by derived classes, with `ctx` as the first argument
            unless there is `setup_context`. Raises NotImplementedError."""
            raise NotImplementedError("You must implement the forward function for custom autograd.Function.")

        @staticmethod
        def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> Any:
            """Save in `ctx` what backward needs of the inputs and the output of forward: to be defined by derived
            classes whose forward takes no `ctx`. Raises NotImplementedError."""
            raise NotImplementedError("setup_context is not implemented.")

        @staticmethod
        def backward(ctx: Any, *grad_outputs: Any) -> Any:
            """Return a gradient, or None, by each argument of forward, given those by its results: to be defined by
            derived classes; `vjp` is another name of it. Raises NotImplementedError."""
            raise NotImplementedError(
                "You must implement either the backward or vjp method for your custom autograd.Function to use it with "
                "backward mode AD."
            )

        vjp = backward

    def __call__(self, *args: Any, **kwargs: Any) -> NoReturn:
        raise RuntimeError("an autograd function is not called itself: use `apply`, with static forward and backward")

    @classmethod
    def apply(cls, *args: Any, **kwargs: Any) -> Any:
        """Call forward with these arguments and return its result, whose derivative is backward.

        Raises NotImplementedError without a forward, and RuntimeError for a dirty tensor that is not returned or must
        not be overwritten.
        """
        separate = cls.setup_context is not Function.setup_context
        if separate:
            given = inspect.signature(cls.forward).bind(*args, **kwargs)
            given.apply_defaults()
            args, kwargs = given.args, given.kwargs
        node = _node_class(cls)(cls, edges_of(args))
        with no_grad():
            if separate:
                output = cls.forward(*args, **kwargs)
                cls.setup_context(node.context, args, output)
            else:
                output = cls.forward(node.context, *args, **kwargs)
        outputs = output if isinstance(output, (tuple, list)) else (output,)
        is_recorded = needs_grad(*filter(_is_tensor, args))  # tensors in lists are no inputs of the node
        results = _results(node, args, outputs, is_recorded)
        if is_recorded:
            node.metas = tuple([_meta(result) for result in results])
            node.keep_saved(results)
            if packing():
                saved_tensors.pack_inputs(node)
        return type(output)(results) if isinstance(output, (tuple, list)) else results[0]


class InplaceFunction(Function):
    """A Function whose objects say whether they work in place: torch's base of functions that may overwrite."""

    __module__ = "opweave.autograd.function"

    def __init__(self, inplace: bool = False) -> None:
        self.inplace = inplace


def _meta(result: Any) -> Any:
    """Return the shape, dtype and device of an output, which are its gradients' too; None where it is no tensor."""
    return meta(result) if isinstance(result, handles.Tensor) else None


def _is_among(tensor: Any, others: Sequence[Any]) -> bool:
    return any(tensor is each for each in others)


def _results(node: FunctionNode, inputs: tuple[Any, ...], given: Sequence[Any], is_recorded: bool) -> list[Any]:
    """Return the results of forward as outputs of the node; where nothing is recorded, without a history."""
    outputs = [each for each in given if is_recorded and _is_differentiable(node, each)]
    results = [_result(node, inputs, n, each, len(given), _is_among(each, outputs)) for n, each in enumerate(given)]
    if not all(_is_among(each, given) for each in node.dirty):
        raise RuntimeError(
            "Some elements marked as dirty during the forward method were not returned as output. The inputs that are "
            "modified inplace must all be outputs of the Function."
        )
    is_multi = len(outputs) > 1
    for before, result in zip(given, results, strict=True):
        # To overwrite a view would take the place of the user's backward.
        if _is_tensor(result) and (is_multi or not (_is_among(before, node.dirty) and _is_among(before, inputs))):
            function_view(result, is_multi)
    return results


def _is_tensor(value: Any) -> bool:
    return isinstance(value, handles.Tensor)


def _is_differentiable(node: FunctionNode, result: Any) -> bool:
    if not _is_tensor(result) or _is_among(result, node.not_differentiable):
        return False
    return is_differentiable(result.dtype)


def _result(
    node: FunctionNode, inputs: tuple[Any, ...], number: int, result: Any, count: int, differentiable: bool
) -> Any:
    """Makes a result an output of the node."""
    if not _is_tensor(result):
        return result
    is_input, is_dirty = _is_among(result, inputs), _is_among(result, node.dirty)
    if not differentiable:
        if not result._requires_grad:
            return as_view(alias(result), result) if is_input and not is_dirty else result
        if is_input:
            return result.detach()
        return result.detach_() if result._base is None else result
    if is_dirty:
        _check_dirty(result, is_input, count)
        rebase(result, node)
        return result
    if is_input:
        result = as_view(alias(result), result)  # an input itself must stay what it is
    set_edge(result, (node, number))
    return result


def _check_dirty(result: Any, is_input: bool, count: int) -> None:
    if result._base is None and result._requires_grad and result.is_leaf:
        raise RuntimeError("a leaf Variable that requires grad has been used in an in-place operation.")
    check_inplace(result)
    if not is_input:
        text = (
            "Only input Tensors should be given to ctx.mark_dirty(). If a Tensor is not an input, there is no need to "
            "pass it to mark_dirty()."
        )
        warnings.warn(text, UserWarning, stacklevel=6)
    if result._base is not None and count > 1:
        raise RuntimeError(
            "If your Function modifies inplace an input that is a view of another Tensor, your Function cannot return "
            "more than one Tensor. This is not supported by the current autograd engine. You should either make sure "
            "the input is not a view (using .clone() for example) or make your Function only return one Tensor "
            "(potentially splitting it into two Functions: one doing the inplace that returns a single Tensor and a "
            "second one that does the other operations)."
        )


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
            result = fn(ctx, *args)
        if not recorded:
            return result
        results = result if isinstance(result, tuple) else (result,)
        refused = tuple([_refuse(each, args) for each in results])
        return refused if isinstance(result, tuple) else refused[0]

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
