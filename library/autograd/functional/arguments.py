"""Arguments and results of autograd.functional: tensors or tuples of them, and gradients that may be missing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

from ..._autograd.backward_api import grad
from ..._dispatch.levels import alias_of
from ..._tensor.tensor import Tensor

Tensors: TypeAlias = tuple[Any, ...]

OUTPUTS = "outputs of the user-provided function"


def tensors_of(value: Any, argument: str, function: str) -> tuple[bool, Tensors]:
    """Return whether a tuple was given, and its tensors; a tensor alone counts as a tuple of one."""
    is_tuple = isinstance(value, tuple)
    tensors = value if is_tuple else (value,)
    for index, tensor in enumerate(tensors):
        if not isinstance(tensor, Tensor):
            which = f"value at index {index}" if is_tuple else f"given {argument}"
            raise TypeError(
                f"The {argument} given to {function} must be either a Tensor or a tuple of Tensors but the {which} has "
                f"type {type(tensor)}."
            )
    return is_tuple, tensors


def unpacked(tensors: Tensors, is_tuple: bool) -> Any:
    """A tuple where one was given, the only tensor otherwise."""
    return tensors if is_tuple else tensors[0]


def unpacked_twice(rows: Sequence[Tensors], outer: bool, inner: bool) -> Any:
    """Return rows of tensors, in tuples where `outer` and `inner` say so, and the only element otherwise."""
    return unpacked(tuple(unpacked(row, inner) for row in rows), outer)


def fresh(tensors: Tensors, create_graph: bool, differentiable: bool) -> Tensors:
    """New tensors of the same elements, so that the function cannot mean another tensor by them.

    With `create_graph` those that require gradients stay connected with what they come from.
    """
    return tuple(
        tensor.view_as(tensor)
        if create_graph and tensor.requires_grad
        else alias_of(tensor).requires_grad_(differentiable)
        for tensor in tensors
    )


def finished(tensors: Tensors, create_graph: bool) -> Tensors:
    """Results, without history unless it was asked for."""
    return tensors if create_graph else tuple(tensor.detach() for tensor in tensors)


def vector(value: Any, function: str, like: Tensors, like_is_tuple: bool, create_graph: bool) -> Tensors:
    """The vector of a product, which has the form of `like`."""
    vectors = fresh(tensors_of(value, "v", function)[1], create_graph, False)
    if len(like) != len(vectors):
        if like_is_tuple:
            raise RuntimeError(f"v is a tuple of invalid length: should be {len(like)} but got {len(vectors)}.")
        raise RuntimeError("The given v should contain a single Tensor.")
    for index, (tensor, other) in enumerate(zip(vectors, like, strict=True)):
        if tensor.shape != other.shape:
            entry = f"Entry {index} in " if like_is_tuple else ""
            raise RuntimeError(f"{entry}v has invalid size: should be {other.shape} but got {tensor.shape}.")
    return vectors


def is_one_number(tensors: Tensors) -> bool:
    """True if there is only one tensor, with one element: the vector of a product may be left out then."""
    return len(tensors) == 1 and tensors[0].numel() == 1


_CONSTANT = {
    "outputs": (
        "Output {} of the user-provided function does not require gradients. The outputs must be computed in a "
        "differentiable manner from the input when running in strict mode."
    ),
    "grad_inputs": (
        "The gradient with respect to input {} is independent of the inputs of the user-provided function. This is not "
        "allowed in strict mode."
    ),
    "jacobian": (
        "While computing the hessian, found that the jacobian of the user-provided function with respect to input {} "
        "is independent of the input. This is not allowed in strict mode. You should ensure that your function is "
        "twice differentiable and that the jacobian depends on the inputs (this would be violated by a linear function "
        "for example)."
    ),
}
_UNUSED = "The output of the user-provided function is independent of input {}. This is not allowed in strict mode."


def check_requires_grad(tensors: Sequence[Any], what: str) -> None:
    """Strict mode: refuses what does not depend on the inputs."""
    for index, tensor in enumerate(tensors):
        if tensor is None or not tensor.requires_grad:
            raise RuntimeError((_UNUSED if tensor is None else _CONSTANT[what]).format(index))


def gradients(
    outputs: Sequence[Any],
    inputs: Tensors,
    cotangents: Sequence[Any] | None = None,
    **options: bool,
) -> Sequence[Any]:
    """`autograd.grad` that lets outputs be None or constant: they count as zeros, and all of them give None."""
    indices = [index for index, output in enumerate(outputs) if output is not None and output.requires_grad]
    if not indices:
        return (None,) * len(inputs)
    given = None if cotangents is None else [cotangents[index] for index in indices]
    return grad([outputs[index] for index in indices], inputs, given, allow_unused=True, **options)


_MISSING = {
    "first": _UNUSED,
    "first trick": (
        "The gradient with respect to the input is independent of entry {} in the grad_outputs when using the double "
        "backward trick to compute forward mode gradients. This is not allowed in strict mode."
    ),
    "second": (
        "The jacobian of the user-provided function is independent of input {}. This is not allowed in strict mode."
    ),
    "second trick": (
        "The hessian of the user-provided function is independent of entry {} in the grad_jacobian. This is not "
        "allowed in strict mode as it prevents from using the double backward trick to replace forward mode AD."
    ),
}


def filled(given: Sequence[Any], like: Tensors, derivative: str, strict: bool, create_graph: bool) -> Tensors:
    """Gradients with zeros for those that are missing.

    `derivative` says which one was computed, and whether as a backward of backward. In strict mode it must depend on
    everything, with `create_graph` its own derivative as well.
    """
    results = []
    for index, (gradient, tensor) in enumerate(zip(given, like, strict=True)):
        if strict and gradient is None:
            raise RuntimeError(_MISSING[derivative].format(index))
        if strict and create_graph and not gradient.requires_grad:
            matrix = "jacobian" if derivative.startswith("first") else "hessian"
            raise RuntimeError(
                f"The {matrix} of the user-provided function is independent of input {index}. This is not allowed in "
                "strict mode when create_graph=True."
            )
        results.append(tensor.new_zeros(tuple(tensor.shape)) if gradient is None else gradient)
    return tuple(results)
