"""Expressions as the C of kernels: which functions of the core's headers they call, and what variables are named."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import cache

from ..dtypes import DType
from .emit_c import Emitted, emit_c
from .lower import Env
from .targets import C
from .tree import Expr

# What the core's headers have in a better form than the definition in the language, or than the library.
_CALLS = {
    ("exp", "float32"): "ow_expf({0})",
    ("exp", "float64"): "ow_exp({0})",
    ("exp2", "float32"): "ow_exp2f({0})",
    ("expm1", "float32"): "ow_expm1f({0})",
    ("expm1", "float64"): "ow_expm1({0})",
    ("hypot", "float32"): "ow_hypotf({0}, {1})",
    ("hypot", "float64"): "ow_hypot({0}, {1})",
    ("sigmoid", "float32"): "ow_sigmoidf({0})",
    ("pow", "float32"): "ow_powf({0}, {1})",
    ("maximum", "float32"): "ow_maximumf({0}, {1})",
    ("maximum", "float64"): "ow_maximum({0}, {1})",
    ("minimum", "float32"): "ow_minimumf({0}, {1})",
    ("minimum", "float64"): "ow_minimum({0}, {1})",
    ("signbit", "float64"): "ow_signbit({0})",
    ("atanh", "float32"): "ow_atanhf({0})",
    ("sqrt", "complex64"): "ow_csqrtf({0})",
}
TARGET = replace(C, calls=_CALLS)
# Compilers make one call of a sine and a cosine of the same number, sincos, which has no vector form. They cannot know
# that the cosine is the same of -0 and of +0.
_COSINE = {("cos", "float32"): "cosf({0} + 0.0f)", ("cos", "float64"): "cos({0} + 0.0)"}
_APART = replace(C, calls=_CALLS | _COSINE)
_SINE = re.compile(r"\bsinf?\(")
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
    names = {name: variable(name) for name, _ in env}
    emitted = emit_c(tree, dict(env), result, target=TARGET, names=names)
    return emit_c(tree, dict(env), result, target=_APART, names=names) if _SINE.search(emitted.text) else emitted
