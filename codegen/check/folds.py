"""Reductions and scans with a state: their values at samples, and whether states may be combined in any order.

Kernels combine parts of a line separately, each from the first state, and join the parts. What users see are the
results, so these must not depend on the grouping; the variables themselves may, as those of a sum with its rounding
errors do.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..dtypes import FLOAT64, DType
from ..errors import Diagnostics
from ..expr import Expr, ExpressionError
from ..expr.kernel_text import emit_expressions
from ..model.computation import parameter_dtype, result_dtypes, typed
from ..model.folding import OTHER, Folding
from ..model.operator import Operator
from ..model.ordered_rows import PLACE, RANK, OrderedFolding
from . import row_order, samples
from .samples import Array

State = Mapping[str, Array]

_FEW = 6
_HELP = "parts of a line are combined separately and then joined, which 'order: sequential' with 'next' needs not"


def check(operator: Operator, body: Folding, diagnostics: Diagnostics) -> None:
    """Report divisions of integers in folds, and states whose combination depends on how the elements are grouped."""
    _check_divisions(operator, diagnostics)
    for dtype in samples.dtypes(operator)[:1] if body.joins else ():
        try:
            problem = _violation(operator, body, dtype)
        except ExpressionError:
            return  # a wrong type, which is reported separately, or nothing that evaluates it
        if problem is not None:
            index, message = problem
            diagnostics.report(body.following[index].source.span, message, _HELP)


def _check_divisions(operator: Operator, diagnostics: Diagnostics) -> None:
    for expression, env, result in typed(operator):
        try:
            fails = emit_expressions((expression.tree,), env, (result,)).uses_err
        except ExpressionError:
            continue
        if fails:
            message = "a division of integers cannot report a zero divisor here"
            diagnostics.report(expression.source.span, message, "dtypes: floating")
            return


class Steps:
    """The steps of a fold, computed with NumPy for arrays of lines side by side."""

    def __init__(
        self, operator: Operator, body: Folding, dtype: DType, numbers: Mapping[str, float] | None = None
    ) -> None:
        import numpy as np

        self.body = body
        self.types = body.variable_dtypes(operator, dtype)
        given = samples.numbers(operator) if numbers is None else numbers
        self.numbers = {
            each.name: np.array(given[each.name], parameter_dtype(each, dtype).numpy) for each in operator.params
        }

    def _values(self, trees: Sequence[Expr], env: Mapping[str, Array]) -> dict[str, Array]:
        known = {**self.numbers, **env}
        return {
            name: samples.value(tree, known, self.types[name])
            for name, tree in zip(self.body.names, trees, strict=True)
        }

    def start(self, element: Mapping[str, Array]) -> State:
        """Return the state before the first element."""
        return self._values([start.tree for _, start in self.body.state], element)

    def of(self, element: Mapping[str, Array]) -> State:
        """The state of one element."""
        return self._values([each.tree for each in self.body.element], element)

    def after(self, state: State, element: Mapping[str, Array]) -> State:
        """Return the state after one more element."""
        return self._values([each.tree for each in self.body.following], {**state, **element})

    def combined(self, state: State, other: State) -> State:
        """Return the state of two parts of a line that are joined."""
        return self.after(state, {f"{OTHER}{name}": value for name, value in other.items()})

    def results(self, env: Mapping[str, Array], types: Sequence[DType]) -> tuple[Array, ...]:
        """Return the results, each in its dtype."""
        known = {**self.numbers, **env}
        return tuple(samples.value(each.tree, known, of) for each, of in zip(self.body.results, types, strict=True))


def _violation(operator: Operator, body: Folding, dtype: DType) -> tuple[int, str] | None:
    """The variable whose combination is to blame, and a message, or None."""
    import numpy as np

    steps = Steps(operator, body, dtype)
    line = samples.matrix(dtype, positive=True).ravel()[:_FEW]
    inputs = {each.name: np.roll(line, 2 * index) for index, each in enumerate(operator.inputs)}
    inputs = {name: value.astype(steps.types[name].numpy) for name, value in inputs.items()}
    states = steps.of(inputs)
    states = {name: np.broadcast_to(value, line.shape) for name, value in states.items()}
    grid = np.meshgrid(*[np.arange(len(line))] * 3)
    a, b, c = ({name: value[index.ravel()] for name, value in states.items()} for index in grid)
    first = {name: np.broadcast_to(value, grid[0].size) for name, value in steps.start({}).items()}
    ab = steps.combined(a, b)
    abc = steps.combined(ab, c)
    laws = (
        ("the first state changes what it is combined with", 3, steps.combined(first, abc), abc),
        ("'combine' is not associative", 3, abc, steps.combined(a, steps.combined(b, c))),
        ("'combine' depends on the order", 2, ab, steps.combined(b, a)),
    )
    types = tuple(FLOAT64 if dtype.is_floating else dtype for _ in body.results)
    for law, count, left, right in laws:
        counts = {"count": np.array(count, np.int64)}
        pairs = zip(steps.results({**left, **counts}, types), steps.results({**right, **counts}, types), strict=True)
        for index, (one, other) in enumerate(pairs):
            wrong = _first(one, other, dtype)
            if wrong is not None:
                name = operator.labels[index] or "the result"
                shown = " and ".join(f"{float(np.ravel(each)[wrong]):g}" for each in (one, other))
                return 0, f"{law}: of the same elements {name} is {shown}"
    return None


def _first(left: Any, right: Any, dtype: DType) -> int | None:
    """The index of the first element in which two results differ by more than rounding, or None."""
    import numpy as np

    left, right = np.broadcast_arrays(left, right)
    with np.errstate(all="ignore"):
        same = (left == right) | ((left != left) & (right != right))
        size = np.maximum(np.abs(left * 1.0), np.abs(right * 1.0))
        rounding = np.finfo(str(dtype.numpy)).eps ** 0.5 if dtype.is_floating else 0
        near = np.abs(left * 1.0 - right * 1.0) <= rounding * np.maximum(size, 1)
    indices = np.flatnonzero(~(same | near))
    return int(indices[0]) if len(indices) else None


def results(
    operator: Operator,
    body: Folding,
    lines: Mapping[str, Array],
    dtype: DType,
    numbers: Mapping[str, float] | None = None,
) -> tuple[Array, ...]:
    """Results over the rows of matrices; the reduced dimension is kept. `numbers` are the parameters; None: samples."""
    import numpy as np

    ordered = body if isinstance(body, OrderedFolding) else None
    dtype = dtype if ordered is None else row_order.wide(dtype)
    steps, types = Steps(operator, body, dtype, numbers), result_dtypes(operator, dtype)
    rows, length = next(iter(lines.values())).shape
    order = None
    if ordered is not None:
        lines, order = _in_order(ordered, lines, steps.numbers, dtype)
    columns = [{name: value[:, index] for name, value in lines.items()} for index in range(length)]
    state: State = {} if body.is_scan else steps.start({})
    found = []
    for index, element in enumerate(columns):
        if body.is_scan:
            state = steps.start(element) if not index else state
            found.append(steps.results({**state, **element}, types))
            state = steps.after(state, element)
        else:
            state = steps.combined(state, steps.of(element)) if body.joins else steps.after(state, element)
    if body.is_scan:
        scanned = [np.stack([np.broadcast_to(each[k], rows) for each in found], 1) for k in range(len(types))]
        return tuple(scanned if order is None else (row_order.back(each, order) for each in scanned))
    values = steps.results({**state, "count": np.array(length, np.int64)}, types)
    return tuple(np.broadcast_to(each, rows)[:, None] for each in values)


def _in_order(
    body: OrderedFolding, lines: Mapping[str, Array], numbers: Mapping[str, Array], dtype: DType
) -> tuple[dict[str, Array], Array | None]:
    """Return what expressions know of each element along lines in their order, and the order, or None if there is
    none."""
    import numpy as np

    shape = next(iter(lines.values())).shape
    places = np.broadcast_to(np.arange(shape[1]), shape)
    known, order = {PLACE: places, **lines}, None

    def elements(tree: Expr) -> Array:
        return np.broadcast_to(samples.value(tree, {**known, **numbers}, dtype), shape)

    if body.key is not None:
        order = row_order.of(elements(body.key.tree))
        known = {name: row_order.put(each, order) for name, each in known.items()}
    known = {RANK: places, **known}
    count = {"count": np.array(shape[1], dtype.numpy)}
    exact = dtype if dtype.is_floating else FLOAT64
    for step in body.steps:
        taken = row_order.value(
            step,
            lambda each: elements(each.tree),
            lambda tree: samples.value(tree, {**known, **numbers, **count}, exact),
        )
        known[step.name] = np.broadcast_to(taken, shape)
    return known, order
