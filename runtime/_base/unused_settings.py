"""Settings of the process that training scripts make and that nothing here depends on: they keep their value."""

from __future__ import annotations

from .type_names import type_name
from .warn import warn

__all__ = [
    "get_float32_matmul_precision",
    "is_warn_always_enabled",
    "set_float32_matmul_precision",
    "set_warn_always",
]
_PACKAGE_NAMES = __all__

_PRECISIONS = ("highest", "high", "medium")
_precision = "highest"
_warn_always = False


def get_float32_matmul_precision() -> str:
    """Return what `set_float32_matmul_precision` was given: `highest` at first."""
    return _precision


def set_float32_matmul_precision(precision: str) -> None:
    """Set what `get_float32_matmul_precision` returns: products of float32 matrices are computed in float32 always.

    Args:
        precision (str): `highest`, `high` or `medium`. Another text gives a warning and changes nothing.

    Raises:
        RuntimeError: it is no text.
    """
    global _precision
    if not isinstance(precision, str):
        raise RuntimeError(f"set_float32_matmul_precision expects a str, but got {type_name(precision)}")
    if precision not in _PRECISIONS:
        warn(
            f"{precision} is not one of 'highest', 'high', or 'medium'; the current setFloat32MatmulPrecision call has "
            "no effect."
        )
    else:
        _precision = precision


def set_warn_always(b: bool, /) -> None:
    """Set what `is_warn_always_enabled` returns: every warning goes to Python's filters in any case, which decide.

    Raises:
        RuntimeError: `b` is no bool.
    """
    global _warn_always
    if not isinstance(b, bool):
        raise RuntimeError(f"setWarnOnlyOnce expects a bool, but got {type_name(b)}")
    _warn_always = b


def is_warn_always_enabled() -> bool:
    """Return what `set_warn_always` was given: False at first."""
    return _warn_always
