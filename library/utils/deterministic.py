"""opweave.utils.deterministic: `fill_uninitialized_memory`, which is True unless it is set.

While it is, and `use_deterministic_algorithms` asked for it, elements that nothing was written to are NaN, of integers
and bool the largest value: those of `empty` and its like, and of tensors that `resize_` makes larger.
"""

from __future__ import annotations

import sys
from types import ModuleType

from .._base.determinism import fills_uninitialized_memory, set_fills_uninitialized_memory

__all__ = ["fill_uninitialized_memory"]

fill_uninitialized_memory: bool


class _Module(ModuleType):
    @property
    def fill_uninitialized_memory(self) -> bool:
        return fills_uninitialized_memory()

    @fill_uninitialized_memory.setter
    def fill_uninitialized_memory(self, mode: bool) -> None:
        set_fills_uninitialized_memory(mode)


sys.modules[__name__].__class__ = _Module
