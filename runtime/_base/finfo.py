"""`finfo` and `iinfo`: the limits of floating and integer dtypes."""

from __future__ import annotations

import math
from typing import Any

from .._dtypes import Limits
from .dtypes import EXPORTS, QUANTIZED, dtype, get_default_dtype

__all__ = ["finfo", "iinfo"]


class _Limits:
    """Base of both: they are compared by dtype, and their numbers print with six digits."""

    __slots__ = ("_of",)
    __module__ = "opweave"
    _fields: tuple[str, ...] = ("min", "max")

    _of: dtype

    @property
    def bits(self) -> int:
        """Number of bits of an element."""
        return 8 * self._of.itemsize

    @property
    def dtype(self) -> str:
        """Name of the dtype."""
        return str(self._of).rpartition(".")[2]

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and isinstance(other, _Limits) and self._of is other._of

    def __hash__(self) -> int:
        return hash(self._of)

    def __repr__(self) -> str:
        fields = [f"{name}={getattr(self, name):.6g}" for name in self._fields]
        return f"{type(self).__name__}({', '.join(fields)}, dtype={self.dtype})"


class finfo(_Limits):  # noqa: N801 (PyTorch's name)
    """Limits of a floating dtype, or of the parts of a complex one; of the default dtype when none is given."""

    __slots__ = ()
    _fields = ("resolution", "min", "max", "eps", "smallest_normal", "tiny")

    def __init__(self, type: Any = None) -> None:
        resolved = get_default_dtype() if type is None else type
        if not isinstance(resolved, dtype) or not (resolved.is_floating_point or resolved.is_complex):
            raise TypeError(
                "opweave.finfo() requires a floating point input type. Use opweave.iinfo to handle 'opweave.finfo'"
            )
        self._of = resolved.to_real()

    @property
    def _limits(self) -> Limits:
        assert self._of.limits is not None
        return self._of.limits

    @property
    def eps(self) -> float:
        """The distance from 1 to the next larger number."""
        return math.ldexp(1.0, 1 - self._limits[0])

    @property
    def max(self) -> float:
        """The largest finite number."""
        return self._limits[2]

    @property
    def min(self) -> float:
        """The lowest number; of a dtype without negative ones the smallest."""
        return self._limits[1]

    @property
    def tiny(self) -> float:
        """The smallest positive number of full precision."""
        return self._limits[3]

    smallest_normal = tiny

    @property
    def resolution(self) -> float:
        """The precision in decimal digits: 10 ** -digits."""
        return float(f"1e-{math.floor((self._limits[0] - 1) * math.log10(2))}")


class iinfo(_Limits):  # noqa: N801 (PyTorch's name)
    """Limits of an integer dtype, or of the integers in memory of a quantized one."""

    __slots__ = ()

    def __init__(self, type: dtype) -> None:
        if not isinstance(type, dtype) or type.is_floating_point or type.is_complex:
            raise TypeError(
                "opweave.iinfo() requires an integer input type. Use opweave.finfo to handle 'opweave.iinfo'"
            )
        if not (type.is_integer or type in QUANTIZED.values()):
            raise TypeError(f"{type!r} is not supported by opweave.iinfo")
        self._of = type

    @property
    def max(self) -> int:
        """The largest integer."""
        return self._of.maximum

    @property
    def min(self) -> int:
        """The least integer."""
        return self._of.minimum


def number_of_computation(number: Any, dtype: Any) -> Any:
    """Return a number as tensors of a dtype are computed with it: infinite where a half format does not hold it.

    Raises
    ------
    RuntimeError
        If it is beyond the range of the numbers that the dtype is computed in, which are those of float32 for halves.
    """
    is_number = isinstance(number, (int, float)) and math.isfinite(number)
    if not is_number or not dtype.is_floating_point or abs(number) <= finfo(dtype).max:
        return number
    wider = EXPORTS["float32"] if dtype.itemsize < 4 else dtype
    if abs(number) > finfo(wider).max:
        raise RuntimeError(f"value cannot be converted to type {wider.cpp_name} without overflow")
    return math.copysign(math.inf, number)
