"""Times of collectives on two ranks, beside bare MPI (mpi4py on arrays of NumPy) and, where it is installed, torch with
gloo.

    python benchmarks/distributed.py [RANKS]

All three run in the same processes, in turns; the time of a call is that of the slowest rank, the best of many rounds.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

SIZES = [4, 1000, 100_000, 1_000_000, 10_000_000]


def calls(size: int) -> dict[str, Callable[[], Any]]:
    """The all_reduce of so many float32, by the name of the library."""
    import numpy
    import opweave
    import opweave.distributed as dist
    from mpi4py import MPI

    x, array = opweave.zeros(size), numpy.zeros(size, "f4")
    found: dict[str, Callable[[], Any]] = {
        "opweave": lambda: dist.all_reduce(x),
        "MPI": lambda: MPI.COMM_WORLD.Allreduce(MPI.IN_PLACE, array),
    }
    try:
        import torch
    except ModuleNotFoundError:
        return found
    if not torch.distributed.is_initialized():
        torch.set_num_threads(1)
        address = f"file://{os.environ['STORE_OF_BENCHMARK']}"
        torch.distributed.init_process_group(
            "gloo", init_method=address, rank=dist.get_rank(), world_size=dist.get_world_size()
        )
    y = torch.zeros(size)
    return {**found, "gloo": lambda: torch.distributed.all_reduce(y)}


def best_times(size: int) -> dict[str, float]:
    """The microseconds of a call of each library."""
    from mpi4py import MPI

    functions = calls(size)
    inner = 200 if size < 10_000 else 1
    best = dict.fromkeys(functions, float("inf"))
    for _ in range(60 if inner > 1 or size > 1_000_000 else 300):
        for name, function in functions.items():
            MPI.COMM_WORLD.Barrier()
            began = time.perf_counter()
            for _ in range(inner):
                function()
            best[name] = min(best[name], (time.perf_counter() - began) / inner * 1e6)
    return {name: MPI.COMM_WORLD.allreduce(value, MPI.MAX) for name, value in best.items()}


def rank() -> None:
    """Measure as one rank; the first one prints."""
    import opweave.distributed as dist

    dist.init_process_group()
    for size in SIZES:
        times = best_times(size)
        if dist.get_rank() == 0:
            others = [name for name in times if name != "opweave"]
            ratios = ", ".join(f"{times['opweave'] / times[name]:.2f} of {name}'s" for name in others)
            values = ", ".join(f"{name} {value:.1f}" for name, value in times.items())
            print(f"all_reduce of {size} float32, in µs: {values}; {ratios}", flush=True)


def main() -> None:
    """Start the ranks."""
    if len(sys.argv) > 1 and sys.argv[1] == "rank":
        rank()
        return
    ranks = sys.argv[1] if len(sys.argv) > 1 else "2"
    store = f"/tmp/opweave-benchmark-{os.getpid()}"
    environment = {**os.environ, "OPWEAVE_NUM_THREADS": "1", "STORE_OF_BENCHMARK": store}
    subprocess.run(["mpiexec", "-n", ranks, sys.executable, __file__, "rank"], env=environment, check=True)


if __name__ == "__main__":
    main()
