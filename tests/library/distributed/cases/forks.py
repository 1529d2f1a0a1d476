"""Cases of processes that are forked beside MPI: they are no ranks, and their end is none of a rank."""

import os

import opweave as torch
import opweave.distributed as dist
from opweave.utils.data import DataLoader


def reduced():
    x = torch.ones(1000)
    dist.all_reduce(x)
    return float(x[0])


def case_a_child_ends(rank, size):
    assert reduced() == size
    child = os.fork()
    if not child:
        os._exit(0)
    os.waitpid(child, 0)
    assert reduced() == size


def case_workers_of_a_data_loader(rank, size):
    for batch in DataLoader(list(range(8)), batch_size=2, num_workers=2):
        assert len(batch) == 2
        assert reduced() == size
    assert reduced() == size
