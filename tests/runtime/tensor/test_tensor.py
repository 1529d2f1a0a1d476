"""The class Tensor itself: lifetime, subclasses, identity, and what depends on no other library."""

from __future__ import annotations

import copy
import gc
import pickle
import threading
import weakref
from typing import Any

import opweave
import pytest

DTYPES = sorted({d for d in vars(opweave).values() if type(d) is opweave.dtype}, key=str)


def live() -> int:
    gc.collect()
    return opweave.cpu.memory_stats()["allocation.all.current"]


def test_memory_is_released_once() -> None:
    before = live()
    for _ in range(100):
        a = opweave.zeros(3, 2)
        b = a[1:]
        a.t(), a.T, a.reshape(2, 3), a.clone(), a.to(opweave.int8), a.contiguous(), a.data, b + 1
        copy.copy(a), copy.deepcopy(b), pickle.loads(pickle.dumps(a))
    del a, b
    assert live() == before


def test_finalized_tensors_raise_instead_of_crashing() -> None:
    seen: list[Any] = []

    class Late:
        def __init__(self) -> None:
            self.tensors = [opweave.ones(3) for _ in range(3)]
            self.itself = self

        def __del__(self) -> None:
            for tensor in self.tensors:
                try:
                    seen.append(tensor.tolist())
                except (TypeError, AttributeError):
                    seen.append(None)

    Late()
    gc.collect()
    assert len(seen) == 3
    assert all(value in ([1.0, 1.0, 1.0], None) for value in seen)


def test_weak_references_and_hash() -> None:
    a, b = opweave.ones(2), opweave.ones(2)
    reference = weakref.ref(a)
    assert reference() is a
    assert len({a, b, a}) == 2
    assert {a: 1}[a] == 1
    del a
    gc.collect()
    assert reference() is None


class Special(opweave.Tensor):
    def double_it(self) -> Any:
        return self + self


class Slotted(opweave.Tensor):
    __slots__ = ()


def test_subclasses() -> None:
    t = opweave.tensor([[1.0, 2.0], [3.0, 4.0]]).as_subclass(Special)
    t.colour = "red"
    assert type(t) is Special
    for result in (t.double_it(), t + 1, 1 + t, t[0], t.t(), t.clone(), t.reshape(4), t.to(opweave.int8), t.data, t.T):
        assert type(result) is Special
    assert t.double_it().tolist() == [[2.0, 4.0], [6.0, 8.0]]
    assert (opweave.ones(2) + t).tolist() == [[2.0, 3.0], [4.0, 5.0]]
    assert repr(t).startswith("Special([[1., 2.],")
    for copied in (copy.copy(t), copy.deepcopy(t), pickle.loads(pickle.dumps(t))):
        assert type(copied) is Special
        assert copied.colour == "red"
        assert copied.tolist() == t.tolist()
    assert type(opweave.ones(2).as_subclass(Slotted)[0]) is Slotted
    with pytest.raises(TypeError, match="does not inherit from Tensor"):
        opweave.ones(2).as_subclass(int)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("to", DTYPES, ids=str)
def test_every_cast_of_ones_and_zeros(dtype: opweave.dtype, to: opweave.dtype) -> None:
    has_zero = all(not each.is_floating_point or opweave.finfo(each).min < 0 for each in (dtype, to))
    a = opweave.tensor([[0, 1, 1], [1, 0, 1]] if has_zero else [[1, 1, 1], [1, 1, 1]], dtype=dtype)
    for source in (a, a.t(), a[:, ::2], a[0, 1], a[:0]):
        result = source.to(to)
        assert result.dtype is to
        assert result.shape == source.shape
        assert result.tolist() == source.tolist()
        assert (result is source) == (dtype is to)
        assert source.to(to, copy=True) is not source
    if to.method:
        assert getattr(a, to.method)().dtype is to


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_dtypes(dtype: opweave.dtype) -> None:
    name = str(dtype).removeprefix("opweave.")
    assert getattr(opweave, name) is dtype
    assert pickle.loads(pickle.dumps(dtype)) is copy.deepcopy(dtype) is copy.copy(dtype) is dtype
    assert opweave.zeros(2, dtype=dtype).element_size() == dtype.itemsize
    with pytest.raises(AttributeError):
        dtype.itemsize = 3
    assert opweave.zeros(1).type(f"opweave.{dtype.scalar_name}Tensor").dtype is dtype


def test_shapes_are_one_object_while_they_are_common() -> None:
    assert opweave.zeros(2, 3).shape is opweave.ones(2, 3).shape
    assert type(opweave.zeros(2, 3).shape) is opweave.Size
    # More shapes than the core has numbers for, and more dimensions.
    for size in range(5000):
        assert opweave.zeros(0, size).shape == (0, size)
    assert opweave.zeros((1,) * 7).shape == (1,) * 7
    t = opweave.zeros(1, 2, 3, 1, 2, 1, 1)
    assert (t.shape, t.stride()) == ((1, 2, 3, 1, 2, 1, 1), (12, 6, 2, 2, 1, 1, 1))


def test_shape_follows_a_resized_result() -> None:
    a, out = opweave.ones(3), opweave.zeros(0)
    assert out.shape == (0,)
    opweave.add(a, a, out=out)
    assert out.shape == (3,)


def test_copies_between_overlapping_and_equal_tensors() -> None:
    a = opweave.arange(9).reshape(3, 3)
    a.copy_(a)
    assert a.tolist() == [[0, 1, 2], [3, 4, 5], [6, 7, 8]]
    a.copy_(a.t())
    assert a.tolist() == [[0, 3, 6], [1, 4, 7], [2, 5, 8]]


def test_negative_strides_survive_pickling_and_indexing() -> None:
    numpy = pytest.importorskip("numpy")
    t = opweave.from_numpy(numpy.arange(6)[::-1].reshape(2, 3))
    assert t.stride() == (-3, -1)
    assert t[:, None, 1].tolist() == [[4], [1]]
    assert pickle.loads(pickle.dumps(t)).tolist() == [[5, 4, 3], [2, 1, 0]]
    assert copy.deepcopy(t).stride() == (-3, -1)


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda a: a.to("cuda"), RuntimeError, "'cuda' is not available"),
        (lambda a: a.to(1, 2, 3, 4, 5), TypeError, "invalid combination of arguments"),
        (lambda a: a.to(dtype="x"), TypeError, "must be opweave.dtype, not str"),
        (lambda a: a.to(opweave.int8, dtype=opweave.int8), TypeError, r"got \(dtype, dtype=dtype\)"),
        (lambda a: a.to(opweave.int8, copy=3), TypeError, "invalid combination"),
        (lambda a: a.to(opweave.int8, nonsense=True), TypeError, "invalid combination"),
        (lambda a: a.to(other=3), TypeError, "invalid combination"),
        (lambda a: a.to(1.5j), TypeError, "invalid combination"),
        (lambda a: a.to(opweave.int8, memory_format=3), TypeError, "must be opweave.memory_format, not int"),
        (lambda a: a.clone(memory_format=opweave.channels_last), RuntimeError, "required rank 4 tensor"),
        (lambda a: a.reshape(2**70), TypeError, "Overflow"),
        (lambda a: a.reshape(2.0, 3), TypeError, "takes 1 positional argument but 2 were given"),
        (lambda a: a.reshape(True, 6), TypeError, "takes 1 positional argument but 2 were given"),
        (lambda a: a.reshape([2, "x"]), TypeError, "must be tuple of ints"),
        (lambda a: a.reshape([1] * 65), RuntimeError, "64"),
        (lambda a: a.as_strided((2,), (2**62,)), RuntimeError, "out of bounds|overflow"),
        (lambda a: opweave.tensor([1], device="cuda"), RuntimeError, "'cuda' is not available"),
        (lambda a: opweave.device("warp"), RuntimeError, "Expected one of .* device type"),
        (lambda a: opweave.device(1.5), TypeError, "must be str or opweave.device, not float"),
        (lambda a: opweave.set_num_threads(0), RuntimeError, "expects a positive integer"),
        (lambda a: opweave.set_num_threads(1.5), RuntimeError, "expects an int"),
        (lambda a: opweave.no_such_name, AttributeError, "has no attribute 'no_such_name'"),
        (lambda a: a.no_such_name, AttributeError, "no_such_name"),
    ],
)
def test_bad_use(call: Any, error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        call(opweave.zeros(2, 3))


def test_expected_warnings() -> None:
    with pytest.warns(UserWarning, match="x.T"):
        assert opweave.zeros(2, 3, 4).T.shape == (4, 3, 2)


def test_errors_belong_to_their_thread() -> None:
    a = opweave.zeros(2, 3)
    barrier = threading.Barrier(4)
    texts: dict[int, set[str]] = {}

    def work(size: int) -> None:
        barrier.wait()
        texts[size] = set()
        for _ in range(200):
            try:
                a.reshape(size)
            except RuntimeError as error:
                texts[size].add(str(error))

    threads = [threading.Thread(target=work, args=(size,)) for size in (4, 5, 7, 8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert texts == {size: {f"shape '[{size}]' is invalid for input of size 6"} for size in (4, 5, 7, 8)}


def test_public_names() -> None:
    assert len(opweave.__all__) == len(set(opweave.__all__))
    for name in opweave.__all__:
        assert hasattr(opweave, name)
    # `from opweave import *` must leave Python's own types alone.
    assert not {"int", "float", "bool"} & set(opweave.__all__)
    assert {"tensor", "add", "float32", "half", "from_numpy", "Size", "cpu"} <= set(opweave.__all__)
    assert set(opweave.__all__) <= set(dir(opweave))
    assert callable(opweave.tensor)
    assert opweave.__version__
