"""The settings of torch that ask for deterministic algorithms, which opweave's are, and what new memory holds."""

from __future__ import annotations

from .._C import lib
from .type_names import type_name, wrong_type

__all__ = [
    "are_deterministic_algorithms_enabled",
    "fills_uninitialized_memory",
    "get_deterministic_debug_mode",
    "is_deterministic_algorithms_warn_only_enabled",
    "set_deterministic_debug_mode",
    "set_fills_uninitialized_memory",
    "use_deterministic_algorithms",
]
_PACKAGE_NAMES = [
    "are_deterministic_algorithms_enabled",
    "get_deterministic_debug_mode",
    "is_deterministic_algorithms_warn_only_enabled",
    "set_deterministic_debug_mode",
    "use_deterministic_algorithms",
]

_WORDS = {"default": 0, "warn": 1, "error": 2}
_mode = 0
"""The mode, as `get_deterministic_debug_mode` returns it."""
_warn_only = False
"""True if the caller asked for warnings alone, which says nothing while the mode is 0."""
_fills = True
"""True if new memory is filled while the mode is not 0."""


def use_deterministic_algorithms(mode: bool, *, warn_only: bool = False) -> None:
    """Set what `are_deterministic_algorithms_enabled` returns, and have new memory filled, unless
    `utils.deterministic.fill_uninitialized_memory` is False: with NaN, or the largest value of the dtype.

    All else is the same with and without it, for any number of threads, matrix products and Fourier transforms
    excepted, whose last bits may depend on that number.

    Args:
        mode (bool): whether they are asked for.
        warn_only (bool): what `is_deterministic_algorithms_warn_only_enabled` returns from now on.

    Raises:
        TypeError: an argument is no bool.
    """
    global _mode, _warn_only
    if not isinstance(mode, bool):
        raise wrong_type("_set_deterministic_algorithms", "mode", "bool", mode, position=1)
    if not isinstance(warn_only, bool):
        raise wrong_type("_set_deterministic_algorithms", "warn_only", "bool", warn_only)
    _mode, _warn_only = (1 if warn_only else 2) if mode else 0, warn_only
    lib.set_fills_new_memory(mode and _fills)


def fills_uninitialized_memory() -> bool:
    """Return whether new memory is filled while deterministic algorithms are asked for."""
    return _fills


def set_fills_uninitialized_memory(mode: bool) -> None:
    """Set it. Raises RuntimeError where it is no bool."""
    global _fills
    if not isinstance(mode, bool):
        raise RuntimeError(f"expected a bool, but got {type_name(mode)}")
    _fills = mode
    lib.set_fills_new_memory(_mode != 0 and mode)


def are_deterministic_algorithms_enabled() -> bool:
    """Return whether deterministic algorithms were asked for."""
    return _mode != 0


def is_deterministic_algorithms_warn_only_enabled() -> bool:
    """Return whether a warning was asked for where an algorithm is not deterministic. There is no such algorithm."""
    return _warn_only


def set_deterministic_debug_mode(debug_mode: int | str) -> None:
    """Set the same mode as `use_deterministic_algorithms`, by one number or by its name.

    Args:
        debug_mode (int or str): 0 or `default`, 1 or `warn` (only warn), 2 or `error`.

    Raises:
        TypeError: it is neither an int nor a str.
        RuntimeError: it is none of these.
    """
    if not isinstance(debug_mode, (int, str)):
        raise TypeError(f"debug_mode must be str or int, but got {type(debug_mode)}")
    if isinstance(debug_mode, str) and debug_mode not in _WORDS:
        raise RuntimeError(
            f"invalid value of debug_mode, expected one of `default`, `warn`, `error`, but got {debug_mode}"
        )
    number = _WORDS[debug_mode] if isinstance(debug_mode, str) else debug_mode
    if number not in _WORDS.values():
        raise RuntimeError(f"invalid value of debug_mode, expected 0, 1, or 2, but got {number}")
    use_deterministic_algorithms(number != 0, warn_only=number == 1)


def get_deterministic_debug_mode() -> int:
    """Return 0 where deterministic algorithms were not asked for, 1 where a warning would do, and 2 otherwise."""
    return _mode
