"""Steps of networks that several processes train, beside those of one process with all samples, and with a rank's part.

Run as `OPWEAVE_NUM_THREADS=1 mpiexec -n 2 python benchmarks/data_parallel.py [ROUNDS]`. All kinds alternate in the same
processes. Prints microseconds, the best of many rounds and the medians, and the speed-up over the whole batch.
"""

from __future__ import annotations

import copy
import sys
import time
from itertools import pairwise
from statistics import median

import opweave as torch
import opweave.distributed as dist
from opweave import nn
from opweave.distributed.fsdp import fully_shard
from opweave.nn.parallel import DistributedDataParallel

ROUNDS = int(sys.argv[1]) if len(sys.argv) > 1 else 300
NETWORKS = {"784-256-10": ([784, 256, 10], 128), "64-512-512-512-64": ([64, 512, 512, 512, 64], 256)}
"""The widths of layers, and the size of the whole batch."""


def network(widths):
    """A perceptron."""
    layers = [nn.Linear(*pair) for pair in pairwise(widths)]
    return nn.Sequential(*[each for layer in layers for each in (layer, nn.ReLU())][:-1])


def sharded(model):
    """The network with each of its layers sharded."""
    for layer in model:
        fully_shard(layer)
    return fully_shard(model)


def step(model, optimizer, given, wanted):
    """Train once; the seconds that it takes."""
    began = time.perf_counter()
    optimizer.zero_grad()
    nn.functional.mse_loss(model(given), wanted).backward()
    optimizer.step()
    return time.perf_counter() - began


def pause():
    """Wait for all ranks without the use of a core."""
    work = dist.barrier(async_op=True)
    while not work.is_completed():
        time.sleep(0.0005)


def measure(name, widths, batch):
    """Measure one network, and print on rank 0."""
    single, part = network(widths), batch // dist.get_world_size()
    kinds = {
        "one process, whole batch": (copy.deepcopy(single), batch),
        "one process, a rank's part": (copy.deepcopy(single), part),
        "DDP": (DistributedDataParallel(copy.deepcopy(single)), part),
        "DDP, gradients as views": (
            DistributedDataParallel(copy.deepcopy(single), gradient_as_bucket_view=True),
            part,
        ),
        "fully_shard": (sharded(copy.deepcopy(single)), part),
    }
    optimizers = {kind: torch.optim.SGD(model.parameters(), 0.01) for kind, (model, _) in kinds.items()}
    given, wanted = torch.randn(batch, widths[0]), torch.randn(batch, widths[-1])
    taken: dict[str, list[float]] = {kind: [] for kind in kinds}
    for _ in range(ROUNDS):
        for kind, (model, size) in kinds.items():
            pause()
            if kind.endswith("whole batch") and dist.get_rank():
                continue
            if size < batch:
                dist.barrier()  # after which ranks begin at the same time
            for _ in range(3):
                taken[kind].append(1e6 * step(model, optimizers[kind], given[:size], wanted[:size]))
    if dist.get_rank() == 0:
        base = taken["one process, whole batch"]
        print(f"{name}, {batch} samples")
        for kind, each in taken.items():
            best, middle = min(each), median(each)
            print(
                f"  {kind:26} best {best:7.0f} ({min(base) / best:.2f})   median {middle:7.0f} "
                f"({median(base) / middle:.2f})",
                flush=True,
            )


def main() -> None:
    """Measure all networks."""
    dist.init_process_group()
    for name, (widths, batch) in NETWORKS.items():
        measure(name, widths, batch)


if __name__ == "__main__":
    main()
