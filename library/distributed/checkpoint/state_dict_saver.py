"""`save` and `async_save`: all ranks write a checkpoint together."""

from __future__ import annotations

import copy
import os
import warnings
from collections.abc import Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any
from weakref import WeakKeyDictionary

from ..._base.tensor_class import Tensor
from .. import get_process_group_ranks, new_group
from ..process_group import ProcessGroup, given_group
from ._chunks import local_part, with_part
from ._ranks import Ranks, has_ranks
from .api import CheckpointException
from .default_planner import DefaultSavePlanner
from .filesystem import FileSystemWriter
from .metadata import Metadata
from .planner import SavePlan, SavePlanner
from .stateful import Stateful
from .storage import StorageWriter

__all__ = ["async_save", "save", "save_state_dict"]


def save(
    state_dict: dict[str, Any],
    *,
    checkpoint_id: str | os.PathLike[str] | None = None,
    storage_writer: StorageWriter | None = None,
    planner: SavePlanner | None = None,
    process_group: Any = None,
    no_dist: bool = False,
    use_collectives: bool = True,
) -> Metadata:
    """Write a checkpoint, which all ranks do together: each its own shards.

    The checkpoint is there whole or not at all: whatever fails, and wherever a process ends, the one before stays.

    Args:
        state_dict (dict): tensors, distributed or not, numbers, texts, nested dictionaries and lists; objects with
            `state_dict` and `load_state_dict`, whose state is saved.
        checkpoint_id (str or PathLike): the folder.
        storage_writer (StorageWriter): what writes; None: a FileSystemWriter.
        planner (SavePlanner): what decides which rank writes what; None: a DefaultSavePlanner.
        process_group (ProcessGroup): the ranks; None: all, or this process where there is no group.
        no_dist (bool): whether this process writes on its own.
        use_collectives (bool): True; ranks that know nothing of one another write no whole checkpoint.

    Returns:
        Metadata: the contents of the checkpoint, on all ranks.

    Raises:
        RuntimeError: there is neither a folder nor a writer.
        CheckpointException: a rank failed. It has the errors by rank.
        DistBackendError: a rank has ended.
    """
    if not has_ranks(no_dist):
        warnings.warn(
            "torch.distributed is disabled, unavailable or uninitialized, assuming the intent is to save in a single "
            "process.",
            stacklevel=2,
        )
    if not use_collectives:
        raise NotImplementedError("save(use_collectives=False) is not there: ranks write a checkpoint together")
    writer = _writer(storage_writer, checkpoint_id)
    return _save_state_dict(states(state_dict), writer, process_group, no_dist=no_dist, planner=planner)


def save_state_dict(
    state_dict: dict[str, Any],
    storage_writer: StorageWriter,
    process_group: Any = None,
    coordinator_rank: int = 0,
    no_dist: bool = False,
    planner: SavePlanner | None = None,
) -> Metadata:
    """Write a checkpoint (deprecated): use `save`."""
    warnings.warn(
        "`save_state_dict` is deprecated and will be removed in future versions.Please use `save` instead.",
        FutureWarning,
        stacklevel=2,
    )
    storage_writer.reset()
    return _save_state_dict(state_dict, storage_writer, process_group, coordinator_rank, no_dist, planner)


def async_save(
    state_dict: dict[str, Any],
    *,
    checkpoint_id: str | os.PathLike[str] | None = None,
    storage_writer: StorageWriter | None = None,
    planner: SavePlanner | None = None,
    process_group: Any = None,
    async_checkpointer_type: Any = None,
    async_stager: Any = None,
    no_dist: bool = False,
    use_collectives: bool = True,
) -> Future[Metadata]:
    """Copy a state dict and write the copy as `save` does, in another thread. One checkpoint is written after another.

    Tensors may be changed when the call returns. Arguments are those of `save`; `async_checkpointer_type` and
    `async_stager` have no effect.

    Returns:
        Future: its `result()` is that of `save`, and raises what it raises.
    """
    writer = _writer(storage_writer, checkpoint_id)
    copied = _snapshot(states(state_dict))
    group = _own_group(given_group(process_group)) if has_ranks(no_dist) else None
    if not use_collectives:
        raise NotImplementedError("async_save(use_collectives=False) is not there: ranks write a checkpoint together")
    return _thread.submit(_save_state_dict, copied, writer, group, no_dist=no_dist, planner=planner)


_thread = ThreadPoolExecutor(1, "checkpoint")
_own_groups: WeakKeyDictionary[ProcessGroup, ProcessGroup] = WeakKeyDictionary()


def _own_group(group: ProcessGroup) -> ProcessGroup:
    """A group of the same ranks for the thread: messages of one group come in the order of its calls, which two threads
    would mix."""
    if group not in _own_groups:
        _own_groups[group] = new_group(get_process_group_ranks(group), group.timeout, use_local_synchronization=True)
    return _own_groups[group]


def _snapshot(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _snapshot(each) for key, each in value.items()}
    if type(value) in (list, tuple):
        return type(value)([_snapshot(each) for each in value])
    if not isinstance(value, Tensor):
        return copy.deepcopy(value)
    local = local_part(value)
    return with_part(value, local.clone() if local.device.type == "cpu" else local.cpu())


def states(state_dict: dict[str, Any]) -> dict[str, Any]:
    """Return a state dict with the states of its objects in their places."""
    return {key: value.state_dict() if isinstance(value, Stateful) else value for key, value in state_dict.items()}


def _writer(writer: StorageWriter | None, checkpoint_id: Any) -> StorageWriter:
    if writer is not None:
        if checkpoint_id is not None:
            writer.reset(checkpoint_id)
        return writer
    if not checkpoint_id:
        raise RuntimeError("`checkpoint_id` must be specified if storage_reader/storage_writer is None.")
    if not FileSystemWriter.validate_checkpoint_id(checkpoint_id):
        raise RuntimeError(
            "Cannot detect which StorageReader or StorageWriter to use. Please specify the "
            "storage_reader/storage_writer."
        )
    return FileSystemWriter(checkpoint_id)


def _save_state_dict(
    state_dict: dict[str, Any],
    storage_writer: StorageWriter,
    process_group: Any = None,
    coordinator_rank: int = 0,
    no_dist: bool = False,
    planner: SavePlanner | None = None,
) -> Metadata:
    ranks = Ranks(process_group, has_ranks(no_dist), coordinator_rank)
    chosen = DefaultSavePlanner() if planner is None else planner
    contents: list[Metadata] = []

    def plan_of_rank() -> SavePlan:
        chosen.set_up_planner(
            state_dict=state_dict, storage_meta=storage_writer.storage_meta(), is_coordinator=ranks.is_coordinator
        )
        storage_writer.set_up_storage_writer(ranks.is_coordinator)
        return storage_writer.prepare_local_plan(chosen.create_local_plan())

    def plan_of_all(plans: list[SavePlan]) -> list[SavePlan]:
        plans, metadata = chosen.create_global_plan(plans)
        contents.append(metadata)
        return storage_writer.prepare_global_plan(plans)

    def finish(results: list[Any]) -> Metadata:
        storage_writer.finish(metadata=contents[0], results=results)
        return contents[0]

    plan = ranks.plan("plan", plan_of_rank, plan_of_all)
    try:
        return ranks.conclude(
            "write", lambda: storage_writer.write_data(chosen.finish_plan(plan), chosen).wait(), finish
        )
    except CheckpointException:
        # All ranks know that there is no checkpoint. After another error the coordinator may still finish one.
        storage_writer.abandon()
        raise
