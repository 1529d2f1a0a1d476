"""C kernels of reductions and scans with a state of several values: the parts of their loops."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ..dtypes import DType
from ..expr.kernel_text import emit_together, variable
from ..expr.typed import Arg, Node, replaced, roots
from ..model.computation import result_dtypes
from ..model.folding import Folding
from ..model.operator import Operator
from ..nest.nodes import Accumulate, Map, Store, every
from ..nest.of import of
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


def kernels(operator: Operator, body: Folding) -> Iterator[FoldKernel]:
    """Yield the kernels of a fold, for each dtype of computation."""
    for dtype in operator.compute_dtypes:
        yield _kernel(operator, body, dtype)


def _kernel(operator: Operator, body: Folding, dtype: DType) -> FoldKernel:
    nest, env = of(operator, dtype), body.variable_dtypes(operator, dtype)
    starts = [each for each in every(nest, Map) if not each.constant]
    elements = [each for each in every(nest, Map) if each.constant]
    (following,), (stored,) = every(nest, Accumulate), every(nest, Store)
    state = tuple(Variable(variable(each.name), each.ctype) for each in starts)
    after = tuple(Variable(f"next_{each.name}", each.ctype) for each in state)
    results = tuple(
        Variable(f"ow_{label or 'result'}", own.c_type, index=index)
        for index, (label, own) in enumerate(zip(operator.labels, result_dtypes(operator, dtype), strict=True))
    )
    # What an element adds to the state takes the place of the other one.
    others: dict[Node, Node] = {Arg(env[each.name], each.name): each.value.root for each in elements}
    next_state = [replaced(root, others) for root in roots(following.value.root)]
    step = [*next_state, *roots(stored.value.root)] if body.is_scan else next_state
    return FoldKernel(
        suffix=dtype.suffix,
        enum=enum(dtype),
        is_scan=body.is_scan,
        inputs=tuple(Variable(variable(each.name), env[each.name].c_type) for each in operator.inputs),
        params=parameters(operator, dtype),
        state=state,
        others=tuple(Variable(variable(each.name), each.ctype) for each in elements),
        results=results,
        start=Part(starts[0].line, emit_together([each.value.root for each in starts]), after),
        step=Part(following.line, emit_together(step), (*after, *results) if body.is_scan else after),
        merge=Part(following.line, following.value, after) if body.joins else None,
        finish=None if body.is_scan else Part(stored.line, stored.value, results),
    )
