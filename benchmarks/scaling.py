"""Times that are reckoned for many ranks, from the latency and the bandwidth that two ranks have.

    OPWEAVE_NUM_THREADS=1 mpiexec -n 2 python benchmarks/scaling.py

Measures, between two ranks: the latency of a message, the bandwidth of long ones, the bandwidth of a sum, and what a
call of `all_reduce` takes beyond its messages. Prints the costs of a ring and of a tree for several numbers of ranks,
with what was measured and with a network of 25 µs and 1.25 GB/s (10 Gbit/s).
"""

from __future__ import annotations

import time
from collections.abc import Callable
from math import log2
from typing import NamedTuple

import numpy
import opweave as torch
import opweave.distributed as dist
from mpi4py import MPI

SIZES = {"4 B": 4, "1 MB": 1e6, "100 MB": 1e8}
RANKS = (2, 16, 128, 1024)


class Line(NamedTuple):
    """A connection of two ranks: seconds for a message, for each byte, and for each byte of a sum."""

    latency: float
    per_byte: float
    per_byte_of_sum: float

    def ring(self, ranks: int, size: float) -> float:
        """The seconds of an all_reduce around a ring: each rank sends all parts but one, twice."""
        part = (ranks - 1) / ranks * size
        return 2 * (ranks - 1) * self.latency + 2 * part * self.per_byte + part * self.per_byte_of_sum

    def tree(self, ranks: int, size: float) -> float:
        """The seconds of one by halving and doubling: the partner is twice as far away in each step."""
        part = (ranks - 1) / ranks * size
        return 2 * log2(ranks) * self.latency + 2 * part * self.per_byte + part * self.per_byte_of_sum


NETWORK = (25e-6, 1 / 1.25e9)


def best(function: Callable[[], object], rounds: int, inner: int = 1) -> float:
    """The seconds of a call, the best of some rounds."""
    found = float("inf")
    for _ in range(rounds):
        MPI.COMM_WORLD.Barrier()
        began = time.perf_counter()
        for _ in range(inner):
            function()
        found = min(found, (time.perf_counter() - began) / inner)
    return found


def one_way(count: int) -> Callable[[], None]:
    """A message there and one back."""
    memory = numpy.zeros(count, "f4")

    def function() -> None:
        first, second = (MPI.COMM_WORLD.Send, MPI.COMM_WORLD.Recv)[:: -1 if dist.get_rank() else 1]
        first(memory, 1 - dist.get_rank())
        second(memory, 1 - dist.get_rank())

    return function


def measured() -> tuple[Line, float]:
    """The connection of the two ranks, and the seconds that a small all_reduce takes beyond two messages."""
    a, b = torch.ones(2_500_000), torch.ones(2_500_000)
    latency = best(one_way(1), 100, 50) / 2
    long = best(one_way(10_000_000), 20) / 2
    sums = best(lambda: a.add_(b), 50) / a.nbytes
    few = torch.zeros(4)
    call = best(lambda: dist.all_reduce(few), 100, 50)
    return Line(latency, (long - latency) / 4e7, sums), max(call - latency, 0.0)


def table(line: Line, call: float) -> None:
    """Print milliseconds."""
    print("| ranks | " + " | ".join(f"{size}, ring | tree" for size in SIZES) + " |")
    print("|---|" + "---|" * 2 * len(SIZES))
    for ranks in RANKS:
        # Ranks agree on a call by a small message of its own, which goes along a tree.
        agreed = call + line.tree(ranks, 64)
        found = [1e3 * (agreed + cost(ranks, size)) for size in SIZES.values() for cost in (line.ring, line.tree)]
        print(f"| {ranks:,} | " + " | ".join(f"{each:.3g}" for each in found) + " |")


def main() -> None:
    """Measure, and print on rank 0."""
    dist.init_process_group()
    line, call = measured()
    if dist.get_rank() == 0:
        print(
            f"latency {1e6 * line.latency:.2f} µs, {1e-9 / line.per_byte:.1f} GB/s, "
            f"sums {1e-9 / line.per_byte_of_sum:.1f} GB/s, a call {1e6 * call:.2f} µs"
        )
        table(line, call)
        print("\nnetwork")
        table(Line(*NETWORK, line.per_byte_of_sum), call)


if __name__ == "__main__":
    main()
