"""The launcher, with real processes."""

from __future__ import annotations

import subprocess
import sys

import pytest
from opweave.distributed.run.arguments import get_args_parser, launch_of

from .ranks import environment, needs_mpi

SCRIPT = """
import os, sys
import opweave as torch, opweave.distributed as dist
dist.init_process_group("mpi")
rank = dist.get_rank()
assert dist.is_torchelastic_launched()
assert [os.environ[each] for each in ("RANK", "LOCAL_RANK")] == [str(rank)] * 2
assert [os.environ[each] for each in ("WORLD_SIZE", "LOCAL_WORLD_SIZE")] == [str(dist.get_world_size())] * 2
x = torch.ones(3) * rank
dist.all_reduce(x)
print("sum", x.tolist(), *sys.argv[1:])
if "fail" in sys.argv and rank == 1:
    raise ValueError("boom")
if "exit" in sys.argv and rank == 1:
    os._exit(7)
if len(sys.argv) > 1 and os.environ["TORCHELASTIC_RESTART_COUNT"] == "0":
    dist.barrier()
"""


def launch(tmp_path, *options, arguments=()):
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    command = [sys.executable, "-m", "opweave.distributed.run", *options, str(script), *arguments]
    return subprocess.run(command, env=environment(), capture_output=True, text=True, timeout=60)


@needs_mpi
def test_all_end_well(tmp_path):
    ended = launch(tmp_path, "--nproc_per_node", "2")
    assert ended.returncode == 0, ended.stderr
    assert sorted(ended.stdout.splitlines()) == [f"[rank{rank}]: sum [1.0, 1.0, 1.0]" for rank in range(2)]


@needs_mpi
def test_one_fails(tmp_path):
    ended = launch(tmp_path, "--nproc-per-node=2", "--standalone", arguments=["fail"])
    assert ended.returncode == 1
    assert "[rank1]: ValueError: boom" in ended.stderr
    assert "[rank0]: opweave.distributed.DistBackendError: rank 1 has left" in ended.stderr
    assert "ended with exit status 1" in ended.stderr.splitlines()[-1]


@needs_mpi
def test_all_begin_again(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(
        "import os\nraise SystemExit(int(os.environ['RANK']) + 3 - int(os.environ['TORCHELASTIC_RESTART_COUNT']))"
    )
    command = [sys.executable, "-m", "opweave.distributed.run", "--max-restarts", "3", str(script)]
    assert subprocess.run(command, env=environment(), timeout=60).returncode == 0


def test_options():
    parse = lambda *text: launch_of(get_args_parser().parse_args(text))  # noqa: E731
    launch = parse(
        "--nnodes=2", "--nproc_per_node=4", "--node-rank", "1", "--master_addr", "host", "-m", "module", "--x_y", "1"
    )
    assert (launch.first_rank, launch.size, launch.address, launch.port) == (4, 8, "host", 29500)
    assert launch.command == [sys.executable, "-u", "-m", "module", "--x_y", "1"]
    launch = parse("--rdzv-endpoint=here:1234", "--no-python", "program", "a")
    assert (launch.command, launch.address, launch.port, launch.size) == (["program", "a"], "here", 1234, 1)
    assert parse("--nproc-per-node", "cpu", "script.py").local_size >= 1
    for wrong in ("0", "many", "gpu"):
        with pytest.raises(SystemExit, match="--nproc-per-node"):
            parse("--nproc-per-node", wrong, "script.py")
