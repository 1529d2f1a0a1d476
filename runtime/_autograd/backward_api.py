"""`backward` and `grad`: what users call to have gradients computed."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

from .._base import handles
from .._base.keys import KEY_BITS
from .._base.type_names import type_name
from .._base.warn import warn
from .._C import lib
from .._dispatch.ops import ops
from .._handle import edges, with_keys
from . import engine
from .grad_mode import AUTOGRAD
from .node import AccumulateGrad, Edge

SPARSE = KEY_BITS["sparse"]


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
    gradients part of a graph themselves). `inputs` limits the accumulation to these tensors. Reverse-mode
    differentiation as in torch; raises RuntimeError for tensors without a history, for released graphs and for
    gradients of the wrong shape.
    """
    if grad_variables is not None:
        warnings.warn("`grad_variables` is deprecated. Use `grad_tensors` instead.", FutureWarning, stacklevel=2)
        if grad_tensors is not None:
            raise RuntimeError(
                "`grad_tensors` and `grad_variables` (deprecated) arguments both passed to `backward()`. "
            )
        grad_tensors = grad_variables
    if inputs is not None:
        inputs = _listed(inputs)
        if not inputs:
            raise RuntimeError("`inputs` argument to `backward()` cannot be empty.")
    roots = _roots(_listed(tensors), grad_tensors, create_graph)
    targets = None if inputs is None else [_target(each) for each in inputs]
    for each in inputs or ():
        each.retain_grad()
    keep = create_graph if retain_graph is None else retain_graph
    engine.run(roots, keep_graph=keep, create_graph=create_graph, targets=targets)


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
) -> tuple[Any, ...]:
    """The gradients of the sum of `outputs`, each times its `grad_outputs`, by each of `inputs`; no `grad` is touched.

    None for an input that the outputs do not depend on, with `allow_unused`; zeros with `materialize_grads`. With
    `is_grads_batched` the first dimension of `grad_outputs` counts several such sums. Reverse-mode differentiation as
    in torch; raises RuntimeError as `backward` does, and for unused inputs.
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
    wanted = _listed(inputs)
    if is_grads_batched:
        return _batched(outputs, wanted, grad_outputs, create_graph, allow_unused, materialize_grads)
    if not wanted:
        raise RuntimeError("`inputs` argument to `grad()` cannot be empty.")
    roots = _roots(_listed(outputs), grad_outputs, create_graph)
    targets = [_target(each) for each in wanted]
    keep = create_graph if retain_graph is None else retain_graph
    gradients = engine.run(roots, keep_graph=keep, create_graph=create_graph, targets=targets, accumulate=False)
    gradients = [
        tensor._with_values(each) if each is not None and _is_sparse(tensor) else each
        for each, tensor in zip(gradients, wanted, strict=True)
    ]
    if any(each is None for each in gradients):
        if materialize_grads:
            gradients = [
                _zeros_like(tensor, create_graph) if each is None else each
                for each, tensor in zip(gradients, wanted, strict=True)
            ]
        elif not allow_unused:
            unused = next(index for index, each in enumerate(gradients) if each is None)
            raise RuntimeError(
                f"The differentiated Tensor at index {unused} appears to not have been used in the graph. Set "
                "allow_unused=True if this is the desired behavior."
            )
    return tuple(gradients)


def _batched(
    outputs: Any, inputs: Any, grad_outputs: Any, create_graph: bool, allow_unused: bool, materialize_grads: bool
) -> tuple[Any, ...]:
    """One pass for each element of the first dimension of the gradients."""
    listed = _listed(grad_outputs)
    rows = [
        grad(
            outputs, inputs, [each[row] for each in listed], True, create_graph,
            allow_unused=allow_unused, materialize_grads=materialize_grads,
        )
        for row in range(listed[0].shape[0])
    ]  # fmt: skip
    columns = zip(*rows, strict=True)
    return tuple([None if column[0] is None else ops.stack(list(column)) for column in columns])


def _listed(tensors: Any) -> Sequence[Any]:
    if isinstance(tensors, handles.Tensor):
        return (tensors,)
    try:
        return tuple(tensors)
    except TypeError:
        raise TypeError(f"expected a Tensor or a sequence of Tensors, but got {type_name(tensors)}") from None


def _is_sparse(tensor: Any) -> bool:
    """True if the history is that of the tensor's values."""
    return bool(lib.keys(tensor._h) & SPARSE)


def _target(tensor: Any) -> Edge:
    if not isinstance(tensor, handles.Tensor):
        raise TypeError(f"expected a tensor to differentiate by, not {type_name(tensor)}")
    if _is_sparse(tensor):
        tensor = tensor._sparse.values
    if not tensor._requires_grad:
        raise RuntimeError("One of the differentiated Tensors does not require grad")
    return edge(tensor) or (AccumulateGrad(tensor), 0)  # no gradient arrives at a view that is older than the wish


def edge(tensor: Any) -> Edge | None:
    """The edge of a tensor that has a history, also while none is recorded."""
    result: Edge | None = with_keys(AUTOGRAD, 0, edges, tensor)[0]
    return result


def _roots(tensors: Sequence[Any], grads: Any, create_graph: bool) -> list[tuple[Edge, Any]]:
    given = [None] * len(tensors) if grads is None else list(_listed(grads))
    if len(given) != len(tensors):
        raise RuntimeError(f"got {len(tensors)} tensors and {len(given)} gradients")
    roots = []
    for index, (tensor, grad) in enumerate(zip(tensors, given, strict=True)):
        if not isinstance(tensor, handles.Tensor):
            raise TypeError(f"element {index} of tensors must be a Tensor, but got {type_name(tensor)}")
        if _is_sparse(tensor):
            grad = None if grad is None else tensor._values_of_gradient(grad)
            tensor = tensor._sparse.values
        root = edge(tensor)
        if root is None:
            raise RuntimeError(f"element {index} of tensors does not require grad and does not have a grad_fn")
        roots.append((root, _root_gradient(index, tensor, grad)))
    return roots


def _root_gradient(index: int, tensor: Any, grad: Any) -> Any:
    if grad is None:
        if tensor.numel() != 1:
            raise RuntimeError("grad can be implicitly created only for scalar outputs")
        dtype = tensor.dtype
        if not dtype.is_floating_point:
            raise RuntimeError(f"grad can be implicitly created only for real scalar outputs but got {dtype}")
        return tensor.new_ones(tensor.shape)
    if not isinstance(grad, handles.Tensor):
        raise TypeError(f"gradients can be either Tensors or None, but got {type_name(grad)}")
    if grad.device != tensor.device:
        raise RuntimeError(f"invalid gradient at index {index} - expected device {tensor.device} but got {grad.device}")
    if grad.shape != tensor.shape:
        raise RuntimeError(
            f"Mismatch in shape: grad_output[{index}] has a shape of {grad.shape} and output[{index}] has a shape of "
            f"{tensor.shape}."
        )
    if grad.dtype.is_complex != tensor.dtype.is_complex:
        raise RuntimeError(
            "For complex Tensors, both grad_output and output are required to have the same dtype. Mismatch in dtype: "
            f"grad_output[{index}] has a dtype of {grad.dtype} and output[{index}] has a dtype of {tensor.dtype}."
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


def _zeros_like(tensor: Any, create_graph: bool) -> Any:
    """The gradient by what nothing depends on; as part of a graph it can be differentiated again, as others can."""
    return tensor.new_zeros(tensor.shape).requires_grad_(create_graph)
