"""Names that an operator or an argument cannot have, because they mean something else where they are written.

Generated text has names of its own for everything: in C those of arguments begin with `v_` (expr/kernel_text.py), in
Python all others begin with `_`. So an argument may be called as C's keywords, functions and macros are, and as
whatever templates declare.
"""

from __future__ import annotations

import builtins
import keyword
from collections.abc import Mapping

from ..expr import is_reserved
from ..model.operator import Family

_EXCEPTIONS = frozenset(
    name for name, value in vars(builtins).items() if isinstance(value, type) and issubclass(value, BaseException)
)
_EVERYWHERE: Mapping[str, str] = {
    "Tensor": "is the class of tensors",
    "grad": "is the gradient of the result in formulas of derivatives",
    "out": "is where a function is told to write its result",
    "result": "is the result in formulas of derivatives",
}
_BY_FAMILY: Mapping[Family, Mapping[str, str]] = {
    Family.FACTORY: {"i": "is the position of an element in expressions"},
    Family.ROWS: {"count": "is the length of a row in expressions"},
}
# Functions of the generated module would hide these from one another.
_MODULE_NAMES = _EXCEPTIONS | {
    "FUNCTIONS", "METHODS", "Tensor", "TensorMethods", "bind", "bool", "dtypes", "float", "int", "len", "list", "map",
    "str", "tuple", "type",
}  # fmt: skip


def argument_reason(name: str, family: Family) -> str | None:
    """Why an argument, or a variable of a `let`, cannot have this name; None when it can."""
    if keyword.iskeyword(name):
        return "is a Python keyword"
    if name.startswith("_"):
        return "starts with '_', as names of generated code do"
    if family is not Family.COMPOSITE and is_reserved(name):
        return "is a constant of expressions"
    return _EVERYWHERE.get(name) or _BY_FAMILY.get(family, {}).get(name)


def operator_reason(name: str) -> str | None:
    """Why a function of the generated module cannot have this name; None when it can."""
    if keyword.iskeyword(name):
        return "is a Python keyword"
    if name.startswith("_"):
        return "starts with '_', as names of generated code do"
    return "means something else in generated code" if name in _MODULE_NAMES else None
