"""opweave.nn.attention: which way `scaled_dot_product_attention` is computed, of which there is one."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from enum import IntEnum
from typing import Any

from . import bias

__all__ = [
    "WARN_FOR_UNFUSED_KERNELS", "SDPBackend", "activate_flash_attention_impl", "bias", "current_flash_attention_impl",
    "list_flash_attention_impls", "register_flash_attention_impl", "restore_flash_attention_impl", "sdpa_kernel",
]  # fmt: skip

WARN_FOR_UNFUSED_KERNELS = False


class SDPBackend(IntEnum):
    """Ways of computing attention in PyTorch."""

    ERROR = -1
    MATH = 0
    FLASH_ATTENTION = 1
    EFFICIENT_ATTENTION = 2
    CUDNN_ATTENTION = 3
    OVERRIDEABLE = 4

    def __repr__(self) -> str:
        return f"<SDPBackend.{self.name}: {self.value}>"

    __str__ = IntEnum.__repr__


@contextmanager
def sdpa_kernel(backends: Any, set_priority: bool = False) -> Iterator[dict[Any, Any]]:
    """A block in which attention is computed in one of some ways: without effect, as there is one way.

    Raises:
        AssertionError: they are no members of SDPBackend.
    """
    listed = [backends] if isinstance(backends, SDPBackend) else backends
    if not (isinstance(listed, (list, tuple)) and all(isinstance(each, SDPBackend) for each in listed)):
        raise AssertionError("Backend must be an instance of SDPBackend or a list of SDPBackend instances")
    yield {}


def list_flash_attention_impls() -> list[str]:
    """Return the names of other implementations: there are none."""
    return []


def current_flash_attention_impl() -> str | None:
    """Return the name of the implementation in use, if it is not opweave's: None."""
    return None


def register_flash_attention_impl(impl: str, *, register_fn: Callable[..., Any]) -> None:
    """Raise NotImplementedError: there is one implementation."""
    raise NotImplementedError("register_flash_attention_impl() is not supported: opweave has one implementation")


def activate_flash_attention_impl(impl: str) -> None:
    """Raise ValueError: there is one implementation."""
    raise ValueError(f"Unknown flash attention impl '{impl}'. Available implementations: []")


def restore_flash_attention_impl() -> None:
    """Do nothing: there is one implementation."""
