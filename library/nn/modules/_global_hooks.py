"""Hooks that are called for all modules."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from ..._autograd.node import RemovableHandle

__all__ = [
    "register_module_backward_hook",
    "register_module_buffer_registration_hook",
    "register_module_forward_hook",
    "register_module_forward_pre_hook",
    "register_module_full_backward_hook",
    "register_module_full_backward_pre_hook",
    "register_module_module_registration_hook",
    "register_module_parameter_registration_hook",
]

Hooks = OrderedDict  # by the number of their handle


@dataclass
class _All:
    """The hooks of all modules."""

    forward_pre: OrderedDict[int, Any] = field(default_factory=Hooks)
    forward: OrderedDict[int, Any] = field(default_factory=Hooks)
    with_kwargs: set[int] = field(default_factory=set)
    always: set[int] = field(default_factory=set)
    backward_pre: OrderedDict[int, Any] = field(default_factory=Hooks)
    backward: OrderedDict[int, Any] = field(default_factory=Hooks)
    full: bool | None = None
    """True if hooks of the backward pass are full ones; None: there have been none."""


ALL = _All()
_REGISTRATION: dict[str, OrderedDict[int, Any]] = {kind: OrderedDict() for kind in ("buffer", "module", "parameter")}

_global_buffer_registration_hooks = _REGISTRATION["buffer"]
_global_module_registration_hooks = _REGISTRATION["module"]
_global_parameter_registration_hooks = _REGISTRATION["parameter"]


def registered(kind: str, module: Any, name: str, value: Any) -> Any:
    """Return what is registered as a member of a module, as the hooks leave it."""
    for hook in _REGISTRATION[kind].values():
        other = hook(module, name, value)
        value = value if other is None else other
    return value


def register_module_buffer_registration_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Call `hook(module, name, buffer)` whenever a buffer is registered; it may return another one instead."""
    return RemovableHandle(_REGISTRATION["buffer"], hook)


def register_module_module_registration_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Call `hook(module, name, part)` whenever a part is registered; it may return another one instead."""
    return RemovableHandle(_REGISTRATION["module"], hook)


def register_module_parameter_registration_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Call `hook(module, name, parameter)` whenever a parameter is registered; it may return another one instead."""
    return RemovableHandle(_REGISTRATION["parameter"], hook)


def register_module_forward_pre_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Call `hook(module, inputs)` before the forward of any module; it may return other inputs."""
    return RemovableHandle(ALL.forward_pre, hook)


def register_module_forward_hook(
    hook: Callable[..., Any], *, with_kwargs: bool = False, always_call: bool = False
) -> RemovableHandle:
    """Call `hook(module, inputs, output)` after the forward of any module; it may return another output.

    Args:
        hook: the function.
        with_kwargs (bool): whether it is called as `hook(module, inputs, keywords, output)`.
        always_call (bool): whether it is called also if the forward raises.
    """
    handle = RemovableHandle(ALL.forward, hook)
    if with_kwargs:
        ALL.with_kwargs.add(handle.id)
    if always_call:
        ALL.always.add(handle.id)
    return handle


def _backward_handle(hook: Callable[..., Any], full: bool) -> RemovableHandle:
    if ALL.full is not None and ALL.full is not full:
        raise RuntimeError(
            "Cannot use both regular backward hooks and full backward hooks as a global Module hook. Please use only "
            "one of them."
        )
    ALL.full = full
    return RemovableHandle(ALL.backward, hook)


def register_module_backward_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Call `hook(module, grad_input, grad_output)` of the last node of any module's forward: use full hooks instead."""
    return _backward_handle(hook, False)


def register_module_full_backward_pre_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Call `hook(module, grad_output)` before the backward of any module; it may return other gradients."""
    return RemovableHandle(ALL.backward_pre, hook)


def register_module_full_backward_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Call `hook(module, grad_input, grad_output)` after the backward of any module; it may return other gradients of
    the input.
    """
    return _backward_handle(hook, True)
