"""Writes tests/library/files/data/ by torch: files that are read where torch is not installed.

python tests/library/files/record.py
"""

from __future__ import annotations

import collections
from contextlib import chdir
from pathlib import Path
from typing import Any

import torch
from torch.distributed import checkpoint

DATA = Path(__file__).resolve().parent / "data"


def contents() -> dict[str, Any]:
    """By the names of the files."""
    x = torch.arange(6.0).reshape(2, 3)
    model = torch.nn.Sequential(torch.nn.Linear(2, 1), torch.nn.BatchNorm1d(1))
    with torch.no_grad():
        for index, each in enumerate(model.parameters()):
            each.copy_(torch.arange(each.numel(), dtype=each.dtype).reshape(each.shape) + index)
    for each in model.parameters():
        each.grad = torch.ones_like(each)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.5)
    optimizer.step()
    return {
        "views": {"x": x, "transposed": x.t(), "row": x[1], "columns": x[:, 1:], "expanded": x[0, :1].expand(3)},
        "values": [True, None, -1, 2**70, 1.5, 1j, "\u20ac", (1, 2), torch.Size([2, 3]), torch.float16,
                   torch.device("cpu"), {"a": [torch.tensor(7)]}, collections.OrderedDict(b=1), {3, 4}, b"\xff"],
        "dtypes": {str(dtype): torch.tensor([0, 1, 2], dtype=torch.int64).to(dtype) for dtype in (
            torch.bool, torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64, torch.uint16, torch.uint32,
            torch.uint64, torch.float16, torch.bfloat16, torch.float32, torch.float64, torch.complex32,
            torch.complex64, torch.complex128)},
        "special": {"conj": torch.tensor([1 + 2j]).conj(), "neg": torch.tensor([1 + 2j]).conj().imag,
                    "meta": torch.empty(2, 3, device="meta"), "empty": torch.empty(0, 4),
                    "parameter": torch.nn.Parameter(torch.ones(2), requires_grad=False),
                    "requires_grad": torch.ones(1, requires_grad=True)},
        "training": {"model": model.state_dict(), "optimizer": optimizer.state_dict()},
        "module": model,
    }  # fmt: skip


def computed() -> dict[str, Any]:
    """What is made of the elements of storages while a file is read."""
    values, scales = torch.arange(4.0).reshape(2, 2), torch.tensor([0.5, 0.25])
    return {
        "neg": torch.tensor([1 + 2j, 3 - 1j]).conj().imag,
        "coo": torch.sparse_coo_tensor(torch.tensor([[0, 1], [1, 2]]), torch.tensor([1.0, 2.0]), (2, 3)),
        "csr": torch.eye(2).to_sparse_csr(),
        "channels": torch.quantize_per_channel(values, scales, torch.tensor([0, 1]), 0, torch.quint8),
    }


def main() -> None:
    DATA.mkdir(exist_ok=True)
    torch.manual_seed(0)
    for name, content in contents().items():
        torch.save(content, DATA / f"{name}.pt")
    torch.save(contents()["views"], DATA / "legacy.pt", _use_new_zipfile_serialization=False)
    torch.save(computed(), DATA / "legacy_computed.pt", _use_new_zipfile_serialization=False)
    program = torch.jit.script(torch.nn.ReLU())
    torch.jit.save(program, DATA / "torchscript.pt")
    with chdir(DATA):  # whose name would be in the checkpoint
        weight = torch.arange(6.0).reshape(2, 3)
        state = {"model": {"weight": weight}, "epoch": 7, "list": [torch.ones(2), {"b": torch.tensor([2.0])}]}
        checkpoint.save(state, checkpoint_id="checkpoint", no_dist=True)


if __name__ == "__main__":
    main()
