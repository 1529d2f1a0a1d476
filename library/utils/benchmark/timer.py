"""Statements timed over and over, with a given number of threads."""

from __future__ import annotations

import statistics
import textwrap
import timeit
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import opweave

from ..._base.threads import get_num_threads, set_num_threads
from .measurement import Measurement, TaskSpec

_MOST_OVERHEAD = 1e-3
"""The share of the timer itself in the time of a block of runs."""
_FEWEST_REPLICATES = 4

Callback = Callable[[int, float], Any]


class Timer:
    """Times a statement as `timeit.Timer` does, but warms up first, sets the number of threads, and keeps replicates.

    `label`, `sub_label`, `description` and `env` say what the statement stands for: `Compare` makes tables, rows,
    columns and groups of rows of them. `opweave` and `torch` (the same) are known to the statement. Raises ValueError
    if the statement is no text, or is not written in Python.
    """

    def __init__(
        self,
        stmt: str = "pass",
        setup: str = "pass",
        global_setup: str = "",
        timer: Callable[[], float] = timeit.default_timer,
        globals: dict[str, Any] | None = None,
        label: str | None = None,
        sub_label: str | None = None,
        description: str | None = None,
        env: str | None = None,
        num_threads: int = 1,
        language: str = "python",
    ) -> None:
        if not isinstance(stmt, str):
            raise ValueError("Currently only a `str` stmt is supported.")
        if language.lower() not in ("python", "py"):
            raise ValueError(f"Invalid language `{language}`.")
        if global_setup:
            raise ValueError(
                f"global_setup is C++ only, got `{global_setup}`. Most likely this code can simply be moved to `setup`."
            )
        stmt, setup = (textwrap.dedent(text).strip("\n").rstrip() for text in (stmt, setup))
        self._task_spec = TaskSpec(stmt, setup, global_setup, label, sub_label, description, env, num_threads)
        known = {"opweave": opweave, "torch": opweave, **(globals or {})}
        self._timer = timeit.Timer(stmt, setup, timer, known)
        self._empty = timeit.Timer(timer=timer)

    def timeit(self, number: int = 1000000) -> Measurement:
        """The time that so many runs take together."""
        with self._threads():
            self._timer.timeit(max(number // 100, 2))
            return self._measurement(number, [self._timer.timeit(number)])

    def blocked_autorange(self, callback: Callback | None = None, min_run_time: float = 0.2) -> Measurement:
        """Times blocks of runs, just long enough that the timer is not noticed, until they took `min_run_time` seconds.

        `callback` is told the number of runs and the time of each block.
        """
        with self._threads():
            number = self._block_size(min_run_time)
            times: list[float] = []
            total = 0.0
            while total < min_run_time:
                times.append(self._block(number, callback))
                total += times[-1]
            return self._measurement(number, times)

    def adaptive_autorange(
        self,
        threshold: float = 0.1,
        *,
        min_run_time: float = 0.01,
        max_run_time: float = 10.0,
        callback: Callback | None = None,
    ) -> Measurement:
        """Times blocks of runs until they took `min_run_time` seconds and differ little, or took `max_run_time`.

        Little means that the quartiles are apart by less than this part of the median.
        """
        with self._threads():
            number = self._block_size(0.05)
            times: list[float] = []
            total = 0.0
            while total < max_run_time:
                times.append(self._block(number, callback))
                total += times[-1]
                enough = len(times) >= _FEWEST_REPLICATES and total > min_run_time
                if enough and self._measurement(number, times).meets_confidence(threshold):
                    break
            return self._measurement(number, times)

    def repeat(self, repeat: int = -1, number: int = -1) -> None:
        """Raise NotImplementedError: call `blocked_autorange`."""
        raise NotImplementedError("See `Timer.blocked_autorange.`")

    def autorange(self, callback: Callback | None = None) -> None:
        """Raise NotImplementedError: call `blocked_autorange`."""
        raise NotImplementedError("See `Timer.blocked_autorange.`")

    def _measurement(self, number: int, times: list[float]) -> Measurement:
        return Measurement(number, times, self._task_spec)

    def _block(self, number: int, callback: Callback | None) -> float:
        taken = self._timer.timeit(number)
        if callback is not None:
            callback(number, taken)
        return taken

    def _block_size(self, min_run_time: float) -> int:
        """The number of runs at which the timer's share is small; the runs that find it out are the warm-up."""
        overhead = statistics.median(self._empty.timeit(0) for _ in range(5))
        number = 1
        while True:
            taken = self._timer.timeit(number)
            if taken > min_run_time or overhead <= _MOST_OVERHEAD * taken:
                return number
            number *= 10

    @contextmanager
    def _threads(self) -> Iterator[None]:
        before = get_num_threads()
        set_num_threads(self._task_spec.num_threads)
        try:
            yield
        finally:
            set_num_threads(before)
