"""`load`: each rank reads what its own shards need."""

from __future__ import annotations

import os
import warnings
from typing import Any

from ._ranks import Ranks, has_ranks
from .default_planner import DefaultLoadPlanner, _EmptyStateDictLoadPlanner
from .filesystem import FileSystemReader
from .planner import LoadPlan, LoadPlanner
from .state_dict_saver import states
from .stateful import Stateful
from .storage import StorageReader

__all__ = ["load", "load_state_dict"]

_ALONE = (
    "torch.distributed is disabled, unavailable or uninitialized, assuming the intent is to load in a single process."
)


def load(
    state_dict: dict[str, Any],
    *,
    checkpoint_id: str | os.PathLike[str] | None = None,
    storage_reader: StorageReader | None = None,
    planner: LoadPlanner | None = None,
    process_group: Any = None,
    no_dist: bool = False,
) -> None:
    """Read a checkpoint into a state dict, which all ranks do together.

    Elements are read into the tensors of the state dict, wherever these lie: other ranks, other meshes and other
    placements may have saved them. Other values take the places of those in the state dict. Objects with `state_dict`
    and `load_state_dict` get what was read into their state.

    Args:
        state_dict (dict): tensors of the sizes that were saved, and other values under the keys that were saved.
        checkpoint_id (str or PathLike): the folder.
        storage_reader (StorageReader): what reads; None: a FileSystemReader.
        planner (LoadPlanner): what decides which rank reads what; None: a DefaultLoadPlanner.
        process_group (ProcessGroup): the ranks; None: all, or this process where there is no group.
        no_dist (bool): whether this process reads on its own.

    Raises:
        RuntimeError: there is neither a folder nor a reader.
        CheckpointException: a rank failed: a key or a file is missing, a file is damaged, sizes differ. It has the
            errors by rank.
        DistBackendError: a rank has ended.
    """
    if not has_ranks(no_dist):
        warnings.warn(_ALONE, stacklevel=2)
    reader = _reader(storage_reader, checkpoint_id)
    loaded = states(state_dict)
    _load_state_dict(loaded, reader, process_group, no_dist=no_dist, planner=planner)
    for key, value in state_dict.items():
        if isinstance(value, Stateful):
            value.load_state_dict(loaded[key])
        else:
            state_dict[key] = loaded[key]


def load_state_dict(
    state_dict: dict[str, Any],
    storage_reader: StorageReader,
    process_group: Any = None,
    coordinator_rank: int = 0,
    no_dist: bool = False,
    planner: LoadPlanner | None = None,
) -> None:
    """Read a checkpoint (deprecated): use `load`."""
    warnings.warn(
        "`load_state_dict` is deprecated and will be removed in future versions. Please use `load` instead.",
        FutureWarning,
        stacklevel=2,
    )
    storage_reader.reset()
    _load_state_dict(state_dict, storage_reader, process_group, coordinator_rank, no_dist, planner)


def _reader(reader: StorageReader | None, checkpoint_id: Any) -> StorageReader:
    if reader is not None:
        if checkpoint_id is not None:
            reader.reset(checkpoint_id)
        return reader
    if not checkpoint_id:
        raise RuntimeError("`checkpoint_id` must be specified if storage_reader/storage_writer is None.")
    if not FileSystemReader.validate_checkpoint_id(checkpoint_id):
        raise RuntimeError(
            "Cannot detect which StorageReader or StorageWriter to use. Please specify the "
            "storage_reader/storage_writer."
        )
    return FileSystemReader(checkpoint_id)


def _load_state_dict(
    state_dict: dict[str, Any],
    storage_reader: StorageReader,
    process_group: Any = None,
    coordinator_rank: int = 0,
    no_dist: bool = False,
    planner: LoadPlanner | None = None,
) -> None:
    ranks = Ranks(process_group, has_ranks(no_dist), coordinator_rank)
    chosen = DefaultLoadPlanner() if planner is None else planner

    def plan_of_rank() -> LoadPlan:
        metadata = storage_reader.read_metadata()
        chosen.set_up_planner(state_dict, metadata, ranks.is_coordinator)
        storage_reader.set_up_storage_reader(metadata, ranks.is_coordinator)
        return storage_reader.prepare_local_plan(chosen.create_local_plan())

    def plan_of_all(plans: list[LoadPlan]) -> list[LoadPlan]:
        return storage_reader.prepare_global_plan(chosen.create_global_plan(plans))

    plan = ranks.plan("plan", plan_of_rank, plan_of_all)
    ranks.each("read", lambda: storage_reader.read_data(chosen.finish_plan(plan), chosen).wait())


def _load_state_dict_from_keys(
    keys: set[str] | str | None = None,
    *,
    checkpoint_id: str | os.PathLike[str] | None = None,
    storage_reader: StorageReader | None = None,
    process_group: Any = None,
) -> dict[str, Any]:
    """Read the values of some keys, or of all, into a new state dict."""
    if not has_ranks(False):
        warnings.warn(_ALONE, stacklevel=2)
    state_dict: dict[str, Any] = {}
    planner = _EmptyStateDictLoadPlanner({keys} if isinstance(keys, str) else keys)
    _load_state_dict(state_dict, _reader(storage_reader, checkpoint_id), process_group, planner=planner)
    return state_dict
