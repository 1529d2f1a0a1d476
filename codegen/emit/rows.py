"""C kernels of row operators, in each dtype of computation."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from ..dtypes import DType
from ..expr import Emitted, Expr, Literal, Name, names, parse, replaced
from ..expr.kernel_text import emit_expression, is_inexact, variable
from ..model.computation import row_dtypes
from ..model.operator import End, Expression, Operator, Rows
from .blocks import BlockCall, block_call, emit_result
from .expressions import Variable, enum, identity, parameters

# The combination and the identity of each reduction over a row.
_JOINS = {
    "sum": ("acc + self", 0),
    "max": ("maximum(acc, self)", End.LOWEST),
    "min": ("minimum(acc, self)", End.HIGHEST),
}


@dataclass(frozen=True)
class Value:
    """One expression and the C names of the row's values that it reads, directly (`direct`) or through others."""

    name: str
    line: int
    each: Emitted
    reads: frozenset[str]
    direct: frozenset[str]
    slot: int | None = None
    """Its index among the reductions; None if it is computed from other values."""
    combine: Emitted | None = None
    identity: str = ""
    block: BlockCall | None = None
    """The function of rows whose result `each` uses, which is called for many elements at once."""

    @property
    def calls(self) -> bool:
        """True if `each` calls functions whose vector and scalar forms differ in the last bit."""
        return self.block is not None or is_inexact(self.each)


@dataclass(frozen=True)
class RowsKernel:
    """Context of rows.c.j2 for one dtype."""

    suffix: str
    enum: str
    ctype: str
    lets: tuple[Value, ...]
    value: Value | None
    results: tuple[Value, ...]
    params: tuple[Variable, ...]
    keeps: int
    """The index of the reduction whose elements are all that `value` needs of the row, so that it reads these instead
    of `self`; -1 if there is none."""

    @property
    def has_blocks(self) -> bool:
        return any(value.block for value in (*self.lets, *([self.value] if self.value else [])))

    @property
    def stages(self) -> tuple[Value, ...]:
        return tuple(let for let in self.lets if let.slot is not None)

    @property
    def reads(self) -> frozenset[str]:
        values = (*self.lets, *self.results, *([self.value] if self.value else []))
        return frozenset().union(*(value.reads for value in values))

    @property
    def finish_reads(self) -> frozenset[str]:
        return frozenset().union(*(result.reads for result in self.results))


def kernels(operator: Operator, body: Rows) -> Iterator[RowsKernel]:
    for dtype in operator.compute_dtypes:
        lets: dict[str, Value] = {}
        for let in body.lets:
            name = variable(let.name)
            lets[name] = _value(operator, body, name, let.expression, dtype, lets, let.combine)
        reduction, expression = _kept_reduction(body)
        value = None if expression is None else _value(operator, body, "value", expression, dtype, lets)
        yield RowsKernel(
            suffix=dtype.suffix,
            enum=enum(dtype),
            ctype=dtype.c_type,
            lets=tuple(lets.values()),
            value=value,
            results=tuple(_value(operator, body, "result", result, dtype, lets) for result in body.results),
            params=parameters(operator, dtype),
            keeps=-1 if reduction is None else lets[variable(reduction)].slot or 0,
        )


def _kept_reduction(body: Rows) -> tuple[str | None, Expression | None]:
    """The last reduction if its elements are all that `value` needs of the row, with `value` in terms of these
    elements, which are then called `self`."""
    if body.value is None:
        return None, None
    last = next((let for let in reversed(body.lets) if let.combine is not None), None)
    if last is not None and "self" not in names(_with(body.value, last.expression, Literal(0))):
        return last.name, replace(body.value, tree=_with(body.value, last.expression, Name("self")))
    return None, body.value


def _with(value: Expression, element: Expression, new: Expr) -> Expr:
    return replaced(value.tree, element.tree, new)


def _value(
    operator: Operator,
    body: Rows,
    name: str,
    expression: Expression,
    dtype: DType,
    lets: dict[str, Value],
    combine: str | None = None,
) -> Value:
    direct = frozenset(map(variable, names(expression.tree)))
    reads = set(direct)
    # A value that is recomputed wherever it is read needs the values that it reads itself.
    for read in tuple(reads):
        if read in lets and lets[read].slot is None:
            reads |= lets[read].reads
    each = emit_expression(expression.tree, row_dtypes(operator, body, dtype), dtype)
    block = block_call(each, ("self",)) if combine is not None or name == "value" else None
    if block is not None:
        each = block.rest or emit_result(block.dtype)
    if combine is None:
        return Value(name, expression.line, each, frozenset(reads), direct, block=block)
    text, start = _JOINS[combine]
    joined = emit_expression(parse(text, ("acc", "self")), {"acc": dtype, "self": dtype}, dtype)
    slot = sum(let.slot is not None for let in lets.values())
    neutral = identity(start, dtype) if isinstance(start, End) else str(start)
    return Value(name, expression.line, each, frozenset(reads), direct, slot, joined, neutral, block)
