"""Kernels that call a function of whole rows: which calls, and what they leave for the loop around them.

blocks.h, special.h and complex_rows.h have functions of rows that use vector instructions no compiler makes of a loop,
or compute less where the row allows it. A kernel that is nothing but such a call hands its rows over. One that contains
the call computes the arguments of a few hundred elements, calls the function of rows for them, and computes the rest
from its results, which the level-1 cache still holds.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass, replace

from ..dtypes import FLOAT32, FLOAT64, DType
from ..expr import Emitted
from ..expr.kernel_text import TARGET
from ..expr.special import POLYNOMIALS

OF_16 = ("exp", "exp2", "expm1", "log", "sin", "cos", "tanh", "erf", "erfc", "sigmoid")
"""Functions of the language that avx512.h has for a register of numbers."""


def _spelling(name: str, dtype: DType) -> str:
    """How kernels call a function of the language."""
    return (TARGET.call(name, dtype) or "").partition("(")[0]


_BLOCKS = {_spelling(name, FLOAT32): f"ow_{name}_block" for name in (*OF_16, "sqrt", "fmod")}
_BLOCKS |= {_spelling(name, FLOAT64): f"ow_{name}_block_f64" for name in ("exp", "log", "sqrt", "fmod")}
_BLOCKS |= {
    "ow_erfinv": "ow_erfinv_block_f64",
    "ow_digamma": "ow_digamma_block_f64",
    "ow_lgamma": "ow_lgamma_block_f64",
    "ow_lgammaf": "ow_lgamma_block",
}
_BLOCKS |= {
    f"ow_{name}{letter}": f"ow_{name}_block{ending}"
    for name in ("ndtri", "bessel_j0", "bessel_j1", "bessel_y0", "bessel_y1", "igamma", "igammac", *POLYNOMIALS)
    for letter, ending in (("f", ""), ("", "_f64"))
}
_COMPLEX_BLOCKS = {
    f"{name}{letter}": f"ow_{name}_block_{ending}"
    for name in ("cexp", "csin", "ccos", "ctan", "csinh", "ccosh", "ctanh", "clog")
    for letter, ending in (("f", "c64"), ("", "c128"))
}
_BLOCKS |= _COMPLEX_BLOCKS
COMPLEX_BLOCKS = frozenset(_COMPLEX_BLOCKS)
"""Functions of complex numbers that are made of vector functions of real ones."""
_CTYPES = {"_f64": "double", "_c64": "float _Complex", "_c128": "double _Complex"}
_FILLING = {_BLOCKS[f"ow_{name}{letter}"] for name in ("igamma", "igammac") for letter in ("f", "")}
"""Those that fill up rows of any length by themselves, as they then compute less."""
_OF_TWO = re.compile(rf"(fmod|ow_(igammac?|{'|'.join(POLYNOMIALS)}))f?$")
_CALL = re.compile(rf"\b({'|'.join(_BLOCKS)})\(")
_NAME = re.compile(r"\b[a-zA-Z_]\w*\b(?!\()")
RESULT = "staged"
"""The variable that has the call's result in the rest of the expression."""


@dataclass(frozen=True)
class BlockCall:
    """The call of a function of rows: of inputs as they are, or of one expression."""

    call: str
    """As it stands in the kernel's expression."""
    function: str
    inputs: tuple[str, ...]
    expression: str | None
    rest: Emitted | None
    """The kernel's expression with the call replaced by RESULT; None when there is nothing else."""

    @property
    def fills(self) -> bool:
        """Need its rows not be filled up to vectors?"""
        return self.rest is None and self.function in _FILLING

    @property
    def ctype(self) -> str:
        return next((ctype for ending, ctype in _CTYPES.items() if self.function.endswith(ending)), "float")


def block_call(emitted: Emitted, inputs: Collection[str], params: Collection[str]) -> BlockCall | None:
    """The only call in the expression that has a function of rows; None when there are several, or it needs what the
    loop computes before."""
    texts = (*emitted.statements, emitted.value)
    calls = {_whole_call(text, found.start()) for text in texts for found in _CALL.finditer(text)}
    if len(calls) != 1 or emitted.uses_err:
        return None
    (call,) = calls
    name, _, rest = call.partition("(")
    argument = rest.removesuffix(")")
    if not set(_NAME.findall(argument)) <= {*inputs, *params, "__real__", "__imag__"}:
        return None
    operands = tuple(argument.split(", "))
    plain = set(operands) <= set(inputs)
    if not plain and _OF_TWO.match(name):
        return None
    return BlockCall(
        call=call,
        function=_BLOCKS[name],
        inputs=operands if plain else (),
        expression=None if plain else argument,
        rest=None
        if plain and emitted.value == call and not emitted.statements
        else replace(
            emitted,
            statements=tuple(statement.replace(call, RESULT) for statement in emitted.statements),
            value=emitted.value.replace(call, RESULT),
        ),
    )


def _whole_call(text: str, start: int) -> str:
    """The call that begins at `start`, up to the parenthesis that closes it."""
    depth = 0
    for place in range(text.index("(", start), len(text)):
        depth += {"(": 1, ")": -1}.get(text[place], 0)
        if not depth:
            return text[start : place + 1]
    raise ValueError(f"no closing parenthesis: {text[start:]}")
