"""The parts that make a tensor a quantized one: its dispatch key, and the quantizer among its attributes.

Its handle is that of the integers, so views, copies and whatever moves elements is an operator of the integers.
"""

from __future__ import annotations

from typing import Any

from ..._base.dtypes import OF_ELEMENTS, QUANTIZED, dtype
from ..._base.keys import KEY_BITS
from ..._base.tensor_class import Tensor
from ..._base.type_names import type_name
from ..._C import lib
from ..._handle import alias
from .quantizer import PerTensor, Quantizer, dequantized, quantized

__all__ = [
    "dequantize", "distances", "dtype_of_memory", "is_quantized", "memory_of", "own_quantizer", "quantize",
    "with_distances", "with_quantizer",
]  # fmt: skip

KEY = KEY_BITS["quantized"]
_ATTRIBUTE = "_quantizer"


def is_quantized(value: Any) -> bool:
    """Return True if the value is a quantized tensor."""
    return isinstance(value, Tensor) and bool(lib.keys(value._h) & KEY)


def own_quantizer(tensor: Any) -> Quantizer:
    """Return the quantizer of a quantized tensor."""
    quantizer: Quantizer = tensor.__dict__[_ATTRIBUTE]
    return quantizer


def with_quantizer(integers: Any, quantizer: Quantizer) -> Any:
    """Makes a tensor of integers a quantized one; returns it."""
    integers.__dict__[_ATTRIBUTE] = quantizer
    lib.set_keys(integers._h, lib.keys(integers._h) | KEY)
    return integers


def memory_of(tensor: Any) -> Any:
    """The integers of a quantized tensor, in the same memory."""
    return alias(tensor)


def dequantize(tensor: Any) -> Any:
    """The numbers that a quantized tensor stands for, as float32."""
    return dequantized(own_quantizer(tensor), memory_of(tensor))


def quantize(values: Any, quantizer: Quantizer, of: dtype) -> Any:
    """Numbers of float32 as a quantized tensor, which has no history."""
    return with_quantizer(quantized(quantizer, values.detach(), of), quantizer)


def distances(tensor: Any) -> Any:
    """Return the distances of the integers from the zero point, as float32. Averages are computed of these, and not of
    numbers, so that no rounding of a product with the scale decides between two integers."""
    return dequantized(PerTensor(1.0, own_quantizer(tensor).arguments[1]), memory_of(tensor))


def with_distances(values: Any, like: Any) -> Any:
    """A tensor quantized as another one with one scale, whose integers are the nearest to these distances."""
    quantizer = own_quantizer(like)
    integers = quantized(PerTensor(1.0, quantizer.arguments[1]), values.detach(), like.dtype)
    return with_quantizer(integers, quantizer)


def dtype_of_memory(of: dtype) -> dtype | None:
    """The quantized dtype whose integers are of this dtype."""
    return next((each for each in OF_ELEMENTS.values() if getattr(each, "memory", None) is of), None)


def quantized_dtype(function: str, value: Any) -> dtype:
    """A dtype of quantized tensors that a user gave. Raises RuntimeError for others."""
    if not isinstance(value, dtype):
        raise TypeError(f"{function}(): argument 'dtype' must be opweave.dtype, not {type_name(value)}")
    if value not in QUANTIZED.values():
        raise RuntimeError(f"ScalarType {value.scalar_name} is not supported in new_qtensor.")
    if value not in OF_ELEMENTS.values():
        raise RuntimeError(
            f"{function}(): elements of {value!r} are smaller than a byte, which is not supported: use opweave.quint8"
        )
    return value
