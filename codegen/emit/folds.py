"""C kernels of reductions and scans with a state of several values: context of fold.c.j2."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ..dtypes import DType
from ..expr import Expr, substitute
from ..expr.kernel_text import emit_expressions, variable
from ..model.computation import result_dtypes
from ..model.folding import OTHER, Folding
from ..model.operator import Expression, Operator
from .expressions import Variable, enum, parameters
from .results import Part


@dataclass(frozen=True)
class FoldKernel:
    """One dtype of computation. Functions of lanes are given `inputs`, `state`, `others` and `params`, by name."""

    suffix: str
    enum: str
    is_scan: bool
    inputs: tuple[Variable, ...]
    params: tuple[Variable, ...]
    state: tuple[Variable, ...]
    others: tuple[Variable, ...]
    results: tuple[Variable, ...]
    start: Part
    step: Part
    """The state after an element; of a scan also its results."""
    merge: Part | None
    finish: Part | None

    has_blocks = has_complex_blocks = False


def kernels(operator: Operator, body: Folding) -> Iterator[FoldKernel]:
    """Yield the kernels of a fold, for each dtype of computation."""
    for dtype in operator.compute_dtypes:
        yield _kernel(operator, body, dtype)


def _kernel(operator: Operator, body: Folding, dtype: DType) -> FoldKernel:
    env = body.variable_dtypes(operator, dtype)
    kinds = tuple(env[name] for name in body.names)
    state = tuple(Variable(variable(name), env[name].c_type) for name in body.names)
    after = tuple(Variable(f"next_{each.name}", each.ctype) for each in state)
    dtypes = result_dtypes(operator, dtype)
    results = tuple(
        Variable(f"ow_{label or 'result'}", of.c_type, index=index)
        for index, (label, of) in enumerate(zip(operator.labels, dtypes, strict=True))
    )

    def part(
        expressions: tuple[Expression, ...], trees: tuple[Expr, ...], of: tuple[DType, ...], to: tuple[Variable, ...]
    ) -> Part:
        return Part(expressions[0].line, emit_expressions(trees, env, of), to)

    starts = tuple(start for _, start in body.state)
    following = tuple(each.tree for each in body.following)
    values = tuple(each.tree for each in body.results)
    if body.is_scan:
        step = part(body.following, (*following, *values), (*kinds, *dtypes), (*after, *results))
    else:
        # What an element adds to the state takes the place of the other one.
        element = {f"{OTHER}{name}": each.tree for name, each in zip(body.names, body.element, strict=False)}
        step = part(body.following, tuple(substitute(each, element) for each in following), kinds, after)
    return FoldKernel(
        suffix=dtype.suffix,
        enum=enum(dtype),
        is_scan=body.is_scan,
        inputs=tuple(Variable(variable(each.name), env[each.name].c_type) for each in operator.inputs),
        params=parameters(operator, dtype),
        state=state,
        others=tuple(Variable(variable(name), env[name].c_type) for name in body.others),
        results=results,
        start=part(starts, tuple(each.tree for each in starts), kinds, after),
        step=step,
        merge=part(body.following, following, kinds, after) if body.joins else None,
        finish=None if body.is_scan else part(body.results, values, dtypes, results),
    )
