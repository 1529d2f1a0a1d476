"""Algorithms built on collectives: uneven inputs (`join`), and how gradients are combined (`ddp_comm_hooks`)."""

from __future__ import annotations

from types import ModuleType
from typing import TYPE_CHECKING

from ..._names.module_names import submodule
from .join import Join, Joinable, JoinHook

__all__ = ["Join", "JoinHook", "Joinable"]

if not TYPE_CHECKING:  # type checkers would take every name for one of these

    def __getattr__(name: str) -> ModuleType:
        return submodule(__name__, name)
