"""Numbers in the state of a parameter, such as its count of steps: Python's while programs run, so that a step reads no
tensor, and tensors in files, as torch has them."""

from __future__ import annotations

from ctypes import c_float
from typing import Any

from .._base.dtypes import EXPORTS, get_default_dtype
from .._base.dtypes import dtype as _dtype
from .._operators import scalar_tensor
from .._tensor.tensor import Tensor

__all__ = ["StateNumber"]

_FLOAT64 = EXPORTS["float64"]


class StateNumber(float):
    """A number that is rounded as one of float64 or, where its dtype is another one, of float32.

    Args:
        value: the number; one of the state, or a tensor, keeps its dtype where no other is given.
        dtype: that of the tensor in files; by default float64 where this is the default dtype, and else float32.
    """

    __slots__ = ("dtype",)

    dtype: _dtype

    def __new__(cls, value: Any, dtype: _dtype | None = None) -> StateNumber:
        if dtype is None:
            default = get_default_dtype()
            dtype = getattr(value, "dtype", _FLOAT64 if default is _FLOAT64 else EXPORTS["float32"])
        return _made(float(value), dtype)

    def __getnewargs__(self) -> tuple[Any, ...]:
        return float(self), self.dtype

    def item(self) -> float:
        """The number itself, for programs that expect the tensor that torch has here."""
        return float(self)

    def next(self, value: float) -> StateNumber:
        """Another number, of the same dtype."""
        return _made(value, self.dtype)

    def saved(self) -> Tensor:
        """The tensor that files have."""
        return scalar_tensor(float(self), dtype=self.dtype)


def _made(value: float, dtype: _dtype) -> StateNumber:
    number = float.__new__(StateNumber, value if dtype is _FLOAT64 else c_float(value).value)
    number.dtype = dtype
    return number
