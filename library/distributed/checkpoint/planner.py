"""Plans: which rank writes or reads which chunks. The interfaces of what makes them."""

from __future__ import annotations

import io
from abc import ABC, abstractmethod
from dataclasses import dataclass
from enum import Enum, auto
from math import prod
from typing import Any

from ..._base.types import Size
from .metadata import ChunkStorageMetadata, Metadata, MetadataIndex, StorageMeta, TensorProperties

__all__ = [
    "LoadItemType",
    "LoadPlan",
    "LoadPlanner",
    "ReadItem",
    "SavePlan",
    "SavePlanner",
    "TensorWriteData",
    "WriteItem",
    "WriteItemType",
]


class WriteItemType(Enum):
    """The kinds of values that are written."""

    TENSOR = auto()
    SHARD = auto()
    BYTE_IO = auto()


class LoadItemType(Enum):
    """The kinds of values that are read."""

    TENSOR = auto()
    BYTE_IO = auto()


@dataclass(frozen=True)
class TensorWriteData:
    """A chunk, and the properties and the sizes of the whole tensor."""

    chunk: ChunkStorageMetadata
    properties: TensorProperties
    size: Size


@dataclass(frozen=True)
class WriteItem:
    """A value, or a chunk of one, that is to be written."""

    index: MetadataIndex
    type: WriteItemType
    tensor_data: TensorWriteData | None = None

    def tensor_storage_size(self) -> int | None:
        """Return the number of bytes of the chunk; None: it is no tensor."""
        data = self.tensor_data
        return None if data is None else prod(data.chunk.sizes) * data.properties.dtype.itemsize


@dataclass(frozen=True)
class ReadItem:
    """A region of a saved chunk, and where it goes."""

    type: LoadItemType
    dest_index: MetadataIndex
    dest_offsets: Size
    storage_index: MetadataIndex
    storage_offsets: Size
    lengths: Size


@dataclass(frozen=True)
class SavePlan:
    """All that a rank writes."""

    items: list[WriteItem]
    storage_data: Any = None
    planner_data: Any = None
    usable: bool = True


@dataclass
class LoadPlan:
    """All that a rank reads."""

    items: list[ReadItem]
    storage_data: Any = None
    planner_data: Any = None


class SavePlanner(ABC):
    """The interface of what decides what is written. Methods are called in this order."""

    @abstractmethod
    def set_up_planner(
        self, state_dict: dict[str, Any], storage_meta: StorageMeta | None = None, is_coordinator: bool = False
    ) -> None:
        """Begin to save a state dict (all ranks)."""

    @abstractmethod
    def create_local_plan(self) -> SavePlan:
        """Return what this rank could write (all ranks)."""

    @abstractmethod
    def create_global_plan(self, all_plans: list[SavePlan]) -> tuple[list[SavePlan], Metadata]:
        """Return what each rank writes, and the contents of the checkpoint (the coordinator)."""

    @abstractmethod
    def finish_plan(self, new_plan: SavePlan) -> SavePlan:
        """Return what this rank writes (all ranks)."""

    @abstractmethod
    def resolve_data(self, write_item: WriteItem) -> Any:
        """Return the tensor of a chunk, or the bytes of another value as a BytesIO (all ranks)."""


class LoadPlanner(ABC):
    """The interface of what decides what is read. Methods are called in this order."""

    @abstractmethod
    def set_up_planner(
        self, state_dict: dict[str, Any], metadata: Metadata | None = None, is_coordinator: bool = False
    ) -> None:
        """Begin to load into a state dict (all ranks)."""

    @abstractmethod
    def create_local_plan(self) -> LoadPlan:
        """Return what this rank needs (all ranks)."""

    @abstractmethod
    def create_global_plan(self, global_plan: list[LoadPlan]) -> list[LoadPlan]:
        """Return what each rank reads (the coordinator)."""

    @abstractmethod
    def finish_plan(self, central_plan: LoadPlan) -> LoadPlan:
        """Return what this rank reads (all ranks)."""

    @abstractmethod
    def load_bytes(self, read_item: ReadItem, value: io.BytesIO) -> None:
        """Take a value that is no tensor."""

    @abstractmethod
    def resolve_tensor(self, read_item: ReadItem) -> Any:
        """Return the tensor into which a region is read."""

    @abstractmethod
    def commit_tensor(self, read_item: ReadItem, tensor: Any) -> None:
        """Take notice that the region is in the tensor that `resolve_tensor` returned."""
