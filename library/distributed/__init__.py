"""The namespace `opweave.distributed`: several processes with one model, which opweave does not have yet.

`is_available()` is False, which programs ask before they use the rest. Its names can be imported; those of functions
and classes say what is missing where they are called.
"""

from __future__ import annotations

from datetime import timedelta
from enum import Enum
from types import ModuleType
from typing import TYPE_CHECKING, Any, NoReturn

from .._names.module_names import submodule
from .._names.refusals import refused_class, refused_function

_ONE = "opweave computes in one process. Ask is_available() before, which is False"
_CLASSES = (
    "Backend", "DeviceMesh", "FileStore", "HashStore", "P2POp", "PrefixStore", "ProcessGroup", "ProcessGroupGloo",
    "ProcessGroupNCCL", "Store", "TCPStore", "Work",
)  # fmt: skip
_FUNCTIONS = (
    "_get_default_group",
    "all_gather", "all_gather_coalesced", "all_gather_into_tensor", "all_gather_object", "all_reduce",
    "all_reduce_coalesced", "all_to_all", "all_to_all_single", "barrier", "batch_isend_irecv", "broadcast",
    "broadcast_object_list", "destroy_process_group", "gather", "gather_object",
    "get_global_rank", "get_group_rank", "get_process_group_ranks", "init_device_mesh",
    "init_process_group", "irecv", "isend", "monitored_barrier", "new_group", "new_subgroups", "recv",
    "recv_object_list", "reduce", "reduce_scatter", "reduce_scatter_tensor", "scatter", "scatter_object_list", "send",
)  # fmt: skip

globals().update({name: refused_class(__name__, name, _ONE) for name in _CLASSES})
globals().update({name: refused_function(__name__, name, _ONE) for name in _FUNCTIONS})

_QUESTIONS = (
    "get_backend", "get_rank", "get_world_size", "group", "is_available", "is_gloo_available", "is_initialized",
    "is_mpi_available", "is_nccl_available", "is_torchelastic_launched", "is_ucc_available", "is_xccl_available",
)  # fmt: skip
__all__ = sorted({*_CLASSES, *_FUNCTIONS, *_QUESTIONS, "GroupMember", "ReduceOp"})

default_pg_timeout = default_pg_nccl_timeout = timedelta(minutes=30)
"""The time for which processes wait for one another in torch."""


if not TYPE_CHECKING:  # type checkers would take every name for one of these

    def __getattr__(name: str) -> ModuleType:
        return submodule(__name__, name)


class ReduceOp(Enum):
    """The reductions that processes apply to their tensors."""

    SUM = "sum"
    AVG = "avg"
    PRODUCT = "product"
    MIN = "min"
    MAX = "max"
    BAND = "band"
    BOR = "bor"
    BXOR = "bxor"
    PREMUL_SUM = "premul_sum"


class group:  # noqa: N801 (PyTorch's name)
    """The namespace in which programs look for the group of all processes, which is None."""

    WORLD = None


class GroupMember:
    """The namespace in which programs look for the group of all processes (None), and for the mark of processes outside
    of a group."""

    WORLD = None
    NON_GROUP_MEMBER = -100


def is_available() -> bool:
    """Return whether several processes can share a model: False."""
    return False


def is_initialized() -> bool:
    """Return whether there is a group of processes: False."""
    return False


is_gloo_available = is_mpi_available = is_nccl_available = is_ucc_available = is_xccl_available = is_available
is_torchelastic_launched = is_initialized


def _without_group(*args: Any, **kwargs: Any) -> NoReturn:
    """Raise ValueError, as torch does before there is a group of processes."""
    raise ValueError("Default process group has not been initialized, please make sure to call init_process_group.")


get_backend = get_rank = get_world_size = _without_group
