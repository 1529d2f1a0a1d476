"""The rule of dimensions of an expression over indices: a signature (rules.py)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..expr import Expr, Name, names
from ..expr.atoms import Read

if TYPE_CHECKING:
    from .compute import Compute
    from .operator import Operator

BATCH = "..."
"""In a signature: any dimensions before a tensor's own."""


def rule(operator: Operator, body: Compute) -> str | None:
    """A dimension of a tensor is that dimension of the results whose variable, alone, is in its indices. It may be
    taken apart if the variable itself is the index wherever it occurs. Dimensions in front that are read as one, as
    gradients do, are those of a sum."""
    if body.over_batch or body.small:
        return None
    inputs = []
    for argument in operator.inputs:
        reads = [read.indices for read in body.reads.values() if read.tensor == argument.name]
        is_flat = argument.name in body.flat
        places = range(is_flat, body.tensors.get(argument.name, 0))
        found = [{_variable(body, indices[place]) for indices in reads} for place in places]
        single = [next(iter(each)) if len(each) == 1 else None for each in found]
        letters = (each if single.count(each) == 1 else None for each in single)
        own = tuple(each or f"{argument.name}_{place}" for place, each in enumerate(letters))
        inputs.append((BATCH, *own) if is_flat or body.is_batched(argument.name) else own)
    is_batched = any(map(body.is_batched, body.tensors))
    whole = {name: name.upper() for name in _needed_whole(body, inputs)}
    groups = [tuple([whole.get(letter, letter) for letter in each]) for each in (*inputs, body.names)]
    *inputs, names_of_result = groups
    return written(inputs, [(BATCH, *names_of_result) if is_batched else names_of_result])


def _needed_whole(body: Compute, inputs: Sequence[tuple[str, ...]]) -> set[str]:
    """The variables of the results that an element depends on by more than which it is: in an index with others, twice
    in the indices of a tensor, in a bound or as a number."""
    trees = [result.tree for result in body.results]
    plain = {letter for each in inputs for letter in each}
    whole: set[str] = set()
    for atom in body.atoms.values():
        if not isinstance(atom, Read):
            trees.extend(atom.expressions)
            continue
        found = [each.name for each in atom.indices if isinstance(each, Name)]
        whole.update(name for name in found if found.count(name) > 1 or name not in plain)
        trees.extend(each for each in atom.indices if not isinstance(each, Name))
    return {name for name in body.names if name in whole or any(name in names(tree) for tree in trees)}


def _variable(body: Compute, index: Expr) -> str | None:
    """The only variable of the results that an index depends on, also by the bounds of reductions; None where it
    depends on data as well."""
    used = names(index)
    for each in used & body.ranges.keys():
        used |= names(body.ranges[each].first) | names(body.ranges[each].stop)
    variables = [name for name in body.names if name in used]
    return variables[0] if len(variables) == 1 and used.isdisjoint(body.atoms) else None


def written(inputs: Sequence[tuple[str, ...]], results: Sequence[tuple[str, ...]]) -> str:
    """Return a signature as text."""
    first, last = (",".join(f"({','.join(each)})" for each in groups) for groups in (inputs, results))
    return f"{first}->{last}"
