"""Prints expressions as the C of kernels, with the functions of the core's headers and the names of variables."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from types import MappingProxyType

from ..dtypes import INT64, DType
from .emit_c import Emitted, print_c
from .functions import FUNCTIONS
from .lower import Env, lower
from .targets import C
from .tree import Expr
from .typed import Node, Results, applied, names

# Functions of the core's headers that are used instead of definitions in the language or of the library.
_CALLS = {
    (function.name, dtype): function.call(name)
    for function in FUNCTIONS.values()
    for dtype, name in function.native.items()
}
TARGET = replace(C, calls=_CALLS)
# Compilers replace the sine and the cosine of one number by a call of sincos, which has no vector form. They cannot
# know that the cosines of -0 and +0 are equal.
_APART = replace(TARGET, calls=_CALLS | {("cos", "float32"): "cosf({0} + 0.0f)", ("cos", "float64"): "cos({0} + 0.0)"})
_VARIABLE = "v_"
"""The prefix of declared names in C, which nothing else has: so a declared name may be a macro, a keyword or a function
of C, or a variable of a template."""


def variable(name: str) -> str:
    """The C variable of a declared name."""
    return _VARIABLE + name


def declared(text: str) -> str:
    """A message of the compiler with such variables replaced by the declared names."""
    return re.sub(rf"'{_VARIABLE}(\w+)'", r"'\1'", text)


def emit_expression(tree: Expr, env: Env, result: DType) -> Emitted:
    """The C of an expression in kernels. It is cached, as checks, kernels and tests need it in turn."""
    return _emitted(tree, tuple(env.items()), result)


@cache
def _emitted(tree: Expr, env: tuple[tuple[str, DType], ...], result: DType) -> Emitted:
    return emit_tree(lower(tree, dict(env), result, TARGET.native))


def emit_expressions(trees: tuple[Expr, ...], env: Env, results: tuple[DType, ...]) -> Emitted:
    """The same of several expressions, which have their common parts computed once."""
    if len(trees) == 1:
        return emit_expression(trees[0], env, results[0])
    nodes = tuple(lower(*each, TARGET.native) for each in zip(trees, [env] * len(trees), results, strict=True))
    return emit_together(nodes)


def emit_together(nodes: Sequence[Node]) -> Emitted:
    """The same of typed trees."""
    return emit_tree(nodes[0] if len(nodes) == 1 else Results(nodes[0].dtype, tuple(nodes)))


def is_inexact(emitted: Emitted) -> bool:
    """True if the last bit may depend on which form of a function is used."""
    return any(not function.is_exact_for(dtype) for function, dtype in applied(emitted.root))


FAR = "far"
"""The variable of C that says that the arithmetic of an index has left 64 bits."""
_INDEX = replace(
    TARGET,
    calls=_CALLS
    | {(name, INT64.name): f"ow_index_{name}({{0}}, {{1}}, &{FAR})" for name in ("add", "sub", "mul")}
    | {("neg", INT64.name): f"ow_index_sub(0, {{0}}, &{FAR})"},
)


def emit_index(root: Node, own: Mapping[str, str]) -> Emitted:
    """The C of an index that is made of data."""
    return print_c(root, _INDEX, {name: own.get(name) or variable(name) for name in names(root)})


def emit_tree(root: Node, own: Mapping[str, str] = MappingProxyType({})) -> Emitted:
    """The C of a typed tree. `own` has the variables of arguments that are not declared names."""
    has_sine = any(function.name == "sin" and dtype.is_floating for function, dtype in applied(root))
    variables = {name: own.get(name) or variable(name) for name in names(root)}
    return print_c(root, _APART if has_sine else TARGET, variables)
