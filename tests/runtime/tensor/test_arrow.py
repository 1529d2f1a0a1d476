"""Arrow's C data interface: what `__arrow_c_array__` describes, read as its specification says."""

from __future__ import annotations

import ctypes
import gc
from typing import Any

import opweave
import pytest


class Schema(ctypes.Structure):
    pass


class Array(ctypes.Structure):
    pass


Schema._fields_ = [
    *[(name, ctypes.c_char_p) for name in ("format", "name", "metadata")],
    *[(name, ctypes.c_int64) for name in ("flags", "n_children")],
    ("children", ctypes.POINTER(ctypes.POINTER(Schema))),
    *[(name, ctypes.c_void_p) for name in ("dictionary", "release", "private_data")],
]
Array._fields_ = [
    *[(name, ctypes.c_int64) for name in ("length", "null_count", "offset", "n_buffers", "n_children")],
    ("buffers", ctypes.POINTER(ctypes.c_void_p)),
    ("children", ctypes.POINTER(ctypes.POINTER(Array))),
    *[(name, ctypes.c_void_p) for name in ("dictionary", "release", "private_data")],
]


def levels(tensor: Any) -> tuple[list[tuple[bytes, int, int]], int, Any]:
    """Format, length and number of buffers of each dimension; the address of the elements; the capsules."""
    capsules = tensor.__arrow_c_array__()
    pointer = ctypes.pythonapi.PyCapsule_GetPointer
    pointer.restype, pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    schema = Schema.from_address(pointer(capsules[0], b"arrow_schema"))
    array = Array.from_address(pointer(capsules[1], b"arrow_array"))
    found = []
    while True:
        found.append((schema.format, array.length, array.n_buffers))
        assert (array.null_count, array.offset, schema.n_children) == (0, 0, array.n_children)
        if not array.n_children:
            return found, array.buffers[1], capsules
        schema, array = schema.children[0].contents, array.children[0].contents


FORMATS = {
    "uint8": b"C", "int8": b"c", "int16": b"s", "uint16": b"S", "int32": b"i", "uint32": b"I", "int64": b"l",
    "uint64": b"L", "float16": b"e", "float32": b"f", "float64": b"g",
}  # fmt: skip


@pytest.mark.parametrize("name", FORMATS)
def test_the_memory_is_shared(name: str) -> None:
    t = opweave.tensor([1, 2, 3]).to(getattr(opweave, name))
    found, address, _ = levels(t)
    assert found == [(FORMATS[name], 3, 2)]
    assert address == t.data_ptr()


def test_dimensions_are_lists() -> None:
    t = opweave.arange(24.0).reshape(2, 3, 4)
    found, address, _ = levels(t)
    assert found == [(b"+w:3", 2, 1), (b"+w:4", 6, 1), (b"f", 24, 2)]
    assert address == t.data_ptr()
    found, address, capsules = levels(t.permute(2, 0, 1))
    assert found == [(b"+w:2", 4, 1), (b"+w:3", 8, 1), (b"f", 24, 2)]
    assert (ctypes.c_float * 4).from_address(address)[:] == [0.0, 4.0, 8.0, 12.0]
    del capsules
    assert levels(opweave.empty(0, 2))[0] == [(b"+w:2", 0, 1), (b"f", 0, 2)]


def test_bools_are_packed() -> None:
    found, address, capsules = levels(opweave.tensor([True, False, False, True, True, False, False, False, True]))
    assert found == [(b"b", 9, 2)]
    assert list(ctypes.string_at(address, 2)) == [0b00011001, 1]
    del capsules


def test_the_capsules_keep_the_memory() -> None:
    t = opweave.arange(4.0)
    _, address, capsules = levels(t)
    with pytest.raises(RuntimeError, match="not resizable"):
        t.resize_(1000)
    del t
    gc.collect()
    opweave.zeros(4)
    assert (ctypes.c_float * 4).from_address(address)[:] == [0.0, 1.0, 2.0, 3.0]
    before = opweave.cpu.memory_stats()["allocation.all.current"]
    del capsules
    assert opweave.cpu.memory_stats()["allocation.all.current"] < before


REFUSED: list[tuple[Any, type[Exception], str]] = [
    (lambda: opweave.ones(2, requires_grad=True), BufferError, "use tensor.detach"),
    (lambda: opweave.tensor([1j]).conj(), BufferError, "conjugate bit"),
    (lambda: opweave.tensor([1j]), TypeError, "no bfloat16, no float8 and no complex"),
    (lambda: opweave.ones(2, dtype=opweave.bfloat16), TypeError, "no bfloat16, no float8 and no complex"),
    (lambda: opweave.tensor(1.0), TypeError, "without dimensions"),
    (lambda: opweave.ones(2, device="meta"), BufferError, "no memory"),
    (lambda: opweave.eye(2).to_sparse(), BufferError, "sparse tensor does not hold"),
]


@pytest.mark.parametrize(("make", "error", "text"), REFUSED)
def test_refused(make: Any, error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        make().__arrow_c_array__()
