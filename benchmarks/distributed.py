"""Times of collectives on two ranks, beside bare MPI (mpi4py on arrays of NumPy) and, where it is installed, torch with
gloo; and of linear algebra with sharded matrices, beside one process with as many threads as there are ranks.

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


def matrices(size: int) -> None:
    """Print the times of functions of square matrices that are sharded by rows, beside those of one process."""
    import opweave
    import opweave.distributed as dist
    from opweave.distributed.tensor import Shard, distribute_tensor

    ranks = dist.get_world_size()
    mesh = dist.init_device_mesh("cpu", (ranks,))
    a, b = opweave.randn(size, size), opweave.randn(size, size)
    positive = a @ a.T + size * opweave.eye(size)
    functions: dict[str, tuple[Callable[..., Any], list[Any]]] = {
        "matmul": (opweave.matmul, [a, b]),
        "solve": (opweave.linalg.solve, [a, b]),
        "cholesky": (opweave.linalg.cholesky, [positive]),
        "qr": (opweave.linalg.qr, [a]),
    }
    for name, (function, given) in functions.items():
        sharded = [distribute_tensor(each, mesh, [Shard(0)]) for each in given]
        several = single = float("inf")
        for _ in range(5):
            several = min(several, seconds(function, sharded))
            opweave.set_num_threads(ranks)
            single = min(single, seconds(function, given if dist.get_rank() == 0 else None))
            opweave.set_num_threads(1)
        if dist.get_rank() == 0:
            times = f"{several * 1e3:.0f} ms on {ranks} ranks, {single * 1e3:.0f} ms in one process of {ranks} threads"
            print(f"{name} of {size} x {size} float32: {times}; {several / single:.2f} of it", flush=True)


def seconds(function: Callable[..., Any], given: list[Any] | None) -> float:
    """The time of a call on this rank, between two barriers; None: it makes none."""
    import opweave.distributed as dist

    dist.barrier()
    began = time.perf_counter()
    if given is not None:
        function(*given)
    ended = time.perf_counter()
    dist.barrier()
    return ended - began


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
    matrices(2000)


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
