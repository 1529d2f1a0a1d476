"""The interfaces of what writes chunks to a storage and reads them."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

from ...futures import Future
from .metadata import Metadata, MetadataIndex, StorageMeta
from .planner import LoadPlan, LoadPlanner, SavePlan, SavePlanner

__all__ = ["StorageReader", "StorageWriter", "WriteResult", "done"]


@dataclass(frozen=True)
class WriteResult:
    """A chunk that was written, and where it lies."""

    index: MetadataIndex
    size_in_bytes: int
    storage_data: Any


def done(value: Any) -> Future[Any]:
    """Return a future that has its value."""
    future: Future[Any] = Future()
    future.set_result(value)
    return future


class StorageWriter(ABC):
    """The interface of what writes. Methods are called in this order."""

    @abstractmethod
    def reset(self, checkpoint_id: str | os.PathLike[str] | None = None) -> None:
        """Begin another checkpoint, at another place if one is given (all ranks)."""

    @abstractmethod
    def set_up_storage_writer(self, is_coordinator: bool, *args: Any, **kwargs: Any) -> None:
        """Learn whether this rank coordinates (all ranks)."""

    @abstractmethod
    def prepare_local_plan(self, plan: SavePlan) -> SavePlan:
        """Return the plan with what the storage adds to it (all ranks)."""

    @abstractmethod
    def prepare_global_plan(self, plans: list[SavePlan]) -> list[SavePlan]:
        """Return the plans with what the storage adds to them (the coordinator)."""

    @abstractmethod
    def write_data(self, plan: SavePlan, planner: SavePlanner) -> Future[list[WriteResult]]:
        """Write what the plan of this rank has (all ranks)."""

    @abstractmethod
    def finish(self, metadata: Metadata, results: list[list[WriteResult]]) -> None:
        """Make the checkpoint valid, as all ranks have written (the coordinator)."""

    def abandon(self) -> None:  # noqa: B027 (writers of programs need not have it)
        """Remove what was written, as the checkpoint failed (all ranks)."""

    @classmethod
    @abstractmethod
    def validate_checkpoint_id(cls, checkpoint_id: str | os.PathLike[str]) -> bool:
        """Return whether a checkpoint can be written at this place."""

    def storage_meta(self) -> StorageMeta | None:
        """Return the names of the checkpoint."""
        return None


class StorageReader(ABC):
    """The interface of what reads. Methods are called in this order."""

    @abstractmethod
    def reset(self, checkpoint_id: str | os.PathLike[str] | None = None) -> None:
        """Begin to read another checkpoint, at another place if one is given (all ranks)."""

    @abstractmethod
    def read_metadata(self, *args: Any, **kwargs: Any) -> Metadata:
        """Return the contents of the checkpoint (all ranks)."""

    @abstractmethod
    def set_up_storage_reader(self, metadata: Metadata, is_coordinator: bool, *args: Any, **kwargs: Any) -> None:
        """Learn the contents, and whether this rank coordinates (all ranks)."""

    @abstractmethod
    def prepare_local_plan(self, plan: LoadPlan) -> LoadPlan:
        """Return the plan with what the storage adds to it (all ranks)."""

    @abstractmethod
    def prepare_global_plan(self, plans: list[LoadPlan]) -> list[LoadPlan]:
        """Return the plans with what the storage adds to them (the coordinator)."""

    @abstractmethod
    def read_data(self, plan: LoadPlan, planner: LoadPlanner) -> Future[None]:
        """Read what the plan of this rank has (all ranks)."""

    @classmethod
    @abstractmethod
    def validate_checkpoint_id(cls, checkpoint_id: str | os.PathLike[str]) -> bool:
        """Return whether a checkpoint can be read at this place."""
