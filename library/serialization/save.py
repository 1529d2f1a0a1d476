"""`save`: an object with its tensors in a file, as torch 2.13 writes it."""

from __future__ import annotations

import io
import os
import pickle
import sys
import threading
from collections.abc import Callable
from typing import Any

from .._tensor.storage_pickle import memory_of
from .archive_writer import ALIGNMENT, ArchiveWriter
from .atomic import replacing
from .legacy import LegacyCollected, save_legacy
from .options import get_crc32_options, skips_data
from .pickler import Collected, pickled

__all__ = ["save", "write_to"]

Write = Callable[[Any], None]


def save(
    obj: object,
    f: Any,
    pickle_module: Any = pickle,
    pickle_protocol: int = 2,
    _use_new_zipfile_serialization: bool = True,
    _disable_byteorder_record: bool = False,
) -> None:
    """Write an object to a file, which `load` and torch read.

    Tensors that share memory share it again when they are loaded. A file that is named by its path is there whole or
    not at all: an error leaves what was there before.

    Args:
        obj: tensors, and whatever pickle takes: dictionaries, lists, modules.
        f: a path, or an object with `write`.
        pickle_module: a module like pickle, whose Pickler is used. Classes have the names of this package then, and
            torch cannot read them.
        pickle_protocol (int): the protocol of the pickle in the file.

    Raises:
        AttributeError: `f` is neither a path nor an object with `write`.
        RuntimeError: there is no such folder; tensors share memory but not their dtype.

    Example:
        >>> import io
        >>> file = io.BytesIO()
        >>> opweave.save({"weight": opweave.ones(2)}, file)
        >>> _ = file.seek(0)
        >>> opweave.load(file)
        {'weight': tensor([1., 1.])}
    """
    collected = Collected() if _use_new_zipfile_serialization else LegacyCollected()
    data = pickled(obj, pickle_module, pickle_protocol, collected)

    def write_archive(write: Write) -> None:
        archive = ArchiveWriter(write, _folder(f), get_crc32_options())
        archive.record("data.pkl", data)
        archive.record(".format_version", b"1")
        archive.record(".storage_alignment", b"%d" % ALIGNMENT)
        if not _disable_byteorder_record:
            archive.record("byteorder", sys.byteorder.encode())
        for key, storage in collected.storages.items():
            if skips_data() or storage.device.type == "meta":
                archive.room(f"data/{key}", storage.nbytes())
            else:
                may_change = threading.active_count() > 1 or storage.is_shared()
                archive.record(f"data/{key}", memory_of(storage), may_change)
        archive.finish()

    def write_legacy(write: Write) -> None:
        save_legacy(write, data, collected, pickle_protocol)

    size = 4096 + len(data) + sum(storage.nbytes() + 1024 for storage in collected.storages.values())
    write_to(f, write_archive if _use_new_zipfile_serialization else write_legacy, size)


def _folder(f: Any) -> str:
    """The name of the folder in the archive: that of the file without its ending."""
    if not isinstance(f, (str, os.PathLike)):
        return "archive"
    name = os.path.splitext(os.path.basename(os.fsdecode(os.fspath(f))))[0]
    return name if name.isascii() and name else "archive"


def write_to(f: Any, writes: Callable[[Write], None], size: int) -> None:
    """Write to a path or a file object, at most `size` bytes, by calling `writes` with a function that takes bytes."""
    if isinstance(f, (str, os.PathLike)):
        folder = os.path.dirname(os.fspath(f))
        if folder and not os.path.isdir(folder):
            raise RuntimeError(f"Parent directory {os.fsdecode(folder)} does not exist.")
        with replacing(f, size) as file:
            writes(_whole(file))
    elif hasattr(f, "write"):
        writes(_whole(f))
        if hasattr(f, "flush"):
            f.flush()
    else:
        raise AttributeError("expected 'f' to be string, path, or a file-like object with a 'write' attribute")


def _whole(file: Any) -> Write:
    """Writes all of what it is given, which the files of the system need not do."""
    buffered = isinstance(file, (io.BufferedIOBase, io.BytesIO))

    def write(data: Any) -> None:
        count = file.write(data)
        while not buffered and isinstance(count, int) and count < len(data):
            data = memoryview(data)[count:]
            count = file.write(data)

    return write
