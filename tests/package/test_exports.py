"""Memory that NumPy and others are given stays theirs whatever becomes of the tensor, and DLPack both ways."""

from __future__ import annotations

import gc
from collections.abc import Callable
from typing import Any

import numpy as np
import opweave as ow
import pytest
from opweave import Tensor

N = 5_000  # of float32: beyond what lies in the block of the handle

EXPORTS: dict[str, Callable[[Tensor], Any]] = {
    "numpy": lambda t: t.numpy(),
    "asarray": np.asarray,
    "from_dlpack": np.from_dlpack,
    "memoryview": lambda t: np.frombuffer(memoryview(t.numpy()), "f4"),  # type: ignore[call-overload]
    "and back": lambda t: ow.from_numpy(t.numpy()).numpy(),
    "capsule": lambda t: ow.from_dlpack(t.__dlpack__()).numpy(),
}

EXCHANGES: dict[str, Callable[[Tensor], Any]] = {
    "data": lambda t: setattr(t, "data", ow.zeros(3)),
    "set_": lambda t: t.set_(ow.zeros(3)),
    "set_ to nothing": lambda t: t.set_(),
    "shrink": lambda t: t.resize_(3),
}

GROWTH: dict[str, Callable[[Tensor], Any]] = {
    "resize_": lambda t: t.resize_(2 * N),
    "resize_as_": lambda t: t.resize_as_(ow.empty(2 * N)),
    "elementwise": lambda t: ow.add(ow.ones(2 * N), 1, out=t),
    "scan": lambda t: ow.cumsum(ow.ones(2 * N), 0, out=t),
    "composite": lambda t: ow.cat([ow.ones(2 * N)], out=t),
    "factory": lambda t: ow.zeros(2 * N, out=t),
    "storage": lambda t: t.untyped_storage().resize_(8 * N),
}


def overwritten(array: Any) -> list[float]:
    """Writes through an array, and gives what tensors made meanwhile see of it."""
    others = [ow.full((n,), 7.0) for n in (3, N, N, 2 * N)]
    array[:] = -1
    return [float(other.sub(7.0).abs().max()) for other in others]


@pytest.mark.parametrize("exchange", EXCHANGES)
@pytest.mark.parametrize("export", EXPORTS)
@pytest.mark.parametrize("size", [100, N])
def test_an_array_keeps_its_memory(export: str, exchange: str, size: int) -> None:
    t = ow.zeros(size)
    array = EXPORTS[export](t)
    EXCHANGES[exchange](t)
    assert overwritten(array) == [0.0] * 4
    del t
    gc.collect(1)  # it is young; to look at all objects takes longer than the tests
    assert overwritten(array) == [0.0] * 4
    assert array.tolist() == [-1.0] * size


@pytest.mark.filterwarnings("ignore:an output of shape")
@pytest.mark.parametrize("growth", GROWTH)
@pytest.mark.parametrize("export", EXPORTS)
def test_exported_memory_does_not_move(export: str, growth: str) -> None:
    t = ow.zeros(N)
    array = EXPORTS[export](t)
    with pytest.raises(RuntimeError, match="Trying to resize storage that is not resizable"):
        GROWTH[growth](t)
    t[0] = 5.0
    assert array[0] == 5.0
    view = t[3:]
    with pytest.raises(RuntimeError, match="not resizable"):
        view.resize_(2 * N)


def test_use_of_numpy_within_an_operator_leaves_the_memory_free() -> None:
    t = ow.arange(4.0)
    ow.searchsorted(t, ow.tensor([1.5]))
    repr(t)
    assert t.resize_(N).shape == (N,)


def test_arrays_of_views() -> None:
    t = ow.arange(12.0).view(3, 4)
    array = t.t()[1:, ::2].numpy()
    assert (array.shape, array.strides, array.tolist()) == ((3, 2), (4, 32), [[1, 9], [2, 10], [3, 11]])
    array[0, 0] = 50
    assert t[0, 1].item() == 50


@pytest.mark.filterwarnings("ignore:The given NumPy array is not writable")
def test_read_only_memory_stays_so() -> None:
    array = np.arange(3.0)
    array.flags.writeable = False
    t = ow.from_numpy(array)
    assert not t.numpy().flags.writeable
    assert not np.from_dlpack(t).flags.writeable
    with pytest.raises(BufferError, match="read-only"):
        t.__dlpack__()
    with pytest.raises(RuntimeError, match="read-only"):
        ow.from_dlpack(array).add_(1)


# ---- DLPack --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", sorted({d for d in vars(ow).values() if type(d) is ow.dtype}, key=str))
@pytest.mark.parametrize("version", [None, (1, 0)])
def test_dlpack_of_every_dtype(dtype: ow.dtype, version: tuple[int, int] | None) -> None:
    t = ow.tensor([[0, 1, 2], [3, 4, 5]]).to(dtype)
    same = ow.from_dlpack(t.t().__dlpack__(max_version=version))
    assert (same.dtype, same.shape, same.stride()) == (dtype, (3, 2), (1, 3))
    assert same.tolist() == t.t().tolist()
    assert same.data_ptr() == t.data_ptr()


def test_a_capsule_is_taken_once() -> None:
    capsule = ow.ones(2).__dlpack__()
    assert ow.from_dlpack(capsule).tolist() == [1.0, 1.0]
    for junk in (capsule, 5, None, "dltensor"):
        with pytest.raises(RuntimeError, match="from_dlpack received an invalid capsule"):
            ow.from_dlpack(junk)
    del capsule
    t = ow.ones(N)
    t.__dlpack__()  # nobody takes it
    t.__dlpack__(max_version=(1, 1))
    assert t.sum().item() == N


def test_options_of_dlpack() -> None:
    t = ow.ones(2)
    copied = ow.from_dlpack(t, copy=True)
    assert copied.data_ptr() != t.data_ptr()
    assert ow.from_dlpack(t, copy=False, device="cpu").data_ptr() == t.data_ptr()
    assert ow.from_dlpack(np.ones(2), copy=True, device=ow.device("cpu")).tolist() == [1.0, 1.0]
    assert t.__dlpack_device__() == (1, 0)
    with pytest.raises(AssertionError, match="device and copy kwargs not supported"):
        ow.from_dlpack(t.__dlpack__(), copy=True)
    with pytest.raises(RuntimeError, match="not available"):
        ow.from_dlpack(t, device="cuda")
    with pytest.raises(BufferError, match="to the device"):
        t.__dlpack__(dl_device=(2, 0))
    with pytest.raises(TypeError, match="stream must be"):
        t.__dlpack__(stream="a")
    with pytest.raises(AssertionError, match="stream should be None on cpu"):
        t.__dlpack__(stream=1)
    for w in (ow.ones(2, requires_grad=True), ow.ones(2, requires_grad=True) * 2):
        with pytest.raises(BufferError, match="Can't export tensors that require gradient"):
            w.__dlpack__()
        with pytest.raises(BufferError, match="Can't export tensors that require gradient"):
            ow.from_dlpack(w)


def test_libraries_that_know_an_older_protocol() -> None:
    class Old:
        def __init__(self) -> None:
            self.tensor = ow.arange(3.0)

        def __dlpack__(self, stream: object = None) -> object:
            return self.tensor.__dlpack__()

        def __dlpack_device__(self) -> tuple[int, int]:
            return 1, 0

    old = Old()
    assert ow.from_dlpack(old).data_ptr() == old.tensor.data_ptr()
    assert ow.from_dlpack(old, copy=True).data_ptr() != old.tensor.data_ptr()


def test_what_numpy_exports() -> None:
    array = np.arange(6.0).reshape(2, 3)[:, ::-1]
    assert ow.from_dlpack(array).tolist() == [[2, 1, 0], [5, 4, 3]]
    assert ow.from_dlpack(np.zeros((0, 3))).shape == (0, 3)
    assert ow.from_dlpack(np.array(2.5)).item() == 2.5
    assert np.from_dlpack(ow.arange(3)).tolist() == [0, 1, 2]
    result = ow.from_dlpack(np.full(N, 3.0))
    gc.collect(1)  # it is young; to look at all objects takes longer than the tests
    assert result.sum().item() == 3 * N
