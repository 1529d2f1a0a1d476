"""Files that torch 2.13 has written (record.py), where torch need not be installed."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import opweave as ow
import pytest

DATA = Path(__file__).resolve().parent / "data"


@pytest.mark.parametrize("mapped", [False, True])
def test_views_share_their_storage(mapped: bool) -> None:
    found = ow.load(DATA / "views.pt", mmap=mapped)
    assert found["x"].tolist() == [[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]]
    assert found["transposed"].stride() == (1, 3)
    assert found["expanded"].stride() == (0,)
    found["x"][1, 2] = 7.0
    assert found["transposed"].tolist() == [[0.0, 3.0], [1.0, 4.0], [2.0, 7.0]]
    assert found["row"].tolist() == [3.0, 4.0, 7.0]
    assert found["columns"].tolist() == [[1.0, 2.0], [4.0, 7.0]]
    assert found["row"].storage_offset() == 3
    assert len({each.untyped_storage().data_ptr() for each in found.values()}) == 1
    again = ow.load(DATA / "views.pt")
    assert again["x"][1, 2] == 5.0, "what is written to memory stays there"


def test_the_format_before() -> None:
    found = ow.load(DATA / "legacy.pt")
    found["x"][0] = 0.0
    assert found["columns"].tolist() == [[0.0, 0.0], [4.0, 5.0]]
    assert ow.load(DATA / "legacy.pt", weights_only=False)["row"].tolist() == [3.0, 4.0, 5.0]
    with pytest.raises(RuntimeError, match="mmap can only be used"):
        ow.load(DATA / "legacy.pt", mmap=True)


@pytest.mark.parametrize("weights_only", [True, False])
def test_the_format_before_of_what_is_computed(weights_only: bool) -> None:
    """The elements are behind the pickle in such a file, and are needed while it is read."""
    found = ow.load(DATA / "legacy_computed.pt", weights_only=weights_only)
    assert found["neg"].tolist() == [-2.0, 1.0]
    assert found["coo"].to_dense().tolist() == [[0.0, 1.0, 0.0], [0.0, 0.0, 2.0]]
    assert found["csr"].to_dense().tolist() == [[1.0, 0.0], [0.0, 1.0]]
    assert found["channels"].dequantize().tolist() == [[0.0, 1.0], [2.0, 3.0]]
    again = io.BytesIO()
    ow.save(found, again, _use_new_zipfile_serialization=False)
    again.seek(0)
    for name, each in ow.load(again, weights_only=weights_only).items():
        assert str(each) == str(found[name])


def test_values_that_are_no_tensors() -> None:
    found = ow.load(DATA / "values.pt")
    assert found[:11] == [True, None, -1, 2**70, 1.5, 1j, "\u20ac", (1, 2), (2, 3), ow.float16, ow.device("cpu")]
    assert type(found[8]) is ow.Size
    assert found[11]["a"][0].item() == 7
    assert found[12:] == [{"b": 1}, {3, 4}, b"\xff"]


def test_dtypes() -> None:
    for name, tensor in ow.load(DATA / "dtypes.pt").items():
        assert f"torch.{tensor.dtype!r}" == name.replace("torch.", "torch.opweave.")
        expected: Any = [False, True, True] if tensor.dtype is ow.bool else [0, 1, 2]
        assert tensor.to(ow.complex128 if tensor.is_complex() else tensor.dtype).tolist() == expected


def test_special_tensors() -> None:
    found = ow.load(DATA / "special.pt")
    assert found["conj"].tolist() == [1 - 2j]
    assert found["conj"].is_conj()
    assert found["neg"].tolist() == [-2.0]
    assert found["meta"].is_meta
    assert found["meta"].shape == (2, 3)
    assert found["empty"].shape == (0, 4)
    assert type(found["parameter"]) is ow.nn.Parameter
    assert not found["parameter"].requires_grad
    assert found["requires_grad"].requires_grad


def test_states_of_modules_and_optimizers() -> None:
    found = ow.load(DATA / "training.pt")
    model = ow.nn.Sequential(ow.nn.Linear(2, 1), ow.nn.BatchNorm1d(1))
    model.load_state_dict(found["model"])
    assert found["model"]._metadata["0"] == {"version": 1}
    assert model[0].weight.tolist() == [pytest.approx([-0.5, 0.5])]
    optimizer = ow.optim.Adam(model.parameters())
    optimizer.load_state_dict(found["optimizer"])
    assert optimizer.param_groups[0]["lr"] == 0.5
    state = optimizer.state[model[0].weight]
    assert state["step"].item() == 1.0
    assert state["exp_avg"].tolist() == [pytest.approx([0.1, 0.1])]


def test_whole_modules_need_trust() -> None:
    with pytest.raises(ow.serialization.UnpicklingError, match="Unsupported global: GLOBAL torch"):
        ow.load(DATA / "module.pt")
    model = ow.load(DATA / "module.pt", weights_only=False)
    assert type(model) is ow.nn.Sequential
    assert model(ow.ones(2, 2)).shape == (2, 1)
    names = ow.serialization.get_unsafe_globals_in_checkpoint(DATA / "module.pt")
    assert names == [
        "torch.nn.modules.batchnorm.BatchNorm1d",
        "torch.nn.modules.container.Sequential",
        "torch.nn.modules.linear.Linear",
    ]
    allowed = [ow.nn.Sequential, ow.nn.Linear, ow.nn.BatchNorm1d]
    with ow.serialization.safe_globals(allowed):
        assert ow.load(DATA / "module.pt")[0].weight.tolist() == [pytest.approx([-0.5, 0.5])]
    assert ow.serialization.get_safe_globals() == []


@pytest.mark.parametrize(
    "module",
    [
        ow.nn.Conv2d(1, 2, 3, padding=1),
        ow.nn.ConvTranspose1d(2, 1, 3),
        ow.nn.LSTM(2, 3),
        ow.nn.MultiheadAttention(4, 2),
        ow.nn.PairwiseDistance(),
        ow.nn.TransformerEncoderLayer(4, 2),
        ow.nn.Upsample(scale_factor=2),
    ],
    ids=lambda module: type(module).__name__,
)
def test_whole_modules_are_written(module: ow.nn.Module) -> None:
    """With the attributes that torch's have besides, which are computed for the file."""
    file = io.BytesIO()
    ow.save(module, file)
    file.seek(0)
    found = ow.load(file, weights_only=False)
    assert str(found) == str(module)
    assert list(found.state_dict()) == list(module.state_dict())


def test_programs_are_recognized() -> None:
    for weights_only in (True, False):
        with pytest.raises(RuntimeError, match="TorchScript archive"):
            ow.load(DATA / "torchscript.pt", weights_only=weights_only)
