"""Targets: the names of types, functions and numbers of a language that expressions are printed in.

`emit_c.py` prints the syntax, which C and CUDA share.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from ..dtypes import DType, Kind
from .functions import ROWS, Rule
from .tree import Number


@dataclass(frozen=True)
class Target:
    """One target.

    `calls` maps (function, dtype name) to a call with `{0}`, `{1}` for its operands and takes precedence over
    the definition in the language; `err` is the argument passed to helpers that can fail. With `temporaries` the
    printer computes repeated subexpressions once, beforehand.
    """

    name: str
    number: Callable[[Number, DType], str]
    calls: Mapping[tuple[str, str], str] = field(default_factory=dict)
    float_suffixes: Mapping[str, str] = field(default_factory=lambda: {"float32": "f", "float64": ""})
    helper_prefix: str = "ow_"
    err: str = "err"
    temporaries: bool = True

    def native(self, function: str, dtype: DType) -> bool:
        """True if the target has a function that the language defines in terms of others."""
        return (function, dtype.name) in self.calls

    def call(self, function: str, dtype: DType) -> str | None:
        """The call that computes a primitive; None if it is an operator."""
        if (function, dtype.name) in self.calls:
            return self.calls[function, dtype.name]
        row = ROWS[function]
        if row.rule is Rule.TYPED:
            return row.call(row.c, *[self.err] * row.may_fail) if row.c else None
        if function == "complex":
            return row.call(f"{self.helper_prefix}{dtype.to_complex.suffix}")
        if dtype.is_complex:
            named = row.c_complex if row.c_complex != "operator" else None
            return row.call(named + self.float_suffixes[dtype.to_real.name]) if named else None
        if dtype.is_floating:
            return row.call(row.c + self.float_suffixes[dtype.name]) if row.c else None
        if row.c_integer is None:
            return None
        call = row.call(f"{self.helper_prefix}{row.c_integer}_{dtype.suffix}")
        return f"{call.removesuffix(')')}, {self.err})" if row.may_fail else call

    @staticmethod
    def variable_type(dtype: DType) -> str:
        """The type of a temporary; truth values are ints, as comparisons yield them."""
        return "int" if dtype.is_bool else dtype.c_type


def c_number(value: Number, dtype: DType) -> str:
    """C of a number of the dtype; floats round-trip."""
    if dtype.is_complex:
        return _c_float(float(value), dtype.to_real)  # C converts real constants
    if dtype.is_floating:
        return _c_float(float(value), dtype)
    number = int(value)
    if dtype.is_bool or dtype.bits < 32:
        return str(number)
    if number == dtype.lowest and dtype.kind is Kind.SIGNED:
        return f"INT{dtype.bits}_MIN"  # no literal has this value: the sign is an operator
    text = str(abs(number))
    if dtype.kind is Kind.UNSIGNED:
        text = f"UINT{dtype.bits}_C({text})"
    elif dtype.bits == 64:
        text = f"INT64_C({text})"
    return "-" + text if number < 0 else text


def _c_float(value: float, dtype: DType) -> str:
    single = dtype.itemsize == 4
    if single:
        value = to_single(value)
    if math.isnan(value):
        return "NAN" if single else "(double)NAN"
    if math.isinf(value):
        text = "INFINITY" if single else "(double)INFINITY"
        return "-" + text if value < 0 else text
    text = _shortest_single(value) if single else repr(value)
    if not any(mark in text for mark in ".en"):
        text += ".0"
    return text + ("f" if single else "")


def to_single(value: float) -> float:
    """The nearest float32 number, infinite beyond the range."""
    try:
        return float(struct.unpack("<f", struct.pack("<f", value))[0])
    except OverflowError:
        return math.copysign(math.inf, value)


def _shortest_single(value: float) -> str:
    for digits in range(1, 10):
        text = f"{value:.{digits}g}"
        if to_single(float(text)) == value:
            # repr of the same number: 1e+05 becomes 100000.0
            return repr(float(text))
    raise AssertionError("nine digits hold every float32")


C = Target("c", c_number)
