"""Expressions as the C of kernels: which functions of the core's headers they call, and what variables are named."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from types import MappingProxyType

from ..dtypes import DType
from .emit_c import Emitted, print_c
from .functions import FUNCTIONS
from .lower import Env, lower
from .targets import C
from .tree import Expr
from .typed import Node, applied, names

# What the core's headers have in a better form than the definition in the language, or than the library.
_CALLS = {
    (function.name, dtype): function.call(name)
    for function in FUNCTIONS.values()
    for dtype, name in function.native.items()
}
TARGET = replace(C, calls=_CALLS)
# Compilers make one call of a sine and a cosine of the same number, sincos, which has no vector form. They cannot know
# that the cosine is the same of -0 and of +0.
_APART = replace(TARGET, calls=_CALLS | {("cos", "float32"): "cosf({0} + 0.0f)", ("cos", "float64"): "cos({0} + 0.0)"})
_VARIABLE = "v_"
"""What names of the declarations begin with in C, and nothing else does: so a name may be that of a macro, a keyword or
a function of C, or of what templates declare."""


def variable(name: str) -> str:
    """What a name of the declarations is called in C."""
    return _VARIABLE + name


def declared(text: str) -> str:
    """A message of the compiler about such variables, with the names of the declarations."""
    return re.sub(rf"'{_VARIABLE}(\w+)'", r"'\1'", text)


def emit_expression(tree: Expr, env: Env, result: DType) -> Emitted:
    """The C of an expression, as kernels have it. Checks, kernels and tests ask for it in turn: it is remembered."""
    return _emitted(tree, tuple(env.items()), result)


@cache
def _emitted(tree: Expr, env: tuple[tuple[str, DType], ...], result: DType) -> Emitted:
    return emit_tree(lower(tree, dict(env), result, TARGET.native))


def is_inexact(emitted: Emitted) -> bool:
    """Does the last bit depend on how a function is computed?"""
    return any(not function.is_exact_for(dtype) for function, dtype in applied(emitted.root))


def emit_tree(root: Node, own: Mapping[str, str] = MappingProxyType({})) -> Emitted:
    """The C of a typed tree. `own` has the variables of arguments that are not names of the declarations."""
    has_sine = any(function.name == "sin" and dtype.is_floating for function, dtype in applied(root))
    variables = {name: own.get(name) or variable(name) for name in names(root)}
    return print_c(root, _APART if has_sine else TARGET, variables)
