"""What the other ranks raise when something fails on one of them, in processes that end, stop or do not come."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from datetime import timedelta

import opweave.distributed as dist
import pytest

from .ranks import check, environment, finish, free_port, names, needs_mpi, run_cases, start

BEGIN = """
import os, sys, threading, time, signal
from datetime import timedelta
import opweave as torch, opweave.distributed as dist
rank, size = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
dist.init_process_group(timeout=timedelta(seconds=60))
def fails(call):
    try:
        while True:
            call()
    except dist.DistBackendError as error:
        print(error)
x, big = torch.ones(4), torch.ones(100000)
"""
CALLS = {
    "all_reduce_small": "dist.all_reduce(x)",
    "all_reduce": "dist.all_reduce(big)",
    "broadcast": "dist.broadcast(big, 1)",
    "reduce": "dist.reduce(big, 0)",
    "all_gather": "dist.all_gather_into_tensor(torch.empty(size, 100000), big)",
    "gather": "dist.gather(big, [torch.empty(100000) for _ in range(size)] if rank == 0 else None)",
    "scatter": "dist.scatter(big, [big] * size if rank == 1 else None, src=1)",
    "reduce_scatter": "dist.reduce_scatter(x, [x] * size)",
    "all_to_all": "dist.all_to_all_single(big, torch.ones(100000))",
    "barrier": "dist.barrier()",
    "monitored_barrier": "dist.monitored_barrier()",
    "recv": "dist.recv(big, 1) if rank == 0 else dist.send(big, 0) if rank == 1 else dist.barrier()",
    "all_gather_object": "dist.all_gather_object([None] * size, 'x' * 1000)",
}
USUAL = {"all_reduce", "barrier", "recv"}


def run(program, size):
    return finish(start(BEGIN + program, size, MASTER_PORT=free_port()))


@needs_mpi
@pytest.mark.parametrize(
    "name", [each if each in USUAL else pytest.param(each, marks=pytest.mark.slow) for each in CALLS]
)
def test_a_rank_is_killed(name):
    program = f"""
if rank == 1:
    threading.Timer(.1, os.kill, (os.getpid(), signal.SIGKILL)).start()
fails(lambda: {CALLS[name]})
"""
    first, second = run(program, 2)
    assert second[0] == -signal.SIGKILL, second[2]
    assert first[0] == 0, first[2]
    assert "rank 1 has ended during" in first[1]
    assert " on rank 0" in first[1]


@needs_mpi
@pytest.mark.parametrize("place", ["model[1].register_forward_pre_hook", "model[1].register_full_backward_hook"])
def test_a_rank_is_killed_in_a_pass_of_a_sharded_module(place):
    program = f"""
from opweave import nn
from opweave.distributed.fsdp import fully_shard
model = nn.Sequential(*[nn.Linear(300, 300) for _ in range(3)])
for layer in model:
    fully_shard(layer)
fully_shard(model)
passes = 0
def end(*_):
    if rank == 1 and passes == 2:
        os.kill(os.getpid(), signal.SIGKILL)
{place}(end)
def call():
    global passes
    passes += 1
    model(torch.ones(2, 300)).sum().backward()
fails(call)
"""
    first, second = run(program, 2)
    assert second[0] == -signal.SIGKILL
    assert first[0] == 0, first[2]
    assert "rank 1 has ended during" in first[1]


@needs_mpi
def test_all_that_are_left_name_the_rank():
    program = """
if rank == 1:
    os._exit(3)
fails(lambda: dist.all_reduce(big))
"""
    first, _, third = run(program, 3)
    assert "rank 1 has ended during all_reduce(float32[100000], SUM) on rank 0" in first[1], first[2]
    assert "rank 1 has ended during all_reduce(float32[100000], SUM) on rank 2" in third[1], third[2]


@needs_mpi
def test_a_rank_raises_an_exception():
    first, second = run("if rank: raise ValueError('boom')\nfails(lambda: dist.barrier())", 2)
    assert second[0] == 1
    assert "ValueError: boom" in second[2]
    assert "rank 1 has left, or raised an exception, during barrier() on rank 0" in first[1], first[2]


@needs_mpi
def test_a_rank_stops_or_comes_late():
    program = """
dist.barrier()
dist.group.WORLD.set_timeout(timedelta(seconds=1))
if rank == 1:
    time.sleep(4)
    os._exit(0)
fails(lambda: dist.all_reduce(x))
"""
    first, _, third = run(program, 3)
    assert "all_reduce(float32[4], SUM) on rank 0 took longer than 1 s: rank 1 did not arrive" in first[1], first[2]
    assert "rank 1 did not arrive" in third[1], third[2]


@needs_mpi
def test_a_member_of_a_new_group_does_not_arrive():
    program = """
dist.barrier()
if rank == 2:
    time.sleep(4)
    os._exit(0)
if rank == 0:
    fails(lambda: dist.new_group([0, 2], timeout=timedelta(seconds=1), use_local_synchronization=True))
"""
    first, *_ = run(program, 3)
    assert "making a group on rank 0 took longer than 1 s: rank 2 did not arrive" in first[1], first[2]


@needs_mpi
def test_monitored_barrier_names_who_is_missing():
    program = """
if rank in (1, 3):
    time.sleep(5)
    os._exit(0)
fails(lambda: dist.monitored_barrier(timeout=timedelta(seconds=1), wait_all_ranks=True))
"""
    first, _, third, _ = run(program, 4)
    for status, out, errors in (first, third):
        assert status == 0, errors
        assert "ranks 1, 3 did not arrive within 1 s" in out, errors


@needs_mpi
def test_the_missing_are_named(tmp_path):
    store = dist.FileStore(str(tmp_path / "store"), 3)
    with pytest.raises(dist.DistStoreError, match=r"rank 0: 1 of 3 ranks arrived within .* missing are 1, 2"):
        dist.init_process_group(store=store, rank=0, world_size=3, timeout=timedelta(seconds=0.3))
    with pytest.raises(dist.DistStoreError, match=r"1 of 2 ranks arrived within .* missing are 0"):
        dist.init_process_group(store=dist.HashStore(), rank=1, world_size=2, timeout=timedelta(seconds=0.3))


@pytest.mark.parametrize("missing", ["RANK", "WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT"])
def test_a_variable_is_missing(monkeypatch, missing):
    given = {"RANK": "0", "WORLD_SIZE": "2", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": "29400"}
    for name, value in given.items():
        monkeypatch.setenv(name, value)
    monkeypatch.delenv(missing)
    with pytest.raises(ValueError, match=f"environment variable {missing} expected, but not set"):
        dist.init_process_group()


def test_parts_of_addresses_are_missing():
    for url, error, message in [
        ("tcp://localhost:29400", ValueError, "tcp:// rendezvous: rank parameter missing"),
        ("tcp://localhost:29400?rank=0", ValueError, "world size parameter missing"),
        ("tcp://localhost?rank=0&world_size=2", ValueError, "port number missing"),
        ("file://?rank=0&world_size=2", ValueError, "path missing"),
        ("udp://localhost:29400", RuntimeError, "No rendezvous handler for udp://"),
    ]:
        with pytest.raises(error, match=message.replace("?", r"\?")):
            dist.init_process_group(init_method=url)
    with pytest.raises(TypeError, match="of type datetime"):
        dist.init_process_group(timeout=3)
    with pytest.raises(ValueError, match="Invalid backend"):
        dist.init_process_group("carrier pigeon")


def test_a_port_is_in_use():
    with socket.create_server(("", 0)) as other:
        port = other.getsockname()[1]
        with pytest.raises(dist.DistNetworkError, match=f"port: {port}, code: 98, name: EADDRINUSE"):
            dist.init_process_group(init_method=f"tcp://127.0.0.1:{port}", rank=0, world_size=2)


def test_nobody_serves_a_port():
    with pytest.raises(dist.DistNetworkError, match="timed out"):
        dist.init_process_group(
            init_method=f"tcp://127.0.0.1:{free_port()}", rank=1, world_size=2, timeout=timedelta(seconds=0.2)
        )


@needs_mpi
def test_a_file_of_an_earlier_run(tmp_path):
    path = tmp_path / "store"
    dist.FileStore(str(path), 2).set("opweave/pmi", f"127.0.0.1:{free_port()}")
    with pytest.raises(dist.DistNetworkError, match="that an earlier run has left must be removed"):
        dist.init_process_group(init_method=f"file://{path}", rank=1, world_size=2, timeout=timedelta(seconds=1))


@needs_mpi
def test_forked_processes_beside_mpi(tmp_path):
    reports = run_cases("forks", 2, tmp_path)
    for name in names("forks"):
        check(reports, name)


@needs_mpi
def test_ctrl_c_ends_all(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(
        "import os, opweave, opweave.distributed as dist\ndist.init_process_group()\nprint('ready', os.getpid())\n"
        "while True:\n    dist.barrier()\n"
    )
    launcher = subprocess.Popen(
        [sys.executable, "-m", "opweave.distributed.run", "--nproc-per-node", "2", str(script)],
        env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert launcher.stdout is not None
    pids = [int(launcher.stdout.readline().split()[-1]) for _ in range(2)]
    launcher.send_signal(signal.SIGINT)
    ((status, _, errors),) = finish([launcher])
    assert status == 128 + signal.SIGINT
    assert errors.count("KeyboardInterrupt") >= 2
    for pid in pids:
        assert not os.path.exists(f"/proc/{pid}")
