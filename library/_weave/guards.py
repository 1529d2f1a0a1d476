"""Guards while a package is woven: a lock against other processes, and cleaning up when the process is told to end."""

from __future__ import annotations

import fcntl
import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import FrameType

_ENDINGS = (signal.SIGTERM, signal.SIGHUP)


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Keeps other processes from weaving this package. Its folder is made and locked itself, so that packages side by
    side do not wait for each other and no lock file is left; when nothing has come into it, it goes again."""
    handle = _open_locked(folder)
    try:
        yield
    finally:
        with suppress(OSError):
            folder.rmdir()
        os.close(handle)


def _open_locked(folder: Path) -> int:
    while True:
        folder.mkdir(exist_ok=True)
        try:
            handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        except FileNotFoundError:
            continue
        try:
            # Some network file systems have no locks for folders; files are still replaced one at a time.
            with suppress(OSError):
                fcntl.flock(handle, fcntl.LOCK_EX)
            # Who had the lock before may have removed the folder, and somebody else have made another.
            if os.path.samestat(os.fstat(handle), os.stat(folder)):
                return handle
        except FileNotFoundError:
            pass
        except BaseException:
            os.close(handle)
            raise
        os.close(handle)


class _Told(BaseException):
    """The process was told to end."""


@contextmanager
def tidying_up() -> Iterator[None]:
    """A signal that would end the process at once ends it after everything within has been cleaned up. What a program
    has decided about its signals stays as it is, and so does everything in threads, which get none."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    taken = [number for number in _ENDINGS if signal.getsignal(number) is signal.SIG_DFL]
    told: list[int] = []

    def end(number: int, frame: FrameType | None) -> None:
        if not told:  # once is enough: the second must not interrupt the cleaning
            told.append(number)
            raise _Told

    try:
        for number in taken:
            signal.signal(number, end)
        yield
    except _Told:
        pass
    finally:
        for number in taken:
            signal.signal(number, signal.SIG_DFL)
        if told:
            os.kill(os.getpid(), told[0])
