"""The rule by which the results of an operator get names of dimensions from its tensors: its entry's, or its family's.

The runtime knows the rules by these words (_representations/named/rules.py). A signature is a rule as well, that of
products.
"""

from __future__ import annotations

from collections.abc import Mapping

from ..expr import Expr, names
from .compute import Compute
from .loop import Loop
from .operator import Extern, Family, Operator

BATCH = "..."
"""The part of a signature that stands for any dimensions before a tensor's own."""
WORDS = ("drop", "join", "keep", "reduce", "refuse", "select", "unify", "view")
FAMILIES: Mapping[Family, str] = {
    Family.ELEMENTWISE: "unify",
    Family.REDUCE: "reduce",
    Family.SCAN: "keep",
    Family.ROWS: "reduce",
    Family.FOLD: "reduce",
    Family.RANDOM: "keep",
    Family.VIEW: "view",
}
"""The rules that follow from families. Composites have those of the operators that they are made of; others have none,
and refuse tensors with names."""


def rule(operator: Operator) -> str | None:
    """A word or a signature; None: there is none."""
    if operator.naming is not None:
        return operator.naming
    if isinstance(operator.body, Extern):
        return operator.body.signature
    if isinstance(operator.body, Loop) and len(operator.body.results) == 1:
        return _signature(operator.body.inputs, operator.body.results[0])
    if isinstance(operator.body, Compute):
        return _of_indices(operator, operator.body)
    return FAMILIES.get(operator.family)


def _of_indices(operator: Operator, body: Compute) -> str | None:
    """A dimension of a tensor is that dimension of the results whose variable, alone, is in its indices."""
    if body.flat or body.over_batch or body.small:
        return None
    inputs = []
    for argument in operator.inputs:
        reads = [read.indices for read in body.reads.values() if read.tensor == argument.name]
        places = range(body.tensors.get(argument.name, 0))
        found = [{_variable(body, indices[place]) for indices in reads} for place in places]
        single = [next(iter(each)) if len(each) == 1 else None for each in found]
        letters = (each if single.count(each) == 1 else None for each in single)
        own = tuple(each or f"{argument.name}_{place}" for place, each in enumerate(letters))
        inputs.append((BATCH, *own) if body.is_batched(argument.name) else own)
    is_batched = any(BATCH in each for each in inputs)
    return _signature(tuple(inputs), (BATCH, *body.names) if is_batched else body.names)


def _variable(body: Compute, index: Expr) -> str | None:
    """The only variable of the results that an index depends on, also by the bounds of reductions; None where it
    depends on data as well."""
    used = names(index)
    for each in used & body.ranges.keys():
        used |= names(body.ranges[each].first) | names(body.ranges[each].stop)
    variables = [name for name in body.names if name in used]
    return variables[0] if len(variables) == 1 and used.isdisjoint(body.atoms) else None


def _signature(inputs: tuple[tuple[str, ...], ...], result: tuple[str, ...]) -> str:
    groups = [f"({','.join(each)})" for each in (*inputs, result)]
    return f"{','.join(groups[:-1])}->{groups[-1]}"
