"""Memory that processes share, and files as memory: mappings, which are the memory of storages.

A mapping lives as long as its storage. Who is given its descriptor, or the name of its file, sees the same memory.
Functions return a tensor of all bytes, which keeps the storage, and never a mapping, which does not.
"""

from __future__ import annotations

import fcntl
import mmap
import os
import struct
import weakref
from typing import Any

from .._base.dtypes import EXPORTS
from .._base.handles import wrap
from .._C import ffi, lib
from .._handle import over_memory

__all__ = ["bytes_of_file", "from_descriptor", "from_name", "mapping_of", "named_bytes", "shared_bytes"]

_BYTES = EXPORTS["uint8"]
_FOLDER = "/dev/shm"
_COUNTS = struct.Struct("<2q")
"""Behind the memory of a named file: how many messages with its name are on their way; whether its maker has gone."""


class Mapping:
    """A file, or a part of memory without a name, as the memory of one storage."""

    def __init__(self, descriptor: int, nbytes: int, shared: bool = True) -> None:
        self.descriptor = descriptor
        self.nbytes = nbytes
        self.shared = shared
        weakref.finalize(self, os.close, descriptor).atexit = False
        flags = mmap.MAP_SHARED if shared else mmap.MAP_PRIVATE
        self._memory = ffi.from_buffer("char[]", mmap.mmap(descriptor, nbytes, flags=flags))
        self.address = int(ffi.cast("uintptr_t", self._memory))
        self.storage = 0
        """The storage of the core, which keeps the mapping."""
        self.name: str | None = None
        self.path: str | None = None
        """The path of the file, where there is one that users have named."""

    def is_sent(self) -> None:
        """Count a message with the name of the file, which stays until the message has been read."""
        _count(self.descriptor, self.nbytes, 1, False)


def _tensor(mapping: Mapping) -> Any:
    """A tensor of all bytes, whose storage is a new one and keeps the mapping from now on."""
    n = mapping.nbytes
    tensor: Any = wrap(over_memory(mapping, mapping.address, n, (n,), (1,), _BYTES.code, False))
    mapping.storage = lib.storage_of(tensor._h)
    if mapping.shared:
        _by_address[mapping.address] = mapping
        _by_file[_identity(mapping.descriptor)] = mapping
    return tensor


_by_address: weakref.WeakValueDictionary[int, Mapping] = weakref.WeakValueDictionary()
_by_file: weakref.WeakValueDictionary[tuple[int, int], Mapping] = weakref.WeakValueDictionary()


def _identity(descriptor: int) -> tuple[int, int]:
    status = os.fstat(descriptor)
    return status.st_dev, status.st_ino


def mapping_of(storage: Any) -> Mapping | None:
    """The shared mapping that is the memory of a storage; None where it is no such memory."""
    return _by_address.get(lib.storage_data(lib.storage_of(storage._elements._h)))


# ---- new memory ---------------------------------------------------------------------------------------------


def shared_bytes(nbytes: int) -> Any:
    """Memory that is shared by its descriptor."""
    descriptor = os.memfd_create("opweave", os.MFD_CLOEXEC)
    os.ftruncate(descriptor, nbytes)
    return _tensor(Mapping(descriptor, nbytes))


def named_bytes(nbytes: int) -> Any:
    """Memory that is shared by the name of a file in memory, which goes when it is no longer used."""
    name = f"{_FOLDER}/opweave_{os.getpid()}_{os.urandom(8).hex()}"
    descriptor = os.open(name, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    os.ftruncate(descriptor, nbytes + _COUNTS.size)
    mapping = Mapping(descriptor, nbytes)
    mapping.name = name
    weakref.finalize(mapping, _leave, name, nbytes, os.getpid())
    return _tensor(mapping)


def _leave(name: str, nbytes: int, maker: int) -> None:
    if os.getpid() != maker:  # the child of a fork, which has not made it
        return
    descriptor = os.open(name, os.O_RDWR | os.O_CLOEXEC)
    try:
        if not _count(descriptor, nbytes, 0, True):
            os.unlink(name)
    finally:
        os.close(descriptor)


def _count(descriptor: int, nbytes: int, change: int, leaves: bool) -> int:
    """Changes what stands behind the memory. Returns 0 where nobody needs the name any more."""
    fcntl.flock(descriptor, fcntl.LOCK_EX)
    try:
        under_way, has_left = _COUNTS.unpack(os.pread(descriptor, _COUNTS.size, nbytes))
        under_way, has_left = int(under_way) + change, bool(has_left or leaves)
        os.pwrite(descriptor, _COUNTS.pack(under_way, has_left), nbytes)
        return under_way + (not has_left)
    finally:
        fcntl.flock(descriptor, fcntl.LOCK_UN)


# ---- memory of others ---------------------------------------------------------------------------------------


def from_descriptor(descriptor: int, nbytes: int) -> Any:
    """A tensor of the bytes that a descriptor leads to, which is taken over."""
    known = _by_file.get(_identity(descriptor))
    if known is not None:
        os.close(descriptor)
        return wrap(lib.storage_tensor(known.storage, _BYTES.code))
    if os.fstat(descriptor).st_size < nbytes:
        os.close(descriptor)
        raise RuntimeError(f"shared memory is smaller than the {nbytes} bytes of the storage in it")
    return _tensor(Mapping(descriptor, nbytes))


def from_name(name: str, nbytes: int) -> Any:
    """A tensor of the bytes in a file that another process has made by `new_named_mapping`, and sent the name of."""
    if os.path.dirname(name) != _FOLDER or not os.path.basename(name).startswith("opweave_"):
        raise ValueError(f"{name!r} is not the name of shared memory")
    descriptor = os.open(name, os.O_RDWR | os.O_CLOEXEC)
    if not _count(descriptor, nbytes, -1, False):
        os.unlink(name)
    return from_descriptor(descriptor, nbytes)


# ---- files --------------------------------------------------------------------------------------------------


def bytes_of_file(filename: Any, shared: bool, nbytes: int) -> Any:
    """A file as memory. Shared, it is made and made longer where needed; else what is written stays in the process."""
    try:
        flags = os.O_RDWR | os.O_CREAT if shared else os.O_RDONLY
        descriptor = os.open(filename, flags | os.O_CLOEXEC, 0o666)
    except OSError as error:
        mode = "read-write" if shared else "read-only"
        raise RuntimeError(
            f"unable to open file <{os.fsdecode(filename)}> in {mode} mode: {error.strerror} ({error.errno})"
        ) from None
    name = os.fsdecode(filename)
    size = os.fstat(descriptor).st_size
    if size < nbytes and shared:
        try:
            os.ftruncate(descriptor, nbytes)
        except OSError as error:
            os.close(descriptor)
            reason = f"{error.strerror} ({error.errno})"
            raise RuntimeError(f"unable to resize file <{name}> to the right size: {reason}") from None
    elif size < nbytes:
        os.close(descriptor)
        raise RuntimeError(f"file <{name}> size <{size}> is smaller than the required mapping size <{nbytes}>")
    try:
        mapping = Mapping(descriptor, nbytes, shared)
    except OSError as error:
        reason = f"{error.strerror} ({error.errno})"
        raise RuntimeError(f"unable to mmap {nbytes} bytes from file <{name}>: {reason}") from None
    mapping.path = name
    return _tensor(mapping)
