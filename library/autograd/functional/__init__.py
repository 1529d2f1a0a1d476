"""opweave.autograd.functional: products of vectors with Jacobians and Hessians, and these themselves.

Products on the right come from two backward passes: a gradient is linear in the gradient of the output, so its
derivative by that one, in the direction of a vector, is the Jacobian times the vector (J. Townsend, "A new trick for
calculating Jacobian vector products", 2017).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..._autograd.grad_mode import enable_grad, is_grad_enabled, set_grad_enabled
from .arguments import (
    OUTPUTS,
    Tensors,
    check_requires_grad,
    filled,
    finished,
    fresh,
    gradients,
    is_one_number,
    tensors_of,
    unpacked,
    vector,
)
from .matrices import hessian, jacobian

__all__ = ["hessian", "hvp", "jacobian", "jvp", "vhp", "vjp"]


def vjp(
    func: Callable[..., Any], inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False
) -> tuple[Any, Any]:
    """The outputs of `func`, and the product of a vector with its Jacobian, v·J, in the form of the inputs.

    * `inputs`: a tensor or a tuple of tensors, the arguments of `func`, which returns a tensor or a tuple.
    * `v`: has the form of the outputs; may be None where these are one number, for 1.
    * `create_graph`: whether outputs and product have a history.
    * `strict`: refuse outputs that do not depend on the inputs, where the product is zero otherwise.

    Raises TypeError for what is no tensor, RuntimeError for a vector of another form than the outputs.
    """
    with enable_grad():
        inputs_are_tuple, arguments = tensors_of(inputs, "inputs", "vjp")
        arguments = fresh(arguments, create_graph, True)
        outputs_are_tuple, outputs = _outputs(func, arguments, "vjp", strict)
        if v is not None:
            v = vector(v, "vjp", outputs, outputs_are_tuple, create_graph)
        elif not is_one_number(outputs):
            raise RuntimeError(
                "The vector v can only be None if the user-provided function returns a single Tensor with a single "
                "element."
            )
    with set_grad_enabled(create_graph or is_grad_enabled()):
        result = gradients(outputs, arguments, v, create_graph=create_graph)
        product = filled(result, arguments, "first", strict, create_graph)
    return (
        unpacked(finished(outputs, create_graph), outputs_are_tuple),
        unpacked(finished(product, create_graph), inputs_are_tuple),
    )


def jvp(
    func: Callable[..., Any], inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False
) -> tuple[Any, Any]:
    """The outputs of `func`, and the product of its Jacobian with a vector, J·v, in the form of the outputs.

    `v` has the form of the inputs, and may be None where these are one number. Everything else is as for `vjp`. Two
    backward passes compute the product.
    """
    with enable_grad():
        inputs_are_tuple, arguments = tensors_of(inputs, "inputs", "jvp")
        arguments = fresh(arguments, create_graph, True)
        v = _vector_like_inputs(v, "jvp", arguments, inputs_are_tuple, create_graph)
        outputs_are_tuple, outputs = _outputs(func, arguments, "jvp", strict)
        cotangents = _variables(outputs)
        transposed = gradients(outputs, arguments, cotangents, create_graph=True)
        if strict:
            check_requires_grad(transposed, "grad_inputs")
    with set_grad_enabled(create_graph or is_grad_enabled()):
        result = gradients(transposed, cotangents, v, create_graph=create_graph)
        product = filled(result, outputs, "first trick", strict, create_graph)
    return (
        unpacked(finished(outputs, create_graph), outputs_are_tuple),
        unpacked(finished(product, create_graph), outputs_are_tuple),
    )


def vhp(
    func: Callable[..., Any], inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False
) -> tuple[Any, Any]:
    """The one number that `func` returns, and the product of a vector with its Hessian, v·H, in the form of the inputs.

    Arguments and errors are those of `jvp`; RuntimeError also when `func` returns anything but one number.
    """
    inputs_are_tuple, arguments, v, output, jacobian = _scalar_function("vhp", func, inputs, v, create_graph, strict)
    with set_grad_enabled(create_graph or is_grad_enabled()):
        result = gradients(jacobian, arguments, v, create_graph=create_graph)
        product = filled(result, arguments, "second", strict, create_graph)
    return finished(output, create_graph)[0], unpacked(finished(product, create_graph), inputs_are_tuple)


def hvp(
    func: Callable[..., Any], inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False
) -> tuple[Any, Any]:
    """The one number that `func` returns, and the product of its Hessian with a vector, H·v, in the form of the inputs.

    As `vhp`, which takes one backward pass less and gives the same where the Hessian is symmetric.
    """
    inputs_are_tuple, arguments, v, output, jacobian = _scalar_function("hvp", func, inputs, v, create_graph, strict)
    with enable_grad():
        cotangents = _variables(arguments)
        transposed = gradients(jacobian, arguments, cotangents, create_graph=True)
    with set_grad_enabled(create_graph or is_grad_enabled()):
        result = gradients(transposed, cotangents, v, create_graph=create_graph)
        product = filled(result, arguments, "second trick", strict, create_graph)
    return finished(output, create_graph)[0], unpacked(finished(product, create_graph), inputs_are_tuple)


def _scalar_function(
    function: str, func: Callable[..., Any], inputs: Any, v: Any, create_graph: bool, strict: bool
) -> tuple[bool, Tensors, Any, Tensors, Any]:
    """Return what products with a Hessian need: the inputs, the vector, the output and its gradient."""
    with enable_grad():
        inputs_are_tuple, arguments = tensors_of(inputs, "inputs", function)
        arguments = fresh(arguments, create_graph, True)
        v = _vector_like_inputs(v, function, arguments, inputs_are_tuple, create_graph)
        is_tuple, output = _outputs(func, arguments, function, strict)
        if is_tuple:
            raise RuntimeError(f"The function given to {function} should return a single Tensor")
        if not is_one_number(output):
            raise RuntimeError(
                f"The Tensor returned by the function given to {function} should contain a single element"
            )
        jacobian = gradients(output, arguments, create_graph=True)
        if strict:
            check_requires_grad(jacobian, "jacobian")
    return inputs_are_tuple, arguments, v, output, jacobian


def _outputs(func: Callable[..., Any], arguments: Tensors, function: str, strict: bool) -> tuple[bool, Tensors]:
    is_tuple, outputs = tensors_of(func(*arguments), OUTPUTS, function)
    if strict:
        check_requires_grad(outputs, "outputs")
    return is_tuple, outputs


def _vector_like_inputs(v: Any, function: str, arguments: Tensors, is_tuple: bool, create_graph: bool) -> Any:
    if v is not None:
        return vector(v, function, arguments, is_tuple, create_graph)
    if not is_one_number(arguments):
        raise RuntimeError(
            "The vector v can only be None if the input to the user-provided function is a single Tensor with a single "
            "element."
        )
    return None


def _variables(like: Tensors) -> Tensors:
    """Gradients to differentiate by; their value does not matter, as backward is linear in them."""
    return tuple(tensor.new_zeros(tuple(tensor.shape)).requires_grad_() for tensor in like)
