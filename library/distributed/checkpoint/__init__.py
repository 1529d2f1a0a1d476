"""The namespace `opweave.distributed.checkpoint`: checkpoints that ranks write and read together (docs/distributed.md).

A checkpoint is a folder in torch's format: opweave and torch read what the other one has written.
"""

from __future__ import annotations

from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING

from ..._names.module_names import submodule
from .api import CheckpointException
from .default_planner import DefaultLoadPlanner, DefaultSavePlanner
from .filesystem import FileSystemReader, FileSystemWriter
from .metadata import BytesStorageMetadata, ChunkStorageMetadata, Metadata, TensorStorageMetadata
from .planner import LoadPlan, LoadPlanner, ReadItem, SavePlan, SavePlanner, WriteItem
from .state_dict_loader import load, load_state_dict
from .state_dict_saver import async_save, save, save_state_dict
from .storage import StorageReader, StorageWriter

__all__ = [
    "BytesStorageMetadata",
    "CheckpointException",
    "ChunkStorageMetadata",
    "DefaultLoadPlanner",
    "DefaultSavePlanner",
    "FileSystemReader",
    "FileSystemWriter",
    "LoadPlan",
    "LoadPlanner",
    "Metadata",
    "ReadItem",
    "SavePlan",
    "SavePlanner",
    "StorageReader",
    "StorageWriter",
    "TensorStorageMetadata",
    "WriteItem",
    "async_save",
    "load",
    "load_state_dict",
    "save",
    "save_state_dict",
]

_SUBMODULES = ("format_utils", "state_dict")
"""Modules that are imported when they are first asked for."""

if not TYPE_CHECKING:  # type checkers would take every name for one of these

    def __getattr__(name: str) -> ModuleType:
        return import_module(f".{name}", __name__) if name in _SUBMODULES else submodule(__name__, name)
