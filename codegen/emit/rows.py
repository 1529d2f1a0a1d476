"""Kernels of row operators: the passes over a row that their loop nest takes, and what follows from these."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from ..dtypes import DType
from ..expr import Emitted, parse
from ..expr.kernel_text import emit_expression, emit_tree, is_inexact, variable
from ..expr.typed import Arg, names, replaced
from ..model.computation import row_dtypes
from ..model.operator import Extent, Operator, Rows
from ..nest.nodes import Axis, Identity, Join, Map, Node, Store
from ..nest.of import of
from .blocks import Stages, stages
from .expressions import Variable, enum, parameters

_JOINS = {"sum": "acc + self", "max": "maximum(acc, self)", "min": "minimum(acc, self)"}
"""The combinations of reductions over a row."""
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
    def _runs(self) -> tuple[Pass, ...]:
        return self.passes if self.mapped is None else (*self.passes, self.mapped)

    @property
    def inputs_read(self) -> tuple[str, ...]:
        """The inputs that each pass reads, and what is computed in the end, as bits."""
        return tuple(
            hex(sum(1 << each.index for each in self.elements if each.index is not None and each.name in run.direct))
            for run in self._runs
        )

    @property
    def has_blocks(self) -> bool:
        return any(each.stages for each in self._runs)

    @property
    def finish_reads(self) -> frozenset[str]:
        return frozenset[str]().union(*(result.direct for result in self.results))


def kernels(operator: Operator, body: Rows) -> Iterator[RowsKernel]:
    """Yield the kernels of rows, for each dtype of computation."""
    return (_kernel(operator, body, dtype) for dtype in operator.compute_dtypes)


def _kernel(operator: Operator, body: Rows, dtype: DType) -> RowsKernel:
    env = row_dtypes(operator, body, dtype)
    operands = [
        Operand(variable(each.name), env[each.name].c_type, index) for index, each in enumerate(operator.inputs)
    ]
    rows = {variable(name) for name in body.per_row | body.per_piece}
    elements = [each for each in operands if each.name not in rows]
    row = _Row(operator, dtype)
    kept = row.keep(frozenset(each.name for each in elements))
    passes = tuple(_passes(row.lets, kept))
    return RowsKernel(
        suffix=dtype.suffix,
        enum=enum(dtype),
        ctype=dtype.c_type,
        elements=(*elements, *([Operand(variable(_KEPT), dtype.c_type, None)] if kept else [])),
        per_row=tuple(each for each in operands if each.name in rows),
        params=parameters(operator, dtype),
        lets=tuple(row.lets.values()),
        passes=passes,
        phases=tuple(_phases(row.lets, passes)),
        mapped=_pass(row.mapped) if row.mapped else None,
        results=tuple(row.results),
        side_by_side=not body.of(Extent.PLACE),
    )


def kinds(body: Rows) -> tuple[str, ...]:
    """Return the core's names for the extents of the results."""
    words = {Extent.ELEMENT: "OW_ROW_ELEMENT", Extent.ROW: "OW_ROW_RESULT", Extent.PLACE: "OW_ROW_SUM"}
    return tuple(words[extent] for extent, _ in body.outputs)


def bits(operator: Operator, tensors: frozenset[str]) -> str:
    """Return the positions of tensors among the inputs as bits, in C."""
    return hex(sum(1 << index for index, each in enumerate(operator.inputs) if each.name in tensors))


def _passes(lets: dict[str, Value], kept: str) -> Iterator[Pass]:
    """Reductions that follow each other run together where none needs another, but for those that call functions of
    rows, or leave their elements."""
    together: list[Value] = []
    for let in lets.values():
        if let.combine is None:
            continue
        is_kept = let.name == kept
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


class _Row:
    """The values that the loop nest of an operator computes of a row, in one dtype."""

    def __init__(self, operator: Operator, dtype: DType) -> None:
        self.dtype = dtype
        self.lets: dict[str, Value] = {}
        self.mapped: list[Value] = []
        self.results: list[Value] = []
        for axis in of(operator, dtype):
            if isinstance(axis, Axis):
                self._read(axis.body)
        # Slots of reductions come first.
        order = sorted(self.lets.values(), key=lambda let: let.combine is None)
        slots = {let.name: slot for slot, let in enumerate(order)}
        self.lets = {name: replace(let, slot=slots[name]) for name, let in self.lets.items()}

    def _read(self, nodes: Iterable[Node]) -> None:
        identities: dict[str, str] = {}
        env = {"acc": self.dtype, "self": self.dtype}
        for node in nodes:
            match node:
                case Identity(name, _, value):
                    identities[name] = value
                case Map(name, _, value, line=line):
                    self.lets[variable(name)] = self._value(variable(name), line, value)
                case Axis(body=(Join(name, how, element, line=line),)):
                    joined = emit_expression(parse(_JOINS[how], tuple(env)), env, self.dtype)
                    reduced = self._value(variable(name), line, element)
                    self.lets[variable(name)] = replace(reduced, combine=joined, identity=identities[name])
                case Axis(body=stores):
                    self.mapped = list(self._elements(each for each in stores if isinstance(each, Store)))
                case Store(value=value, line=line):
                    self.results.append(self._value("result", line, value))

    def _elements(self, stores: Iterable[Store]) -> Iterator[Value]:
        """Yield the values of elements; what is added to the sums over all rows comes behind."""
        for index, store in enumerate(sorted(stores, key=lambda each: each.adds)):
            value = self._value(f"element_{index}", store.line, store.value)
            yield replace(value, assigned="+=" if store.adds else "=")

    def _value(self, name: str, line: int, each: Emitted) -> Value:
        direct = frozenset(map(variable, names(each.root)))
        indirect = (self.lets[read].reads for read in direct if read in self.lets and not self.lets[read].combine)
        return Value(name, line, each, direct.union(*indirect), direct)

    def keep(self, elements: frozenset[str]) -> str:
        """Return the last reduction, if the only result that has elements needs of the row just those of this
        reduction, and let it read them; otherwise nothing."""
        last = next((let for let in reversed(self.lets.values()) if let.combine is not None), None)
        if last is None or [each.assigned for each in self.mapped] != ["="]:
            return ""
        (value,) = self.mapped
        root = replaced(value.each.root, {last.each.root: Arg(self.dtype, _KEPT)})
        if elements & set(map(variable, names(root))):
            return ""
        self.mapped = [self._value(value.name, value.line, emit_tree(root))]
        return last.name
