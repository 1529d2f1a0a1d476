"""The memory of tensors as buffers of Python."""

from __future__ import annotations

import gc
import hashlib
import io
import struct
import sys
from typing import Any

import numpy as np
import opweave
import pytest

FORMATS = {
    "bool": "?", "uint8": "B", "uint16": "H", "uint32": "I", "uint64": "L", "int8": "b", "int16": "h", "int32": "i",
    "int64": "l", "float16": "e", "float32": "f", "float64": "d", "complex64": "Zf", "complex128": "Zd",
}  # fmt: skip


@pytest.mark.parametrize("dtype", FORMATS)
def test_formats(dtype: str) -> None:
    t = opweave.tensor([[1, 0, 1], [0, 1, 1]], dtype=getattr(opweave, dtype))
    view = memoryview(t)
    assert view.format == FORMATS[dtype]
    assert view.itemsize == t.element_size()
    assert view.shape == (2, 3)
    assert view.strides == (3 * view.itemsize, view.itemsize)
    assert view.nbytes == 6 * view.itemsize
    assert view.c_contiguous
    assert not view.readonly
    array = np.asarray(view)
    assert array.dtype == dtype
    assert array.tolist() == [[1, 0, 1], [0, 1, 1]]
    if dtype != "float16" and not dtype.startswith("complex"):  # those memoryview has no numbers for
        assert view.tolist() == [[1, 0, 1], [0, 1, 1]]


def test_reads_and_writes_the_memory() -> None:
    t = opweave.arange(6.0).reshape(2, 3)
    view = memoryview(t)
    view[1, 2] = 7.5
    t[0, 0] = 9
    assert t.tolist() == view.tolist() == [[9, 1, 2], [3, 4, 7.5]]
    assert view.tobytes() == struct.pack("6f", 9, 1, 2, 3, 4, 7.5) == t.numpy().tobytes()
    assert np.asarray(t).base is not None


def test_any_strides() -> None:
    t = opweave.arange(12).reshape(3, 4)
    view = memoryview(t.t()[1::2])
    assert view.strides == (16, 32)
    assert view.tolist() == [[1, 5, 9], [3, 7, 11]]
    assert memoryview(t.t()).f_contiguous
    assert memoryview(opweave.ones(1).expand(3)).strides == (0,)
    reversed_ = opweave.from_numpy(np.arange(4)[::-1])
    assert memoryview(reversed_).tolist() == [3, 2, 1, 0]
    with pytest.raises(BufferError, match=r"not contiguous; use t.contiguous\(\)"):
        hashlib.sha256(t.t())
    with pytest.raises(BufferError, match="not contiguous"):
        io.BytesIO().write(t[:, 1])  # type: ignore[arg-type]


def test_no_dimensions_and_no_elements() -> None:
    assert memoryview(opweave.tensor(2.5)).tolist() == 2.5
    assert memoryview(opweave.tensor(2.5)).shape == ()
    empty = memoryview(opweave.zeros(0, 3))
    assert (empty.shape, empty.nbytes, empty.tobytes()) == ((0, 3), 0, b"")


def test_functions_that_take_bytes() -> None:
    t = opweave.arange(4, dtype=opweave.int16)
    raw = struct.pack("4h", 0, 1, 2, 3)
    assert hashlib.sha256(t).digest() == hashlib.sha256(raw).digest()
    file = io.BytesIO()
    assert file.write(t) == 8  # type: ignore[arg-type]
    assert file.getvalue() == raw == bytes(t) == b"".join([t])  # type: ignore[list-item]
    file.seek(0)
    other = opweave.zeros(4, dtype=opweave.int16)
    assert file.readinto(other) == 8
    assert other.tolist() == [0, 1, 2, 3]
    assert opweave.frombuffer(t, dtype=opweave.int16).tolist() == [0, 1, 2, 3]
    struct.pack_into("h", other, 2, -5)
    assert other.tolist() == [0, -5, 2, 3]


def test_the_memory_stays() -> None:
    t = opweave.arange(4.0)
    view = memoryview(t)
    t.data = opweave.zeros(2)
    assert view.tolist() == [0, 1, 2, 3]
    del t
    gc.collect()
    assert view.tolist() == [0, 1, 2, 3]
    t = opweave.arange(4.0)
    array = np.frombuffer(t, "f4")  # which lets go of the buffer itself
    t.data = opweave.zeros(2)
    assert isinstance(array.base, memoryview)
    assert array.tolist() == [0, 1, 2, 3]
    t = opweave.arange(4.0)
    view = memoryview(t)
    with pytest.raises(RuntimeError, match="not resizable"):
        t.resize_(10_000)
    assert view.tolist() == [0, 1, 2, 3]


def test_nothing_is_left_behind() -> None:
    t = opweave.arange(4.0)
    before = sys.getrefcount(t)
    for _ in range(100):
        memoryview(t).release()
        with pytest.raises(BufferError):
            hashlib.sha256(opweave.ones(2, 2)[:, 0])
    assert sys.getrefcount(t) == before


def test_what_must_not_be_written() -> None:
    values = np.arange(3.0)
    values.flags.writeable = False
    with pytest.warns(UserWarning, match="not writ"):
        t = opweave.from_numpy(values)
    view = memoryview(t)
    assert view.readonly
    with pytest.raises(TypeError, match="read-only"):
        view[0] = 1
    with pytest.raises(TypeError, match="read-write"):
        io.BytesIO(bytes(24)).readinto(t)


class Derived(opweave.Tensor):
    pass


REFUSED: list[tuple[Any, str]] = [
    (lambda: opweave.ones(2, requires_grad=True), r"requires grad; use t.detach\(\)"),
    (lambda: opweave.ones(2, requires_grad=True) * 2, "requires grad"),
    (lambda: opweave.ones(2, dtype=opweave.bfloat16), "no format for bfloat16"),
    (lambda: opweave.ones(2, dtype=opweave.complex32), "no format for bfloat16, float8 and complex32"),
    (lambda: opweave.ones(2, dtype=opweave.complex64).conj(), "conjugates"),
    (lambda: opweave.ones(2, device="meta"), "no memory"),
    (lambda: opweave.ones(2).as_subclass(Derived), "subclass"),
]


@pytest.mark.parametrize(("make", "text"), REFUSED)
def test_refused(make: Any, text: str) -> None:
    with pytest.raises(BufferError, match=text):
        memoryview(make())


def test_without_recording() -> None:
    parameter = opweave.nn.Parameter(opweave.ones(2))
    with pytest.raises(BufferError):
        memoryview(parameter)
    with opweave.no_grad():
        assert memoryview(parameter).tolist() == [1, 1]
    with pytest.raises(RuntimeError, match="requires grad"):
        np.asarray(parameter)


def test_a_subclass_is_asked_by_numpy() -> None:
    class Doubled(opweave.Tensor):
        def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
            return self.as_subclass(opweave.Tensor).numpy() * 2

    assert np.asarray(opweave.ones(2).as_subclass(Doubled)).tolist() == [2, 2]
