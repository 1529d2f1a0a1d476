"""MPI, loaded and started when the first group of several processes is made, and left when the program ends.

Reads the environment: whether mpiexec has started this process. Starts MPI by its C function, as another thread may
have to answer for this process while it starts (pmi.py), which a call that holds the interpreter's lock would not let
it do.
"""

from __future__ import annotations

import atexit
import contextlib
import ctypes
import os
import signal
import sys
import time
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from .._base.lazy_imports import load
from .._base.notes import explained
from . import pmi
from .errors import DistBackendError
from .stores import Store
from .watch import Watch

__all__ = ["Engine", "has_mpi", "is_under_mpiexec", "start"]

_MPIEXEC = ("PMI_RANK", "PMI_ID", "PMIX_RANK", "OMPI_COMM_WORLD_RANK")
_THREAD_MULTIPLE = 3
_ADDRESS = 256  # bytes
_MEETING = 1
"""The tag of messages among those that make a group; others of this communicator have none."""


def has_mpi() -> bool:
    """Return whether mpi4py is installed."""
    return find_spec("mpi4py") is not None


def is_under_mpiexec() -> bool:
    """Return whether mpiexec has started this process, or the program has started MPI with others."""
    if any(name in os.environ for name in _MPIEXEC):
        return True
    loaded = sys.modules.get("mpi4py.MPI")
    return loaded is not None and loaded.Is_initialized() and loaded.COMM_WORLD.size > 1


class Engine:
    """MPI of this process: the module of mpi4py, the communicator of all ranks, and what watches them."""

    def __init__(self, mpi: Any, library: Any, has_launcher: bool, seconds: float) -> None:
        self.mpi = mpi
        self.library = library
        self.has_launcher = has_launcher
        self.pid = os.getpid()
        self.requests: list[Any] = []  # those that are used again and again
        self.world = mpi.COMM_WORLD
        self.rank: int = self.world.rank
        self.size: int = self.world.size
        self.world.Set_errhandler(mpi.ERRORS_RETURN)
        if has_launcher:
            # MPICH's mpiexec sends it when a rank has ended; its default would end this one before it can say what is
            # missing.
            with contextlib.suppress(ValueError):
                if signal.getsignal(signal.SIGUSR1) == signal.SIG_DFL:
                    signal.signal(signal.SIGUSR1, signal.SIG_IGN)
        self.watch = Watch(self.rank, self.size, lambda given: self._share(given, seconds), seconds)
        _unlink_shared_memory()
        atexit.register(self._leave)

    def _share(self, given: bytes, seconds: float) -> bytes:
        """The bytes that rank 0 gives."""
        buffer = bytearray(given.ljust(_ADDRESS, b"\0"))
        request = self.world.Ibcast([buffer, self.mpi.BYTE], 0)
        end = time.monotonic() + seconds
        while not request.Test():
            if time.monotonic() > end:
                raise DistBackendError(f"init_process_group: not all {self.size} ranks arrived within {seconds:g} s")
            time.sleep(0)
        return bytes(buffer).rstrip(b"\0")

    def duplicate(self, comm: Any, members: Sequence[int], seconds: float) -> Any:
        """A communicator of the same ranks, whose messages are apart.

        Raises:
            DistBackendError: a rank has ended, or does not arrive.
        """
        made, request = comm.Idup()
        self._wait_all([request], members, seconds)
        return made

    def meet(self, members: Sequence[int], seconds: float) -> None:
        """Wait until these ranks, of which this is one, have all called it: the first one hears of the others.

        Raises:
            DistBackendError: a rank has ended, or does not arrive.
        """
        first, *others = members
        peers = others if self.rank == first else [first]
        arrived = [self.world.Irecv([bytearray(1), self.mpi.BYTE], peer, _MEETING) for peer in peers]

        def tell() -> list[Any]:
            return [self.world.Isend([b"!", self.mpi.BYTE], peer, _MEETING) for peer in peers]

        sent = [] if self.rank == first else tell()
        self._wait_all(arrived, members, seconds)
        self._wait_all(sent or tell(), members, seconds)

    def _wait_all(self, requests: Sequence[Any], members: Sequence[int], seconds: float) -> None:
        for request in requests:
            self.watch.wait(request.Test, members, lambda: f"making a group on rank {self.rank}", seconds)

    def _leave(self) -> None:
        """End MPI where all other ranks do. It would wait for ever for one that has ended."""
        if os.getpid() != self.pid:
            return
        self.watch.leave()
        if self.has_launcher and self.watch.all_have_left(self.size, 1800) and not self.mpi.Is_finalized():
            for request in self.requests:
                request.Free()
            self.library.MPI_Finalize()


def _unlink_shared_memory() -> None:
    """Remove the names of the memory that MPICH shares between ranks, which all have mapped it by now: it would stay
    when the program ends without MPI_Finalize, as a process that is killed does."""
    with open("/proc/self/maps") as maps:
        names = {line.split()[-1] for line in maps if "/dev/shm/mpich_shm_" in line}
    for name in names:
        with contextlib.suppress(OSError):
            os.unlink(name)


_engine: Engine | None = None


def start(rank: int, size: int, store: Store | None, seconds: float) -> Engine:
    """MPI of this process, which becomes a rank if it is none.

    Args:
        rank, size (int): what is asked for; -1: whatever mpiexec says.
        store (Store): by which processes find one another that mpiexec has not started.

    Raises:
        ModuleNotFoundError: mpi4py is not installed.
        ValueError: mpiexec gives another rank or size.
        DistStoreError, DistNetworkError: not all ranks arrived.
    """
    global _engine
    if _engine is None:
        if not has_mpi():
            error = ModuleNotFoundError("groups of several processes need MPI: pip install 'opweave[distributed]'")
            raise explained(error, "docs/distributed.md")
        has_launcher = is_under_mpiexec()
        if not has_launcher and store is not None:
            pmi.join(store, rank, size, seconds)
        _engine = Engine(*_started(), has_launcher, seconds)
        pmi.forget() if not has_launcher else None
    if size not in (-1, _engine.size) or rank not in (-1, _engine.rank):
        raise ValueError(
            f"rank {rank} of {size} was asked for, but MPI has made this process rank {_engine.rank} of {_engine.size}"
        )
    return _engine


def _started() -> tuple[Any, Any]:
    """The module MPI of mpi4py, when MPI has started, and its functions in C."""
    settings = load("mpi4py")
    if "mpi4py.MPI" not in sys.modules:
        # mpi4py looks in this environment, which may be one upon the environment that both are installed in.
        prefix = Path(settings.__file__).parents[4]
        os.environ.setdefault("MPI4PY_LIBMPI", os.pathsep.join([f"{sys.prefix}/lib", f"{prefix}/lib", ""]))
        settings.rc.initialize = settings.rc.finalize = False
    mpi = load("mpi4py.MPI")
    library = ctypes.CDLL(mpi.__file__)
    if not mpi.Is_initialized():
        provided = ctypes.c_int()
        if library.MPI_Init_thread(None, None, _THREAD_MULTIPLE, ctypes.byref(provided)):
            raise DistBackendError("MPI could not be started")
    return mpi, library
