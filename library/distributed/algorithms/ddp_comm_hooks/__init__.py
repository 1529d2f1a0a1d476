"""Communication hooks of DistributedDataParallel, and their names."""

from __future__ import annotations

from enum import Enum
from functools import partial
from types import ModuleType
from typing import TYPE_CHECKING, Any

from ...._names.module_names import submodule
from . import default_hooks

__all__ = ["DDPCommHookType", "register_ddp_comm_hook"]


class DDPCommHookType(Enum):
    """The names of communication hooks, for `register_ddp_comm_hook`."""

    ALLREDUCE = partial(default_hooks.allreduce_hook)
    FP16_COMPRESS = partial(default_hooks.fp16_compress_hook)
    BF16_COMPRESS = partial(default_hooks.bf16_compress_hook)


def register_ddp_comm_hook(comm_hook_type: DDPCommHookType, model: Any, state: Any = None) -> None:
    """Register the communication hook of this name with a DistributedDataParallel."""
    model.register_comm_hook(state, comm_hook_type.value.func)


if not TYPE_CHECKING:  # type checkers would take every name for one of these

    def __getattr__(name: str) -> ModuleType:
        return submodule(__name__, name)
