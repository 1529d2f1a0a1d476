"""opweave.nn.grad: gradients of convolutions by their input and their weight, given that of the result."""

from __future__ import annotations

from typing import Any

from .._autograd.backward_api import grad
from .._autograd.grad_mode import enable_grad
from . import functional

__all__ = ["conv1d_input", "conv1d_weight", "conv2d_input", "conv2d_weight", "conv3d_input", "conv3d_weight"]


def _derivatives(dims: int) -> tuple[Any, Any]:
    """The functions for convolutions of so many dimensions."""
    convolve = getattr(functional, f"conv{dims}d")

    def by_input(
        input_size: Any,
        weight: Any,
        grad_output: Any,
        stride: Any = 1,
        padding: Any = 0,
        dilation: Any = 1,
        groups: int = 1,
    ) -> Any:
        with enable_grad():
            variable = weight.new_zeros(tuple(input_size)).requires_grad_()
            result = convolve(variable, weight.detach(), None, stride, padding, dilation, groups)
        return grad(result, variable, grad_output)[0]

    def by_weight(
        input: Any,
        weight_size: Any,
        grad_output: Any,
        stride: Any = 1,
        padding: Any = 0,
        dilation: Any = 1,
        groups: int = 1,
    ) -> Any:
        with enable_grad():
            variable = input.new_zeros(tuple(weight_size)).requires_grad_()
            result = convolve(input.detach(), variable, None, stride, padding, dilation, groups)
        return grad(result, variable, grad_output)[0]

    for function, argument, size in ((by_input, "input", "input_size"), (by_weight, "weight", "weight_size")):
        function.__name__ = function.__qualname__ = f"conv{dims}d_{argument}"
        function.__doc__ = (
            f"Return the gradient of conv{dims}d by its {argument}, of the shape `{size}`, given that of the result. "
            f"The other arguments and the errors are those of conv{dims}d."
        )
    return by_input, by_weight


conv1d_input, conv1d_weight = _derivatives(1)
conv2d_input, conv2d_weight = _derivatives(2)
conv3d_input, conv3d_weight = _derivatives(3)
