"""The table of functions and operators of the expression language: one row for each, with every fact about it.

A function without a definition is a primitive: each target and the evaluator know it by its columns. All others are
defined in the language itself, so that every target, the evaluator and differentiation agree about them. Definitions
and derivatives may use the parameters; derivatives also use `result`, the value of the application itself. They are
written so that nothing overflows or underflows on the way to a value that does not, and that complex numbers find the
branch of the function: a quotient is divided twice rather than by a square, a root of a product is a product of roots.

To add a function, add a row; docs/adding-an-operator.md says what else an operator needs.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from types import MappingProxyType

from .bits import BITS
from .choices import CLASSES, ORDER, PARTS, ROUNDING, SIGNS
from .elementary import EXPONENTIALS, TRIGONOMETRIC
from .function import Function, Rule
from .lists import LISTS
from .operators import OPERATORS
from .special import SPECIAL

__all__ = ["CONSTANTS", "FOREIGN_NAMES", "FUNCTIONS", "LIST_FUNCTIONS", "ROWS", "Function", "Rule"]

_ROWS = (*OPERATORS, *EXPONENTIALS, *TRIGONOMETRIC, *SPECIAL, *SIGNS, *ROUNDING, *ORDER, *PARTS, *CLASSES, *BITS)

FUNCTIONS: Mapping[str, Function] = MappingProxyType({function.name: function for function in _ROWS})
"""The functions of elements."""

LIST_FUNCTIONS: Mapping[str, Function] = MappingProxyType({function.name: function for function in LISTS})
"""The functions of integers and lists of integers."""

ROWS: Mapping[str, Function] = MappingProxyType({**FUNCTIONS, **LIST_FUNCTIONS})
"""The functions of all families."""

CONSTANTS: Mapping[str, float] = MappingProxyType({"inf": math.inf, "nan": math.nan, "pi": math.pi})

FOREIGN_NAMES: Mapping[str, str] = MappingProxyType(
    {foreign: function.name for function in _ROWS for foreign in function.foreign}
)
"""Names from other languages and libraries, and the name here."""
