"""Rules that need a whole operator, or all of them: names that collide, typed expressions, derivatives.

Input: the declarations of the entries that could be read so far. Output: diagnostics; nothing is changed.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from ..dtypes import DType
from ..errors import Diagnostics, Span
from ..expr import ExpressionError
from ..expr.kernel_text import emit_expression
from ..expr.lower import Env
from ..model.computation import default_numbers, defaults_keep, takes_defaults, typed
from ..model.operator import Declaration, Family, Operator
from ..model.variants import function_names, inplace_function_names, method_names, submodule_names
from . import accumulation, derivatives, folds, named_operators, reference

_OF_FAMILIES: Mapping[Family, Callable[[Operator, Any, Diagnostics], None]] = {
    Family.REDUCE: accumulation.check,
    Family.SCAN: accumulation.check,
    Family.FOLD: folds.check,
}


def check(
    declarations: Sequence[Declaration],
    diagnostics: Diagnostics,
    taken: Iterable[str] = (),
    complete: bool = True,
    is_sound: Callable[[Operator], bool] = lambda operator: False,
) -> None:
    """Apply all rules. `taken` are the names that other libraries already gave to Tensor. Unless the declarations are
    `complete`, an operator that another one names may be in an entry that could not be read. Those that are known
    to be sound have passed the rules about one operator before."""
    _check_names(declarations, diagnostics, frozenset(taken))
    if complete:
        named_operators.check(declarations, diagnostics)
    for declaration in declarations:
        if isinstance(declaration, Operator) and not is_sound(declaration):
            _check_types(declaration, diagnostics)
            _check_defaults(declaration, diagnostics)
            if declaration.family in _OF_FAMILIES:
                _OF_FAMILIES[declaration.family](declaration, declaration.body, diagnostics)
            _check_requirements(declaration, diagnostics)
            derivatives.check(declaration, diagnostics)
            reference.check(declaration, diagnostics)


# ---- names --------------------------------------------------------------------------------------------------


def _check_names(declarations: Sequence[Declaration], diagnostics: Diagnostics, taken: frozenset[str]) -> None:
    functions: dict[str, Declaration] = {}
    methods: dict[str, Declaration] = {}
    for declaration in declarations:
        reported: set[Span] = set()
        for seen, names, what in (
            (functions, _function_names(declaration), "function"),
            (methods, tuple(_attribute_names(declaration)), "method"),
        ):
            for name in names:
                span = declaration.place(name)
                other = seen.setdefault(name, declaration)
                # The function, the method and the in-place form of a name collide together: one message is enough.
                if span in reported:
                    continue
                if other is not declaration:
                    message = f"{what} '{name}' is already made by '{other.schema.name}'"
                    diagnostics.report(span, message, f"its entry starts at line {other.span.line}")
                    reported.add(span)
                elif name in taken:
                    diagnostics.report(span, f"{what} '{name}' already exists in opweave")
                    reported.add(span)


def _function_names(declaration: Declaration) -> Iterator[str]:
    """Names of the functions of the package and of submodules, and of those that only the generated module has."""
    yield from function_names(declaration)
    yield from inplace_function_names(declaration)
    if declaration.module is not None or declaration.internal:
        yield declaration.name
    yield from (".".join(name) for name in submodule_names(declaration))


def _attribute_names(declaration: Declaration) -> Iterator[str]:
    """Names in class Tensor."""
    yield from method_names(declaration)
    if declaration.property_name is not None:
        yield declaration.property_name


# ---- types --------------------------------------------------------------------------------------------------


def _check_types(operator: Operator, diagnostics: Diagnostics) -> None:
    """Check that every expression has a C form in every dtype that the operator computes in."""
    reported: set[Span] = set()
    for expression, env, result in typed(operator):
        try:
            emit_expression(expression.tree, env, result)
        except ExpressionError as error:
            for each in error.all:
                span = each.place(expression.source)
                # A mistake is reported once, for the first dtype in which the expression is wrong there.
                if span not in reported:
                    help = each.help or f"narrow 'dtypes' if {_names(env, result)} is not meant"
                    diagnostics.report(span, each.message, help)
                    reported.add(span)


def _check_defaults(operator: Operator, diagnostics: Diagnostics) -> None:
    """Check that the integer part of every default, which integer computations use, is in the range of the dtype."""
    if not operator.family.in_language:
        return
    reported: set[tuple[str, Span]] = set()
    whole = {param.name for param in operator.params if param.is_integral}
    for name, value in default_numbers(operator).items():
        if name in whole:
            continue
        for dtype in operator.compute_dtypes:
            expression = next(iter(operator.body.values(dtype)), None)
            if expression is None or not dtype.is_integer:
                continue
            if math.isfinite(value) and dtype.lowest <= int(value) <= dtype.highest:
                continue
            if not takes_defaults(operator, dtype):
                continue
            key = (name, expression.source.span)
            if key not in reported:
                message = f"the default {value} of '{name}' is outside the range of {dtype}"
                diagnostics.report(expression.source.span, message, f"narrow 'dtypes' if {dtype} is not meant")
                reported.add(key)


def _check_requirements(operator: Operator, diagnostics: Diagnostics) -> None:
    """Check that no requirement refuses the defaults for every dtype; it may for some."""
    for requirement in operator.body.conditions:
        everywhere = requirement.dtypes is None or requirement.dtypes >= operator.dtypes
        if everywhere and not defaults_keep(operator, requirement):
            diagnostics.report(requirement.check.source.span, "the defaults do not keep this requirement")


def _names(env: Env, result: DType) -> str:
    return " and ".join(sorted({dtype.name for dtype in env.values()})) or result.name
