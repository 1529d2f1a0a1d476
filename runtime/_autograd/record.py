"""Records calls whose inputs require gradients: the call runs like any other, and a node of the graph is made for it.

The slow path of operators (dispatcher.py and its neighbours) comes here when it is told that a history is recorded. The
call runs again with the key of autograd excluded, so it is the plain one, and its node keeps what the formulas need.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from importlib import import_module
from typing import Any, NoReturn

from .._base.keys import KEY_BITS
from .._base.notes import explained
from .._base.tensor_class import Tensor
from .._C import lib
from .._dispatch.check import check
from .._dispatch.composite import run_inplace
from .._dispatch.dispatcher import redispatch, register
from .._dispatch.op import INPLACE, OPERATORS, Op
from .._dispatch.strided_views import become, view_for
from .._handle import keys, meta, needs_grad, packing, set_edge, set_recorder, set_refresh, with_keys
from . import inplace_views, saved_tensors
from .grad_mode import AUTOGRAD
from .node import AccumulateGrad, Node, edges_of, is_differentiable, part_of_graph, take_edge

SPARSE = KEY_BITS["sparse"]

set_refresh(inplace_views.refresh)


def derivative(op: Op) -> type[Node] | None:
    """The class of an operator's nodes; None when its results have no gradients."""
    if op.derivative is ...:
        generated = import_module(f"{op.package}._derivatives")
        op.derivative = generated.DERIVATIVES.get(op.name)
    kind: type[Node] | None = op.derivative
    return kind


def unrecorded(run: Callable[[], Any]) -> Any:
    """Return the result of `run` while nothing is recorded."""
    return with_keys(0, AUTOGRAD, run)


def handle(op: Op, args: Sequence[Any], out: Any, mode: int) -> Any:
    """The handler of the key `autograd`: the call runs unrecorded, and its result becomes an output of a node."""
    if out is not None:
        if any(is_differentiable(each.dtype) for each in (out if isinstance(out, (tuple, list)) else (out,))):
            refuse_out(op, args)
        return unrecorded(partial(redispatch, op, args, out, mode, below="autograd"))
    if keys(args) & SPARSE:  # calls of their values are recorded
        return redispatch(op, args, None, mode, below="autograd")
    kind = derivative(op)
    is_made_of_others = op.is_composite and op.is_inplace and kind is None
    if mode == INPLACE and isinstance(args[op.target], Tensor) and not is_made_of_others:
        return call_inplace(op, args)
    if mode == INPLACE or (op.is_composite and kind is None):
        return redispatch(op, args, None, mode, below="autograd")  # the calls that it is made of are recorded
    result = unrecorded(partial(redispatch, op, args, None, mode, below="autograd"))
    return result if kind is None else attach(kind, args, result)


def refuse_out(op: Op, args: Sequence[Any]) -> NoReturn:
    """The error of recorded calls that write to `out`."""
    check(op, args)  # what is no argument at all comes first
    raise RuntimeError(
        f"{op.name}(): functions with out=... arguments don't support automatic differentiation, but one of the "
        "arguments requires grad."
    )


def attach(kind: type[Node], arguments: Sequence[Any], result: Any) -> Any:
    """Makes the result, or several, outputs of a new node."""
    if any(result is value for value in arguments):
        return result
    inputs = kind.differentiated(arguments)
    if not needs_grad(*inputs):
        return result
    node = _class_for(kind, result)(edges_of(inputs))
    node.save(*arguments)
    if isinstance(result, (tuple, list)):
        _attach_all(node, result)
    elif _has_history(result):
        part_of_graph(result, node)
        if kind.kept_results:
            node.keep_results((result,))
    if packing():
        saved_tensors.pack_inputs(node)
        saved_tensors.pack_results(node)
    return result


def _kind(number: int) -> type[Node] | None:
    """The class of an operator's nodes; None for kernels of derivatives, which have none."""
    operator = OPERATORS.get(number)
    return None if operator is None else derivative(operator)


def _plan(number: int) -> tuple[type[Node] | None, Any, int, tuple[int, ...] | int | None]:
    """Return the plan by which the core records results of calls that it runs itself
    (core/python/autograd_record.c)."""
    kind = _kind(number)
    if kind is None:
        return None, None, 0, ()
    inputs = kind.inputs if kind.listed is None else kind.listed
    if kind.kept_results not in ((), (0,)):
        inputs = None  # they are not the core's to keep
    keeps = -1 if kind.results_needed_by is None else sum([1 << index for index in kind.results_needed_by])
    if not kind.kept_results:
        keeps = 0
    return kind, None if kind.save is Node.save else kind.save, keeps, inputs


def _attach_called(number: int, arguments: tuple[Any, ...], result: Any) -> Any:
    """Attach the node to the result of a call of the core whose node is not as usual."""
    kind = _kind(number)
    return result if kind is None else attach(kind, arguments, result)


set_recorder(_plan, _attach_called)
register("autograd", handle)


def _class_for(kind: type[Node], result: Any) -> type[Node]:
    single = not isinstance(result, (tuple, list))
    return kind.conjugating() if single and result.dtype.is_complex else kind


def _has_history(result: Any) -> bool:
    """Whether a result of a recorded call requires a gradient. Views of tensors of the inference mode do not."""
    return is_differentiable(result.dtype) and not lib.storage_is_inference(lib.storage_of(result._h))


def _attach_all(node: Node, results: Sequence[Any]) -> None:
    if node.kept_results:
        node.keep_results(results)
    count = 0
    for number, result in enumerate(results):
        if _has_history(result):
            set_edge(result, (node, number))
            count = number + 1
    node.metas = tuple([meta(result) for result in results[:count]])  # without indices, which have no gradients


def call_inplace(op: Op, args: Sequence[Any]) -> Any:
    """Overwrites the tensor that the method is called of."""
    target = args[op.target]
    if op.view:
        return _become_view(op, args, target)
    overwrite = partial(redispatch, op, args, None, INPLACE, below="autograd")
    if not is_differentiable(target.dtype):
        return unrecorded(overwrite)
    check_inplace(target)
    if op.is_composite and not op.is_inplace:
        # The calls that it is made of are recorded, and what they keep of the target has to outlive it.
        before = before_write(target)
        return run_inplace(op, [before if each is target else each for each in args], target)
    kind = derivative(op) or Constant
    node = _class_for(kind, target)(edges_of(kind.differentiated(args)))
    node.save(*args)
    if any(kept is target for kept in node.tensors or ()):
        before = before_write(target)
        node.keep(*[before if kept is target else kept for kept in node.tensors or ()])
    if packing():
        saved_tensors.pack_inputs(node)
    result = unrecorded(overwrite)
    node.metas = (meta(target),)
    inplace_views.rebase(target, node)
    if kind.kept_results:
        node.keep_results((target,))
    if packing():
        saved_tensors.pack_results(node)
    return result


def _become_view(op: Op, args: Sequence[Any], target: Any) -> Any:
    view = view_for(op, args)
    edge = view._edge
    if edge is None:
        return target.detach_()
    check_inplace(target)
    become(target, view)
    take_edge(target, edge)
    return target


def check_inplace(target: Any) -> None:
    """Refuses to overwrite what a gradient is accumulated for."""
    base = target._base
    if base is not None and target._origin:
        raise inplace_views.refusal(target, "is being")
    if base is not None and _is_leaf_with_gradient(base):
        raise _leaf_in_place("a view of a leaf Variable")
    if _is_leaf_with_gradient(target):
        raise _leaf_in_place("a leaf Variable")


def _leaf_in_place(what: str) -> RuntimeError:
    text = f"{what} that requires grad is being used in an in-place operation."
    return explained(RuntimeError(text), "docs/autograd.md#a-leaf-in-place")


def _is_leaf_with_gradient(tensor: Any) -> bool:
    return bool(tensor._requires_grad and tensor.is_leaf)


def before_write(tensor: Any) -> Any:
    """Return a tensor with the first input's values and history, for the formulas of an operator in place."""
    edge = edges_of((tensor,))[0]
    copied = unrecorded(tensor.clone)
    if edge is not None:
        set_edge(copied, edge)
    return copied


def leaf(tensor: Any) -> AccumulateGrad:
    """Return the node that accumulates the gradient of a leaf."""
    edge = tensor._edge
    if edge is not None and isinstance(edge[0], AccumulateGrad):
        return edge[0]
    keys = lib.keys(tensor._h)
    node = AccumulateGrad(tensor)
    set_edge(tensor, (node, 0))
    lib.set_keys(tensor._h, keys)
    return node


class Constant(Node):
    """Node of a result whose derivatives are zero everywhere."""

    __slots__ = ()

    def apply(self, grad: Any) -> tuple[Any, ...]:
        """Return zeros as the gradients by all inputs."""
        zeros = grad.new_zeros(grad.shape)
        return tuple([None if edge is None else zeros for edge in self.edges])
