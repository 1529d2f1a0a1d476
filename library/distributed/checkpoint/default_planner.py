"""The planners that are used where none is given: each chunk is written by one rank, and read by those that need it."""

from __future__ import annotations

import io
from collections.abc import Iterable
from dataclasses import replace
from itertools import combinations
from math import prod
from typing import Any

from ... import empty, empty_like
from ..._base.tensor_class import Tensor
from ..._base.types import Size
from ...serialization import load, save
from ._chunks import is_distributed, local_chunk, local_part, narrowed, overlap, reads_of_tensor, with_part
from ._nested_dict import Path, flatten_state_dict, set_element
from .metadata import (
    BytesStorageMetadata,
    Metadata,
    MetadataIndex,
    StorageMeta,
    TensorProperties,
    TensorStorageMetadata,
)
from .planner import (
    LoadItemType,
    LoadPlan,
    LoadPlanner,
    ReadItem,
    SavePlan,
    SavePlanner,
    TensorWriteData,
    WriteItem,
    WriteItemType,
)

__all__ = [
    "DefaultLoadPlanner",
    "DefaultSavePlanner",
    "create_default_global_load_plan",
    "create_default_global_save_plan",
    "create_default_local_load_plan",
    "create_default_local_save_plan",
]


class DefaultSavePlanner(SavePlanner):
    """A planner by which each rank writes its own shards, and values that several ranks have are written once.

    Args:
        flatten_state_dict (bool): whether nested dictionaries and lists are gone into.
        flatten_sharded_tensors, dedup_replicated_tensors, enable_plan_caching: without effect.
        dedup_save_to_lowest_rank (bool): whether the lowest rank writes what several have, and not that with the
            least to write.
    """

    def __init__(
        self,
        flatten_state_dict: bool = True,
        flatten_sharded_tensors: bool = True,
        dedup_replicated_tensors: bool | None = None,
        dedup_save_to_lowest_rank: bool = False,
        enable_plan_caching: bool = False,
    ) -> None:
        self.flatten_state_dict = flatten_state_dict
        self.dedup_save_to_lowest_rank = dedup_save_to_lowest_rank
        self.mappings: dict[str, Path] = {}

    def set_up_planner(
        self, state_dict: dict[str, Any], storage_meta: StorageMeta | None = None, is_coordinator: bool = False
    ) -> None:
        if self.flatten_state_dict:
            state_dict, self.mappings = flatten_state_dict(state_dict)
        self.state_dict = state_dict
        self.is_coordinator = is_coordinator

    def create_local_plan(self) -> SavePlan:
        """Return all values of this rank.

        Raises:
            ValueError: a distributed tensor has partial sums.
        """
        plan = create_default_local_save_plan(self.state_dict, self.is_coordinator)
        self.plan = replace(plan, planner_data=self.mappings) if self.flatten_state_dict else plan
        return self.plan

    def create_global_plan(self, all_plans: list[SavePlan]) -> tuple[list[SavePlan], Metadata]:
        """Return the plans with each chunk once, and the contents of the checkpoint.

        Raises:
            ValueError: ranks disagree on a value, or chunks do not make a whole tensor.
        """
        _check_agreement(all_plans)
        self.global_plan, metadata = create_default_global_save_plan(
            _deduplicated(all_plans, self.dedup_save_to_lowest_rank)
        )
        if self.flatten_state_dict:
            paths: dict[str, Path] = {}
            for plan in reversed(all_plans):
                paths.update(plan.planner_data)
            metadata.planner_data = paths
        errors = [error for key, each in metadata.state_dict_metadata.items() for error in _errors_of(key, each)]
        if errors and len(all_plans) > 1:
            raise ValueError(f"Failed to validate global plan: {'; '.join(errors[:5])}")
        self.metadata = metadata
        return self.global_plan, metadata

    def finish_plan(self, new_plan: SavePlan) -> SavePlan:
        self.plan = new_plan
        return new_plan

    def resolve_data(self, write_item: WriteItem) -> Any:
        return self.transform_object(write_item, self.lookup_object(write_item.index))

    def lookup_object(self, index: MetadataIndex) -> Any:
        """Return the value of an index, for subclasses to change."""
        value = self.state_dict[index.fqn]
        return local_part(value) if isinstance(value, Tensor) else value

    def transform_object(self, write_item: WriteItem, object: Any) -> Any:
        """Return what is written for a value, for subclasses to change."""
        if write_item.type is not WriteItemType.BYTE_IO:
            return object
        data = io.BytesIO()
        save(object, data)
        return data


class DefaultLoadPlanner(LoadPlanner):
    """A planner by which each rank reads what its own shards need.

    Args:
        flatten_state_dict (bool): whether nested dictionaries and lists are gone into.
        flatten_sharded_tensors: without effect.
        allow_partial_load (bool): whether keys that the checkpoint does not have are left as they are.
    """

    def __init__(
        self,
        flatten_state_dict: bool = True,
        flatten_sharded_tensors: bool = True,
        allow_partial_load: bool = False,
    ) -> None:
        self.flatten_state_dict = flatten_state_dict
        self.allow_partial_load = allow_partial_load
        self.original_state_dict: dict[str, Any] = {}
        self.mappings: dict[str, Path] = {}

    def set_up_planner(
        self, state_dict: dict[str, Any], metadata: Metadata | None = None, is_coordinator: bool = False
    ) -> None:
        for key, value in state_dict.items():
            state_dict[key] = _with_memory(value)
        self.original_state_dict = state_dict
        if self.flatten_state_dict:
            state_dict, self.mappings = flatten_state_dict(state_dict)
        self.state_dict = state_dict
        self.metadata = metadata
        self.is_coordinator = is_coordinator

    def create_local_plan(self) -> LoadPlan:
        """Return what this rank reads.

        Raises:
            RuntimeError: the checkpoint does not have a key.
            ValueError: a tensor has another size, or a value is no tensor where a tensor was saved.
        """
        assert self.metadata is not None
        return create_default_local_load_plan(self.state_dict, self.metadata, not self.allow_partial_load)

    def create_global_plan(self, global_plan: list[LoadPlan]) -> list[LoadPlan]:
        return create_default_global_load_plan(global_plan)

    def finish_plan(self, central_plan: LoadPlan) -> LoadPlan:
        return central_plan

    def load_bytes(self, read_item: ReadItem, value: io.BytesIO) -> None:
        """Take a value that is no tensor.

        Raises:
            UnpicklingError: it is of a class that `serialization.add_safe_globals` was not called with.
        """
        key, loaded = read_item.dest_index.fqn, load(value)
        if self.flatten_state_dict:
            set_element(self.original_state_dict, self.mappings[key], loaded)
        else:
            self.state_dict[key] = loaded

    def resolve_tensor(self, read_item: ReadItem) -> Any:
        return self.transform_tensor(read_item, self.lookup_tensor(read_item.dest_index))

    def commit_tensor(self, read_item: ReadItem, tensor: Any) -> None:
        """Do nothing: the tensor is that of the state dict."""

    def lookup_tensor(self, index: MetadataIndex) -> Any:
        """Return the tensor of an index, for subclasses to change."""
        return local_part(self.state_dict[index.fqn])

    def transform_tensor(self, read_item: ReadItem, tensor: Any) -> Any:
        """Return the region that is read into, for subclasses to change."""
        return narrowed(tensor, read_item.dest_offsets, read_item.lengths)


class _EmptyStateDictLoadPlanner(DefaultLoadPlanner):
    """A planner that fills an empty state dict with the whole checkpoint, or with the values of some keys."""

    def __init__(self, keys: Iterable[str] | None = None, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.keys = None if keys is None else set(keys)

    def set_up_planner(
        self, state_dict: dict[str, Any], metadata: Metadata | None = None, is_coordinator: bool = False
    ) -> None:
        if state_dict:
            raise AssertionError("the state dict must be empty")
        assert metadata is not None
        paths = metadata.planner_data or {}
        for key, saved in metadata.state_dict_metadata.items():
            path = paths.get(key, (key,))
            if self.keys is not None and not self.keys & {
                key, *(".".join(map(str, path[:end])) for end in range(1, len(path)))
            }:  # fmt: skip
                continue
            is_tensor = isinstance(saved, TensorStorageMetadata)
            value = empty(saved.size, dtype=saved.properties.dtype) if is_tensor else saved  # type: ignore[union-attr]
            set_element(state_dict, path, value)
        super().set_up_planner(state_dict, metadata, is_coordinator)


# ---- saving --------------------------------------------------------------------------------------------------


def create_default_local_save_plan(state_dict: dict[str, Any], is_coordinator: bool) -> SavePlan:
    """Return a plan with all values of this rank."""
    items = []
    for key, value in state_dict.items():
        if not isinstance(value, Tensor):
            items.append(WriteItem(MetadataIndex(key), WriteItemType.BYTE_IO))
            continue
        chunk = local_chunk(key, value)
        if chunk is not None:
            kind = WriteItemType.SHARD if is_distributed(value) else WriteItemType.TENSOR
            data = TensorWriteData(chunk, TensorProperties.create_from_tensor(local_part(value)), value.size())
            items.append(WriteItem(MetadataIndex(key, chunk.offsets), kind, data))
    return SavePlan(items)


def create_default_global_save_plan(
    all_plans: list[SavePlan], rewrite_index_hints: bool = True
) -> tuple[list[SavePlan], Metadata]:
    """Return the plans with the numbers of the chunks, and the contents of the checkpoint."""
    contents: dict[str, Any] = {}
    plans = []
    for plan in all_plans:
        items = []
        for item in plan.items:
            data = item.tensor_data
            if data is None:
                contents[item.index.fqn] = BytesStorageMetadata()
            else:
                saved = contents.setdefault(item.index.fqn, TensorStorageMetadata(data.properties, data.size, []))
                if rewrite_index_hints:
                    item = replace(item, index=replace(item.index, index=len(saved.chunks)))
                saved.chunks.append(data.chunk)
            items.append(item)
        plans.append(replace(plan, items=items))
    return plans, Metadata(contents)


def _check_agreement(plans: list[SavePlan]) -> None:
    """Raise ValueError where ranks have values of different kinds or sizes for a key."""
    first: dict[str, tuple[int, str]] = {}
    for rank, plan in enumerate(plans):
        for item in plan.items:
            data = item.tensor_data
            kind = "no tensor" if data is None else f"{data.properties.dtype} of sizes {list(data.size)}"
            other, expected = first.setdefault(item.index.fqn, (rank, kind))
            if kind != expected:
                raise ValueError(
                    f"ranks disagree on {item.index.fqn}: {expected} on rank {other}, {kind} on rank {rank}"
                )


def _deduplicated(plans: list[SavePlan], to_lowest: bool) -> list[SavePlan]:
    """The plans with what several ranks have in that of one: the lowest rank, or that with the least to write."""
    owners: dict[MetadataIndex, list[int]] = {}
    sizes: dict[MetadataIndex, int] = {}
    for rank, plan in enumerate(plans):
        for item in plan.items:
            owners.setdefault(item.index, []).append(rank)
            sizes[item.index] = item.tensor_storage_size() or 1
    load_of = [0] * len(plans)
    chosen: dict[MetadataIndex, int] = {}
    for index, ranks in owners.items():
        chosen[index] = ranks[0] if to_lowest else min(ranks, key=load_of.__getitem__)
        load_of[chosen[index]] += sizes[index]
    return [
        replace(plan, items=[item for item in plan.items if chosen[item.index] == rank])
        for rank, plan in enumerate(plans)
    ]


def _errors_of(key: str, saved: Any) -> list[str]:
    """The faults of the chunks of a tensor."""
    if isinstance(saved, BytesStorageMetadata):
        return []
    errors = [
        f"key:{key} has overlapping chunks: {one} {other}"
        for one, other in combinations(saved.chunks, 2)
        if overlap(one, other)
    ]
    there, needed = sum(prod(chunk.sizes) for chunk in saved.chunks), prod(saved.size)
    if there != needed:
        errors.append(f"key:{key} invalid fill tensor-volume: {needed} chunks-volume: {there}")
    return errors


# ---- loading -------------------------------------------------------------------------------------------------


def create_default_local_load_plan(state_dict: dict[str, Any], metadata: Metadata, strict: bool = True) -> LoadPlan:
    """Return a plan with what the values of this rank need.

    Raises:
        RuntimeError: the checkpoint does not have a key; not raised unless `strict`.
        ValueError: a tensor has another size, or a value is no tensor where a tensor was saved.
    """
    items = []
    for key, value in state_dict.items():
        saved = metadata.state_dict_metadata.get(key)
        if saved is None:
            if strict:
                raise RuntimeError(f"Missing key in checkpoint state_dict: {key}.")
            continue
        if isinstance(saved, BytesStorageMetadata):
            index, nowhere = MetadataIndex(key), Size([0])
            items.append(ReadItem(LoadItemType.BYTE_IO, index, nowhere, index, nowhere, nowhere))
            continue
        if not isinstance(value, Tensor):
            raise ValueError(
                f"Invalid checkpoint metadata for {key}, expected BytesStorageMetadata but found {type(saved)}"
            )
        if saved.size != value.size():
            raise ValueError(f"Size mismatch between saved {saved.size} and current: {value.size()} for {key}")
        chunk = local_chunk(key, value)
        if chunk is not None:
            items += reads_of_tensor(key, saved, chunk)
    return LoadPlan(items)


def create_default_global_load_plan(all_plans: list[LoadPlan]) -> list[LoadPlan]:
    """Return the plans as they are: each rank reads for itself."""
    return all_plans


def _with_memory(value: Any) -> Any:
    """A value whose tensors of the device `meta` are replaced by such with memory."""
    if isinstance(value, dict):
        for key, each in value.items():
            value[key] = _with_memory(each)
        return value
    if type(value) in (list, tuple):
        return type(value)([_with_memory(each) for each in value])
    if not isinstance(value, Tensor) or value.device.type != "meta":
        return value
    return with_part(value, empty_like(local_part(value), device="cpu"))
