"""How processes that mpiexec has not started become a group, and a group of one."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import warnings

import opweave as torch
import opweave.distributed as dist
import pytest
from opweave import multiprocessing

from .ranks import environment, free_port, needs_mpi


def reduce_once(rank, size, method):
    warnings.simplefilter("ignore")
    if method == "env://":
        os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=os.environ["PORT_OF_TESTS"])
    for _ in range(2):  # a second group is made of the same processes
        dist.init_process_group("gloo", init_method=method, rank=rank, world_size=size)
        x = torch.full((1000,), float(rank))
        dist.all_reduce(x)
        assert x[0] == size * (size - 1) / 2
        assert dist.get_backend() == "gloo"
        dist.barrier()
        dist.destroy_process_group()
        if method.startswith("tcp"):
            break  # the port may not be free at once
    assert not dist.is_initialized()


@needs_mpi
@pytest.mark.parametrize("kind", ["env", "tcp", "file"])
def test_spawn(kind, tmp_path, monkeypatch):
    port = free_port()
    monkeypatch.setenv("PORT_OF_TESTS", str(port))
    monkeypatch.setenv("OPWEAVE_NUM_THREADS", "1")
    method = {"env": "env://", "tcp": f"tcp://127.0.0.1:{port}", "file": f"file://{tmp_path}/store"}[kind]
    multiprocessing.spawn(reduce_once, args=(2, method), nprocs=2)


@needs_mpi
def test_all_ranks_leave_together():
    """Again and again, as it depends on which rank hears first that another one is leaving."""
    program = "import opweave as t, opweave.distributed as d; d.init_process_group(); d.all_reduce(t.ones(1000))"
    for _ in range(6):
        command = ["mpiexec", "-n", "4", sys.executable, "-c", program]
        subprocess.run(command, env=environment(), check=True, timeout=60)


def test_a_group_of_one_needs_no_mpi():
    program = """
import sys, opweave as torch, opweave.distributed as dist
sys.modules["mpi4py"] = None
dist.init_process_group()
x = torch.arange(3.0)
assert dist.all_reduce(x, dist.ReduceOp.AVG, async_op=True).wait() and x.tolist() == [0, 1, 2]
dist.all_reduce(x, dist.ReduceOp(dist.ReduceOp.PREMUL_SUM, 2.0))
parts = [torch.empty(3)]
for call in (lambda: dist.all_gather(parts, x), lambda: dist.gather(x, parts), lambda: dist.scatter(parts[0], [x]),
        lambda: dist.all_to_all(parts, [x]), lambda: dist.reduce_scatter(parts[0], [x])):
    parts[0].zero_()
    call()
    assert parts[0].tolist() == [0, 2, 4]
dist.broadcast(x, 0); dist.reduce(x, 0); dist.barrier(); dist.monitored_barrier()
objects = [None]
dist.all_gather_object(objects, "a"); dist.broadcast_object_list(objects); dist.scatter_object_list(objects, ["b"])
assert objects == ["b"] and dist.new_group([0]).size() == 1
dist.destroy_process_group()
"""
    subprocess.run([sys.executable, "-c", program], env=environment(), check=True, timeout=60)


def test_import_loads_no_mpi():
    program = "import sys, opweave.distributed, opweave; print([m for m in sys.modules if m.startswith('mpi4py')])"
    ended = subprocess.run(
        [sys.executable, "-c", program], env=environment(), check=True, capture_output=True, text=True
    )
    assert ended.stdout.strip() == "[]"


def test_a_launcher_is_told_of_an_error(tmp_path, monkeypatch):
    from opweave.distributed.elastic.multiprocessing.errors import record

    @record
    def main(value):
        if value > 1:
            raise ValueError("boom")
        return value

    file = tmp_path / "error.json"
    monkeypatch.setenv("TORCHELASTIC_ERROR_FILE", str(file))
    assert main(1) == 1
    assert not file.exists()
    with pytest.raises(ValueError, match="boom"):
        main(2)
    message = json.loads(file.read_text())["message"]
    assert message["message"] == "ValueError: boom"
    assert "in main" in message["extraInfo"]["py_callstack"]
