"""`backward` and `grad`: what users call to have gradients computed."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import Any, overload

from .._base import handles
from .._base.notes import explained
from .._base.type_names import type_name
from .._base.types import Size
from .._base.warn import warn
from .._C import lib
from .._dispatch.ops import ops
from .._handle import with_keys
from . import engine
from .gradient_edge import GradientEdge, edge, edge_of_gradient, is_sparse, output_of, plain_edge
from .node import Edge, InputMetadata


def backward(
    tensors: Any,
    grad_tensors: Any = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    grad_variables: Any = None,
    inputs: Any = None,
) -> None:
    """Adds to the `grad` of each leaf the gradient of the sum of `tensors`, each times its `grad_tensors`.

    `grad_tensors` have the shapes of `tensors`; they may be left out where there is one element. `retain_graph` keeps
    what the graph has saved, so that it can be gone through again (by default when `create_graph`, which makes
    gradients part of a graph themselves). `inputs` limits the accumulation to these tensors, or the values of a dict.
    Edges of the graph (`autograd.graph.get_gradient_edge`) may stand for tensors; nothing is accumulated for one among
    `inputs` that is no leaf's. Reverse-mode differentiation as in torch; raises RuntimeError for tensors without a
    history, for released graphs and for gradients of the wrong shape.
    """
    if grad_variables is not None:
        warnings.warn("`grad_variables` is deprecated. Use `grad_tensors` instead.", FutureWarning, stacklevel=2)
        if grad_tensors is not None:
            raise RuntimeError(
                "`grad_tensors` and `grad_variables` (deprecated) arguments both passed to `backward()`. "
            )
        grad_tensors = grad_variables
    wanted = None if inputs is None else _inputs(inputs, "backward")
    roots = _roots(_listed(tensors), grad_tensors)
    targets = None if wanted is None else [_target(each) for each in wanted]
    for each in wanted or ():
        if not isinstance(each, GradientEdge):
            each.retain_grad()
    keep = create_graph if retain_graph is None else retain_graph
    engine.run(roots, keep_graph=keep, create_graph=create_graph, targets=targets)


@overload
def grad(
    outputs: Any,
    inputs: dict[str, Any],
    grad_outputs: Any = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    only_inputs: bool = True,
    allow_unused: bool | None = None,
    is_grads_batched: bool = False,
    materialize_grads: bool = False,
) -> dict[str, Any]: ...
@overload
def grad(
    outputs: Any,
    inputs: Any,
    grad_outputs: Any = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    only_inputs: bool = True,
    allow_unused: bool | None = None,
    is_grads_batched: bool = False,
    materialize_grads: bool = False,
) -> tuple[Any, ...]: ...
def grad(
    outputs: Any,
    inputs: Any,
    grad_outputs: Any = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    only_inputs: bool = True,
    allow_unused: bool | None = None,
    is_grads_batched: bool = False,
    materialize_grads: bool = False,
) -> tuple[Any, ...] | dict[str, Any]:
    """The gradients of the sum of `outputs`, each times its `grad_outputs`, by each of `inputs`; no `grad` is touched.

    A tuple, or a dict where `inputs` is one of tensors. None for an input that the outputs do not depend on, with
    `allow_unused`; zeros with `materialize_grads`. With `is_grads_batched` the first dimension of `grad_outputs` counts
    several such sums. Edges of the graph (`autograd.graph.get_gradient_edge`) may stand for tensors. Reverse-mode
    differentiation as in torch; raises RuntimeError as `backward` does, and for unused inputs.
    """
    if materialize_grads and allow_unused is False:
        raise ValueError(
            "Expected allow_unused to be True or not passed when materialize_grads=True, but got: allow_unused=False."
        )
    if allow_unused is None:
        allow_unused = materialize_grads
    if not only_inputs:
        text = (
            "only_inputs argument is deprecated and is ignored now (defaults to True). To accumulate gradient for "
            "other parts of the graph, please use opweave.autograd.backward."
        )
        warnings.warn(text, FutureWarning, stacklevel=2)
    wanted = _inputs(inputs, "grad")
    listed = _listed(outputs)
    if is_grads_batched:
        gradients = _batched(listed, wanted, grad_outputs, create_graph, allow_unused, materialize_grads)
    else:
        keep = create_graph if retain_graph is None else retain_graph
        gradients = _gradients(listed, wanted, grad_outputs, keep, create_graph, allow_unused, materialize_grads)
    return dict(zip(inputs, gradients, strict=True)) if isinstance(inputs, dict) else gradients


def _gradients(
    outputs: Sequence[Any],
    inputs: Sequence[Any],
    grad_outputs: Any,
    keep_graph: bool,
    create_graph: bool,
    allow_unused: bool,
    materialize_grads: bool,
) -> tuple[Any, ...]:
    """The gradients of one pass, with what is to stand for those that there are not."""
    roots = _roots(outputs, grad_outputs)
    targets = [_target(each) for each in inputs]
    gradients = engine.run(roots, keep_graph=keep_graph, create_graph=create_graph, targets=targets, accumulate=False)
    for index, (each, of) in enumerate(zip(gradients, inputs, strict=True)):
        if each is not None:
            if not isinstance(of, GradientEdge) and is_sparse(of):
                gradients[index] = of._with_values(each)
        elif materialize_grads:
            gradients[index] = _zeros_like(of, create_graph)
        elif not allow_unused:
            raise RuntimeError(
                f"The differentiated Tensor at index {index} appears to not have been used in the graph. Set "
                "allow_unused=True if this is the desired behavior."
            )
    return tuple(gradients)


def _batched(
    outputs: Sequence[Any],
    inputs: Sequence[Any],
    grad_outputs: Any,
    create_graph: bool,
    allow_unused: bool,
    materialize_grads: bool,
) -> tuple[Any, ...]:
    """One pass for each element of the first dimension of the gradients."""
    given = _given(outputs, grad_outputs)
    for index, (output, each) in enumerate(zip(outputs, given, strict=True)):
        described = _described(index, output)
        if each is None:
            each = _root_gradient(index, described, None)
        if not each.ndim:
            raise ValueError(
                "with is_grads_batched=True the first dimension of each of grad_outputs counts the gradients, but got "
                f"a Tensor of no dimensions at index {index}"
            )
        if each.shape[1:] != (*described.shape,):
            raise RuntimeError(
                "If `is_grads_batched=True`, we interpret the first dimension of each grad_output as the batch "
                "dimension. The sizes of the remaining dimensions are expected to match the shape of corresponding "
                f"output, but a mismatch was detected: grad_output[{index}] has a shape of {each.shape} and "
                f"output[{index}] has a shape of {Size(described.shape)}."
            )
    rows = [
        _gradients(outputs, inputs, list(row), True, create_graph, allow_unused, materialize_grads)
        for row in zip(*[each.unbind(0) for each in given], strict=True)
    ]
    columns = zip(*rows, strict=True)
    return tuple([None if column[0] is None else ops.stack(list(column)) for column in columns])


def _listed(tensors: Any) -> Sequence[Any]:
    if isinstance(tensors, (handles.Tensor, GradientEdge)):
        return (tensors,)
    try:
        return tuple(tensors)
    except TypeError:
        raise TypeError(f"expected a Tensor or a sequence of Tensors, but got {type_name(tensors)}") from None


def _inputs(inputs: Any, function: str) -> Sequence[Any]:
    """Return the tensors and edges to differentiate by, or those of a dict."""
    if isinstance(inputs, Mapping) and type(inputs) is not dict:
        raise TypeError(
            f"`inputs` argument to `{function}()` must be a dict, not {type(inputs).__name__}. Other Mapping types "
            "are not supported. Please give dict(inputs)."
        )
    listed = _listed(inputs.values() if isinstance(inputs, dict) else inputs)
    if not listed:
        raise RuntimeError(f"`inputs` argument to `{function}()` cannot be empty.")
    return listed


def _target(of: Any) -> Edge:
    if isinstance(of, GradientEdge):
        return plain_edge(of)
    if not isinstance(of, handles.Tensor):
        raise RuntimeError(f"all inputs have to be Tensors or GradientEdges, but got {type_name(of)}")
    if not (of._sparse.values if is_sparse(of) else of)._requires_grad:
        raise RuntimeError("One of the differentiated Tensors does not require grad")
    return edge_of_gradient(of)


def _given(outputs: Sequence[Any], grads: Any) -> Sequence[Any]:
    given = [None] * len(outputs) if grads is None else _listed(grads)
    if len(given) != len(outputs):
        raise RuntimeError(f"got {len(outputs)} tensors and {len(given)} gradients")
    return given


def _described(index: int, output: Any) -> Any:
    """Return an object with the shape, dtype and device of an output: the tensor, or what the edge's node remembers of
    it."""
    if isinstance(output, GradientEdge):
        return output_of(output)
    if not isinstance(output, handles.Tensor):
        raise TypeError(f"element {index} of tensors must be a Tensor or GradientEdge, but got {type_name(output)}")
    return output


def _roots(outputs: Sequence[Any], grads: Any) -> list[tuple[Edge, Any]]:
    roots = []
    for index, (output, grad) in enumerate(zip(outputs, _given(outputs, grads), strict=True)):
        described = _described(index, output)
        if isinstance(output, GradientEdge):
            root: Edge | None = plain_edge(output)
        else:
            if is_sparse(output):
                grad = None if grad is None else output._values_of_gradient(grad)
                described = output._sparse.values
            root = edge(described)
        if root is None:
            text = f"element {index} of tensors does not require grad and does not have a grad_fn"
            raise explained(RuntimeError(text), "docs/autograd.md#no-element-requires-grad")
        roots.append((root, _root_gradient(index, described, grad)))
    return roots


def _root_gradient(index: int, of: Any, grad: Any) -> Any:
    """The gradient that the pass begins with, of an output that is a tensor or described."""
    if grad is None:
        if any(size != 1 for size in of.shape):
            raise RuntimeError("grad can be implicitly created only for scalar outputs")
        dtype = of.dtype
        if not dtype.is_floating_point:
            raise RuntimeError(f"grad can be implicitly created only for real scalar outputs but got {dtype}")
        if isinstance(of, InputMetadata):
            return ops.ones(of.shape, dtype=dtype, device=of.device)
        return of.new_ones(of.shape)
    if not isinstance(grad, handles.Tensor):
        raise TypeError(f"gradients can be either Tensors or None, but got {type_name(grad)}")
    if grad.device != of.device:
        raise RuntimeError(f"invalid gradient at index {index} - expected device {of.device} but got {grad.device}")
    if grad.shape != (*of.shape,):
        raise RuntimeError(
            f"Mismatch in shape: grad_output[{index}] has a shape of {grad.shape} and output[{index}] has a shape of "
            f"{Size(of.shape)}."
        )
    if grad.dtype.is_complex != of.dtype.is_complex:
        raise RuntimeError(
            "For complex Tensors, both grad_output and output are required to have the same dtype. Mismatch in dtype: "
            f"grad_output[{index}] has a dtype of {grad.dtype} and output[{index}] has a dtype of {of.dtype}."
        )
    return _without_names(grad)


def _without_names(grad: Any) -> Any:
    if not lib.keys(grad._h) & engine.NAMED:
        return grad
    warn(
        f"Autograd was passed a named grad tensor with dims {list(grad.names)}. Autograd does not yet support named "
        "tensor semantics, so all names will be ignored. In practice all computed gradients will still be correct "
        "according to regular tensor semantics."
    )
    return with_keys(0, engine.NAMED, ops.alias, grad)


def _zeros_like(of: Any, create_graph: bool) -> Any:
    """The gradient by what nothing depends on; as part of a graph it can be differentiated again, as others can."""
    if isinstance(of, GradientEdge):
        raise RuntimeError("materialize_grads cannot be used when the given input is a GradientEdge")
    return of.new_zeros(of.shape).requires_grad_(create_graph)
