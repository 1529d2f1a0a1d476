"""Checkpoints of several real processes, and of one that ends while it writes."""

from __future__ import annotations

import os
import signal

import pytest

from .ranks import check, each_case, finish, free_port, needs_mpi, start


@needs_mpi
@each_case(checkpoints=(3, 4))
def test_on_all_ranks(reports, name):
    check(reports, name)


KILLED = """
import os, signal, sys, warnings
from datetime import timedelta
import opweave as ow
import opweave.distributed as dist
import opweave.distributed.checkpoint as dcp

warnings.simplefilter("ignore")
folder, who, where = sys.argv[1:]
dist.init_process_group("mpi", timeout=timedelta(seconds=20))
rank = dist.get_rank()

def state(number):
    return {"plain": ow.full((3,), float(number)), **{f"of {rank}": ow.full((2,), float(number))}}

dcp.save(state(1), checkpoint_id=folder)
if rank == int(who):
    def end(*_, **__):
        os.kill(os.getpid(), signal.SIGKILL)
    if where == "write":
        dcp.DefaultSavePlanner.resolve_data = end
    elif where == "finish":
        dcp.FileSystemWriter.finish = end
    else:
        written = dcp.FileSystemWriter.write_data
        dcp.FileSystemWriter.write_data = lambda *args: end(written(*args))
try:
    dcp.save(state(2), checkpoint_id=folder)
except dist.DistBackendError as error:
    print(type(error).__name__)
"""


@needs_mpi
@pytest.mark.filterwarnings("ignore:torch.distributed is", "ignore:Detected an existing checkpoint")
@pytest.mark.parametrize(("who", "where"), [(1, "write"), (1, "written"), (0, "finish")])
def test_a_rank_that_is_killed_leaves_the_old_checkpoint(who, where, tmp_path):
    import opweave as ow
    import opweave.distributed.checkpoint as dcp

    folder = tmp_path / "checkpoint"
    ended = finish(start(KILLED, 2, str(folder), str(who), where, MASTER_PORT=free_port()))
    assert ended[who][0] == -signal.SIGKILL
    assert ended[1 - who][0] == 0, ended
    assert "DistBackendError" in ended[1 - who][1]
    state = {"plain": ow.zeros(3), "of 0": ow.zeros(2), "of 1": ow.zeros(2)}
    dcp.load(state, checkpoint_id=folder)
    assert {value.tolist()[0] for value in state.values()} == {1.0}
    dcp.save(state, checkpoint_id=folder)  # which removes what the rank has left
    assert len(os.listdir(folder)) == 2
