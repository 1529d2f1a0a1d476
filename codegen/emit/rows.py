"""Kernels of row operators, in each dtype of computation: their passes over a row, and what follows from these."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from ..dtypes import DType
from ..expr import Emitted, Expr, Literal, Name, names, parse, replaced
from ..expr.kernel_text import emit_expression, is_inexact, variable
from ..expr.lower import Env
from ..model.computation import row_dtypes
from ..model.operator import End, Expression, Extent, Let, Operator, Rows
from ..nest.of import identity
from .blocks import Stages, stages
from .expressions import Variable, enum, parameters

# The combination and the identity of each reduction over a row.
_JOINS = {
    "sum": ("acc + self", 0),
    "max": ("maximum(acc, self)", End.LOWEST),
    "min": ("minimum(acc, self)", End.HIGHEST),
}
_KEPT = "_kept"
"""The name of an element that a pass has left in the result's memory; no argument has such a name."""


@dataclass(frozen=True)
class Operand:
    """A tensor: its C name, and its place among the inputs; None: what a pass has left in the place of the result."""

    name: str
    ctype: str
    index: int | None


@dataclass(frozen=True)
class Value:
    """One expression and the C names that it reads: directly (`direct`), or through values that follow from others as
    well (`reads`)."""

    name: str
    line: int
    each: Emitted
    reads: frozenset[str]
    direct: frozenset[str]
    slot: int = 0
    """The index among the values of the row: reductions come first."""
    combine: Emitted | None = None
    identity: str = ""
    assigned: str = "="


@dataclass(frozen=True)
class Pass:
    """Values that are computed in one run over the row, the first of which is reduction `first`."""

    lets: tuple[Value, ...]
    first: int = 0
    keeps: bool = False
    """True if the elements of its only reduction are left in the result's memory."""
    stages: Stages | None = None
    """The calls of functions of rows, for many elements at once, whose results the values use."""

    @property
    def direct(self) -> frozenset[str]:
        return frozenset[str]().union(*(let.direct for let in self.lets))

    @property
    def reads(self) -> frozenset[str]:
        return frozenset[str]().union(*(let.reads for let in self.lets))

    @property
    def calls(self) -> bool:
        """True if it calls functions whose vector and scalar forms differ in the last bit."""
        return self.stages is not None or any(is_inexact(let.each) for let in self.lets)


@dataclass(frozen=True)
class Phase:
    """Values that follow from others once so many passes are done."""

    index: int
    lets: tuple[Value, ...]

    @property
    def given(self) -> frozenset[str]:
        """The names that they read besides each other."""
        own = {let.name for let in self.lets}
        return frozenset[str]().union(*(let.direct for let in self.lets)) - own


@dataclass(frozen=True)
class RowsKernel:
    """One dtype of computation."""

    suffix: str
    enum: str
    ctype: str
    elements: tuple[Operand, ...]
    per_row: tuple[Operand, ...]
    params: tuple[Variable, ...]
    lets: tuple[Value, ...]
    passes: tuple[Pass, ...]
    phases: tuple[Phase, ...]
    mapped: Pass | None
    """The last pass, which computes each element: results, and terms of sums over all rows."""
    results: tuple[Value, ...]
    side_by_side: bool
    """True if there are kernels that compute several rows at once."""

    has_complex_blocks = False

    @property
    def keeps(self) -> int:
        return next((index for index, each in enumerate(self.passes) if each.keeps), -1)

    @property
    def inputs_read(self) -> tuple[str, ...]:
        """The inputs that each pass reads, and what is computed in the end, as bits."""
        runs = (*self.passes, *([self.mapped] if self.mapped else []))
        return tuple(
            hex(sum(1 << each.index for each in self.elements if each.index is not None and each.name in run.direct))
            for run in runs
        )

    @property
    def has_blocks(self) -> bool:
        runs = (*self.passes, *([self.mapped] if self.mapped else []))
        return any(each.stages for each in runs)

    @property
    def finish_reads(self) -> frozenset[str]:
        return frozenset[str]().union(*(result.direct for result in self.results))


def kernels(operator: Operator, body: Rows) -> Iterator[RowsKernel]:
    """Yield the kernels of rows, for each dtype of computation."""
    kept, outputs = _kept(operator, body)
    for dtype in operator.compute_dtypes:
        env = row_dtypes(operator, body, dtype) | {_KEPT: dtype}
        reader = _Reader(env, dtype)
        for let in body.lets:
            reader.add(let)
        mapped = [
            reader.value(f"element_{index}", expression, "=" if extent is Extent.ELEMENT else "+=")
            for index, (extent, expression) in enumerate(outputs)
        ]
        operands = [
            Operand(variable(each.name), env[each.name].c_type, index) for index, each in enumerate(operator.inputs)
        ]
        rows = {variable(name) for name in body.per_row}
        lets = reader.placed()
        passes = tuple(_passes(lets, kept))
        yield RowsKernel(
            suffix=dtype.suffix,
            enum=enum(dtype),
            ctype=dtype.c_type,
            elements=(
                *(each for each in operands if each.name not in rows),
                *([Operand(variable(_KEPT), dtype.c_type, None)] if kept else []),
            ),
            per_row=tuple(each for each in operands if each.name in rows),
            params=parameters(operator, dtype),
            lets=tuple(lets.values()),
            passes=passes,
            phases=tuple(_phases(lets, passes)),
            mapped=_pass(mapped) if mapped else None,
            results=tuple(reader.value("result", each) for each in body.of(Extent.ROW)),
            side_by_side=not body.of(Extent.PLACE),
        )


def kinds(body: Rows) -> tuple[str, ...]:
    """Return the core's names for the extents of the results."""
    words = {Extent.ELEMENT: "OW_ROW_ELEMENT", Extent.ROW: "OW_ROW_RESULT", Extent.PLACE: "OW_ROW_SUM"}
    return tuple(words[extent] for extent, _ in body.outputs)


def bits(operator: Operator, tensors: frozenset[str]) -> str:
    """Return the positions of tensors among the inputs as bits, in C."""
    return hex(sum(1 << index for index, each in enumerate(operator.inputs) if each.name in tensors))


def _kept(operator: Operator, body: Rows) -> tuple[str | None, list[tuple[Extent, Expression]]]:
    """Return the last pass over the elements. If the only such result needs of the row just the elements of the last
    reduction: that reduction, and the result in terms of these elements."""
    outputs = [(extent, body.of(extent)) for extent in (Extent.ELEMENT, Extent.PLACE)]
    found = [(extent, each) for extent, expressions in outputs for each in expressions]
    last = next((let for let in reversed(body.lets) if let.combine is not None), None)
    if last is None or [extent for extent, _ in found] != [Extent.ELEMENT]:
        return None, found
    value = found[0][1]
    tensors = {each.name for each in operator.inputs} - body.per_row
    if tensors & names(_with(value, last.expression, Literal(0))):
        return None, found
    return last.name, [(Extent.ELEMENT, replace(value, tree=_with(value, last.expression, Name(_KEPT))))]


def _with(value: Expression, element: Expression, new: Expr) -> Expr:
    return replaced(value.tree, element.tree, new)


def _passes(lets: dict[str, Value], kept: str | None) -> Iterator[Pass]:
    """Reductions that follow each other run together where none needs another, but for those that call functions of
    rows, or leave their elements."""
    together: list[Value] = []
    for let in lets.values():
        if let.combine is None:
            continue
        is_kept = let.name == variable(kept or "")
        alone = is_kept or stages([let.each.root], ()) is not None
        if together and (alone or _needs(let, together)):
            yield _pass(together)
            together = []
        if alone:
            yield _pass([let], is_kept)
        else:
            together.append(let)
    if together:
        yield _pass(together)


def _pass(values: Sequence[Value], keeps: bool = False) -> Pass:
    staged = stages([each.each.root for each in values], ())
    if staged is not None:
        values = [replace(each, each=rest) for each, rest in zip(values, staged.rest, strict=True)]
    return Pass(tuple(values), values[0].slot, keeps, staged)


def _phases(lets: dict[str, Value], passes: Sequence[Pass]) -> Iterator[Phase]:
    after = {let.name: index + 1 for index, each in enumerate(passes) for let in each.lets}
    for let in lets.values():
        if let.combine is None:
            after[let.name] = max((after[name] for name in let.reads if name in after), default=0)
    for index in range(len(passes) + 1):
        yield Phase(index, tuple(let for let in lets.values() if let.combine is None and after[let.name] == index))


def _needs(let: Value, others: Sequence[Value]) -> bool:
    return any(other.name in let.reads for other in others)


class _Reader:
    """Values of a row, in one dtype."""

    def __init__(self, env: Env, dtype: DType) -> None:
        self.env = env
        self.dtype = dtype
        self.lets: dict[str, Value] = {}

    def add(self, let: Let) -> None:
        name = variable(let.name)
        value = self.value(name, let.expression)
        if let.combine is not None:
            text, start = _JOINS[let.combine]
            joined = emit_expression(parse(text, ("acc", "self")), {"acc": self.dtype, "self": self.dtype}, self.dtype)
            neutral = identity(start, self.dtype) if isinstance(start, End) else str(start)
            value = replace(value, combine=joined, identity=neutral)
        self.lets[name] = value

    def placed(self) -> dict[str, Value]:
        """All values, with their slots."""
        order = sorted(self.lets.values(), key=lambda let: let.combine is None)
        slots = {let.name: slot for slot, let in enumerate(order)}
        return {name: replace(let, slot=slots[name]) for name, let in self.lets.items()}

    def value(self, name: str, expression: Expression, assigned: str = "=") -> Value:
        direct = frozenset(map(variable, names(expression.tree)))
        reads = set(direct)
        for read in tuple(reads):
            if read in self.lets and self.lets[read].combine is None:
                reads |= self.lets[read].reads
        each = emit_expression(expression.tree, self.env, self.dtype)
        return Value(name, expression.line, each, frozenset(reads), direct, assigned=assigned)
