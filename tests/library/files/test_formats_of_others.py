"""Files of h5py, zarr and NumPy take tensors and give them back."""

from __future__ import annotations

from pathlib import Path

import opweave as ow
import pytest


@pytest.mark.parametrize("dtype", ["float32", "int64", "bool", "complex64", "uint16"])
def test_tensors_in_hdf5(tmp_path: Path, dtype: str) -> None:
    h5py = pytest.importorskip("h5py")
    tensor = ow.tensor([[0, 1], [1, 0]]).to(getattr(ow, dtype))
    with h5py.File(tmp_path / "x.h5", "w") as file:
        file["whole"] = tensor
        file.create_dataset("made", data=tensor.t())
        file["whole"][0] = tensor[1]
    with h5py.File(tmp_path / "x.h5") as file:
        assert ow.from_numpy(file["whole"][...]).tolist() == tensor[[1, 1]].tolist()
        assert ow.tensor(file["made"]).tolist() == tensor.t().tolist()
        assert ow.asarray(file["made"][1]).dtype is tensor.dtype


@pytest.mark.filterwarnings("ignore")
def test_tensors_in_zarr(tmp_path: Path) -> None:
    numpy, zarr = pytest.importorskip("numpy"), pytest.importorskip("zarr")
    tensor = ow.arange(6.0).reshape(2, 3)
    array = zarr.open(str(tmp_path / "x.zarr"), mode="w", shape=(4, 3), chunks=(2, 3), dtype="f4")
    array[:2] = tensor.numpy()
    array[2:] = numpy.asarray(tensor)
    assert ow.from_numpy(array[:]).tolist() == tensor.tolist() * 2
    assert ow.tensor(array[1]).tolist() == [3.0, 4.0, 5.0]


def test_tensors_in_npz_and_memmap(tmp_path: Path) -> None:
    numpy = pytest.importorskip("numpy")
    tensor = ow.arange(6).reshape(2, 3)
    numpy.save(tmp_path / "x.npy", tensor)
    numpy.savez_compressed(tmp_path / "x.npz", one=tensor, other=tensor.t())
    mapped = ow.from_numpy(numpy.load(tmp_path / "x.npy", mmap_mode="r+"))
    mapped[0, 0] = 9
    del mapped
    assert numpy.load(tmp_path / "x.npy")[0, 0] == 9
    with numpy.load(tmp_path / "x.npz") as arrays:
        assert ow.from_numpy(arrays["other"]).tolist() == tensor.t().tolist()
    with pytest.warns(UserWarning, match="not writable"):
        readonly = ow.from_numpy(numpy.load(tmp_path / "x.npy", mmap_mode="r"))
    with pytest.raises(RuntimeError):
        readonly[0, 0] = 1
