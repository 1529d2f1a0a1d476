"""Recurrences of which only the last line is the result: Python that takes it from all lines.

    chain_end(emissions, transitions) -> select_copy(chain_end_lines(emissions, transitions), -2, -1)

All lines are there while they are computed, and as long as a gradient needs them. A kernel that keeps as many lines as
it looks back would save that memory where no gradient is wanted; it would be a second way to run a recurrence, as
gradients need the lines that it drops.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import replace
from types import MappingProxyType

from ..errors import Diagnostics
from ..model.compute import Compute
from ..model.operator import Composite, Operator
from ..model.recurrence import order
from .adjoints import AUTO, refuse_formulas
from .internal import internal, returned, scalar_of, unused

_END = "lines"
"""Ends the name of the operator that gives all lines."""


def follow(operator: Operator, body: Compute, diagnostics: Diagnostics) -> Iterable[Operator] | None:
    """The operator as Python, and the one that it calls; None where all lines are the result."""
    if not body.last:
        return None
    refuse_formulas(operator, "the derivatives of what is the last line follow from those of all lines", diagnostics)
    lines = _lines(operator, body)
    return [_composite(operator, body, lines), lines]


def _lines(operator: Operator, body: Compute) -> Operator:
    arguments = ", ".join(f"{each.type} {each.name}" for each in operator.schema.arguments)
    schema = f"{operator.name}_{_END}({arguments}) -> {returned(each.name for each in operator.schema.returns)}"
    return internal(operator, schema, replace(body, last=()), f"All lines of `{operator.name}`.")


def _composite(operator: Operator, body: Compute, lines: Operator) -> Operator:
    taken = {each.name for each in operator.schema.arguments}
    made = [unused("lines" if len(body.results) == 1 else f"lines_{each.name}", taken) for each in body.results]
    call = f"{lines.name}({', '.join(each.name for each in operator.schema.arguments)})"
    text = [f"{', '.join(made)} = {call}", *_checks(operator, body, made[0])]
    text.append(f"return {', '.join(_last_of(each, body) for each in made)}")
    return replace(
        operator,
        body=Composite(
            scalar_of("\n".join(text), body.span),
            None,
            loops=body,
            automatic=tuple(name for name, each in operator.derivatives.items() if each.text == AUTO),
        ),
        derivatives=MappingProxyType({}),
    )


def _last_of(lines: str, body: Compute) -> str:
    """The line that is computed last. Dimensions count from the last one, so that those before may be gone."""
    found = order(body)
    assert found is not None
    for name in body.names:
        if name in body.last:
            lines = f"select_copy({lines}, {_dim(name, body)}, {found.final})"
    return lines


def _dim(name: str, body: Compute) -> int:
    return body.names.index(name) - len(body.names)


def _checks(operator: Operator, body: Compute, lines: str) -> Iterator[str]:
    """Statements by which there is a last line."""
    for name in body.last:
        message = f"{operator.name}(): there is no last line, as '{name}' has no positions"
        yield f"if not {lines}.shape[{_dim(name, body)}]:\n    raise IndexError({json.dumps(message)})"
