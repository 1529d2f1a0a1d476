"""Starts real processes for the tests of this folder, and gathers what each rank reports.

Cases are the functions of a module in `cases/` whose names begin with `case_`. One start of all ranks runs all of a
module's cases, one after the other, as `python ranks.py FOLDER MODULE`: a start takes half a second. Each rank writes
what a case has raised, or "", to FOLDER.
"""

from __future__ import annotations

import importlib.util
import json
import os
import re
import shutil
import socket
import subprocess
import sys
import traceback
from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path

import pytest

from codegen.generate import locked

HERE = Path(__file__).parent
_reserved: list[socket.socket] = []
needs_mpi = pytest.mark.skipif(
    importlib.util.find_spec("mpi4py") is None or shutil.which("mpiexec") is None,
    reason="needs the extra `distributed`: mpi4py and mpich",
)


def names(module: str) -> list[str]:
    """The names of the cases in a module, which is not imported."""
    return re.findall(r"^def (case_\w+)", (HERE / "cases" / f"{module}.py").read_text(), re.MULTILINE)


def environment(**variables: object) -> dict[str, str]:
    """The variables of a process of one thread, which finds the helpers of tests."""
    paths = os.pathsep.join(map(str, (HERE.parents[1], HERE.parents[2])))
    return {
        **os.environ,
        "OPWEAVE_NUM_THREADS": "1",
        "PYTHONPATH": paths,
        **{name: str(value) for name, value in variables.items()},
    }


def run_cases(module: str, size: int, folder: Path) -> list[dict[str, str]]:
    """Run all cases in so many processes, unless another process of the tests has; for each rank, what each case has
    raised."""
    files = [folder / f"{rank}.json" for rank in range(size)]
    with locked(folder):
        if not all(file.exists() for file in files):
            command = ["mpiexec", "-n", str(size), sys.executable, str(HERE / "ranks.py"), str(folder), module]
            ended = subprocess.run(command, env=environment(), capture_output=True, text=True, timeout=120)
            said = ended.stdout + ended.stderr
            assert all(file.exists() for file in files), said
            assert not ended.returncode or any(any(json.loads(file.read_text()).values()) for file in files), said
        return [json.loads(file.read_text()) for file in files]


def each_case(**sizes: Sequence[int]) -> pytest.MarkDecorator:
    """Parametrize a test of `reports` and `name` with the cases of modules, each in all these numbers of processes."""
    runs = [(module, size) for module, counts in sizes.items() for size in counts]
    each = [pytest.param(run, name, id=f"{run[0]}-{run[1]}-{name}") for run in runs for name in names(run[0])]
    return pytest.mark.parametrize(("reports", "name"), each, indirect=["reports"])


def check(reports: list[dict[str, str]], name: str) -> None:
    """Raise AssertionError if a case has failed on a rank."""
    failed = "\n".join(f"rank {rank}: {report[name]}" for rank, report in enumerate(reports) if report[name])
    assert not failed, failed


def start(program: str, size: int, *arguments: str, **variables: object) -> list[subprocess.Popen[str]]:
    """Start the processes of a program that the system started: RANK and WORLD_SIZE say which they are."""
    return [
        subprocess.Popen(
            [sys.executable, "-c", program, *arguments],
            env=environment(RANK=rank, WORLD_SIZE=size, MASTER_ADDR="127.0.0.1", **variables),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for rank in range(size)
    ]


def finish(processes: list[subprocess.Popen[str]], seconds: float = 60) -> list[tuple[int, str, str]]:
    """The status, the output and the errors of each process; those that do not end are killed, and the test fails."""
    try:
        outputs = [process.communicate(timeout=seconds) for process in processes]
    finally:
        for process in processes:
            if process.poll() is None:
                process.kill()
    return [(process.returncode, *output) for process, output in zip(processes, outputs, strict=True)]


def free_port() -> int:
    """A port that no process listens on, and that the system gives to no other one before this process ends.

    It is bound here without listening: whoever asks for it by its number may still have it.
    """
    reserved = socket.socket()
    reserved.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    reserved.bind(("127.0.0.1", 0))
    _reserved.append(reserved)
    return int(reserved.getsockname()[1])


def main(folder: str, module: str) -> None:
    """Run the cases of a module in this process, as one rank of several."""
    import opweave.distributed as dist

    dist.init_process_group(timeout=timedelta(seconds=20))
    sys.path.insert(0, str(HERE / "cases"))
    cases = importlib.import_module(module)
    report = {}
    for name in names(module):
        try:
            getattr(cases, name)(dist.get_rank(), dist.get_world_size())
            report[name] = ""
        except Exception:
            report[name] = traceback.format_exc()
    Path(folder, f"{dist.get_rank()}.json").write_text(json.dumps(report))


if __name__ == "__main__":
    main(*sys.argv[1:])
