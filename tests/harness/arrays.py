"""Between NumPy arrays and tensors of every dtype.

NumPy has no bfloat16: its values are held in float32 arrays, which represent all of them. Such a holder stands for a
tensor wherever the tests compute with NumPy.
"""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np
import opweave

from codegen.dtypes import DTYPES, DType

Array = np.ndarray[Any, Any]


def holder(dtype: DType) -> np.dtype[Any]:
    """The NumPy dtype that holds values of `dtype`."""
    return np.dtype(dtype.numpy or "float32")


def to_bfloat16_bits(values: Array) -> Array:
    """Rounds float32 to the nearest bfloat16, ties to even: the upper halves of the words."""
    bits = np.ascontiguousarray(values, np.float32).view(np.uint32)
    rounded = (bits + np.uint32(0x7FFF) + (bits >> np.uint32(16) & np.uint32(1))) >> np.uint32(16)
    return np.where(np.isnan(values), 0x7FC0, rounded).astype(np.uint16).reshape(values.shape)


def from_bfloat16_bits(bits: Array) -> Array:
    words = np.ascontiguousarray(bits, np.uint16).astype(np.uint32) << np.uint32(16)
    return words.view(np.float32).reshape(bits.shape)


def cast(values: Any, dtype: DType) -> Array:
    """Values of any NumPy dtype as those of `dtype`. Floats outside an integer's range are the caller's concern."""
    with np.errstate(all="ignore"):
        array = np.asarray(values)
        if dtype.is_bool:
            return np.asarray(array != 0)
        if dtype.numpy is None:
            return from_bfloat16_bits(to_bfloat16_bits(array.astype(np.float32)))
        if dtype.name == "float16" and array.dtype.kind in "iuf" and array.dtype.itemsize > 4:
            array = array.astype(np.float32)  # as torch: its halves are made of float32
        return np.asarray(array.astype(dtype.numpy))


def dtype_of(tensor: opweave.Tensor) -> DType:
    return DTYPES[str(tensor.dtype).removeprefix("opweave.")]


def opweave_dtype(name: str) -> opweave.dtype:
    found = getattr(opweave, name)
    assert isinstance(found, opweave.dtype)
    return found


def flat_tensor(values: Array, dtype: DType) -> opweave.Tensor:
    """A one-dimensional tensor over a copy of the values, made without any operator."""
    stored = to_bfloat16_bits(values) if dtype.numpy is None else cast(values, dtype)
    if not stored.size:
        return opweave.empty(0, dtype=opweave_dtype(dtype.name))
    return opweave.frombuffer(bytearray(stored.tobytes()), dtype=opweave_dtype(dtype.name))


def tensor(values: Any, dtype: DType) -> opweave.Tensor:
    """A contiguous tensor of the values."""
    array = np.asarray(values)
    return flat_tensor(array.reshape(-1), dtype).as_strided(array.shape, contiguous_strides(array.shape))


def contiguous_strides(shape: tuple[int, ...]) -> tuple[int, ...]:
    strides: list[int] = []
    step = 1
    for size in reversed(shape):
        strides.append(step)
        step *= max(size, 1)
    return tuple(reversed(strides))


def array(tensor: opweave.Tensor) -> Array:
    """A tensor's values in the holder of its dtype, read from memory by its strides."""
    dtype, shape = dtype_of(tensor), tuple(tensor.shape)
    stored = np.dtype(np.uint16) if dtype.numpy is None else np.dtype(dtype.numpy)
    if tensor.numel() == 0:
        return np.empty(shape, holder(dtype))
    spans = [(size - 1) * stride for size, stride in zip(shape, tensor.stride(), strict=True)]
    first = sum(span for span in spans if span < 0)
    count = sum(map(abs, spans)) + 1
    memory = (ctypes.c_char * (count * dtype.itemsize)).from_address(tensor.data_ptr() + first * dtype.itemsize)
    flat = np.frombuffer(memory, stored)
    strides = tuple(stride * dtype.itemsize for stride in tensor.stride())
    values = np.lib.stride_tricks.as_strided(flat[-first:], shape, strides).copy()
    return from_bfloat16_bits(values) if dtype.numpy is None else values
