"""The function `swap_tensor`, which libraries take from here."""

from __future__ import annotations

from typing import Any

from .stateless import _ABSENT, _exchange

__all__ = ["swap_tensor"]


def swap_tensor(module: Any, name: str, tensor: Any, allow_missing: bool = False) -> Any:
    """Put a tensor in the place of a parameter, buffer or attribute of a module, and return what was there.

    Args:
        module (Module): the module.
        name (str): of the member of it.
        tensor (Tensor): the tensor, or what a swap returned where there was none, which leaves none.
        allow_missing (bool): whether there may be none.

    Raises:
        KeyError: the name is empty, or has a dot.
        AttributeError: the module has no such member.
        TypeError: what is there, or the tensor, is no tensor.
    """
    if "." in name:
        raise KeyError('tensor name can\'t contain "."')
    if not allow_missing and not hasattr(module, name):
        raise AttributeError(f"{module._get_name()} has no attribute `{name}`")
    return _exchange(module, name, tensor)


_MISSING = _ABSENT
