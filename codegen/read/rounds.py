"""Expressions over indices with a loop for each position: operators of the terms and of the loop, and Python that calls
them.

    escape(self, limit) -> escape_rounds(*escape_terms(self, limit), limit)
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from types import MappingProxyType

from ..dtypes import Promotion
from ..errors import Diagnostics
from ..expr import ExpressionError, names
from ..expr.python_text import python_text
from ..model.compute import Compute
from ..model.operator import Composite, Derivative, Operator
from ..model.rounds import Rounds
from .adjoints import AUTO
from .internal import internal, returned, scalar_of, unused
from .stages import in_dtype_of_computation


def follow(operator: Operator, body: Compute, diagnostics: Diagnostics) -> Iterable[Operator] | None:
    """The operator as Python, and those that it calls; None where the body has no such loop."""
    if body.rounds is None:
        return None
    for message, help in _refusals(operator, body):
        diagnostics.report(body.span, message, help)
    try:
        return list(_made(operator, body, body.rounds))
    except ExpressionError as error:
        diagnostics.report(body.span, error.message, error.help)
        return [_terms(operator, body)]


def _refusals(operator: Operator, body: Compute) -> Iterator[tuple[str, str]]:
    """Yield why the dtype of computation, or a gradient, is none that terms and loops have."""
    if any(each.text not in (AUTO, "none") for each in operator.derivatives.values()):
        yield "the derivatives of a loop follow from its rounds", "auto, or none"
    if any(each.is_scalar for each in operator.schema.arguments):
        yield "a loop is computed in the dtype of tensors, and a 'Scalar' has a part in it", "float"
    if all(each.name in body.fixed for each in operator.inputs):
        message = "a loop is computed in the dtype of tensors, and all that are here have dtypes of their own"
        yield message, "a tensor of numbers"


def _made(operator: Operator, body: Compute, rounds: Rounds) -> Iterator[Operator]:
    terms, loop = _terms(operator, body), loop_of(operator, rounds)
    taken = {each.name for each in (*operator.schema.arguments, *loop.schema.arguments)}
    dtype, line = in_dtype_of_computation(operator, body, taken)
    lets = dict(body.let)
    given = {name: f"int({python_text(each, lets)})" for name, each in rounds.integers.items()}
    results = [unused(f"result_{index}", taken) for index in range(len(rounds.loop.own))]
    lines = [
        line,
        f"{', '.join(each.name for each in rounds.terms)} = {_call(terms, {})}",
        f"{', '.join(results)} = {_call(loop, given)}",
    ]
    pairs = zip(results, rounds.loop.own, strict=True)
    lines.append(f"return {', '.join(each if own is not None else f'{each}.to({dtype})' for each, own in pairs)}")
    automatic = tuple(name for name, each in operator.derivatives.items() if each.text == AUTO)
    yield replace(
        operator,
        body=Composite(scalar_of("\n".join(lines), body.span), None, loops=body, automatic=automatic),
        derivatives=MappingProxyType({}),
    )
    yield from (terms, loop)


def _call(made: Operator, given: dict[str, str]) -> str:
    return f"{made.name}({', '.join(given.get(each.name, each.name) for each in made.schema.arguments)})"


def _terms(operator: Operator, body: Compute) -> Operator:
    arguments = ", ".join(f"{each.type} {each.name}" for each in operator.schema.arguments)
    return internal(
        operator,
        f"{operator.name}_terms({arguments}) -> {returned(each.name for each in body.of_terms.results)}",
        body.of_terms,
        f"What the loop of `{operator.name}` uses.",
        dtypes=frozenset(operator.compute_dtypes),
        promotion=Promotion.DEFAULT,
    )


def loop_of(operator: Operator, rounds: Rounds) -> Operator:
    """The elementwise operator of the loop."""
    loop = rounds.loop
    assert loop.iterate is not None
    parts = [*dict(loop.iterate.state).values(), loop.iterate.times, *loop.iterate.rounds, *loop.cases[0][1]]
    used = frozenset[str]().union(*(names(each.tree) for each in parts))
    arguments = [f"Tensor {each.name}" for each in rounds.terms]
    arguments += [f"{each.type} {each.name}" for each in operator.params if each.name in used]
    arguments += [f"int {each}" for each in rounds.integers]
    returns = returned(each.name for each in operator.schema.returns)
    source = next((each.source for each in operator.derivatives.values() if each.text == AUTO), None)
    derivative = (
        Derivative(AUTO, source) if source is not None else Derivative("none", scalar_of("none", operator.span))
    )
    return internal(
        operator,
        f"{operator.name}_rounds({', '.join(arguments)}) -> {returns}",
        loop,
        f"The loop of `{operator.name}`.",
        cost=loop.cost,
        dtypes=frozenset(operator.compute_dtypes),
        promotion=Promotion.DEFAULT,
        derivatives=MappingProxyType({each.name: derivative for each in rounds.terms if each.name not in loop.fixed}),
    )
