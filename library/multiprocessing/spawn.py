"""`spawn`: one function in several processes, whose errors arrive where they are waited for."""

from __future__ import annotations

import multiprocessing
import multiprocessing.connection
import os
import pickle
import signal
import sys
import tempfile
import time
import traceback
from collections.abc import Callable
from typing import Any

__all__ = [
    "ProcessContext",
    "ProcessException",
    "ProcessExitedException",
    "ProcessRaisedException",
    "SpawnContext",
    "spawn",
    "start_processes",
]


class ProcessException(Exception):  # noqa: N818 (torch's name)
    """A process that was started has failed. `error_index` says which one, `pid` which process of the system."""

    def __init__(self, msg: str, error_index: int, pid: int) -> None:
        super().__init__(msg)
        self.msg = msg
        self.error_index = error_index
        self.pid = pid

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.msg, self.error_index, self.pid)


class ProcessRaisedException(ProcessException):
    """The function raised an exception, whose text is that of this one."""

    def __init__(self, msg: str, error_index: int, error_pid: int) -> None:
        super().__init__(msg, error_index, error_pid)


class ProcessExitedException(ProcessException):
    """The process ended with a code, or by a signal."""

    def __init__(
        self, msg: str, error_index: int, error_pid: int, exit_code: int, signal_name: str | None = None
    ) -> None:
        super().__init__(msg, error_index, error_pid)
        self.exit_code = exit_code
        self.signal_name = signal_name

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.msg, self.error_index, self.pid, self.exit_code, self.signal_name)


def _run(function: Callable[..., Any], index: int, args: tuple[Any, ...], report: str) -> None:
    """Run the function in its process, and report an exception."""
    try:
        function(index, *args)
    except KeyboardInterrupt:
        pass  # the parent has been interrupted as well, and says so
    except Exception:
        with open(report, "wb") as file:
            pickle.dump(traceback.format_exc(), file)
        sys.exit(1)


class ProcessContext:
    """Processes that were started together."""

    def __init__(self, processes: list[Any], error_files: list[str]) -> None:
        self.processes = processes
        self.error_files = error_files
        self.sentinels = {process.sentinel: index for index, process in enumerate(processes)}

    def pids(self) -> list[int]:
        """The numbers of the processes."""
        return [int(process.pid) for process in self.processes]

    def join(self, timeout: float | None = None, grace_period: float | None = None) -> bool:
        """Wait until a process has ended, and return True when all have.

        Args:
            timeout (float): at most so many seconds; None: until then.
            grace_period (float): how long the others may go on when one has failed, before they are killed.

        Raises:
            ProcessRaisedException: the function raised an exception in a process.
            ProcessExitedException: a process ended by itself, or was killed.
        """
        if not self.sentinels:
            return True
        for sentinel in multiprocessing.connection.wait(list(self.sentinels), timeout=timeout):
            index = self.sentinels.pop(sentinel)
            self.processes[index].join()
            if self.processes[index].exitcode:
                self._end_others(grace_period)
                self._raise(index)
        if not self.sentinels:
            self._forget()
        return not self.sentinels

    def _end_others(self, grace_period: float | None) -> None:
        for process in self.processes:
            if process.is_alive():
                process.terminate()
        end = time.monotonic() + (30 if grace_period is None else grace_period)
        for process in self.processes:
            process.join(max(0, end - time.monotonic()))
            if process.is_alive():
                process.kill()
                process.join()

    def _raise(self, index: int) -> None:
        process = self.processes[index]
        text = None
        if os.path.getsize(self.error_files[index]):
            with open(self.error_files[index], "rb") as file:
                text = pickle.load(file)
        self._forget()
        if text is not None:
            raise ProcessRaisedException(
                f"\n\n-- Process {index} terminated with the following error:\n{text}", index, process.pid
            )
        code = process.exitcode
        if code < 0:
            name = signal.Signals(-code).name if -code in set(signal.Signals) else f"<Unknown signal {-code}>"
            raise ProcessExitedException(
                f"process {index} terminated with signal {name}", index, process.pid, code, name
            )
        raise ProcessExitedException(f"process {index} terminated with exit code {code}", index, process.pid, code)

    def _forget(self) -> None:
        for name in self.error_files:
            if os.path.exists(name):
                os.unlink(name)


class SpawnContext(ProcessContext):
    """Processes that `spawn` has started."""


def start_processes(
    fn: Callable[..., Any],
    args: tuple[Any, ...] = (),
    nprocs: int = 1,
    join: bool = True,
    daemon: bool = False,
    start_method: str = "spawn",
) -> ProcessContext | None:
    """Call `fn(index, *args)` in `nprocs` processes.

    Args:
        join (bool): wait for all; else what waits for them is returned, a ProcessContext.
        daemon (bool): whether they are ended with this process.
        start_method (str): `spawn`, `fork` or `forkserver`.

    Raises:
        ProcessException: one of them has failed; the others are ended.
    """
    kind = SpawnContext if start_method == "spawn" else ProcessContext
    context: Any = multiprocessing.get_context(start_method)
    processes, reports = [], []
    for index in range(nprocs):
        descriptor, report = tempfile.mkstemp(prefix="opweave-error-", suffix=".pickle")
        os.close(descriptor)
        process = context.Process(target=_run, args=(fn, index, args, report), daemon=daemon)
        process.start()
        processes.append(process)
        reports.append(report)
    started = kind(processes, reports)
    if not join:
        return started
    while not started.join():
        pass
    return None


spawn = start_processes
