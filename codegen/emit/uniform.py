"""Parts of expressions that depend on parameters alone: they are computed once for a row, not for each element."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from ..dtypes import DType
from ..expr import FUNCTIONS, Apply, Expr, Name, applications, names, type_of
from ..expr.kernel_text import emit_expression, emit_expressions, variable
from .expressions import Variable

_WORTHWHILE = 3.0
"""Cheaper parts, an instruction or two, are left where they are."""


def uniform_parts(
    trees: tuple[Expr, ...], params: tuple[Variable, ...], known: frozenset[str], env: Mapping[str, DType]
) -> tuple[tuple[Expr, ...], tuple[Variable, ...], dict[str, DType]]:
    """The expressions with names for such parts, the parameters with these behind them, and the dtypes of all names.
    `known` are the parameters' names."""
    parts: dict[Expr, str] = {}

    def visit(tree: Expr) -> Expr:
        if not isinstance(tree, Apply) or not known & names(tree):
            return tree
        if names(tree) <= known and _is_worthwhile(tree, env):
            return Name(parts.setdefault(tree, f"_p{len(parts)}"), span=tree.span)
        return Apply(tree.function, tuple(map(visit, tree.args)), span=tree.span)

    replaced = tuple(map(visit, trees))
    if not parts:
        return trees, params, dict(env)
    dtypes = tuple(type_of(tree, env).dtype for tree in parts)
    emitted = emit_expressions(tuple(parts), env, dtypes)
    found = list(params)
    for name, dtype, value in zip(parts.values(), dtypes, emitted.values, strict=True):
        found.append(Variable(variable(name), dtype.c_type, value=value, statements=emitted.statements))
        emitted = replace(emitted, statements=())  # which are those of all values
    return replaced, tuple(found), {**env, **dict(zip(parts.values(), dtypes, strict=True))}


def _is_worthwhile(tree: Expr, env: Mapping[str, DType]) -> bool:
    cost = sum(FUNCTIONS[each.function].cost for each in applications(tree) if isinstance(each, Apply))
    kind = type_of(tree, env)
    return cost > _WORTHWHILE and not kind.weak and not emit_expression(tree, env, kind.dtype).uses_err
