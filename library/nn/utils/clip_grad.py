"""Limits of gradients."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ... import _operators as ops
from ..._autograd.grad_mode import no_grad
from ..._base.tensor_class import Tensor
from ..._base.warn import warn

__all__ = ["clip_grad_norm", "clip_grad_norm_", "clip_grad_value_", "clip_grads_with_norm_", "get_total_norm"]


def _listed(tensors: Any) -> list[Any]:
    return [tensors] if isinstance(tensors, Tensor) else list(tensors)


def get_total_norm(
    tensors: Any, norm_type: float = 2.0, error_if_nonfinite: bool = False, foreach: bool | None = None
) -> Any:
    """Return the norm of all numbers of some tensors together.

    Args:
        tensors (iterable of Tensor): the tensors.
        norm_type (float): the order of the norm; may be infinite.
        error_if_nonfinite (bool): whether an infinite or undefined norm is an error.
        foreach: without effect.

    Raises:
        RuntimeError: the norm is not finite, and that is an error.
    """
    listed = _listed(tensors)
    if not listed:
        return ops.scalar_tensor(0.0)
    with no_grad():
        parts = ops.stack([ops.norm(each.detach(), float(norm_type)) for each in listed])
        total = ops.norm(parts, float(norm_type))
    if error_if_nonfinite and not bool(total.isfinite()):
        raise RuntimeError(
            f"The total norm of order {float(norm_type)} for gradients from `parameters` is non-finite, so it cannot "
            "be clipped. To disable this error and scale the gradients by the non-finite norm anyway, set "
            "`error_if_nonfinite=False`"
        )
    return total


def clip_grads_with_norm_(parameters: Any, max_norm: float, total_norm: Any, foreach: bool | None = None) -> None:
    """Scale gradients down by `max_norm / total_norm`, if that is less than one, in place."""
    with no_grad():
        factor = (float(max_norm) / (total_norm + 1e-6)).clamp(max=1.0)
        for each in _listed(parameters):
            if each.grad is not None:
                each.grad.mul_(factor)


def clip_grad_norm_(
    parameters: Any,
    max_norm: float,
    norm_type: float = 2.0,
    error_if_nonfinite: bool = False,
    foreach: bool | None = None,
) -> Any:
    """Scale the gradients of all parameters down, in place, so that the norm of all together is at most `max_norm`.

    Args:
        parameters (iterable of Tensor): those without a gradient do not count.
        max_norm (float): the limit.
        norm_type (float): the order of the norm; may be infinite.
        error_if_nonfinite (bool): whether an infinite or undefined norm is an error.
        foreach: without effect.

    Returns:
        The norm before.

    Raises:
        RuntimeError: the norm is not finite, and that is an error.
    """
    listed = _listed(parameters)
    total = get_total_norm([each.grad for each in listed if each.grad is not None], norm_type, error_if_nonfinite)
    clip_grads_with_norm_(listed, max_norm, total)
    return total


def clip_grad_norm(
    parameters: Any,
    max_norm: float,
    norm_type: float = 2.0,
    error_if_nonfinite: bool = False,
    foreach: bool | None = None,
) -> Any:
    """The same as `clip_grad_norm_`, which is to be used."""
    warn("`nn.utils.clip_grad_norm` is now deprecated in favor of `nn.utils.clip_grad_norm_`.", FutureWarning)
    return clip_grad_norm_(parameters, max_norm, norm_type, error_if_nonfinite, foreach)


def clip_grad_value_(parameters: Iterable[Any], clip_value: float, foreach: bool | None = None) -> None:
    """Limit each element of the gradients to the range from `-clip_value` to `clip_value`, in place."""
    limit = float(clip_value)
    with no_grad():
        for each in _listed(parameters):
            if each.grad is not None:
                each.grad.clamp_(-limit, limit)
