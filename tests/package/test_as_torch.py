"""opweave under the name of torch, in processes of their own."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import opweave as ow
import pytest

PROGRAM = """
import sys
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch import Tensor, optim
from torch.utils.data import DataLoader

assert torch.__version__ == "2.13.0+opweave"
assert sys.argv[1:] == ["1", "two"] and __name__ == "__main__"
import beside  # from the folder of the script

model = nn.Sequential(nn.Linear(4, 3), nn.ReLU())
loss = F.mse_loss(model(torch.ones(2, 4)), torch.zeros(2, 3))
loss.backward()
optim.SGD(model.parameters(), lr=0.1).step()
import torch.distributions.normal
from torch.distributions.multivariate_normal import MultivariateNormal
import opweave
assert torch.distributions.normal.Normal is opweave.distributions.Normal
assert torch.nn is opweave.nn and torch.float32 is opweave.float32 and Tensor is opweave.Tensor
assert nn.__name__ == nn.__spec__.name == "opweave.nn", nn.__spec__
assert type(loss).__module__ == "torch"
assert torch.tensor([1, 2]).dtype is torch.int64
import numpy
assert torch.int64 not in (numpy.dtype("int64"), numpy.int64)
try:
    import torch.nothing
except ModuleNotFoundError as error:
    print(error)
try:
    torch.nothing
except AttributeError as error:
    print(error)
from importlib import metadata, util
assert metadata.version("torch") == torch.__version__ and "torch" in {each.name for each in metadata.distributions()}
assert util.find_spec("torch").name == "torch" and util.find_spec("torch.nothing") is None
assert util.find_spec("torch.utils.data").name == "opweave.utils.data"
import torch.nn.modules.padding
from torch._C._nn import gelu
from torch.cuda.amp import autocast
assert torch.nn.modules.padding.ZeroPad2d is nn.ZeroPad2d and gelu is F.gelu
assert torch._C._get_tracing_state() is torch._C._log_api_usage_once("event") is None
assert torch._C.Generator is torch.Generator and isinstance(loss, torch._C._TensorBase)
assert torch.torch is torch and torch.__file__ == opweave.__file__
assert f"{torch.float32} {torch.Size([2])} {torch.strided}" == "torch.float32 torch.Size([2]) torch.strided"
assert torch.zeros(2).type() == "torch.FloatTensor" and torch.eye(2).to_sparse().type() == "torch.sparse.FloatTensor"
assert [repr(torch.zeros(1)), repr(torch.zeros(1).double())] == ["tensor([0.])", "tensor([0.], dtype=torch.float64)"]
from torch import *
print(ones(2), "done")
"""


def run(*arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, *arguments], capture_output=True, text=True, cwd=cwd, timeout=120)


def test_a_script(tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "script.py").write_text(PROGRAM)
    (folder / "beside.py").write_text("")
    done = run("-m", "opweave.as_torch", "folder/script.py", "1", "two", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [
        "No module named 'torch.nothing'",
        "module 'torch' (which is opweave) has no attribute 'nothing'",
        "tensor([1., 1.]) done",
    ]
    usage = run("-m", "opweave.as_torch", cwd=tmp_path)
    assert (usage.returncode, usage.stderr) == (1, "usage: python -m opweave.as_torch SCRIPT [ARGUMENT...]\n")


CHILDREN = """
import multiprocessing
import subprocess
import sys

import torch
from torch.utils.data import DataLoader, TensorDataset

if __name__ == "__main__":
    batches = DataLoader(TensorDataset(torch.arange(4)), 2, num_workers=1, multiprocessing_context="spawn")
    print([batch.tolist() for (batch,) in batches])
    program = "import os, torch, torch.nn as nn; print(torch.__version__, nn.__name__, os.environ['PYTHONPATH'][-6:])"
    subprocess.run([sys.executable, "-c", program], check=True)
"""


def test_processes_that_a_script_starts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "script.py").write_text(CHILDREN)
    monkeypatch.setenv("PYTHONPATH", "/mine/")
    done = run("-m", "opweave.as_torch", "script.py", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert sorted(done.stdout.splitlines()) == ["2.13.0+opweave opweave.nn /mine/", "[[0, 1], [2, 3]]"]


def test_within_a_program(tmp_path: Path) -> None:
    program = """
import sys
import opweave
torch = opweave.as_torch()
assert opweave.as_torch() is torch
import opweave.as_torch  # the module of that name can be called as well
assert opweave.as_torch() is sys.modules["opweave.as_torch"]() is torch
import torch as again
import torch.linalg
assert again is torch and torch.linalg is opweave.linalg
print(torch.ones(2))
"""
    done = run("-c", program, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (0, "tensor([1., 1.])\n"), done.stderr


def test_torch_itself_is_not_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch", sys)
    with pytest.raises(RuntimeError, match="torch itself has been imported"):
        ow.as_torch()
    assert not any(type(finder).__module__ == "opweave.as_torch" for finder in sys.meta_path)
