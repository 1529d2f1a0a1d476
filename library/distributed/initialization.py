"""The group of all processes, and groups of some of them: how they are made, asked about and left."""

from __future__ import annotations

import itertools
import os
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

from .agreement import Call
from .backends import Backend, named_backend
from .checks import check_timeout
from .engine import Engine, has_mpi, is_under_mpiexec, start
from .process_group import GroupMember, ProcessGroup, default_group, given_group, is_outside
from .rendezvous import rendezvous
from .stores import PrefixStore, Store
from .work import agree

__all__ = [
    "default_pg_timeout",
    "destroy_process_group",
    "get_backend",
    "get_backend_config",
    "get_node_local_rank",
    "get_pg_count",
    "get_process_group_ranks",
    "get_rank",
    "get_world_size",
    "init_process_group",
    "is_available",
    "is_backend_available",
    "is_initialized",
    "is_mpi_available",
    "is_torchelastic_launched",
    "new_group",
    "new_subgroups",
    "new_subgroups_by_enumeration",
    "split_group",
]

default_pg_timeout = timedelta(minutes=30)
"""The time for which a call waits for other ranks, unless a group is made with another timeout."""

_VARIABLES = ("RANK", "WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT")
_groups: list[ProcessGroup] = []
_numbers = itertools.count()


def is_available() -> bool:
    """Return whether processes can compute together: True. Groups of several need mpi4py (`is_mpi_available`)."""
    return True


def is_mpi_available() -> bool:
    """Return whether mpi4py is installed, which groups of several processes need."""
    return has_mpi()


def is_backend_available(backend: str) -> bool:
    """Return whether there is a backend of this name, other than as a name for MPI."""
    return backend.lower() == Backend.MPI and has_mpi()


def is_initialized() -> bool:
    """Return whether there is a group of all processes."""
    return GroupMember.WORLD is not None


def is_torchelastic_launched() -> bool:
    """Return whether opweave.distributed.run has started this process."""
    return "TORCHELASTIC_RUN_ID" in os.environ


def init_process_group(
    backend: str | None = None,
    init_method: str | None = None,
    timeout: timedelta | None = None,
    world_size: int = -1,
    rank: int = -1,
    store: Store | None = None,
    group_name: str = "",
    pg_options: Any = None,
    device_id: Any = None,
    _ranks: Sequence[int] | None = None,
) -> None:
    """Make the group of all processes, which all of them must call.

    Under mpiexec no argument is needed. Other processes find one another by a store, or by an `init_method`: `env://`
    (the default: variables RANK, WORLD_SIZE, MASTER_ADDR and MASTER_PORT, as opweave.distributed.run sets them),
    `tcp://host:port` or `file:///path`. A process that is told nothing is a group of its own.

    Args:
        backend (str): `mpi`; others, as `gloo` and `nccl`, are accepted and stand for it.
        timeout (timedelta): how long this and later calls wait for other ranks; 30 minutes by default.
        world_size, rank (int): the number of processes, and that of this one.

    Raises:
        ValueError: there is such a group already, or an argument or a variable is missing.
        DistStoreError: not all ranks have arrived within the timeout; the message names those that are missing.
        DistNetworkError: the port is in use, or rank 0 cannot be reached.
        ModuleNotFoundError: there are several processes, and mpi4py is not installed.
    """
    if GroupMember.WORLD is not None:
        raise ValueError("trying to initialize the default process group twice!")
    if store is not None:
        if init_method is not None:
            raise AssertionError("Cannot specify both init_method and store.")
        if world_size <= 0:
            raise AssertionError("world_size must be positive if using store")
        if rank < 0:
            raise AssertionError("rank must be non-negative if using store")
    timeout = default_pg_timeout if timeout is None else timeout
    check_timeout(timeout)
    is_told = any(name in os.environ for name in _VARIABLES) or init_method not in (None, "env://") or rank >= 0
    named = None if backend is None else named_backend(backend)
    needs_store = not is_under_mpiexec() and (
        is_told or named not in (None, Backend.MPI, Backend.UNDEFINED) or world_size > 0
    )
    if store is None and needs_store:
        store, rank, world_size = rendezvous(init_method or "env://", rank, world_size, timeout)
        store.set_timeout(timeout)
    elif store is None and not is_under_mpiexec():
        rank, world_size = 0, 1
    seconds = timeout.total_seconds()
    engine = None if world_size == 1 else start(rank, world_size, store, seconds)
    if engine is not None and engine.size > 1:
        rank, world_size, comm = engine.rank, engine.size, engine.duplicate(engine.world, range(engine.size), seconds)
    else:
        engine, comm, rank, world_size = None, None, 0, 1
    GroupMember.WORLD = ProcessGroup(
        engine,
        comm,
        range(world_size),
        rank,
        named or Backend(Backend.MPI),
        timeout,
        str(next(_numbers)),
        "default_pg",
        None if store is None else PrefixStore("default_pg", store),
    )
    _groups.append(GroupMember.WORLD)


def destroy_process_group(group: ProcessGroup | None = None) -> None:
    """Forget a group; None: all of them. Another group of all processes can be made afterwards.

    Raises:
        ValueError: there is no such group.
    """
    if is_outside(group):
        return
    world = GroupMember.WORLD
    if group is None and world is None:
        raise AssertionError("Process group cannot be None")
    if group not in (None, *_groups):
        raise ValueError("Invalid process group specified")
    if group is not None and group is not world:
        _groups.remove(group)
        group.free()
        return
    assert world is not None
    GroupMember.WORLD = None
    for each in _groups:
        each.free()
    _groups.clear()
    store = world.store.underlying_store if isinstance(world.store, PrefixStore) else None
    if store is not None and hasattr(store, "close"):
        store.close()


def get_rank(group: ProcessGroup | None = None) -> int:
    """Return the number of this process in a group (None: that of all processes); -1 outside of it.

    Raises:
        ValueError: there is no group yet.
    """
    return -1 if is_outside(group) else given_group(group).rank()


def get_world_size(group: ProcessGroup | None = None) -> int:
    """Return the number of processes in a group (None: that of all processes); -1 outside of it.

    Raises:
        ValueError: there is no group yet.
    """
    return -1 if is_outside(group) else given_group(group).size()


def get_backend(group: ProcessGroup | None = None) -> Backend:
    """Return the name of the backend with which a group was made; all of them are MPI.

    Raises:
        ValueError: there is no group yet, or this process is not in it.
    """
    if is_outside(group):
        raise ValueError("Invalid process group specified")
    return given_group(group).backend


def get_backend_config(group: ProcessGroup | None = None) -> str:
    """Return the name of the backend for each kind of device, as `cpu:mpi`."""
    return f"cpu:{get_backend(group)}"


def get_process_group_ranks(group: ProcessGroup | None) -> list[int]:
    """Return the numbers, among all processes, of those of a group."""
    return list(given_group(group).ranks)


def get_pg_count() -> int:
    """Return the number of groups."""
    return len(_groups)


def get_node_local_rank(fallback_rank: int | None = None) -> int:
    """Return the number of this process on its machine: the variable LOCAL_RANK.

    Raises:
        RuntimeError: it is not set, and there is no other number to return.
    """
    if "LOCAL_RANK" in os.environ:
        return int(os.environ["LOCAL_RANK"])
    if fallback_rank is not None:
        return int(fallback_rank)
    raise RuntimeError(
        "LOCAL_RANK is not in the environment. Consider passing fallback_rank to allow `get_node_local_rank` to work."
    )


def new_group(
    ranks: Sequence[int] | None = None,
    timeout: timedelta | None = None,
    backend: str | None = None,
    pg_options: Any = None,
    use_local_synchronization: bool = False,
    group_desc: str | None = None,
    device_id: Any = None,
    sort_ranks: bool = True,
) -> Any:
    """Make a group of some of the processes, which all processes must call; with `use_local_synchronization` its
    members.

    Args:
        ranks (list of int): those of the members; None: all.
        timeout (timedelta): how long its calls wait; None: as the group of all processes.

    Returns:
        The group; in a process that is no member of it, GroupMember.NON_GROUP_MEMBER.

    Raises:
        ValueError: there is no such rank, or one occurs twice.
        DistBackendError: a rank has ended, calls something else, or does not arrive.
    """
    world = default_group()
    timeout = world.timeout if timeout is None else timeout
    check_timeout(timeout)
    members = list(world.ranks if ranks is None else ranks)
    if sort_ranks:
        members.sort()
    if len(members) > world.size():
        raise ValueError(
            "the new group's world size should be less or equal to the world size set by init_process_group"
        )
    if len(set(members)) < len(members):
        raise ValueError(f"the new group has ranks twice: {members}")
    if any(not 0 <= each < world.size() for each in members):
        raise ValueError("The new group's rank should be within the world_size set by init_process_group")
    if not use_local_synchronization:
        agree(world, Call("new_group", numbers=tuple(members)))
    name = str(next(_numbers))
    if world.rank() not in members:
        return GroupMember.NON_GROUP_MEMBER
    named = world.backend if backend is None else named_backend(backend)
    comm = _communicator(world.engine, members, timeout.total_seconds())
    made = ProcessGroup(
        world.engine, comm, members, world.rank(), named, timeout, name,
        group_desc or "undefined", world.store,
    )  # fmt: skip
    _groups.append(made)
    return made


def _communicator(engine: Engine | None, members: Sequence[int], seconds: float) -> Any:
    """The communicator of the members. They meet first, as MPI would wait for ever for one that does not arrive."""
    if engine is None or len(members) == 1:
        return None
    engine.meet(members, seconds)
    chosen = engine.world.Get_group().Incl(members)
    return engine.world.Create_group(chosen)


def split_group(
    parent_pg: ProcessGroup | None = None,
    split_ranks: list[list[int]] | None = None,
    timeout: timedelta | None = None,
    pg_options: Any = None,
    group_desc: str | None = None,
    backend: str | None = None,
) -> ProcessGroup | None:
    """Make groups of the processes of another one, which all of its processes must call.

    Args:
        parent_pg (ProcessGroup): the other group; None: that of all processes.
        split_ranks (list of list of int): the members of each group, by their numbers in the other one.
        timeout (timedelta): how long calls wait; None: as in the other group.

    Returns:
        The group that this process is in; None: it is in none.

    Raises:
        ValueError: there are no groups, a rank is in two of them, or is none of the other group.
        DistBackendError: a rank has ended, calls something else, or does not arrive.
    """
    if not split_ranks:
        raise ValueError("split_ranks cannot be None or empty")
    parent = given_group(parent_pg)
    every = [rank for ranks in split_ranks for rank in ranks]
    if len(set(every)) < len(every):
        raise ValueError(f"a rank is in two of the groups {split_ranks}")
    if any(not 0 <= rank < parent.size() for rank in every):
        raise ValueError(f"split_ranks must be ranks of a group of {parent.size()} processes, but got {split_ranks}")
    agree(parent, Call("new_group", numbers=tuple(map(tuple, split_ranks))))
    own = next((ranks for ranks in split_ranks if parent.rank() in ranks), None)
    if own is None:
        return None
    found: ProcessGroup = new_group(
        [parent.ranks[rank] for rank in own],
        parent.timeout if timeout is None else timeout,
        parent.backend if backend is None else backend,
        use_local_synchronization=True,
        group_desc=group_desc or f"{parent.group_desc}:split",
        sort_ranks=False,
    )
    return found


def new_subgroups(
    group_size: int | None = None,
    group: ProcessGroup | None = None,
    timeout: timedelta | None = None,
    backend: str | None = None,
    pg_options: Any = None,
    group_desc: str | None = None,
) -> tuple[Any, list[Any]]:
    """Divide all processes into groups of one size, and return that of this process and all of them.

    Raises:
        ValueError: the number of processes is no multiple of the size.
    """
    if group_size is None:
        group_size = int(os.environ.get("LOCAL_WORLD_SIZE", get_world_size()))
    if group_size <= 0:
        raise ValueError(f"The arg 'group_size' ({group_size}) must be positive")
    size = get_world_size()
    if size < group_size:
        raise ValueError(f"The arg 'group_size' ({group_size}) must not exceed the world size ({size})")
    if size % group_size:
        raise ValueError(f"The world size ({size}) must be divisible by '{group_size=}'")
    ranks = [list(range(first, first + group_size)) for first in range(0, size, group_size)]
    return new_subgroups_by_enumeration(ranks, timeout, backend, pg_options, group_desc)


def new_subgroups_by_enumeration(
    ranks_per_subgroup_list: Sequence[Sequence[int]],
    timeout: timedelta | None = None,
    backend: str | None = None,
    pg_options: Any = None,
    group_desc: str | None = None,
) -> tuple[Any, list[Any]]:
    """Make groups of these ranks, and return that of this process (None: it is in none) and all of them.

    Raises:
        ValueError: there are no groups, or a rank is in two of them.
    """
    if not ranks_per_subgroup_list:
        raise ValueError("The arg 'ranks_per_subgroup_list' cannot be empty")
    every = [rank for ranks in ranks_per_subgroup_list for rank in ranks]
    if len(set(every)) < len(every):
        raise ValueError(f"a rank is in two of the groups {ranks_per_subgroup_list}")
    groups = [
        new_group(ranks, timeout, backend, pg_options, group_desc=group_desc) for ranks in ranks_per_subgroup_list
    ]
    return next((each for each in groups if not is_outside(each)), None), groups
