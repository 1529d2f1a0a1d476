"""Storages: one object for each memory, and every view sees what is written."""

from __future__ import annotations

import copy
import gc
import pickle
import struct
import weakref

import numpy as np
import opweave
import pytest

DTYPES = sorted({d for d in vars(opweave).values() if type(d) is opweave.dtype}, key=str)


def test_views_share_one_storage() -> None:
    a = opweave.arange(6).reshape(2, 3)
    assert a.storage() is a.storage()
    assert a[1].storage() is a.t().storage() is a.storage()
    assert a.untyped_storage() is a[1].untyped_storage()
    assert a.untyped_storage() is not a.storage()
    assert a.clone().storage() is not a.storage()


def test_writing_is_seen_by_every_view() -> None:
    a = opweave.arange(6).reshape(2, 3)
    row, column = a[1], a[:, 2]
    storage = a.storage()
    storage[5] = 50
    assert (a[1, 2].item(), row[2].item(), column[1].item()) == (50, 50, 50)
    row[2] = 60
    assert storage[5] == 60
    storage[1:3] = [7, 8]
    assert a.tolist() == [[0, 7, 8], [3, 4, 60]]
    part = storage[2:4]
    assert part.tolist() == [8, 3]
    part[0] = 9
    assert a[0, 2].item() == 9
    assert part.nbytes() == 16


def test_a_range_is_a_storage_of_its_own() -> None:
    whole = opweave.arange(4.0).untyped_storage()
    part = whole[4:12]
    assert part.data_ptr() == whole.data_ptr() + 4
    seen = opweave.empty(0).set_(source=part)
    assert (seen.tolist(), seen.storage_offset()) == ([1, 2], 0)
    assert seen.untyped_storage() is part
    seen[0] = 5
    assert opweave.tensor(whole, dtype=opweave.float32).tolist() == [0, 5, 2, 3]
    assert part[4:].tolist() == whole[8:12].tolist()
    assert (whole[3:3].nbytes(), len(whole[:0]), whole[-2:].tolist()) == (0, 0, [64, 64])
    with pytest.raises(RuntimeError, match="tensors share its memory"):
        whole.resize_(10**6)
    del whole
    gc.collect()
    opweave.full((4,), 9.0)
    assert part.tolist() == [0, 0, 160, 64, 0, 0, 0, 64]
    values = np.arange(3.0)
    values.flags.writeable = False
    with pytest.warns(UserWarning, match="not writ"):
        readonly = opweave.from_numpy(values).untyped_storage()[8:]
    with pytest.raises(RuntimeError, match="read-only"):
        readonly[0] = 1


def test_what_storages_say_of_themselves() -> None:
    typed = opweave.arange(3.0).storage()
    for storage in (typed, typed.untyped()):
        assert not any((storage.is_cuda, storage.is_hpu, storage.is_sparse, storage.is_sparse_csr))
        assert (storage.get_device(), storage.filename, storage.resizable()) == (None, None, True)
        assert storage.to(device="cpu") is storage
        assert storage.to(device="meta").device == opweave.device("meta")
        with pytest.raises(RuntimeError, match="Cannot access accelerator device"):
            storage.pin_memory()
        with pytest.raises(RuntimeError, match="'cuda' is not available"):
            storage.cuda()
    assert typed.to(device="meta").dtype is opweave.float32
    assert typed.pickle_storage_type() == "FloatStorage"
    assert typed.complex_double().tolist() == [0, 1, 2]
    assert typed.complex_float().dtype is opweave.complex64
    assert opweave.QInt8Storage([1, -2]).tolist() == [1, -2]
    assert opweave.QInt8Storage(3).dtype is opweave.qint8
    assert typed.untyped().new().nbytes() == 0
    shown = opweave.arange(3.0)
    shown.numpy()
    assert not shown.storage().resizable()
    opweave.zeros(2)  # no error is left behind


def test_copies_of_buffers() -> None:
    data = struct.pack(">3h", 1, -2, 300)
    assert opweave.ShortStorage.from_buffer(data, "big").tolist() == [1, -2, 300]
    assert opweave.ShortStorage.from_buffer(data, byte_order="big", count=1, offset=2).tolist() == [-2]
    assert opweave.TypedStorage.from_buffer(b"\1\2", dtype=opweave.uint8).tolist() == [1, 2]
    assert opweave.BoolStorage.from_buffer(b"\0\2").untyped().tolist() == [0, 1]
    bytes_ = opweave.UntypedStorage.from_buffer(data, "big", dtype=opweave.int16)
    bytes_.byteswap(opweave.int16)
    assert bytes(bytes_.tolist()) == data
    parts = opweave.UntypedStorage.from_buffer(struct.pack(">2f", 1, 2), "big", dtype=opweave.complex64)
    assert opweave.tensor(parts, dtype=opweave.complex64).tolist() == [1 + 2j]
    for arguments, error, match in (
        ((data,), RuntimeError, "missing required argument 'byte_order'"),
        ((data, "middle"), ValueError, "invalid byte_order 'middle'"),
        ((data[:5], "big"), ValueError, r"buffer size \(5\) must be a multiple of element size \(2\)"),
        ((data, "big", 4), ValueError, "only 3 elements after offset 0, but specified a size of 4"),
        ((data, "big", -1, 7), ValueError, "offset must be non-negative"),
    ):
        with pytest.raises(error, match=match):
            opweave.ShortStorage.from_buffer(*arguments)
    with pytest.raises(RuntimeError, match="'dtype' cannot be None"):
        opweave.TypedStorage.from_buffer(data)


def test_tensors_over_storages() -> None:
    storage = opweave.arange(3.0).storage()
    seen = [made(storage) for made in (opweave.tensor, opweave.asarray, opweave.as_tensor)]
    seen += [made(storage.untyped(), dtype=opweave.float32) for made in (opweave.tensor, opweave.asarray)]
    seen += [made(each) for made in (opweave.FloatTensor, opweave.Tensor) for each in (storage, storage.untyped())]
    seen += [opweave.ones(1).new(storage), opweave.FloatTensor(storage=storage)]
    for each in seen:
        assert each.tolist() == [0, 1, 2]
        assert each.data_ptr() == storage.data_ptr()
    assert opweave.tensor(opweave.arange(3).untyped_storage()).tolist() == [0, 1, 2]
    assert opweave.asarray(storage, copy=True).data_ptr() != storage.data_ptr()
    assert opweave.tensor(opweave.UntypedStorage([1, 2, 3, 4, 5]), dtype=opweave.int16).tolist() == [513, 1027]
    for make in (lambda: opweave.tensor(storage, dtype=opweave.float64), lambda: opweave.DoubleTensor(storage)):
        with pytest.raises(RuntimeError, match="Expected a Storage of type Double or an UntypedStorage, but got Float"):
            make()
    with pytest.raises(RuntimeError, match="need a scale and a zero point"):
        opweave.tensor(opweave.QInt8Storage(3))
    assert opweave.ones(3).set_(opweave.UntypedStorage(7)).shape == (1,)


def test_it_keeps_the_memory() -> None:
    a = opweave.full((1000,), 7)
    storage = a.storage()
    del a
    gc.collect()
    opweave.full((1000,), 3)
    assert storage[999] == 7


def test_it_goes_when_unused() -> None:
    a = opweave.zeros(4)
    reference = weakref.ref(a.storage())
    gc.collect()
    assert reference() is None
    before = opweave.cpu.memory_stats()["allocation.all.current"]
    for _ in range(100):
        opweave.zeros(10).storage()
    assert opweave.cpu.memory_stats()["allocation.all.current"] == before


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_all_dtypes(dtype: opweave.dtype) -> None:
    a = opweave.tensor([0, 1, 1], dtype=dtype)
    storage = a[1:].storage()
    assert storage.dtype is dtype
    assert len(storage) == 3
    assert storage.nbytes() == 3 * dtype.itemsize
    assert storage.tolist() == a.tolist() == list(storage)
    assert len(a.untyped_storage()) == storage.nbytes()
    storage[0] = 1
    assert a.tolist() == [1, 1, 1]
    restored = pickle.loads(pickle.dumps(storage))
    assert restored.dtype is dtype
    assert restored.tolist() == storage.tolist()


def test_pickles_and_deep_copies_share_as_the_originals_did() -> None:
    a = opweave.arange(6).reshape(2, 3)
    views = [a, a[1], a.t()]
    for copied in (pickle.loads(pickle.dumps(views)), copy.deepcopy(views)):
        assert [view.tolist() for view in copied] == [view.tolist() for view in views]
        assert [view.stride() for view in copied] == [view.stride() for view in views]
        copied[0][1, 0] = 99
        assert copied[1][0].item() == 99
        assert copied[2][0, 1].item() == 99
    assert a[1, 0].item() == 3


def test_text() -> None:
    assert repr(opweave.tensor([1.0, 2.5]).storage()) == " 1.0\n 2.5\n[opweave.FloatStorage of size 2]"
    assert repr(opweave.tensor([True]).storage()) == " True\n[opweave.BoolStorage of size 1]"
    assert repr(opweave.zeros(0).storage()) == "[opweave.FloatStorage of size 0]"
    assert repr(opweave.tensor([258]).untyped_storage()[:2]) == " 2\n 1\n[opweave.UntypedStorage(device=cpu) of size 2]"


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_each_dtype_has_its_class(dtype: opweave.dtype) -> None:
    storage = opweave.zeros(2, dtype=dtype).storage()
    assert type(storage) is getattr(opweave, type(storage).__name__)
    assert isinstance(storage, opweave.TypedStorage)
    assert storage.dtype is type(storage).dtype is dtype
    assert not isinstance(storage.untyped(), opweave.TypedStorage)
    assert opweave.is_storage(storage)
    assert opweave.is_storage(storage.untyped())


def test_made_of_values_a_size_or_memory() -> None:
    assert opweave.FloatStorage([1, 2.5]).tolist() == [1.0, 2.5]
    assert opweave.LongStorage(range(3)).tolist() == [0, 1, 2]
    assert (len(opweave.FloatStorage()), len(opweave.FloatStorage(5)), opweave.FloatStorage(5).nbytes()) == (0, 5, 20)
    assert type(opweave.TypedStorage(3)) is opweave.FloatStorage
    assert type(opweave.TypedStorage([1, 2], dtype=opweave.int8)) is opweave.CharStorage
    memory = opweave.UntypedStorage([0, 0, 128, 63, 7])
    seen = opweave.FloatStorage(wrap_storage=memory)
    assert seen.tolist() == [1.0]
    assert opweave.TypedStorage(wrap_storage=memory, dtype=opweave.float32) is seen
    seen[0] = 2.0
    assert memory.tolist() == [0, 0, 0, 64, 7]
    assert opweave.tensor([]).set_(seen).tolist() == [2.0]


def test_misused_constructors() -> None:
    with pytest.raises(RuntimeError, match="Keyword argument 'dtype' cannot be specified"):
        opweave.FloatStorage(2, dtype=opweave.int8)
    with pytest.raises(RuntimeError, match="Too many positional arguments"):
        opweave.FloatStorage(2, 3)
    with pytest.raises(RuntimeError, match="No positional arguments should be given"):
        opweave.FloatStorage(2, wrap_storage=opweave.UntypedStorage(4))
    with pytest.raises(TypeError, match="must be UntypedStorage, but got <class 'int'>"):
        opweave.FloatStorage(wrap_storage=3)
    for wrong in (1.5, "ab", opweave.zeros(2), {1: 2}, None):
        with pytest.raises(TypeError, match="Argument type not recognized"):
            opweave.FloatStorage(wrong)
    with pytest.raises(RuntimeError, match="must not be negative, but got -1"):
        opweave.UntypedStorage(-1)
    with pytest.raises(RuntimeError, match="value cannot be converted to type uint8 without overflow"):
        opweave.ByteStorage([300])


def test_bad_use() -> None:
    storage = opweave.tensor([1, 2]).storage()
    for index in (2, -3):
        with pytest.raises(IndexError, match=f"index {index} out of range for storage of size 2"):
            storage[index]
        with pytest.raises(IndexError, match=f"index {index} out of range for storage of size 2"):
            storage[index] = 1
    with pytest.raises(RuntimeError, match=r"can't index a .*Storage.* with .*str"):
        storage["x"]
    with pytest.raises(RuntimeError, match="step of 2"):
        storage[::2]
    with pytest.raises(TypeError, match="can't assign a str"):
        storage[0] = "x"
    assert storage.tolist() == [1, 2]


def test_foreign_memory() -> None:
    buffer = bytearray(range(8))
    t = opweave.frombuffer(buffer, dtype=opweave.int16, offset=2)
    assert len(t.storage()) == 3
    t.storage()[0] = -1
    assert buffer[2:4] == b"\xff\xff"
    with pytest.raises(BufferError):
        buffer.append(1)
    del t
    gc.collect()
    buffer.append(1)


# ---- other sizes ----------------------------------------------------------------------------------------------


def test_a_storage_of_its_own_grows_and_shrinks() -> None:
    storage = opweave.FloatStorage([1.0, 2.0, 3.0])
    seen = storage.untyped()
    assert storage.resize_(5) is storage
    assert (len(storage), len(seen), storage.tolist()[:3]) == (5, 20, [1.0, 2.0, 3.0])
    seen.resize_(8)
    assert storage.tolist() == [1.0, 2.0]
    storage[1] = 7.0
    assert seen.untyped() is seen
    assert opweave.empty(0).set_(storage).tolist() == [1.0, 7.0]


def test_memory_that_tensors_share_shrinks_and_comes_back() -> None:
    t = opweave.arange(6.0)
    storage = t.untyped_storage()
    storage.resize_(0)
    assert (storage.nbytes(), t.tolist()) == (0, [0.0, 1.0, 2.0, 3.0, 4.0, 5.0])
    with pytest.raises(RuntimeError, match="out of bounds for storage of size 0"):
        t.as_strided((2,), (1,))
    storage.resize_(24)
    assert t.as_strided((2,), (1,), 4).tolist() == [4.0, 5.0]
    with pytest.raises(RuntimeError, match="cannot grow from 24 to 28 bytes, as tensors share its memory"):
        storage.resize_(28)
    assert t.untyped_storage() is storage


def test_a_tensor_uses_what_its_storage_has_left() -> None:
    t = opweave.arange(6.0)
    address = t.data_ptr()
    t.untyped_storage().resize_(8)
    t.resize_(2).resize_(6)
    assert (t.data_ptr(), t.tolist()) == (address, [0.0, 1.0, 2.0, 3.0, 4.0, 5.0])
    assert t.untyped_storage().nbytes() == 24


def test_storages_that_keep_their_size() -> None:
    t = opweave.arange(6.0)
    t.numpy()
    with pytest.raises(RuntimeError, match="Trying to resize storage that is not resizable"):
        t.untyped_storage().resize_(0)
    with pytest.raises(RuntimeError, match="Trying to resize storage that is not resizable"):
        opweave.arange(6.0).storage()[2:4].resize_(1)
    with pytest.raises(RuntimeError, match="cannot have -1 elements"):
        opweave.UntypedStorage(3).resize_(-1)
    with pytest.raises(TypeError, match="must be int, not float"):
        opweave.UntypedStorage(3).resize_(1.5)  # type: ignore[arg-type]


def test_the_storage_of_floats_is_called_storage() -> None:
    assert opweave.Storage is opweave.FloatStorage
    assert isinstance(opweave.ones(2).storage(), opweave.Storage)
    assert not isinstance(opweave.ones(2, dtype=opweave.int64).storage(), opweave.Storage)
