"""C of requirements: conditions on parameters, and the errors and messages of all kinds."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

from ..dtypes import BOOL
from ..expr import names
from ..expr.kernel_text import emit_expression, variable
from ..model.computation import requirement_dtypes
from ..model.operator import ERROR_KINDS, Expression, Family, Operator, Requirement
from .descriptors import dtype_bits

V = TypeVar("V")


@dataclass(frozen=True)
class Check:
    """Context of elementwise.c.j2 for one condition on parameters."""

    line: int
    statements: tuple[str, ...]
    broken: str
    """C that is true if the condition does not hold."""
    error: str
    message: str
    """Arguments of printf."""


def checks(operator: Operator) -> tuple[Check, ...]:
    """Return the checks of a body's requirements in C."""
    return tuple(_check(operator, requirement) for requirement in operator.body.conditions)


def used_parameters(operator: Operator) -> tuple[tuple[int, str], ...]:
    """Index and C variable of each parameter that a condition or a message mentions, and of sizes behind them."""
    conditions = operator.body.conditions
    used = {name for each in conditions for name in names(each.check.tree)}
    used |= {part.name for each in conditions for part in each.message if not isinstance(part, str)}
    params = [each.name for each in operator.params]
    found = dict(zip(params, range(len(params)), strict=True))
    for index, name in enumerate(operator.body.named_sizes):
        found.setdefault(name, len(params) + index)
    return tuple((index, variable(name)) for name, index in found.items() if name in used)


def _check(operator: Operator, requirement: Requirement[Expression, Any]) -> Check:
    emitted = emit_expression(requirement.check.tree, requirement_dtypes(operator), BOOL)
    digits = "%.15g" if operator.family is Family.LOOP else "%g"  # sizes are whole
    message = ", ".join(format_arguments(requirement, lambda part: (digits, variable(part.name))))
    broken = f"!({emitted.value})"
    if requirement.dtypes is not None:
        broken = f"({' | '.join(dtype_bits(requirement.dtypes))}) >> dtype & 1 && {broken}"
    return Check(requirement.check.line, emitted.statements, broken, error_kind(requirement), message)


def error_kind(requirement: Requirement[Any, Any]) -> str:
    """Return the core's name of the exception that a requirement raises."""
    return ERROR_KINDS[requirement.error]


def format_arguments(requirement: Requirement[Any, V], placeholder: Callable[[V], tuple[str, str]]) -> list[str]:
    """The format of printf and its arguments; `placeholder` returns the conversion and the C of one argument."""
    text, values = "", []
    for part in requirement.message:
        if isinstance(part, str):
            text += part.replace("%", "%%")
        else:
            conversion, value = placeholder(part)
            text += conversion
            values.append(value)
    return [json.dumps(text), *values]
