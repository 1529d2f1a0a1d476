"""The file `.metadata` of a checkpoint, a pickle of torch's classes, which is read without running any code.

It may name the classes of `metadata.py`, dtypes, sizes and paths, and nothing else.
"""

from __future__ import annotations

import io
import os
from pathlib import Path, PosixPath, PureWindowsPath
from pickle import UnpicklingError
from typing import Any

from ...serialization.allowed import name_of
from ...serialization.pickler import Collected, TorchPickler
from ...serialization.unpickler import WeightsUnpickler
from .metadata import (
    _MEM_FORMAT_ENCODING,
    BytesStorageMetadata,
    ChunkStorageMetadata,
    Metadata,
    MetadataIndex,
    StorageMeta,
    TensorProperties,
    TensorStorageMetadata,
    _StorageInfo,
)

__all__ = ["METADATA", "pickled", "read"]

METADATA = ".metadata"
"""The name of the file, which is written last: without it there is no checkpoint."""

_CLASSES = {
    name_of(each): each
    for each in (
        _MEM_FORMAT_ENCODING,
        BytesStorageMetadata,
        ChunkStorageMetadata,
        Metadata,
        MetadataIndex,
        StorageMeta,
        TensorProperties,
        TensorStorageMetadata,
    )
} | {
    "torch.distributed.checkpoint.filesystem._StorageInfo": _StorageInfo,
    **{f"{module}.PosixPath": PosixPath for module in ("pathlib", "pathlib._local")},
    **{f"{module}.WindowsPath": PureWindowsPath for module in ("pathlib", "pathlib._local")},
}


class _Unpickler(WeightsUnpickler):
    def __init__(self, data: bytes) -> None:
        super().__init__(data, self._refuse, "utf-8", 0, len(data))
        self._users = _CLASSES
        self._user_calls = {id(each) for each in _CLASSES.values()}
        self._user_classes = tuple(_CLASSES.values())

    @staticmethod
    def _refuse(reference: Any) -> Any:
        raise UnpicklingError("it refers to a storage")


def pickled(metadata: Metadata) -> bytes:
    """Return the bytes of the file."""
    file = io.BytesIO()
    TorchPickler(file, 4, Collected()).dump(metadata)
    return file.getvalue()


def read(folder: Path) -> Metadata:
    """Return the contents of the checkpoint in a folder.

    Raises:
        FileNotFoundError: there is none.
        RuntimeError: the file is damaged, or names what it may not.
    """
    path = folder / METADATA
    data = path.read_bytes()
    try:
        metadata = _Unpickler(data).load()
        _check(metadata)
    except Exception as error:  # whatever damaged bytes lead to
        raise RuntimeError(f"{path} is not the metadata of a checkpoint, or is damaged: {error}") from error
    return metadata  # type: ignore[no-any-return]


def _check(metadata: Any) -> None:
    """Raise where what is read is not what the classes say."""
    if not isinstance(metadata, Metadata) or not isinstance(metadata.state_dict_metadata, dict):
        raise UnpicklingError("it has no metadata")
    for key, value in metadata.state_dict_metadata.items():
        if isinstance(value, TensorStorageMetadata):
            dims = len(value.size)
            fits = all(len(each.offsets) == len(each.sizes) == dims for each in value.chunks)
        else:
            fits = isinstance(value, BytesStorageMetadata)
        if not fits:
            raise UnpicklingError(f"the entry {key!r} is damaged")
    for index, place in (metadata.storage_data or {}).items():
        name = place.relative_path
        if os.path.isabs(name) or ".." in name.split("/") or place.offset < 0 or place.length < 0:
            raise UnpicklingError(f"the place of {index.fqn!r} lies outside the checkpoint")
