"""The processes of one machine: their variables, their output, and their end.

They are started here, not by mpiexec: MPICH's ends all processes a second after one of them, without a word of which it
was, and is one program for all machines, where torchrun is started on each of them.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from types import FrameType
from typing import IO

from .arguments import Launch

__all__ = ["run_all"]

_PATIENCE = 5.0
"""Seconds for which the others may say what they miss, and after which those that were asked to end are killed."""


def _variables(launch: Launch, local_rank: int, restart: int) -> dict[str, str]:
    """The environment of a process."""
    rank = launch.first_rank + local_rank
    given: dict[str, object] = {
        "RANK": rank,
        "WORLD_SIZE": launch.size,
        "LOCAL_RANK": local_rank,
        "LOCAL_WORLD_SIZE": launch.local_size,
        "GROUP_RANK": launch.node,
        "GROUP_WORLD_SIZE": launch.nodes,
        "ROLE_RANK": rank,
        "ROLE_WORLD_SIZE": launch.size,
        "ROLE_NAME": launch.role,
        "MASTER_ADDR": launch.address,
        "MASTER_PORT": launch.port,
        "TORCHELASTIC_RUN_ID": launch.identity,
        "TORCHELASTIC_RESTART_COUNT": restart,
        "TORCHELASTIC_MAX_RESTARTS": launch.restarts,
    }
    # Threads of all processes together fill the machine, unless the user has said how many.
    threads = max(1, len(os.sched_getaffinity(0)) // launch.local_size)
    return {
        "OPWEAVE_NUM_THREADS": str(threads),
        **os.environ,
        **{name: str(value) for name, value in given.items()},
    }


def _forward(source: IO[bytes], target: IO[str], prefix: str) -> None:
    """Write the lines of a pipe with a prefix."""
    for line in source:
        target.write(prefix + line.decode(errors="replace"))
        target.flush()


class _Processes:
    """Processes that were started together."""

    def __init__(self, launch: Launch, restart: int) -> None:
        self.launch = launch
        self.started: list[subprocess.Popen[bytes]] = []
        self.threads: list[threading.Thread] = []
        for local_rank in range(launch.local_size):
            # A session of its own: Ctrl-C comes from here, once.
            process = subprocess.Popen(
                launch.command,
                env=_variables(launch, local_rank, restart),
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                start_new_session=True,
            )
            self.started.append(process)
            if launch.shown is None or local_rank in launch.shown:
                prefix = f"[rank{launch.first_rank + local_rank}]: "
                self.read(process.stdout, sys.stdout, prefix)
                self.read(process.stderr, sys.stderr, prefix)
            else:
                self.read(process.stdout, open(os.devnull, "w"), "")  # noqa: SIM115 (open as long as the process)
                self.read(process.stderr, open(os.devnull, "w"), "")  # noqa: SIM115

    def read(self, source: IO[bytes] | None, target: IO[str], prefix: str) -> None:
        assert source is not None
        thread = threading.Thread(target=_forward, args=(source, target, prefix), daemon=True)
        thread.start()
        self.threads.append(thread)

    def running(self) -> list[subprocess.Popen[bytes]]:
        return [process for process in self.started if process.poll() is None]

    def failed(self) -> list[int]:
        """The numbers, on this machine, of the processes that have failed."""
        return [number for number, process in enumerate(self.started) if process.poll()]

    def send(self, number: int) -> None:
        for process in self.running():
            process.send_signal(number)

    def wait(self, seconds: float) -> bool:
        """Wait until all have ended, at most so many seconds; whether they have."""
        end = time.monotonic() + seconds
        while self.running() and time.monotonic() < end:
            time.sleep(0.02)
        return not self.running()

    def end(self, first: int) -> None:
        """End all processes, by this signal first and by others if it does not suffice."""
        for number in dict.fromkeys((first, signal.SIGTERM, signal.SIGKILL)):
            self.send(number)
            if self.wait(_PATIENCE):
                break

    def finish_output(self) -> None:
        for thread in self.threads:
            thread.join(1)  # a program that the process has left behind may hold the pipe

    def describe(self, number: int) -> str:
        process, rank = self.started[number], self.launch.first_rank + number
        code = process.returncode
        how = f"by signal {signal.Signals(-code).name}" if code < 0 else f"with exit status {code}"
        return f"rank {rank} (process {process.pid}) ended {how}"


class _Interrupted(Exception):  # noqa: N818 (no error: a signal)
    def __init__(self, number: int) -> None:
        self.number = number


def _raise(number: int, frame: FrameType | None) -> None:
    raise _Interrupted(number)


def run_all(launch: Launch) -> int:
    """Run all processes of this machine to their end. Returns 0, or the exit status of the first that has failed."""
    before = {number: signal.signal(number, _raise) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        for restart in range(launch.restarts + 1):
            status = _run_once(_Processes(launch, restart))
            if not status or status >= 128:
                break
        return status
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _run_once(processes: _Processes) -> int:
    try:
        while processes.running() and not processes.failed():
            time.sleep(0.02)
        failed = processes.failed()
        if not failed:
            processes.finish_output()
            return 0
        texts = [processes.describe(number) for number in failed]
        if not processes.wait(_PATIENCE):
            processes.end(signal.SIGTERM)
        processes.finish_output()
    except _Interrupted as interrupted:
        processes.end(interrupted.number)
        processes.finish_output()
        return 128 + interrupted.number
    print(f"opweave.distributed.run: {'; '.join(texts)}; the others were ended", file=sys.stderr, flush=True)
    code = processes.started[failed[0]].returncode
    return 128 - code if code < 0 else code
