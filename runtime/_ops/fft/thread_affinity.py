"""Keeps the threads of the library of Fourier transforms off the core of the caller.

A sleeping thread is often woken on the core of the thread that wakes it and stays there for tens of milliseconds
although another core is idle: the two take turns, and a transform takes twice as long (docs/fft.md). The threads of
opweave's core leave such a core themselves (runtime/core/threads/thread_pool.c); those of ducc0 are moved from here.
"""

from __future__ import annotations

import os
import sys
import threading

from ..._C import lib

__all__ = ["keep_off_this_core"]

_NAME = "opweave-fft"
_TASKS = "/proc/self/task"

_lock = threading.Lock()
_workers: list[int] | None = None
"""The system's ids of ducc0's threads; None before the first transform that several threads share."""
_avoided = -1
"""The core that they last had to avoid."""


def keep_off_this_core() -> None:
    """Move ducc0's threads to other cores than the caller's.

    Does nothing if ducc0 is not imported, for threads that somebody else had it create before, and after a fork: ducc0
    ends its threads before one and creates others.
    """
    global _avoided
    if sys.modules.get("ducc0") is None:
        return
    core = lib.current_core()
    if _workers is not None and core == _avoided:
        return
    with _lock:
        others = os.sched_getaffinity(0) - {core}
        try:
            for worker in _started() if others else ():
                os.sched_setaffinity(worker, others)
        except OSError:  # the thread has ended, or the system does not allow it
            _forget()
        _avoided = core


def _started() -> list[int]:
    """Return ducc0's threads, which it creates now.

    Threads inherit the name of the thread that creates them, by which they are recognized.
    """
    global _workers
    if _workers is None:
        threads: list[int] = []
        starter = threading.Thread(target=_start_named, args=(threads,), name=_NAME)
        starter.start()
        starter.join()
        _workers = threads
    return _workers


def _start_named(threads: list[int]) -> None:
    own = threading.get_native_id()
    try:
        with open(f"{_TASKS}/{own}/comm", "w") as name:
            name.write(_NAME)
        sys.modules["ducc0"].misc.thread_pool_size()  # the first such call creates them
        threads += (task for task in map(int, os.listdir(_TASKS)) if task != own and _name(task) == _NAME)
    except OSError:  # the system has no such files
        threads.clear()


def _name(task: int) -> str:
    try:
        with open(f"{_TASKS}/{task}/comm") as name:
            return name.read().rstrip("\n")
    except FileNotFoundError:  # the thread has ended
        return ""


def _forget() -> None:
    global _workers
    _workers = []


def _unlock() -> None:
    global _lock
    _lock = threading.Lock()  # the thread that held the lock does not exist in the child


os.register_at_fork(before=_forget, after_in_child=_unlock)
