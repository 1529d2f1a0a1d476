"""The expression language of ops.yaml: one tree for expressions over elements and (geometry.py) over shapes."""

from .derive import derive
from .emit_c import Emitted, emit_c
from .errors import ExpressionError
from .evaluate import evaluate
from .functions import CONSTANTS, FUNCTIONS, Function, Rule
from .linear import is_linear
from .lower import Type, lower, type_of
from .parse import is_reserved, parse
from .simplify import simplify
from .targets import C, Target
from .tree import (
    Apply,
    Expr,
    Literal,
    Name,
    Span,
    applications,
    apply,
    names,
    names_in_order,
    replaced,
    substitute,
)
from .verify import Mismatch, check_by_differences, check_derivative

__all__ = [
    "CONSTANTS",
    "FUNCTIONS",
    "Apply",
    "C",
    "Emitted",
    "Expr",
    "ExpressionError",
    "Function",
    "Literal",
    "Mismatch",
    "Name",
    "Rule",
    "Span",
    "Target",
    "Type",
    "applications",
    "apply",
    "check_by_differences",
    "check_derivative",
    "derive",
    "emit_c",
    "evaluate",
    "is_linear",
    "is_reserved",
    "lower",
    "names",
    "names_in_order",
    "parse",
    "replaced",
    "simplify",
    "substitute",
    "type_of",
]
