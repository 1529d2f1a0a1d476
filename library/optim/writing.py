"""Helpers of `torch.optim.optimizer` for optimizers that are written for torch."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from .._autograd.grad_mode import set_grad_enabled

__all__ = [
    "_default_to_fused_or_foreach", "_get_capturable_supported_devices", "_get_value", "_stack_if_compiling",
    "_use_grad_for_differentiable", "_view_as_real", "required",
]  # fmt: skip

_Step = TypeVar("_Step", bound=Callable[..., Any])


class _Required:
    def __repr__(self) -> str:
        return "<required parameter>"


required = _Required()
"""The default of an option that has to be given."""


def _use_grad_for_differentiable(func: _Step) -> _Step:
    """Return the step of an optimizer, within which gradients are recorded as the option `differentiable` says."""

    @functools.wraps(func)
    def step(self: Any, *args: Any, **kwargs: Any) -> Any:
        with set_grad_enabled(self.defaults["differentiable"]):
            return func(self, *args, **kwargs)

    return step  # type: ignore[return-value]


def _default_to_fused_or_foreach(
    params: Sequence[Any], differentiable: bool, use_fused: bool = False
) -> tuple[bool, bool]:
    """Return whether a step should be one loop over all parameters, or one call for lists of them: neither."""
    return False, False


def _get_capturable_supported_devices(supports_xla: bool = True) -> list[str]:
    """Return the kinds of devices whose steps can be captured: none."""
    return []


def _get_value(x: Any) -> Any:
    """Return the number that a tensor of one element has; a number as it is."""
    return x.item() if hasattr(x, "item") else x


def _stack_if_compiling(x: Any) -> Any:
    """Return the values."""
    return x


def _view_as_real(params: list[Any], *state_and_grads: list[Any]) -> None:
    """Replace the complex tensors in lists by their real views."""
    from .._operators import view_as_real

    for place, param in enumerate(params):
        if param.is_complex():
            for values in (params, *state_and_grads):
                values[place] = view_as_real(values[place])
