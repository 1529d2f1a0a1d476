"""The family of expressions over shape and strides: integers, truth values and lists of integers.

It is the language of elements with other functions: fewer functions of numbers, and functions of lists. Integers are
int64, and an overflow is an error at run time. Operations that can fail (also with an index out of range or too many
dimensions) are helpers of the core that take the context `view` as first argument and note the error there.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import TypeAlias

from ..dtypes import INT64, INT_LIST, DType
from .emit_c import print_c
from .functions import FUNCTIONS, LIST_FUNCTIONS
from .kernel_text import variable
from .lower import Env, lower_integers
from .parse import Family, parse
from .targets import Target, c_number
from .tree import Number
from .typed import Node, names

Geometry: TypeAlias = Node
"""The typed tree of such an expression."""

BASE_SCOPE: Env = MappingProxyType(
    {"shape": INT_LIST, "strides": INT_LIST, "offset": INT64, "ndim": INT64, "numel": INT64}
)
"""The names of the input's properties in every view."""

_CHECKED = {
    "add": "ow_int_add",
    "sub": "ow_int_sub",
    "mul": "ow_int_mul",
    "neg": "ow_int_neg",
    "floor_divide": "ow_int_floordiv",
    "remainder": "ow_int_rem",
}
"""Arithmetic whose result may overflow 64 bits."""
_ORDER = {"minimum": "ow_int_min", "maximum": "ow_int_max"}
_PLAIN = ("lt", "le", "gt", "ge", "eq", "ne", "logical_and", "logical_or", "logical_not", "bitwise_and", "bitwise_or",
          "where")  # fmt: skip

FAMILY = Family(
    "a geometry expression",
    {**{name: FUNCTIONS[name] for name in (*_CHECKED, *_ORDER, *_PLAIN)}, **LIST_FUNCTIONS},
    numbers=(bool, int),
)


def _number(value: Number, dtype: DType) -> str:
    """C of a number; small integers need no suffix."""
    return str(int(value)) if abs(value) < 1 << 31 else c_number(value, dtype)


_CONTEXT = "view"
TARGET = Target(
    "geometry",
    _number,
    calls={
        **{(name, INT64.name): FUNCTIONS[name].call(helper, _CONTEXT) for name, helper in _CHECKED.items()},
        **{(name, INT64.name): FUNCTIONS[name].call(helper) for name, helper in _ORDER.items()},
        ("eq", INT_LIST.name): "ow_ints_equal({0}, {1})",
        ("ne", INT_LIST.name): "!ow_ints_equal({0}, {1})",
    },
    err=_CONTEXT,
    temporaries=False,  # an operation in one arm of a choice that can fail must not be computed outside it
)


def read(text: str, scope: Env = BASE_SCOPE, expected: DType | None = None) -> Geometry:
    """The typed tree of an expression over the names in `scope`; of the type `expected`, if one is given.

    Raises ExpressionError; its `all` has every mistake.
    """
    return lower_integers(parse(text, scope, FAMILY), scope, expected, TARGET.native)


def to_c(tree: Geometry) -> str:
    """C of the value; names are variables of a view function."""
    return print_c(tree, TARGET, {name: variable(name) for name in names(tree)}).value
