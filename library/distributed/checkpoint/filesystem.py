"""Checkpoints in a folder, as torch writes them: a file of chunks for each rank, and `.metadata`, written last.

Files of chunks have names that are not in use, so that the checkpoint before stays whole until the new `.metadata`
takes the place of the old one, in one step of the file system. What nothing refers to then is removed.
"""

from __future__ import annotations

import io
import os
import re
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from enum import Enum
from pathlib import Path
from typing import Any
from uuid import uuid4

from ...futures import Future
from ...serialization import load, save
from ...serialization.sources import Mapped, MappedPart, Part
from ._chunks import narrowed
from ._metadata_file import METADATA, pickled, read
from .metadata import Metadata, StorageMeta, _StorageInfo
from .planner import LoadItemType, LoadPlan, LoadPlanner, ReadItem, SavePlan, SavePlanner, WriteItemType
from .storage import StorageReader, StorageWriter, WriteResult, done

__all__ = ["FileSystemReader", "FileSystemWriter", "SerializationFormat"]

_VERSION = "1.0.0"
_ENDING = ".distcp"
_NAME = re.compile(r"__\d+_(\d+)\.distcp")
_ALIGNMENT = 64
"""The alignment of chunks in a file, which mapped tensors need."""


class SerializationFormat(Enum):
    """The formats of files of chunks."""

    TORCH_SAVE = "torch_save"
    SAFETENSORS = "safetensors"


class FileSystemWriter(StorageWriter):
    """A writer of checkpoints in a folder.

    Args:
        path (str or PathLike): the folder, which is made if it is not there.
        single_file_per_rank (bool): whether each rank writes one file, and not one for each chunk.
        sync_files (bool): whether files are on the disk before the checkpoint counts. Without, a machine that loses
            its power may lose the checkpoint.
        thread_count, per_thread_copy_ahead, cache_staged_state_dict: without effect.
        overwrite (bool): whether a checkpoint that is there may be replaced.

    Raises:
        NotImplementedError: there are extensions, or the format is another one.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        single_file_per_rank: bool = True,
        sync_files: bool = True,
        thread_count: int = 1,
        per_thread_copy_ahead: int = 10_000_000,
        cache_staged_state_dict: bool = False,
        overwrite: bool = True,
        _extensions: Any = None,
        serialization_format: SerializationFormat = SerializationFormat.TORCH_SAVE,
    ) -> None:
        if _extensions or serialization_format is not SerializationFormat.TORCH_SAVE:
            raise NotImplementedError("FileSystemWriter() writes chunks as save() does, without extensions")
        self.path = Path(path)
        self.single_file_per_rank = single_file_per_rank
        self.sync_files = sync_files
        self.overwrite = overwrite
        self.reset()

    @property
    def checkpoint_id(self) -> str | os.PathLike[str]:
        """The folder."""
        return self.path

    @classmethod
    def validate_checkpoint_id(cls, checkpoint_id: str | os.PathLike[str]) -> bool:
        """Return whether it is a path, and not an address of another kind."""
        return _is_path(checkpoint_id)

    def reset(self, checkpoint_id: str | os.PathLike[str] | None = None) -> None:
        if checkpoint_id:
            self.path = Path(checkpoint_id)
        self.save_id = str(uuid4())
        self._written: list[Path] = []

    def storage_meta(self) -> StorageMeta:
        return StorageMeta(str(self.path), self.save_id)

    def set_up_storage_writer(self, is_coordinator: bool, *args: Any, **kwargs: Any) -> None:
        """Do nothing: ranks differ in their plans alone."""

    def prepare_local_plan(self, plan: SavePlan) -> SavePlan:
        """Make the folder.

        Raises:
            RuntimeError: it has a checkpoint, which may not be replaced.
            OSError: it cannot be made.
        """
        self.path.mkdir(parents=True, exist_ok=True)
        if (self.path / METADATA).exists():
            if not self.overwrite:
                raise RuntimeError(f"Checkpoint already exists and {self.overwrite=}.")
            warnings.warn(
                f"Detected an existing checkpoint in {self.path}, overwriting since {self.overwrite=}.", stacklevel=2
            )
        return plan

    def prepare_global_plan(self, plans: list[SavePlan]) -> list[SavePlan]:
        """Give each rank the beginning of its files' names, and the first number that is not in use."""
        first = 1 + max(self._numbers(), default=-1)
        return [replace(plan, storage_data=(f"__{rank}_", first)) for rank, plan in enumerate(plans)]

    def _numbers(self) -> Iterable[int]:
        return [int(found[1]) for name in os.listdir(self.path) if (found := _NAME.fullmatch(name))]

    def write_data(self, plan: SavePlan, planner: SavePlanner) -> Future[list[WriteResult]]:
        prefix, first = plan.storage_data
        groups = [plan.items] if self.single_file_per_rank else [[item] for item in plan.items]
        results = []
        for number, items in enumerate(filter(None, groups), first):
            results += self._write_file(f"{prefix}{number}{_ENDING}", items, planner)
        if self.sync_files and results:
            _sync(self.path)
        return done(results)

    def _write_file(self, name: str, items: list[Any], planner: SavePlanner) -> list[WriteResult]:
        path = self.path / name
        results = []
        self._written.append(path)
        with _named(path), open(path, "wb") as file:
            for item in items:
                file.write(bytes(-file.tell() % _ALIGNMENT))
                start = file.tell()
                data = planner.resolve_data(item)
                if item.type is WriteItemType.BYTE_IO:
                    file.write(data.getbuffer())
                else:
                    save(_compact(data.detach().cpu()), file)
                length = file.tell() - start
                results.append(WriteResult(item.index, length, _StorageInfo(name, start, length)))
            file.flush()
            if self.sync_files:
                os.fsync(file.fileno())
        return results

    def finish(self, metadata: Metadata, results: list[list[WriteResult]]) -> None:
        metadata.version = _VERSION
        metadata.storage_data = {each.index: each.storage_data for written in results for each in written}
        metadata.storage_meta = self.storage_meta()
        temporary = self.path / f"{METADATA}.tmp"
        try:
            with _named(temporary), open(temporary, "wb") as file:
                file.write(pickled(metadata))
                file.flush()
                if self.sync_files:
                    os.fsync(file.fileno())
            os.replace(temporary, self.path / METADATA)
        except BaseException:
            temporary.unlink(missing_ok=True)
            raise
        if self.sync_files:
            _sync(self.path)
        used = _files(metadata)
        _remove(self.path / name for name in os.listdir(self.path) if _NAME.fullmatch(name) and name not in used)

    def abandon(self) -> None:
        """Remove the files of this rank, unless a checkpoint refers to them."""
        try:
            used = _files(read(self.path))
        except FileNotFoundError:
            used = set()
        except RuntimeError:  # what the damaged metadata refer to stays
            return
        _remove(path for path in self._written if path.name not in used)


class FileSystemReader(StorageReader):
    """A reader of checkpoints in a folder, which opweave or torch has written.

    Of a chunk that is needed in part, only that part is read; checksums are compared where a whole chunk is read.

    Args:
        path (str or PathLike): the folder.
    """

    def __init__(self, path: str | os.PathLike[str], _extension_registry: Any = None) -> None:
        self.path = Path(path)
        self.reset()

    @property
    def checkpoint_id(self) -> str | os.PathLike[str]:
        """The folder."""
        return self.path

    @classmethod
    def validate_checkpoint_id(cls, checkpoint_id: str | os.PathLike[str]) -> bool:
        """Return whether it is a path, and not an address of another kind."""
        return _is_path(checkpoint_id)

    def reset(self, checkpoint_id: str | os.PathLike[str] | None = None) -> None:
        if checkpoint_id:
            self.path = Path(checkpoint_id)
        self.storage_data: dict[Any, _StorageInfo] = {}
        self.load_id = str(uuid4())

    def read_metadata(self, *args: Any, **kwargs: Any) -> Metadata:
        """Return the contents of the checkpoint.

        Raises:
            FileNotFoundError: there is none in the folder.
            RuntimeError: its metadata are damaged.
        """
        metadata = read(self.path)
        metadata.storage_meta = replace(metadata.storage_meta or StorageMeta(), load_id=self.load_id)
        return metadata

    def set_up_storage_reader(self, metadata: Metadata, is_coordinator: bool, *args: Any, **kwargs: Any) -> None:
        self.storage_data = metadata.storage_data

    def prepare_local_plan(self, plan: LoadPlan) -> LoadPlan:
        return plan

    def prepare_global_plan(self, plans: list[LoadPlan]) -> list[LoadPlan]:
        return plans

    def read_data(self, plan: LoadPlan, planner: LoadPlanner) -> Future[None]:
        """Read what the plan of this rank has.

        Raises:
            FileNotFoundError: a file is missing.
            RuntimeError: a file is truncated or damaged; the message names it.
        """
        by_file: dict[str, list[ReadItem]] = {}
        for item in plan.items:
            if item.storage_index not in self.storage_data:
                raise RuntimeError(f"{self.path / METADATA} does not say where {item.storage_index.fqn!r} lies")
            by_file.setdefault(self.storage_data[item.storage_index].relative_path, []).append(item)
        for name, items in by_file.items():
            source = _mapped(self.path / name)
            try:
                for item in items:
                    self._read(source, item, planner)
            finally:
                source.close()
        return done(None)

    def _read(self, source: Mapped, item: ReadItem, planner: LoadPlanner) -> None:
        place = self.storage_data[item.storage_index]
        if place.transform_descriptors:
            raise NotImplementedError(f"{source.name} was written by extensions {place.transform_descriptors}")
        try:
            part = Part(source, place.offset, place.length)
            if item.type is LoadItemType.BYTE_IO:
                planner.load_bytes(item, io.BytesIO(part.read(0, place.length)))
                return
            saved = load(MappedPart(source, place.offset, place.length), map_location="cpu")
            if saved.size() == item.lengths:
                saved = load(part, map_location="cpu")
            saved = narrowed(saved, item.storage_offsets, item.lengths)
        except Exception as error:  # whatever damaged bytes lead to
            raise RuntimeError(f"{source.name}: {item.storage_index.fqn} cannot be read: {error}") from error
        target = planner.resolve_tensor(item).detach()
        if target.size() != saved.size():
            raise AssertionError(f"req {item.storage_index} mismatch sizes {target.size()} vs {saved.size()}")
        target.copy_(saved)
        planner.commit_tensor(item, target)


@contextmanager
def _named(path: Path) -> Iterator[None]:
    """Give errors of the system, as that of a full disk, the path of the file."""
    try:
        yield
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from error


def _mapped(path: Path) -> Mapped:
    try:
        return Mapped(path, False)
    except EOFError:
        raise RuntimeError(f"{path} is empty: it is damaged") from None


def _is_path(checkpoint_id: str | os.PathLike[str]) -> bool:
    return isinstance(checkpoint_id, os.PathLike) or "://" not in str(checkpoint_id)


def _compact(tensor: Any) -> Any:
    """The tensor, without other elements of its storage."""
    return tensor if tensor.untyped_storage().nbytes() == tensor.nbytes else tensor.clone()


def _sync(folder: Path) -> None:
    """Bring the names of new files to the disk."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        with suppress(OSError):  # not every file system can
            os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _files(metadata: Metadata) -> set[str]:
    return {place.relative_path for place in metadata.storage_data.values()}


def _remove(paths: Iterable[Path]) -> None:
    for path in paths:
        with suppress(OSError):  # it takes room, and the next checkpoint removes it
            path.unlink()
