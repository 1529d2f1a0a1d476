"""Names that an operator or an argument cannot have, because generated text uses them for something else.

C and Python are printed with the names of ops.yaml as they are: an argument called `double` would not compile, one
called `i` would hide the loop's. Each rule gives the reason that the message then states.
"""

from __future__ import annotations

import builtins
import keyword
import re
from collections.abc import Mapping

from .expr import is_reserved
from .expr.functions import FUNCTIONS
from .model import Family

# fmt: off
_C_KEYWORDS = frozenset((
    "alignas", "alignof", "asm", "auto", "bool", "break", "case", "char", "const", "constexpr", "continue",
    "default", "do", "double", "else", "enum", "extern", "false", "float", "for", "goto", "if", "inline", "int",
    "long", "nullptr", "register", "restrict", "return", "short", "signed", "sizeof", "static", "static_assert",
    "struct", "switch", "thread_local", "true", "typedef", "typeof", "typeof_unqual", "union", "unsigned", "void",
    "volatile", "while",
))
# fmt: on
# The functions of <math.h> that expressions are printed with, in both precisions.
_C_FUNCTIONS = frozenset(
    name for function in FUNCTIONS.values() if function.c_name for name in (function.c_name, function.c_name + "f")
)
_C_PREFIXES = re.compile(r"(ow_|OW_|from_)|(t[0-9]+|u?int(8|16|32|64)_t|NULL|NAN|INFINITY|EOF|errno)\Z")
# What formulas of derivatives, and the Python of every operator, mean by a name.
_EVERYWHERE = frozenset({"grad", "more", "out", "result"})
_EXCEPTIONS = frozenset(
    name for name, value in vars(builtins).items() if isinstance(value, type) and issubclass(value, BaseException)
)
_PYTHON_NAMES = frozenset({"Tensor", "h", "kind", "len", "t", "tuple", "type"}) | _EXCEPTIONS
_LOOPS = frozenset(
    {"count", "direct", "done", "err", "failed", "i", "index", "padded", "params", "ptr", "staged", "stride", "to"}
)
_BY_FAMILY: Mapping[Family, frozenset[str]] = {
    Family.ELEMENTWISE: _LOOPS | {"acc", "length"},
    Family.REDUCE: frozenset({"acc", "count"}),
    Family.SCAN: frozenset({"acc", "count"}),
    Family.ROWS: frozenset(
        {"acc", "count", "done", "from", "half", "j", "lanes", "n", "row", "tail", "to", "values", "x"}
    ),
    Family.VIEW: frozenset({"ints", "lists", "to_shape", "to_strides", "view"}),
    Family.FACTORY: _LOOPS | {"code", "n", "requires_grad", "sizes"},
    Family.EXTERN: frozenset(),
    Family.INDEXING: frozenset(),
    Family.RANDOM: frozenset(),
    Family.LAPACK: frozenset(),
    Family.COMPOSITE: frozenset({"Tensor", "bool", "float", "int", "map", "str", "type"}),
}
# Functions of the generated module would hide these from one another.
_MODULE_NAMES = _EXCEPTIONS | {
    "FUNCTIONS", "METHODS", "Tensor", "TensorMethods", "bind", "bool", "float", "int", "len", "list", "map", "str",
    "tuple", "type",
}  # fmt: skip


def argument_reason(name: str, family: Family) -> str | None:
    """Why an argument, or a variable of a `let`, cannot have this name; None when it can."""
    if keyword.iskeyword(name):
        return "is a Python keyword"
    if name.startswith("_"):
        return "starts with '_', as names of generated code do"
    if name in _EVERYWHERE or name in _BY_FAMILY[family]:
        return "means something else in generated code"
    if family is Family.COMPOSITE:
        return None  # it has no C, and the body is a function of its own
    if name in _C_KEYWORDS:
        return "is a C keyword"
    if is_reserved(name):
        return "is a constant of expressions"
    if name in _C_FUNCTIONS:
        return "is a function of C"
    return "means something else in generated code" if name in _PYTHON_NAMES or _C_PREFIXES.match(name) else None


def operator_reason(name: str) -> str | None:
    """Why a function of the generated module cannot have this name; None when it can."""
    if keyword.iskeyword(name):
        return "is a Python keyword"
    if name.startswith("_"):
        return "starts with '_', as names of generated code do"
    return "means something else in generated code" if name in _MODULE_NAMES else None
