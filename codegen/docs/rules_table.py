"""A table of what is known of each operator besides its body (model/rules.py): its rule of dimensions, or why it has
none, what it writes to, shares, draws or reads, and in which of its arguments it is linear."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from ..model.operator import Operator
from ..model.rules import Facts, facts

Linear = Mapping[str, Sequence[Sequence[str]]]
"""By operator: the groups of arguments of which together it is a linear function."""


def text(operators: Sequence[Operator], linear: Linear) -> str:
    """A line for each operator, in the order of the file, and the numbers of operators with and without a rule."""
    rows = [(operator, facts(operator)) for operator in operators]
    width = max((len(operator.name) for operator in operators), default=0)
    lines = [f"{operator.name:{width}}  {_described(row, linear.get(operator.name, ()))}" for operator, row in rows]
    ruled = sum(row.rule is not None for _, row in rows)
    unknown = sum(row.rule is None and row.reason is None for _, row in rows)
    reasons = len(rows) - ruled - unknown
    lines.append(f"{ruled} with a rule, {reasons} without one for a reason, {unknown} without either")
    return "".join(f"{line}\n" for line in lines)


def _described(row: Facts, linear: Sequence[Sequence[str]]) -> str:
    together = [f"linear in {' and '.join(group)}" for group in linear]
    return "; ".join([row.rule or f"no rule: {row.reason}", *_effects(row), *together])


def _effects(row: Facts) -> Iterator[str]:
    if row.writes:
        yield f"writes {', '.join(row.writes)}"
    if row.aliases:
        yield f"aliases {', '.join(row.aliases)}"
    if row.combine:
        yield f"parts combine by {row.combine}"
    for name in ("random", "data_dependent", "dynamic_shape", "may_fail"):
        if getattr(row, name):
            yield name
