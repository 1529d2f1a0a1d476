"""Where the threads run that Fourier transforms are shared among: each case in a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

pytestmark = pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="one core")

PRELUDE = """
import os, threading
import opweave
from opweave._ops.fft import thread_affinity

def transform():
    x = opweave.ones(1 << 16)
    assert opweave.fft.fft(x)[0].item() == 1 << 16

opweave.set_num_threads(2)
allowed = os.sched_getaffinity(0)
"""


def run(body: str) -> None:
    subprocess.run([sys.executable, "-c", PRELUDE + body], check=True, timeout=100)


def test_threads_are_on_other_cores_than_the_caller() -> None:
    run("""
for core in sorted(allowed):
    os.sched_setaffinity(0, {core} | {max(allowed - {core})})
    transform()
    os.sched_setaffinity(0, allowed)
    assert thread_affinity._workers
    for worker in thread_affinity._workers:
        assert thread_affinity._avoided not in os.sched_getaffinity(worker), worker
""")


def test_the_one_core_of_a_process_is_shared() -> None:
    run("""
os.sched_setaffinity(0, {min(allowed)})
transform()
assert thread_affinity._workers is None
""")


def test_other_threads_stay_where_they_are() -> None:
    run("""
done = threading.Event()
other = threading.Thread(target=done.wait)
other.start()
transform()
assert os.sched_getaffinity(other.native_id) == allowed
assert os.sched_getaffinity(0) == allowed
done.set()
other.join()
""")


def test_transforms_after_a_fork() -> None:
    run("""
transform()
child = os.fork()
transform()
assert thread_affinity._workers == []
if child == 0:
    os._exit(0)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
""")


def test_threads_that_another_user_of_the_library_started() -> None:
    run("""
import ducc0
ducc0.misc.thread_pool_size()
before = {task: os.sched_getaffinity(int(task)) for task in os.listdir("/proc/self/task")}
transform()
assert thread_affinity._workers == []
for task, cores in before.items():
    assert os.sched_getaffinity(int(task)) == cores
""")
