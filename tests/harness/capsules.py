"""Capsules of DLPack as others make them, honest ones and those that do not describe memory."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np

INT, UINT, FLOAT, BFLOAT, COMPLEX, BOOL = 0, 1, 2, 4, 5, 6


class Tensor(ctypes.Structure):
    """DLTensor."""

    _fields_ = [
        ("data", ctypes.c_void_p), ("device_type", ctypes.c_int32), ("device_id", ctypes.c_int32),
        ("ndim", ctypes.c_int32), ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16),
        ("shape", ctypes.c_void_p), ("strides", ctypes.c_void_p), ("byte_offset", ctypes.c_uint64),
    ]  # fmt: skip


class Versioned(ctypes.Structure):
    """DLManagedTensorVersioned."""

    _fields_ = [
        ("major", ctypes.c_uint32), ("minor", ctypes.c_uint32), ("context", ctypes.c_void_p),
        ("deleter", ctypes.c_void_p), ("flags", ctypes.c_uint64), ("tensor", Tensor),
    ]  # fmt: skip


class Plain(ctypes.Structure):
    """DLManagedTensor."""

    _fields_ = [("tensor", Tensor), ("context", ctypes.c_void_p), ("deleter", ctypes.c_void_p)]


DELETER = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
new_capsule: Any = ctypes.pythonapi.PyCapsule_New
new_capsule.restype = ctypes.py_object
new_capsule.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]


def immortal(value: Any) -> None:
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(value))


class Maker:
    """Makes capsules over eight float32 from 0 on, but for what is said otherwise. They are never freed: tensors over
    them may be there for longer than any module, when the process ends."""

    def __init__(self) -> None:
        self.deleted: list[int] = []
        """The addresses of what was deleted by those who took it."""
        self.delete = DELETER(self.deleted.append)

    def __call__(self, shape: Any = (8,), strides: Any = None, versioned: bool = True, **facts: Any) -> Any:
        memory = np.arange(8, dtype="f4")
        lists = [None if each is None else (ctypes.c_int64 * len(each))(*each) for each in (shape, strides)]
        pointers = [None if each is None else ctypes.addressof(each) for each in lists]
        described = {
            "data": memory.ctypes.data, "device_type": 1, "code": FLOAT, "bits": 32, "lanes": 1,
            "ndim": 0 if shape is None else len(shape), "shape": pointers[0], "strides": pointers[1], **facts,
        }  # fmt: skip
        tensor = Tensor(**{name: value for name, value in described.items() if name in dict(Tensor._fields_)})
        function = ctypes.cast(self.delete, ctypes.c_void_p)
        managed = (
            Versioned(facts.get("major", 1), 1, None, function, facts.get("flags", 0), tensor)
            if versioned
            else Plain(tensor, None, function)
        )
        name = b"dltensor_versioned" if versioned else b"dltensor"
        immortal((self, memory, lists, managed, name))
        return new_capsule(ctypes.addressof(managed), name, None)
