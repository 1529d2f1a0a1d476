"""Seconds as people read them."""

from __future__ import annotations

import math

_UNITS = {"ns": ("nanosecond", 1e-9), "us": ("microsecond", 1e-6), "ms": ("millisecond", 1e-3), "s": ("second", 1.0)}


def select_unit(t: float) -> tuple[str, float]:
    """The unit in which a time is a number of up to three digits before the point, and its length in seconds."""
    index = math.floor(math.log10(t) / 3) + 3 if t > 0 else 0
    name = list(_UNITS)[min(max(index, 0), len(_UNITS) - 1)]
    return name, _UNITS[name][1]


def unit_to_english(u: str) -> str:
    """The word for a unit."""
    return _UNITS[u][0]


def leading_digits(value: float) -> int:
    """Return the number of digits before the point; zero and less for values up to one."""
    return math.ceil(math.log10(value)) if value > 0 else 0


def trim_sigfig(x: float, n: int) -> float:
    """The number rounded to `n` significant figures."""
    return round(x, n - leading_digits(abs(x)))
