"""opweave.utils.hooks: handles of hooks, and which hooks files have."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from .._autograd.node import RemovableHandle
from .._base.warn import warn

__all__ = ["RemovableHandle", "unserializable_hook", "warn_if_has_hooks"]

_Hook = TypeVar("_Hook", bound=Callable[..., Any])


def unserializable_hook(f: _Hook) -> _Hook:
    """Decorator for a hook of a tensor that need not be in files: `save` does not warn of it."""
    f.__torch_unserializable__ = True  # type: ignore[attr-defined]
    return f


def warn_if_has_hooks(tensor: Any) -> None:
    """Warn of hooks of a tensor, which are not written to files."""
    edge = tensor._edge
    hooks = edge[0].hooks if edge is not None else None
    for hook in hooks.of_outputs.get(edge[1], {}).values() if hooks is not None else ():
        if not hasattr(hook, "__torch_unserializable__"):
            warn(
                f"backward hook {hook!r} on tensor will not be serialized.  If this is expected, you can decorate the "
                "function with @opweave.utils.hooks.unserializable_hook to suppress this warning"
            )
