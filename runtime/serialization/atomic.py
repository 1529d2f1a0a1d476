"""Files that are there whole or not at all: written beside their target, and put in its place at the end.

An error, a full disk or the end of the process leaves the target as it was. What stands in the target's place and is no
file of its own (a pipe, a device) is written to as it is.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import IO, Any

__all__ = ["replacing"]

_LARGE = 1 << 20


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
        before = os.open(path, os.O_WRONLY | os.O_CLOEXEC)  # may it be written to?
    except FileNotFoundError:
        pass
    else:
        status = os.fstat(before)
        if not stat.S_ISREG(status.st_mode):
            with open(before, "wb") as file:
                yield file
            return
        os.close(before)
    target = os.path.realpath(os.fspath(path))
    descriptor, beside = _opened_beside(target)
    try:
        with open(descriptor, "wb") as file:
            if status is not None:
                with suppress(PermissionError):  # it is another user's
                    os.fchown(descriptor, status.st_uid, status.st_gid)
                os.fchmod(descriptor, stat.S_IMODE(status.st_mode))
            if size >= _LARGE:
                _take_room(descriptor, size)
            yield file
            file.truncate()
        os.replace(beside, target)
    except BaseException:
        os.unlink(beside)
        raise


def _take_room(descriptor: int, size: int) -> None:
    try:
        os.posix_fallocate(descriptor, 0, size)
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.EOPNOTSUPP, errno.ENOSYS):  # not every file system can
            raise


def _opened_beside(target: Any) -> tuple[int, Any]:
    """A new file in the folder of the target: its descriptor and its path."""
    folder, name = os.path.split(target)
    text = os.fsdecode(name)[:200]
    while True:
        beside = os.path.join(folder, os.fsencode(_name(text)) if isinstance(folder, bytes) else _name(text))
        try:
            return os.open(beside, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666), beside
        except FileExistsError:
            continue


def _name(text: str) -> str:
    return f".{text}.{os.urandom(6).hex()}.tmp"
