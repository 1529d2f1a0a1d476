"""Environment variables read at load, the choice of the instruction-set level, and the interpreter's lock."""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from .conftest import Core

SCRIPT = """
import ctypes, sys
core = ctypes.CDLL(sys.argv[1])
core.environment_problem.restype = ctypes.c_char_p
statistics = (ctypes.c_int64 * 76)()
core.memory_statistics(statistics, 76)
problem = core.environment_problem()
print(core.level(), core.get_num_threads(), statistics[74], (problem or b"").decode(), sep="|")
"""


def state(library: Path, **variables: str) -> tuple[int, int, int, str]:
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("OPWEAVE_", "OMP_"))}
    environment.update(variables)
    command = [sys.executable, "-S", "-c", SCRIPT, library]
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    level, threads, cap, problem = done.stdout.rstrip("\n").split("|")
    return int(level), int(threads), int(cap), problem


def test_defaults(core_library: Path) -> None:
    level, threads, cap, problem = state(core_library)
    assert 0 <= level <= 2
    assert threads == len(os.sched_getaffinity(0))
    assert cap > 64 << 20
    assert problem == ""


def test_variables_are_followed(core_library: Path) -> None:
    assert state(core_library, OPWEAVE_ISA="x86-64")[0] == 0
    assert state(core_library, OMP_NUM_THREADS="3")[1] == 3
    assert state(core_library, OMP_NUM_THREADS="3", OPWEAVE_NUM_THREADS="5")[1] == 5
    for text, value in (("0", 0), ("4096", 4096), ("3M", 3 << 20), ("2GiB", 2 << 30), ("1kb", 1024)):
        assert state(core_library, OPWEAVE_MEMORY_CAP=text)[2:] == (value, "")


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        ("OPWEAVE_ISA", "avx2", "expected x86-64, x86-64-v3 or x86-64-v4"),
        ("OPWEAVE_NUM_THREADS", "0", "expected a positive number"),
        ("OPWEAVE_NUM_THREADS", "two", "expected a positive number"),
        ("OPWEAVE_MEMORY_CAP", "-1", "expected a number of bytes"),
        ("OPWEAVE_MEMORY_CAP", "1X", "expected a number of bytes"),
        ("OPWEAVE_MEMORY_CAP", "99999999999T", "expected a number of bytes"),
    ],
)
def test_wrong_values_are_reported(core_library: Path, name: str, value: str, expected: str) -> None:
    problem = state(core_library, **{name: value})[3]
    assert problem.startswith(f"environment variable {name} is '{value}'; ")
    assert expected in problem


def test_levels(core: Core) -> None:
    best = core.lib.level()
    assert core.lib.set_level(0) == 1
    assert core.lib.level() == 0
    assert core.lib.set_level(-1) == core.lib.set_level(3) == 0
    assert core.lib.set_level(best) == 1


def test_long_work_releases_the_lock(core_library: Path) -> None:
    released_lock = ctypes.PyDLL(str(core_library)).released_lock
    released_lock.argtypes = [ctypes.c_int64]

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-4)

    def progress_during(work: int) -> int:
        """Steps of another thread while the call sleeps for 50 ms, but for 10 ms at either end."""
        steps: list[float] = []
        running = True

        def step() -> None:
            while running:
                steps.append(time.monotonic())
                time.sleep(0.001)

        other = threading.Thread(target=step)
        other.start()
        while not steps:
            time.sleep(0.001)
        start = time.monotonic()
        assert released_lock(work) == (work >= 16384)
        running = False
        other.join()
        return sum(start + 0.01 < t < start + 0.04 for t in steps)

    try:
        assert progress_during(1 << 20) > 5
        assert progress_during(100) == 0
    finally:
        sys.setswitchinterval(interval)


def test_a_caller_without_the_lock_is_left_alone(core_library: Path) -> None:
    released_lock = ctypes.CDLL(str(core_library)).released_lock  # ctypes has dropped it
    released_lock.argtypes = [ctypes.c_int64]
    assert released_lock(1 << 20) == 0
