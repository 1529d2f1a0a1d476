"""The memory of tensors as NumPy arrays and back, for operators that NumPy computes."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from .._base.dtypes import EXPORTS, dtype
from .._base.interchange import from_array, to_array

__all__ = ["array_of", "dtypes", "tensor_of"]


dtypes = SimpleNamespace(**EXPORTS)
"""The dtypes by name, for composites, in which `bool` and `float` are functions."""


def array_of(tensor: Any, wide: bool = False) -> Any:
    """An array over the memory of a tensor. NumPy does not know bfloat16: bits, or float32 where values matter."""
    if tensor.dtype.numpy_name is None:
        tensor = tensor.to(EXPORTS["float32"]) if wide else tensor.view(EXPORTS["int16"])
    return to_array(tensor)


def tensor_of(array: Any, of: dtype | None = None) -> Any:
    """A tensor over a new array; of dtype `of` where these are its bits."""
    tensor: Any = from_array(array)
    return tensor if of is None or tensor.dtype is of else tensor.view(of)
