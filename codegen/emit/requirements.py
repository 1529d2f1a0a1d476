"""C of requirements: conditions on parameters, and the errors and messages of all kinds."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

from ..dtypes import BOOL
from ..expr import names
from ..expr.kernel_text import emit_expression, variable
from ..model.computation import requirement_dtypes
from ..model.operator import ERROR_KINDS, Expression, Family, Operator, Requirement
from ..nest.forms import Declared, Function, Line, Text
from .descriptors import dtype_bits
from .schedules.rows import written

V = TypeVar("V")


def forms(operator: Operator) -> Iterator[Function | Text]:
    """Yield the function of a body's requirements, as far as there are any: of parameters, and of sizes behind them."""
    if not operator.body.conditions:
        return
    parameters = (Line(f"const double {variable(name)} = params[{index}];") for index, name in _used(operator))
    checks = (_check(operator, requirement) for requirement in operator.body.conditions)
    head = f"static int {operator.name}_requirements(const double *params, int dtype, char *message, size_t capacity)"
    yield Text("#ifdef OW_DESCRIPTOR\n#include <stdio.h>")
    yield Function(head, (Line("(void)dtype;"), *parameters, *checks, Line("return OW_OK;")))
    yield Text("#endif")


def _used(operator: Operator) -> Iterator[tuple[int, str]]:
    """Yield the parameters and sizes that a condition or a message mentions."""
    conditions = operator.body.conditions
    used = {name for each in conditions for name in names(each.check.tree)}
    used |= {part.name for each in conditions for part in each.message if not isinstance(part, str)}
    found: dict[str, int] = {}
    for index, name in enumerate((*(each.name for each in operator.params), *operator.body.named_sizes)):
        found.setdefault(name, index)
    return ((index, name) for name, index in found.items() if name in used)


def _check(operator: Operator, requirement: Requirement[Expression, Any]) -> Declared:
    emitted = emit_expression(requirement.check.tree, requirement_dtypes(operator), BOOL)
    digits = "%.15g" if operator.family is Family.LOOP else "%g"  # sizes are whole
    message = ", ".join(format_arguments(requirement, lambda part: (digits, variable(part.name))))
    broken = f"!({emitted.value})"
    if requirement.dtypes is not None:
        broken = f"({' | '.join(dtype_bits(requirement.dtypes))}) >> dtype & 1 && {broken}"
    failed = f"return snprintf(message, capacity, {message}), {error_kind(requirement)};"
    return Declared(requirement.check.line, written(emitted.statements, f"if ({broken}) {failed}"))


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
