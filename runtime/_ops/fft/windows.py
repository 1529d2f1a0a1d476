"""Sizes, dtypes and checks of windows, for the composites that compute them; messages are torch's."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

from ..._base.allocation import dtype_or_default
from ..._base.dtypes import EXPORTS, get_default_dtype

__all__ = ["check_signal_window", "cosine_coefficients", "signal_window", "window_angles", "window_size"]


def window_size(function: str, length: int, periodic: bool, dtype: Any) -> tuple[Any, int]:
    """Return the dtype and the number of elements to compute: of a periodic window one more, which is then dropped."""
    if length < 0:
        raise RuntimeError(f"{function} requires non-negative window_length, got window_length={length}")
    chosen = dtype_or_default(dtype, function)
    if not chosen.is_floating_point and not chosen.is_complex:
        raise RuntimeError(f"{function} expects floating point dtypes, got: {chosen.scalar_name}")
    return chosen, length + 1 if periodic and length > 1 else length


def window_angles(numbers: Any, turns: float = 1) -> Any:
    """Scale the numbers 0, 1, ... in place to angles, the last of which is `turns` full turns."""
    return numbers.mul_(2 * math.pi * turns / (numbers.size(0) - 1))


def check_signal_window(function: str, length: int, dtype: Any) -> None:
    """Refuse lengths and dtypes that windows of `signal.windows` do not have."""
    if length < 0:
        raise ValueError(f"{function} requires non-negative window length, got M={length}")
    chosen = get_default_dtype() if dtype is None else dtype
    if chosen not in (EXPORTS["float32"], EXPORTS["float64"]):
        raise ValueError(f"{function} expects float32 or float64 dtypes, got: {chosen}")


def signal_window(length: int, sym: bool, dtype: Any) -> tuple[Any, int]:
    """Return the dtype of a window of `signal.windows`, and the period of its formula."""
    return get_default_dtype() if dtype is None else dtype, max(length - sym, 1)


def cosine_coefficients(a: Any) -> list[float]:
    """Return the coefficients with alternating signs, so that the sum of cosines is largest in the middle."""
    if not isinstance(a, Iterable):
        raise TypeError("Coefficients must be a list/tuple")
    if not a:
        raise ValueError("Coefficients cannot be empty")
    return [-each if index % 2 else each for index, each in enumerate(a)]
