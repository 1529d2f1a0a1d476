"""Steps of a perceptron 784-256-10 by DistributedDataParallel, beside those of one process with a rank's part.

Run as `OPWEAVE_NUM_THREADS=1 mpiexec -n 2 python benchmarks/data_parallel.py`. Both kinds alternate in the same
processes: a step of each rank for itself, which is what one process does with its part of the batch, and a step of all.
Prints microseconds, the best of many rounds and the medians, and the ratios.
"""

from __future__ import annotations

import copy
import sys
import time
from statistics import median

import opweave as torch
import opweave.distributed as dist
from opweave import nn
from opweave.nn.parallel import DistributedDataParallel

BATCH = 64
ROUNDS = int(sys.argv[1]) if len(sys.argv) > 1 else 300


def step(model, optimizer, given, wanted):
    """Train once; the seconds that it takes."""
    began = time.perf_counter()
    optimizer.zero_grad()
    nn.functional.cross_entropy(model(given), wanted).backward()
    optimizer.step()
    return time.perf_counter() - began


def main() -> None:
    """Measure, and print on rank 0."""
    dist.init_process_group()
    single = nn.Sequential(nn.Linear(784, 256), nn.ReLU(), nn.Linear(256, 10))
    models = {
        "one process": single,
        "DDP": DistributedDataParallel(copy.deepcopy(single)),
        "DDP, gradients as views": DistributedDataParallel(copy.deepcopy(single), gradient_as_bucket_view=True),
    }
    optimizers = {name: torch.optim.SGD(model.parameters(), 0.01) for name, model in models.items()}
    given, wanted = torch.randn(BATCH, 784), torch.randint(10, (BATCH,))
    taken: dict[str, list[float]] = {name: [] for name in models}
    for _ in range(ROUNDS):
        for name, model in models.items():
            dist.barrier()
            for _ in range(3):
                taken[name].append(1e6 * step(model, optimizers[name], given, wanted))
    if dist.get_rank() == 0:
        base = taken["one process"]
        for name, each in taken.items():
            best, middle = min(each), median(each)
            print(
                f"{name:26} best {best:7.0f} ({best / min(base):.2f})   median {middle:7.0f} "
                f"({middle / median(base):.2f})"
            )


if __name__ == "__main__":
    main()
