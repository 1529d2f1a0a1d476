"""The namespace `opweave.distributed`: processes that compute together, by MPI (docs/distributed.md).

MPI is loaded by `init_process_group`, where there is more than one process. Names of torch that have no meaning here
can be imported; those of functions and classes say what is missing where they are called.
"""

from __future__ import annotations

from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING

from .._names.module_names import submodule
from .._names.refusals import refused_class
from .backends import Backend
from .checks import get_global_rank, get_group_rank
from .coalesced import all_gather_coalesced, all_reduce_coalesced
from .collectives import (
    all_gather,
    all_gather_into_tensor,
    all_reduce,
    all_to_all,
    all_to_all_single,
    barrier,
    broadcast,
    gather,
    reduce,
    reduce_scatter,
    reduce_scatter_tensor,
    scatter,
)
from .device_mesh import DeviceMesh, init_device_mesh
from .errors import DistBackendError, DistError, DistNetworkError, DistStoreError, QueueEmptyError
from .file_store import FileStore
from .initialization import (
    default_pg_timeout,
    destroy_process_group,
    get_backend,
    get_backend_config,
    get_node_local_rank,
    get_pg_count,
    get_process_group_ranks,
    get_rank,
    get_world_size,
    init_process_group,
    is_available,
    is_backend_available,
    is_initialized,
    is_mpi_available,
    is_torchelastic_launched,
    new_group,
    new_subgroups,
    new_subgroups_by_enumeration,
    split_group,
)
from .monitored_barrier import monitored_barrier
from .objects import (
    all_gather_object,
    broadcast_object_list,
    gather_object,
    recv_object_list,
    scatter_object_list,
    send_object_list,
)
from .point_to_point import P2POp, batch_isend_irecv, irecv, isend, recv, send
from .process_group import GroupMember, ProcessGroup, group
from .process_group import default_group as _get_default_group  # noqa: F401 (which programs call)
from .reduce_op import ReduceOp
from .reducer import GradBucket
from .stores import HashStore, PrefixStore, Store
from .tcp_store import TCPStore
from .work import Work

_SUBMODULES = ("checkpoint", "elastic", "fsdp", "tensor")
"""Modules that are imported when they are first asked for."""
_ONE = "opweave computes on devices of one process, and by one backend"
_CLASSES = ("ProcessGroupGloo", "ProcessGroupNCCL")

globals().update({name: refused_class(__name__, name, _ONE) for name in _CLASSES})

__all__ = [
    *_CLASSES,
    "Backend",
    "DeviceMesh",
    "DistBackendError",
    "DistError",
    "DistNetworkError",
    "DistStoreError",
    "FileStore",
    "GradBucket",
    "GroupMember",
    "HashStore",
    "P2POp",
    "PrefixStore",
    "ProcessGroup",
    "QueueEmptyError",
    "ReduceOp",
    "Store",
    "TCPStore",
    "Work",
    "all_gather",
    "all_gather_coalesced",
    "all_gather_into_tensor",
    "all_gather_object",
    "all_reduce",
    "all_reduce_coalesced",
    "all_to_all",
    "all_to_all_single",
    "barrier",
    "batch_isend_irecv",
    "broadcast",
    "broadcast_object_list",
    "default_pg_timeout",
    "destroy_process_group",
    "gather",
    "gather_object",
    "get_backend",
    "get_backend_config",
    "get_global_rank",
    "get_group_rank",
    "get_node_local_rank",
    "get_pg_count",
    "get_process_group_ranks",
    "get_rank",
    "get_world_size",
    "group",
    "init_device_mesh",
    "init_process_group",
    "irecv",
    "is_available",
    "is_backend_available",
    "is_gloo_available",
    "is_initialized",
    "is_mpi_available",
    "is_nccl_available",
    "is_torchelastic_launched",
    "is_ucc_available",
    "is_xccl_available",
    "isend",
    "monitored_barrier",
    "new_group",
    "new_subgroups",
    "new_subgroups_by_enumeration",
    "recv",
    "recv_object_list",
    "reduce",
    "reduce_scatter",
    "reduce_scatter_tensor",
    "scatter",
    "scatter_object_list",
    "send",
    "send_object_list",
    "split_group",
]

default_pg_nccl_timeout = default_pg_timeout
_get_global_rank = get_global_rank
_all_gather_base = all_gather_into_tensor
_reduce_scatter_base = reduce_scatter_tensor


def is_nccl_available() -> bool:
    """Return whether there is the backend NCCL: False. Groups may be made with its name."""
    return False


is_gloo_available = is_ucc_available = is_xccl_available = is_nccl_available


if not TYPE_CHECKING:  # type checkers would take every name for one of these

    def __getattr__(name: str) -> ModuleType:
        return import_module(f".{name}", __name__) if name in _SUBMODULES else submodule(__name__, name)
