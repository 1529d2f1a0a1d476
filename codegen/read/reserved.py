"""Names that an operator or an argument cannot have, because they have another meaning in expressions or in Python.

Generated text keeps declared names apart from its own: in C declared names begin with `v_` (expr/kernel_text.py), in
Python all other names begin with `_`, of which the body of a composite has none. So an argument may have the name of a
keyword, function or macro of C, and of a variable of a template.
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
# A function of one of these names would hide the name from other functions of the generated module.
_MODULE_NAMES = _EXCEPTIONS | {
    "_NONE", "_Operators", "_builtin", "_handle", "_libraries", "_library", "_operators",
    "FUNCTIONS", "METHODS", "Tensor", "TensorMethods", "bind", "bool", "dtypes", "float", "int", "len", "list", "map",
    "str", "tuple", "type",
}  # fmt: skip


def argument_reason(name: str, family: Family) -> str | None:
    """Return why an argument, or a variable of a `let`, cannot have this name, or None if it can."""
    if keyword.iskeyword(name):
        return "is a Python keyword"
    if name.startswith("_") and family is not Family.COMPOSITE:
        return "starts with '_', as names of generated code do"
    if family is not Family.COMPOSITE and is_reserved(name):
        return "is a constant of expressions"
    return _EVERYWHERE.get(name) or family.reserved.get(name)


def operator_reason(name: str) -> str | None:
    """Return why a function of the generated module cannot have this name, or None if it can."""
    if keyword.iskeyword(name):
        return "is a Python keyword"
    return "means something else in generated code" if name in _MODULE_NAMES else None
