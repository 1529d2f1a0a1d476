"""Numbers that torch's compiler does not know yet: here all are known, and their functions are those of Python."""

from __future__ import annotations

import math
from typing import Any, TypeVar

from ._names.refusals import refused_class

_PACKAGE_NAMES = [
    "SymBool",
    "SymFloat",
    "SymInt",
    "sym_float",
    "sym_int",
    "sym_ite",
    "sym_max",
    "sym_min",
    "sym_not",
    "sym_sqrt",
    "sym_sum",
]

_KNOWN = "sizes are numbers of Python"
SymInt, SymFloat, SymBool = (refused_class(__name__, name, _KNOWN) for name in ("SymInt", "SymFloat", "SymBool"))
_First = TypeVar("_First")
_Second = TypeVar("_Second")


def guard_or_false(a: Any) -> bool:
    """Return whether something holds; it is always known."""
    return bool(a)


guard_or_true = guard_size_oblivious = is_concrete_bool = statically_known_true = guard_or_false


def free_symbols(val: Any) -> set[Any]:
    """Return the sizes of a value that are not known: none."""
    return set()


free_unbacked_symbols = free_symbols


def has_free_symbols(val: Any) -> bool:
    """Return whether a value has sizes that are not known: False."""
    return False


has_free_unbacked_symbols = has_free_symbols
GuardOnDataDependentSymNode = type("GuardOnDataDependentSymNode", (RuntimeError,), {"__module__": __name__})


def sym_int(a: Any) -> int:
    """Return the number as an int, without its fraction."""
    return int(a)


def sym_float(a: Any) -> float:
    """Return the number as a float."""
    return float(a)


def sym_not(a: Any) -> bool:
    """Return whether the number is false."""
    return not a


def sym_ite(b: Any, t: _First, f: _Second) -> _First | _Second:
    """Return `t` if `b` is true, else `f`."""
    return t if b else f


def sym_max(a: Any, b: Any) -> int | float:
    """Return the larger number; a float where one of them is."""
    return float(max(a, b)) if isinstance(a + b, float) else int(max(a, b))


def sym_min(a: Any, b: Any) -> int | float:
    """Return the smaller number; a float where one of them is."""
    return float(min(a, b)) if isinstance(a + b, float) else int(min(a, b))


def sym_sum(args: Any) -> int | float:
    """Return the sum of numbers."""
    total: int | float = sum(args)
    return total


def sym_sqrt(a: Any) -> float:
    """Return the square root of a number."""
    return math.sqrt(a)
