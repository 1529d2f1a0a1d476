"""NumPy arrays over the memory of tensors and back, for operators that NumPy computes."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from .._base.dtypes import EXPORTS, dtype
from .._base.interchange import from_array, to_array

__all__ = ["array_of", "dtypes", "tensor_of"]


dtypes = SimpleNamespace(**EXPORTS)
"""The dtypes by name, for composites, in which `bool` and `float` are functions."""


def array_of(tensor: Any, wide: bool = False) -> Any:
    """Return an array over the memory of a tensor. NumPy lacks bfloat16: it gets the bits, or float32 if `wide`."""
    if tensor.dtype.numpy_name is None:
        tensor = tensor.to(EXPORTS["float32"]) if wide else tensor.view(EXPORTS["int16"])
    return to_array(tensor)


def tensor_of(array: Any, dtype: dtype | None = None) -> Any:
    """Return a tensor over a new array, viewed as `dtype` if it is given."""
    tensor: Any = from_array(array)
    return tensor if dtype is None or tensor.dtype is dtype else tensor.view(dtype)
