"""Files that are there whole or not at all: written beside their target, and put in its place at the end.

An error, a full disk or the end of the process leaves the target as it was. Written to as they are: what is no file of
its own (a pipe, a device), an open file by its descriptor (`/proc/self/fd/3`), which others read from, and a file in a
folder where no other one can be made.
"""

from __future__ import annotations

import errno
import os
import shutil
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import IO, Any

__all__ = ["replacing"]

_LARGE = 1 << 20
_NO_PLACE = (errno.EACCES, errno.EPERM, errno.EROFS, errno.EBUSY)
"""The errors of the system where a folder takes no other file, or not in the place of this one."""


@contextmanager
def replacing(path: Any, size: int) -> Iterator[IO[bytes]]:
    """A file to write to, which takes the place of `path` at the end of the block. Links are followed. The errors are
    those of `open(path, "wb")`, and the file has the permissions that it would have.

    `size`: what will be written has at most so many bytes. The room for large files is taken at once, which tells
    early that the disk is full, and lets file systems rename the file without writing it to the disk first.
    """
    if not os.path.basename(path):
        raise FileNotFoundError(errno.ENOENT, "a file has to have a name", path)
    status = None
    try:
        existing = open(path, "wb", opener=_open_existing)  # noqa: SIM115 (closed below)
    except FileNotFoundError:
        pass
    else:
        with existing:
            status = os.fstat(existing.fileno())
            if not stat.S_ISREG(status.st_mode) or _is_descriptor(path):
                if stat.S_ISREG(status.st_mode):
                    existing.truncate()
                yield existing
                return
    target = os.path.realpath(os.fspath(path))
    beside, is_beside = _name_beside(target), True
    try:
        try:
            file = open(beside, "xb")  # noqa: SIM115 (closed below)
        except OSError as error:
            if status is None or error.errno not in _NO_PLACE:
                raise
            file, is_beside = open(target, "wb"), False  # noqa: SIM115
        with file:
            if is_beside:
                _prepare(file.fileno(), status, size)
            yield file
            file.truncate()
        if is_beside:
            _put_in_place(beside, target, status)
    except BaseException:
        with suppress(FileNotFoundError):  # it was not made, or is in its place already
            os.unlink(beside)
        raise


def _open_existing(path: Any, flags: int) -> int:
    """Opens a file that is there for writing, and leaves it as it is."""
    return os.open(path, os.O_WRONLY | os.O_CLOEXEC)


def _is_descriptor(path: Any) -> bool:
    """True if the path leads through a link of the system to a file that a process has open, as `/dev/stdout` does."""
    place = os.path.abspath(os.fsdecode(path))
    while True:
        folder = os.path.realpath(os.path.dirname(place))
        if folder.startswith("/proc/"):
            return True
        place = os.path.join(folder, os.path.basename(place))
        if not os.path.islink(place):
            return False
        place = os.path.join(folder, os.readlink(place))


def _name_beside(target: Any) -> Any:
    """The path of a file that is not there, in the folder of the target."""
    folder, name = os.path.split(os.fsencode(target))
    beside = os.path.join(folder, b".%s.%s.tmp" % (name[:200], os.urandom(6).hex().encode()))
    return beside if isinstance(target, bytes) else os.fsdecode(beside)


def _prepare(descriptor: int, status: os.stat_result | None, size: int) -> None:
    """Gives a new file the owner and the permissions of the old one, and room."""
    if status is not None:
        with suppress(PermissionError):  # it is another user's
            os.fchown(descriptor, status.st_uid, status.st_gid)
        os.fchmod(descriptor, stat.S_IMODE(status.st_mode))
    if size >= _LARGE:
        _take_room(descriptor, size)


def _put_in_place(beside: Any, target: Any, status: os.stat_result | None) -> None:
    try:
        os.replace(beside, target)
    except OSError as error:  # mounted there alone, or another user's in a folder for all
        if status is None or error.errno not in _NO_PLACE:
            raise
        shutil.copyfile(beside, target)
        os.unlink(beside)


def _take_room(descriptor: int, size: int) -> None:
    try:
        os.posix_fallocate(descriptor, 0, size)
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.EOPNOTSUPP, errno.ENOSYS):  # not every file system can
            raise
