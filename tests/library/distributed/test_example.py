"""examples/train_sharded.py: what it learns on two processes, and from their checkpoint on one."""

from __future__ import annotations

import re
import subprocess
import sys

from harness.paths import ROOT

from .ranks import environment, needs_mpi


def losses(folder, epochs, *start):
    command = [sys.executable, *start, str(ROOT / "examples" / "train_sharded.py"), str(folder), str(epochs)]
    ended = subprocess.run(command, env=environment(), capture_output=True, text=True, timeout=120)
    assert ended.returncode == 0, ended.stderr
    return {int(epoch): float(loss) for epoch, loss in re.findall(r"epoch (\d+): loss ([\d.]+)", ended.stdout)}


@needs_mpi
def test_any_number_of_processes_trains_the_same_network(tmp_path):
    found = losses(tmp_path / "two", 2, "-m", "opweave.distributed.run", "--nproc-per-node", "2")
    found |= losses(tmp_path / "two", 3)
    expected = losses(tmp_path / "one", 3)
    assert found.keys() == expected.keys() == {1, 2, 3}
    assert all(abs(found[epoch] - loss) < 0.01 * loss for epoch, loss in expected.items()), (found, expected)
    assert found[3] < found[1]
