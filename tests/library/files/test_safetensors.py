"""opweave.safetensors beside safetensors.numpy and, where torch is installed, safetensors.torch."""

from __future__ import annotations

import json
import struct
from pathlib import Path
from typing import Any

import opweave as ow
import pytest
from harness.processes import python, succeed

safetensors: Any = pytest.importorskip("safetensors")
from opweave.safetensors import load, load_file, load_model, safe_open, save, save_file, save_model  # noqa: E402

DTYPES = (
    "bool", "uint8", "int8", "int16", "int32", "int64", "uint16", "uint32", "uint64", "float16", "bfloat16", "float32",
    "float64", "complex64", "float8_e4m3fn", "float8_e5m2", "float8_e4m3fnuz", "float8_e5m2fnuz", "float8_e8m0fnu",
)  # fmt: skip


def tensors() -> dict[str, Any]:
    found: dict[str, Any] = {name: ow.tensor([0, 1, 1]).to(getattr(ow, name)) for name in DTYPES}
    return {**found, "matrix": ow.arange(6.0).reshape(2, 3), "number": ow.tensor(3.5), "empty": ow.empty(0, 4)}


def listed(values: dict[str, Any]) -> dict[str, Any]:
    return {
        name: (str(each.dtype).rpartition(".")[2], tuple(each.shape), each.tolist()) for name, each in values.items()
    }


def test_files_and_bytes(tmp_path: Path) -> None:
    path = tmp_path / "x.safetensors"
    save_file(tensors(), path, metadata={"made by": "a test"})
    assert listed(load_file(path)) == listed(tensors())
    assert listed(load(save(tensors()))) == listed(tensors())
    assert load_file(path, device="meta")["matrix"].is_meta
    with pytest.raises(ValueError, match="backend"):
        load_file(path, backend="other")


def test_numpy_reads_and_writes_them(tmp_path: Path) -> None:
    numpy = pytest.importorskip("safetensors.numpy")
    ours = {name: each for name, each in tensors().items() if each.dtype.numpy_name}
    save_file(ours, tmp_path / "ours")
    arrays = numpy.load_file(tmp_path / "ours")
    assert listed(arrays) == listed(ours)
    numpy.save_file(arrays, tmp_path / "theirs")
    assert listed(load_file(tmp_path / "theirs")) == listed(ours)
    assert (tmp_path / "theirs").read_bytes() == (tmp_path / "ours").read_bytes()


def test_torch_reads_and_writes_them(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    torch = pytest.importorskip("safetensors.torch")
    # torch writes float8_e8m0fnu, and cannot read it.
    ours = {name: each for name, each in tensors().items() if name != "float8_e8m0fnu"}
    save_file(ours, tmp_path / "ours", metadata={"a": "b"})
    found = torch.load_file(tmp_path / "ours")
    assert listed(found) == listed(ours)
    torch.save_file(found, tmp_path / "theirs", metadata={"a": "b"})
    assert listed(load_file(tmp_path / "theirs")) == listed(ours)
    assert (tmp_path / "theirs").read_bytes() == (tmp_path / "ours").read_bytes()
    assert listed(load(torch.save(found))) == listed(torch.load(save(ours))) == listed(ours)


def test_files_are_mapped(tmp_path: Path) -> None:
    path = tmp_path / "x"
    save_file({"x": ow.arange(1000.0)}, path)
    x = load_file(path)["x"]
    x[0] = 5.0
    assert load_file(path)["x"][0] == 0.0
    path.unlink()
    assert x[:3].tolist() == [5.0, 1.0, 2.0]


def test_tensors_one_by_one(tmp_path: Path) -> None:
    save_file(tensors(), tmp_path / "x", metadata={"a": "b"})
    with safe_open(tmp_path / "x", framework="pt", device="cpu") as file:
        assert file.metadata() == {"a": "b"}
        assert file.keys() == sorted(tensors())
        assert sorted(file.offset_keys()) == sorted(tensors())
        assert listed(file.get_tensors()) == listed(tensors())
        part = file.get_slice("matrix")
        assert (part.get_shape(), part.get_dtype()) == ([2, 3], "F32")
        assert part[:, 1:].tolist() == [[1.0, 2.0], [4.0, 5.0]]
        assert part[1, ..., 0].item() == 3.0
        with pytest.raises(IndexError):
            part[5]
        for read in (file.get_tensor, file.get_slice):
            for name in ("none", "__metadata__"):
                with pytest.raises(safetensors.SafetensorError, match=f"does not contain tensor {name}"):
                    read(name)
    with pytest.raises(ValueError, match="framework tf is invalid"):
        safe_open(tmp_path / "x", framework="tf")
    with pytest.raises(FileNotFoundError):
        safe_open(tmp_path / "none")


def test_what_is_not_written(tmp_path: Path) -> None:
    x = ow.arange(6.0).reshape(2, 3)
    for wrong, error, match in (
        ([x], ValueError, "Expected a dict"),
        ({"a": 3}, ValueError, "Key `a` is invalid, expected opweave.Tensor"),
        ({"a": x.t()}, ValueError, "non contiguous tensor: `a`"),
        ({"a": x, "b": x}, RuntimeError, "Some tensors share memory"),
        ({"a": x, "b": x[0], "c": x[1]}, RuntimeError, "Some tensors share memory"),
        ({"a": x.to(ow.complex128)}, TypeError, "no opweave.complex128"),
        ({"a": ow.empty(3, device="meta")}, ValueError, "no elements in the memory of the CPU$"),
        ({"a": ow.eye(2).to_sparse()}, ValueError, "sparse tensor: `a`"),
        ({"a": ow.eye(2).to_sparse_csr()}, ValueError, "sparse tensor: `a`"),
        ({"a": ow.ones(1, dtype=ow.complex64).conj()}, ValueError, "resolve_conj"),
    ):
        with pytest.raises(error, match=match):
            save_file(wrong, tmp_path / "x")  # type: ignore[arg-type]
    assert not (tmp_path / "x").exists()
    save_file({"a": x[0], "b": x[1]}, tmp_path / "x")
    assert load_file(tmp_path / "x")["b"].tolist() == [3.0, 4.0, 5.0]


def file_of(header: Any, data: bytes = bytes(24)) -> bytes:
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + data


@pytest.mark.parametrize("data", [
    b"", b"junk", b"\xff" * 8 + b"{}", file_of(b"{"), file_of(b"[]"),
    file_of({"a": {"dtype": "F32", "shape": [7], "data_offsets": [0, 24]}}),
    file_of({"a": {"dtype": "F32", "shape": [6], "data_offsets": [0, 28]}}),
    file_of({"a": {"dtype": "F32", "shape": [6], "data_offsets": [4, 28]}}),
    file_of({"a": {"dtype": "F32", "shape": [2**62, 4], "data_offsets": [0, 24]}}),
    file_of({"a": {"dtype": "F32", "shape": [-6], "data_offsets": [0, 24]}}),
    file_of({name: {"dtype": "F32", "shape": [6], "data_offsets": [0, 24]} for name in "ab"}),
])  # fmt: skip
def test_damaged_files(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "x").write_bytes(data)
    with pytest.raises(safetensors.SafetensorError):
        load_file(tmp_path / "x")
    with pytest.raises(safetensors.SafetensorError):
        load(data)


def test_dtypes_that_are_not_here(tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes(file_of({"a": {"dtype": "F4", "shape": [48], "data_offsets": [0, 24]}}))
    with pytest.raises(TypeError, match="'a' in the file has the dtype F4"):
        load_file(tmp_path / "x")


def tied() -> Any:
    model = ow.nn.Sequential(ow.nn.Linear(2, 2), ow.nn.Linear(2, 2))
    model[1].weight = model[0].weight
    return model


def test_modules(tmp_path: Path) -> None:
    path = str(tmp_path / "x")
    model = tied()
    save_model(model, path)
    with safe_open(path) as file:
        assert file.keys() == ["0.bias", "0.weight", "1.bias"]
        assert file.metadata() == {"1.weight": "0.weight"}
    other = tied()
    assert load_model(other, path) == (set(), [])
    assert listed(other.state_dict()) == listed(model.state_dict())
    with pytest.raises(RuntimeError, match=r'Missing key.* in state_dict: "1.weight"'):
        load_model(ow.nn.Sequential(ow.nn.Linear(2, 2), ow.nn.Linear(2, 2)), path)
    plain = ow.nn.Linear(2, 2)
    assert load_model(plain, path, strict=False) == ({"weight", "bias"}, ["0.bias", "0.weight", "1.bias"])
    model[0].weight = ow.nn.Parameter(ow.ones(2, 2).t())
    save_model(model, path)
    model[0].weight = ow.nn.Parameter(ow.arange(4.0).reshape(2, 2).t())
    with pytest.raises(ValueError, match="non contiguous"):
        save_model(model, path, force_contiguous=False)


UNDER_ITS_NAME = """
import sys
import opweave
torch = opweave.as_torch()
from safetensors import safe_open
from safetensors.torch import load_file, load_model, save_file, save_model

path = sys.argv[1]
save_file({"a": torch.arange(6.0).reshape(2, 3), "b": torch.ones(3, dtype=torch.bfloat16), "c": torch.zeros(0)}, path)
found = load_file(path)
assert {name: each.tolist() for name, each in found.items()} == {"a": [[0, 1, 2], [3, 4, 5]], "b": [1] * 3, "c": []}
# Tensors are told from views of one another by their storages.
assert [each.untyped_storage().nbytes() for each in found.values()] == [each.nbytes for each in found.values()]
found["a"][0, 0] = 7
assert load_file(path)["a"][0, 0] == 0
with safe_open(path, "pt") as file:
    assert file.get_slice("a")[1:, :2].tolist() == [[3, 4]]
model = torch.nn.Linear(2, 2)
model.same = model.weight
save_model(model, path)
other = torch.nn.Linear(2, 2)
other.same = other.weight
assert load_model(other, path) == (set(), [])
assert other.same.tolist() == model.weight.tolist()
"""


def test_the_package_s_own_functions_under_the_name_of_torch(tmp_path: Path) -> None:
    succeed(python("-c", UNDER_ITS_NAME, str(tmp_path / "x")))
