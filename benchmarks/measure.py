"""Timing of the same work in several libraries, in one process, interleaved, so that all see the same machine.

A figure is the ratio of the best times. Threads of other libraries spin for a while after a call: before a library's
turn the process idles long enough for them to sleep. After that the processor's clock takes some ten milliseconds to
rise: a turn begins with a slice of calls that are not counted.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

# Some machine images force an OpenBLAS kernel that halves its speed; every library shall choose its own.
for _name in ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE"):
    os.environ.pop(_name, None)

ROUNDS = 5
ROUNDS_AGAIN = 12
IDLE = 0.3  # seconds: longer than any of the libraries' threads spin (NumPy's OpenBLAS: 0.13)
SLICE = 0.02  # seconds of calls per turn


@dataclass(frozen=True)
class Figure:
    """Best seconds per call of each library, and the ratio to reach."""

    work: str
    seconds: Mapping[str, float]
    limit: float | None = None
    against: str = "torch"

    def ratio(self, other: str) -> float | None:
        return self.seconds["opweave"] / self.seconds[other] if other in self.seconds else None

    @property
    def reached(self) -> bool | None:
        ratio = self.ratio(self.against)
        return None if ratio is None or self.limit is None else ratio <= self.limit


def best(calls: Mapping[str, Callable[[], object]], rounds: int = ROUNDS) -> dict[str, float]:
    """Best seconds per call of each library's callable, taking turns."""
    repeats = {name: _repeats(call) for name, call in calls.items()}
    found = dict.fromkeys(calls, float("inf"))
    large = any(count < 2000 for count in repeats.values())
    for _ in range(rounds):
        for name, call in calls.items():
            if large:
                time.sleep(IDLE)
                _time(call, repeats[name])
            found[name] = min(found[name], _time(call, repeats[name]))
    return found


def lower(first: Mapping[str, float], second: Mapping[str, float]) -> dict[str, float]:
    """The better of two measurements of each library."""
    return {name: min(first[name], second[name]) for name in first}


def _repeats(call: Callable[[], object]) -> int:
    call()
    count = 1
    while True:
        seconds = _time(call, count) * count
        if seconds > SLICE / 4:
            return max(1, int(count * SLICE / seconds))
        count *= 4


def _time(call: Callable[[], object], count: int) -> float:
    span = range(count)
    start = time.perf_counter()
    for _ in span:
        call()
    return (time.perf_counter() - start) / count
