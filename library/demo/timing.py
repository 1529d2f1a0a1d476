"""Times the same work done by several libraries, for the demo: in turn, in one process, the best of several rounds."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

ROUNDS = 5
_ROUND_SECONDS = 0.02
_IDLE_SECONDS = 0.05
"""Between libraries: their threads go on spinning for a while after a call and would slow down the next one."""


@dataclass(frozen=True)
class Timing:
    """Seconds for one call, by library, in the order given."""

    work: str
    seconds: Mapping[str, float]


def measure(work: str, calls: Mapping[str, Callable[[], object]], rounds: int = ROUNDS) -> Timing:
    """`calls`: what each library does."""
    best = dict.fromkeys(calls, float("inf"))
    counts = {library: _count(call) for library, call in calls.items()}
    for _ in range(rounds):
        for library, call in calls.items():
            time.sleep(_IDLE_SECONDS)
            call()
            began = time.perf_counter()
            for _ in range(counts[library]):
                call()
            best[library] = min(best[library], (time.perf_counter() - began) / counts[library])
    return Timing(work, best)


def _count(call: Callable[[], object]) -> int:
    """Return the number of calls that fill one round."""
    call()
    began = time.perf_counter()
    call()
    return max(1, int(_ROUND_SECONDS / max(time.perf_counter() - began, 1e-7)))


def readable(seconds: float) -> str:
    """Three digits and a unit."""
    for unit, scale in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if seconds >= scale:
            return f"{seconds / scale:.3g} {unit}"
    return f"{seconds * 1e9:.0f} ns"


def print_table(timings: Sequence[Timing], caption: str) -> None:
    """The first library's time, then each other's with the ratio of the first one to it."""
    from rich import box
    from rich.console import Console
    from rich.table import Table

    first, *others = timings[0].seconds
    table = Table("work", box=box.SIMPLE_HEAD, caption=caption)
    table.add_column(first, justify="right", no_wrap=True)
    for other in others:
        table.add_column(other, justify="right", no_wrap=True)
        table.add_column(f"× {other}", justify="right", no_wrap=True)
    for timing in timings:
        row = [timing.work, readable(timing.seconds[first])]
        for other in others:
            row += [readable(timing.seconds[other]), f"{timing.seconds[first] / timing.seconds[other]:.2f}"]
        table.add_row(*row)
    Console().print(table)
