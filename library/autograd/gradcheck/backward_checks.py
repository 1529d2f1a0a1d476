"""Checks of backward beside its numbers: gradients that are zero, undefined, or a batch of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from ... import _operators
from ..._autograd.backward_api import grad
from ..function import Function
from .jacobians import GradcheckError, as_tuple, differentiable

if TYPE_CHECKING:
    from ..._tensor.tensor import Tensor

__all__ = ["check_batches", "check_undefined_gradients", "check_zero_gradients"]


def check_zero_gradients(outputs: Sequence[Tensor], targets: Sequence[Tensor]) -> None:
    """Raise GradcheckError unless zero gradients of the outputs give zero gradients of the inputs."""
    gradients = grad(outputs, targets, [_zeros(output) for output in outputs], allow_unused=True)
    for gradient, target in zip(gradients, targets, strict=True):
        if gradient is None:
            continue
        if gradient.ne(0).any():
            raise GradcheckError("backward not multiplied by grad_output")
        if gradient.dtype != target.dtype:
            raise GradcheckError("grad is incorrect type")
        if gradient.shape != target.shape:
            raise GradcheckError("grad is incorrect size")


class _Undefined(Function):
    """The tensor itself; its gradient becomes undefined on the way back."""

    @staticmethod
    def forward(ctx: Any, values: Any) -> Any:
        return values.view_as(values)

    @staticmethod
    def backward(ctx: Any, *gradients: Any) -> Any:
        return None


def check_undefined_gradients(func: Callable[..., Any], inputs: Sequence[Any], targets: Sequence[Tensor]) -> None:
    """Check that undefined gradients of all outputs, and of each of several, count as zeros."""
    outputs = differentiable(as_tuple(func(*inputs)))
    _check_zero_or_undefined([_Undefined.apply(output) for output in outputs], targets)
    for undefined in range(len(outputs)) if len(outputs) > 1 else ():
        outputs = differentiable(as_tuple(func(*inputs)))
        outputs[undefined] = _Undefined.apply(outputs[undefined])
        _check_zero_or_undefined(outputs, targets)


def _check_zero_or_undefined(outputs: Sequence[Any], targets: Sequence[Tensor]) -> None:
    try:
        gradients = grad(outputs, targets, [_zeros(output) for output in outputs], allow_unused=True)
    except RuntimeError as error:
        raise GradcheckError(
            "Expected backward function to handle undefined output grads: a gradient that is None stands for zeros. "
            "`check_undefined_grad=False` leaves this check out."
        ) from error
    for gradient in gradients:
        if gradient is not None and gradient.ne(0).any():
            raise GradcheckError(
                "Expected all input grads to be undefined or zero when all output grads are undefined or zero. "
                "`check_undefined_grad=False` leaves this check out."
            )


def check_batches(output: Tensor, index: int, targets: Sequence[Tensor]) -> None:
    """Check that gradients computed of a batch are those of its members."""
    cotangents = [_zeros(output) for _ in range(2)]
    for cotangent in cotangents:
        (_operators.view_as_real(cotangent) if cotangent.is_complex() else cotangent).normal_()
    members = [grad(output, targets, cotangent, retain_graph=True, allow_unused=True) for cotangent in cotangents]
    try:
        batches = grad(
            output, targets, _operators.stack(cotangents), retain_graph=True, allow_unused=True, is_grads_batched=True
        )
    except RuntimeError as error:
        raise GradcheckError(f"While computing batched gradients, got: {error}") from error
    for target, (batch, one, other) in enumerate(zip(batches, *members, strict=True)):
        if batch is None and one is None:
            continue
        expected = _operators.stack([one, other])
        if not batch.allclose(expected):
            raise GradcheckError(
                f"For output {index} and input {target}:\n\nThe gradients of a batch are not those of its members; "
                "`check_batched_grad=False` leaves this check out.\n\n"
                f"Got:\n{batch}\n\nExpected:\n{expected}"
            )


def _zeros(like: Tensor) -> Any:
    return like.new_zeros(tuple(like.shape))
