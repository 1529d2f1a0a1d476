"""The contents of the file `.metadata` of a checkpoint: which values there are, in which chunks, where these lie.

The classes have torch's names and attributes, as torch pickles them.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from ... import contiguous_format, get_default_dtype, strided
from ..._base.types import Size

__all__ = [
    "BytesStorageMetadata",
    "ChunkStorageMetadata",
    "Metadata",
    "MetadataIndex",
    "StorageMeta",
    "TensorProperties",
    "TensorStorageMetadata",
]


@dataclass
class ChunkStorageMetadata:
    """A part of a tensor: the position of its first element, and its sizes."""

    offsets: Size
    sizes: Size


class _MEM_FORMAT_ENCODING(Enum):  # noqa: N801 (torch's name, in files)
    TORCH_CONTIGUOUS_FORMAT = 0
    TORCH_CHANNELS_LAST = 1
    TORCH_PRESERVE_FORMAT = 2


@dataclass
class TensorProperties:
    """The properties of a tensor, of which `dtype` alone means something."""

    dtype: Any = field(default_factory=get_default_dtype)
    layout: Any = strided
    requires_grad: bool = False
    memory_format: Any = contiguous_format
    pin_memory: bool = False

    def __getstate__(self) -> tuple[Any, ...]:
        encoded = _MEM_FORMAT_ENCODING.TORCH_CONTIGUOUS_FORMAT
        return self.dtype, self.layout, self.requires_grad, encoded, self.pin_memory

    def __setstate__(self, state: Any) -> None:
        self.dtype, self.layout, self.requires_grad, _, self.pin_memory = state
        self.memory_format = contiguous_format

    @staticmethod
    def create_from_tensor(tensor: Any) -> TensorProperties:
        """Return the properties of a tensor."""
        return TensorProperties(tensor.dtype, requires_grad=tensor.requires_grad)


@dataclass
class TensorStorageMetadata:
    """A tensor: its properties, its sizes and the chunks that were saved."""

    properties: TensorProperties
    size: Size
    chunks: list[ChunkStorageMetadata]


@dataclass
class BytesStorageMetadata:
    """A value that is no tensor."""


@dataclass
class _StorageInfo:
    """The place of a chunk: a range of bytes of a file in the folder of the checkpoint."""

    relative_path: str
    offset: int
    length: int
    transform_descriptors: Sequence[str] | None = None

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if value is not None}


_StorageInfo.__module__ = __name__.replace("metadata", "filesystem")  # where torch has it


@dataclass
class StorageMeta:
    """The names of a checkpoint, of a call that saves and of one that loads."""

    checkpoint_id: str | os.PathLike[str] | None = None
    save_id: str | None = None
    load_id: str | None = None
    modules: list[str] = field(default_factory=list)


@dataclass
class Metadata:
    """The contents of a checkpoint.

    Attributes:
        state_dict_metadata: what each key of the flat state dict has.
        planner_data: the path of each key in the nested state dict.
        storage_data: where each chunk lies.
    """

    state_dict_metadata: dict[str, TensorStorageMetadata | BytesStorageMetadata]
    planner_data: Any = None
    storage_data: Any = None
    storage_meta: StorageMeta | None = None
    version: str | None = None


@dataclass(frozen=True)
class MetadataIndex:
    """The name of a chunk: the key, and the position of its first element in the tensor.

    `index` is its number among the chunks, by which it may be found faster.
    """

    fqn: str
    offset: Size | None = None
    index: int | None = field(hash=False, compare=False, default=None)

    def __init__(self, fqn: str, offset: Sequence[int] | None = None, index: int | None = None) -> None:
        object.__setattr__(self, "fqn", fqn)
        object.__setattr__(self, "index", index)
        if offset is not None:
            object.__setattr__(self, "offset", Size(offset))
