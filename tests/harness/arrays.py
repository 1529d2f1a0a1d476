"""Between NumPy arrays and tensors of every dtype.

NumPy has neither bfloat16, float8 nor complex32: their values are held in arrays of float32 and complex64, which
represent all of them. Such a holder stands for a tensor wherever the tests compute with NumPy.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import opweave

from codegen.dtypes import DTYPE_CLASSES, DTYPES, NARROW, DType, Specials, ordered

Array = np.ndarray[Any, Any]

PROMOTING = ordered(DTYPE_CLASSES["any"])
"""The dtypes of operators' suites: those that are only stored have tests of their own."""
NAMES = tuple(dtype.name for dtype in PROMOTING)


def holder(dtype: DType) -> np.dtype[Any]:
    """The NumPy dtype that holds values of `dtype`."""
    return np.dtype(dtype.numpy or ("complex64" if dtype.is_complex else "float32"))


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
    array = np.asarray(values)
    if dtype.numpy is not None and array.dtype == dtype.numpy:
        return array.copy()
    with np.errstate(all="ignore"):
        if dtype.is_bool:
            return np.asarray(array != 0)
        if array.dtype.kind == "c" and not dtype.is_complex:
            return cast(array.real, dtype)
        if dtype.numpy is None:
            wide = array if dtype.is_complex else array.astype(np.float32)
            return from_memory(to_memory(wide, dtype), dtype)
        if dtype.name == "float16" and array.dtype.kind in "iuf" and array.dtype.itemsize > 4:
            array = array.astype(np.float32)  # as torch: its halves are made of float32
        return np.asarray(array.astype(dtype.numpy))


def to_halves(values: Array) -> Array:
    """Complex numbers as words that hold two float16."""
    narrow = np.ascontiguousarray(values, np.complex64)
    with np.errstate(all="ignore"):
        return narrow.view(np.float32).astype(np.float16).view(np.uint32).reshape(np.shape(values))


def from_halves(words: Array) -> Array:
    halves = np.ascontiguousarray(words, np.uint32).view(np.float16)
    return halves.astype(np.float32).view(np.complex64).reshape(np.shape(words))


def to_narrow_bits(dtype: DType, values: Array) -> Array:
    """Rounds float32 to the nearest number of a format of eight bits, ties to even: by a search among all of them."""
    form = dtype.format
    assert form is not None
    x = np.ascontiguousarray(values, np.float32).astype(np.float64)
    numbers = np.array([form.value(code) for code in range(form.largest_code + 1)])
    # What would be the next number but for the end of the range.
    following = 2 * numbers[-1] - numbers[-2] if form.signed else 2 * numbers[-1]
    middles = (numbers + np.append(numbers[1:], following)) / 2
    if not form.signed:
        middles[0] = numbers[0]  # denormal float32 numbers are rounded as torch does it: up
    magnitude = np.abs(x)
    code = np.searchsorted(middles, magnitude)
    tie = magnitude == middles[np.minimum(code, form.largest_code)]
    # Ties between powers of two go up.
    goes_up = code % 2 == 1 if form.signed else magnitude >= float(np.finfo("f4").tiny)
    code += tie & goes_up
    code[code > form.largest_code] = form.overflow_code
    code[np.isnan(x)] = form.nan_code
    signed = form.signed & np.signbit(x) & ((form.specials is not Specials.FNUZ) | (code % form.nan_code != 0))
    return np.asarray(code + signed * form.magnitudes).astype(np.uint8).reshape(np.shape(values))


def from_narrow_bits(dtype: DType, bits: Array) -> Array:
    assert dtype.format is not None
    numbers = np.array([dtype.format.value(code) for code in range(256)], np.float32)
    return np.asarray(numbers[bits])


# How values are stored for which NumPy has no dtype: the dtype of the words, into them, out of them.
_STORED: dict[str, tuple[Any, Callable[[Array], Array], Callable[[Array], Array]]] = {
    "bfloat16": (np.uint16, to_bfloat16_bits, from_bfloat16_bits),
    "complex32": (np.uint32, to_halves, from_halves),
    **{each.name: (np.uint8, partial(to_narrow_bits, each), partial(from_narrow_bits, each)) for each in NARROW},
}


def to_memory(values: Array, dtype: DType) -> Array:
    """The values as they are stored."""
    return _STORED[dtype.name][1](values) if dtype.name in _STORED else cast(values, dtype)


def from_memory(stored: Array, dtype: DType) -> Array:
    return _STORED[dtype.name][2](stored) if dtype.name in _STORED else stored


def stored_dtype(dtype: DType) -> np.dtype[Any]:
    """The NumPy dtype of what to_memory() returns."""
    return np.dtype(_STORED[dtype.name][0] if dtype.name in _STORED else dtype.numpy)


def dtype_of(tensor: opweave.Tensor) -> DType:
    return DTYPES[str(tensor.dtype).removeprefix("opweave.")]


def opweave_dtype(name: str) -> opweave.dtype:
    result = getattr(opweave, name)
    assert isinstance(result, opweave.dtype)
    return result


def flat_tensor(values: Array, dtype: DType) -> opweave.Tensor:
    """A one-dimensional tensor over a copy of the values, made without any operator."""
    stored = to_memory(values, dtype)
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
    if tensor.numel() == 0:
        return np.empty(shape, holder(dtype))
    spans = [(size - 1) * stride for size, stride in zip(shape, tensor.stride(), strict=True)]
    first = sum(span for span in spans if span < 0)
    count = sum(map(abs, spans)) + 1
    memory = (ctypes.c_char * (count * dtype.itemsize)).from_address(tensor.data_ptr() + first * dtype.itemsize)
    flat = np.frombuffer(memory, stored_dtype(dtype))
    strides = tuple(stride * dtype.itemsize for stride in tensor.stride())
    values = np.lib.stride_tricks.as_strided(flat[-first:], shape, strides).copy()
    return from_memory(values, dtype)
