"""opweave.multiprocessing: Python's multiprocessing, whose queues and pipes send tensors without a copy.

A tensor that is sent is moved to memory that processes share, and what arrives is a tensor over the same memory. Where
other tensors have its memory (views, or what it is a view of) it cannot move: then a copy of that moment arrives.
"""

from __future__ import annotations

import multiprocessing as _multiprocessing
from multiprocessing import *  # noqa: F403
from typing import TYPE_CHECKING

from .._names.module_names import submodule
from .reductions import get_all_sharing_strategies, get_sharing_strategy, init_reductions, set_sharing_strategy
from .spawn import (
    ProcessContext,
    ProcessException,
    ProcessExitedException,
    ProcessRaisedException,
    SpawnContext,
    spawn,
    start_processes,
)

if TYPE_CHECKING:
    from typing import Any

__all__ = [
    "ProcessContext",
    "ProcessException",
    "ProcessExitedException",
    "ProcessRaisedException",
    "SpawnContext",
    "get_all_sharing_strategies",
    "get_sharing_strategy",
    "set_sharing_strategy",
    "spawn",
    "start_processes",
    *_multiprocessing.__all__,
]

init_reductions()


def __getattr__(name: str) -> Any:
    return getattr(_multiprocessing, name, None) or submodule(__name__, name)
