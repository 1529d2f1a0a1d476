"""Loop nests of expressions over indices: loops of the variables of results, and those of reductions within."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import starmap

from ..dtypes import BOOL, DType
from ..expr import Apply, Emitted, Expr, Name, names, substitute
from ..expr.atoms import Atom, Fold, Integer, Range, Read, within
from ..expr.functions import FUNCTIONS
from ..expr.functions.lists import ITEM
from ..expr.geometry import Geometry
from ..expr.indexed import POSITIONS, SHAPE, conjuncts, vanishes
from ..expr.kernel_text import TARGET, emit_tree
from ..expr.lower import lower
from ..expr.typed import Arg, Cast, Const, Op
from ..model.computation import computed_dtype
from ..model.compute import Border, Compute, Size
from ..model.operator import Operator
from ..model.places import Places
from ..model.recurrence import order
from ..model.unrolled import by_position
from .nodes import (
    NEUTRAL,
    Axis,
    Comment,
    Count,
    Find,
    Front,
    Guard,
    Identity,
    Join,
    Load,
    Map,
    Node,
    Place,
    Reduction,
    Store,
    Table,
    Truncated,
)

_FRONT = "..."
"""The text that stands for the dimensions in front, also where kernels have an index of them."""


def compute(operator: Operator, body: Compute, dtype: DType) -> Iterator[Node]:
    """Yield the loops in one dtype."""
    outputs = [computed_dtype(operator, body, index, dtype) for index in range(len(body.results))]
    return of_part(operator, body if body.places else by_position(body), dtype, outputs)


def of_part(operator: Operator, body: Compute, dtype: DType, outputs: Sequence[DType]) -> Iterator[Node]:
    """Yield the loops of a body that may be a part of the operator's, whose results have these dtypes."""
    return _Nest(operator, body, dtype, outputs).nodes()


class _Nest:
    def __init__(self, operator: Operator, body: Compute, dtype: DType, outputs: Sequence[DType]) -> None:
        self.outputs = outputs
        self.labels = [label or "result" for label in operator.labels]
        self.own = {each.name: label for each, label in zip(body.results, self.labels, strict=False) if body.own}
        self.body = body
        self.dtype = dtype
        self.env = dict(self.body.env({each.name: dtype for each in operator.params}, dtype))
        self.texts: dict[str, str] = {name: name for name in self.env}
        self.counted = 0
        self.without_loops: dict[str, tuple[Node, ...]] = {}
        """The elements and integers that one is made of, by name; none: there are reductions among them."""

    def nodes(self) -> Iterator[Node]:
        yield Comment(self._described())
        for name, tree in self.body.let:
            if not tree.dtype.is_list:
                yield Map(name, "int64_t", Emitted((), (_integer(tree),), False, tree), constant=True)
        for name, table in self.body.tables.items():
            dtype = self.body.read_dtype(Read(name, (), False), self.dtype)
            yield Table(name, dtype, table.sizes, tuple(table.numbers))
        for name, tree in self.body.uniforms.items():
            yield self._known(name, _integer(tree))
        if self.body.over_batch:
            yield Front(self.body.names[0])
            self.texts[self.body.names[0]] = _FRONT
        nodes = tuple(node for index, each in enumerate(self.body.results) for node in self._result(index, each.tree))
        found = order(self.body)
        for name, size in reversed(self.body.variables):
            if self.texts[name] != _FRONT:
                is_sequence = found is not None and self.body.names.index(name) >= found.independent
                descends = found is not None and found.descending and is_sequence
                waits = found is not None and found.along_line and name == self.body.names[-1]
                nodes = (Axis(name, self._extent(size), nodes, descending=descends, in_order=waits),)
        yield from nodes

    def _described(self) -> str:
        front = "all positions of the dimensions in front; " if self.body.batched or self.body.over_batch else ""
        shared = "threads share the lines" if order(self.body) is None else "elements follow each other in this order"
        shared = "terms are combined in this order" if self.body.places else shared
        last = f"; the last line along {', '.join(self.body.last)} is the result" if self.body.last else ""
        return f"{front}{shared}{last}"

    def _known(self, name: str, text: str, place: Place | None = None) -> Load:
        self.texts[name] = text
        return Load(name, text, place)

    def _extent(self, size: Size) -> str:
        return f"{size.tensor}.size({size.dim})" if size.geometry is None else _integer(size.geometry)

    def _result(self, index: int, tree: Expr) -> Iterator[Node]:
        count = max(1, len(self.body.results) // len(self.outputs))
        output, position = divmod(index, count)
        yield from self._atoms(tree)
        label, dtype = self.labels[output], self.outputs[output]
        if self.body.places:
            yield from self._combined(label, self.body.places[index], tree, dtype)
            return
        places = [*([_FRONT] if self.body.batched else []), *(self.texts[name] for name in self.body.names)]
        places += _digits(position, self.body.small)
        line = self.body.results[index].line
        yield Store((f"{label}[{', '.join(places)}]",), self._emit(tree, dtype), line=line)

    def _combined(self, label: str, places: Places, tree: Expr, dtype: DType) -> Iterator[Node]:
        """Yield the term, where it belongs."""
        for each in places.indices:
            yield from self._atoms(each.tree)
        front = [_FRONT] if self.body.batched else []
        target = f"{label}[{', '.join([*front, *(self._words(each.tree) for each in places.indices)])}]"
        is_mean = places.combination == "mean"
        yield Join(target, "sum" if is_mean else places.combination, self._emit(tree, dtype), compound=True)
        if is_mean:
            yield Comment("divided by the number of terms in the end")

    def _atoms(self, tree: Expr) -> Iterator[Node]:
        """Yield the elements and integers of an expression, and the loops of its reductions."""
        for name in sorted(names(tree) & self.body.atoms.keys()):
            if name not in self.without_loops:
                parts = dict(within(self.body.atoms, Name(name)))
                has_loops = any(isinstance(each, Fold) for each in parts.values())
                self.without_loops[name] = () if has_loops else tuple(starmap(self._element, parts.items()))
            atom = self.body.atoms[name]
            if self.without_loops[name]:
                yield from self.without_loops[name]
            elif isinstance(atom, Fold):
                yield from self._fold(name, atom)
            else:
                for each in atom.expressions:
                    yield from self._atoms(each)
                yield self._element(name, atom)

    def _element(self, name: str, atom: Atom) -> Load | Truncated:
        """Return an element or an integer whose parts are there already."""
        if isinstance(atom, Read):
            places = [*([_FRONT] if atom.batched else []), *map(self._words, atom.indices)]
            element = f"{self.own.get(atom.tensor, atom.tensor)}[{', '.join(places)}]"
            return self._known(name, element, self._place(atom))
        assert isinstance(atom, Integer)
        value = emit_tree(lower(atom.value, self.env, native=TARGET.native), self.texts)
        self.texts[name] = f"(int64_t)({value.value})"
        return Truncated(name, self.texts[name], value)

    def _place(self, read: Read) -> Place:
        return Place(
            read.tensor,
            read.indices,
            tuple(map(self.body.index, read.indices)),
            tuple(self.body.is_sure(read, dim) for dim in range(len(read.indices))),
            self.body.outside.get(read.tensor, Border.ERROR),
            self.body.read_dtype(read, self.dtype),
            read.tensor in self.body.optional,
            read.tensor in self.body.own,
        )

    def _fold(self, name: str, fold: Fold) -> Iterator[Node]:
        kind, dtype = fold.reduction.removeprefix("arg"), self.body.value_dtype(fold, self.env)
        value = f"{kind}_{self.counted}" if self.counted else kind
        self.counted += 1
        begun = [Identity(value, dtype.c_type, NEUTRAL[kind])]
        if fold.reduction in POSITIONS:
            begun += (Identity(f"{value}_{each}", "int64_t", "-1") for each in ("at", "counted"))
        body = (*begun, *self._steps(fold, fold.ranges, value, dtype))
        self.texts[name] = f"{value}_at" if fold.reduction in POSITIONS else value
        most, tested, is_safe = self.body.most(fold, self.env), self.body.tested(fold), self.body.cannot_fail(fold)
        yield Reduction(name, self.texts[name], body, most, tested, is_safe)

    def _steps(self, fold: Fold, ranges: Sequence[Range], value: str, dtype: DType) -> Iterator[Node]:
        """Yield the loops over ranges, and what is done in each step."""
        if ranges:
            first, *others = ranges
            for bound in (first.first, first.stop):
                yield from self._atoms(bound)
            start, stop = self._words(first.first), self._words(first.stop)
            yield Axis(first.name, stop, tuple(self._steps(fold, others, value, dtype)), start, range=first)
            return
        if fold.reduction in POSITIONS:
            yield Count(value)
        if fold.condition is not None:
            yield from self._atoms(fold.condition)
            yield Guard(self._emit(fold.condition, BOOL), skips=True, tests=tuple(conjuncts(fold.condition)))
        yield from self._atoms(fold.value)
        element, how = self._emit(fold.value, dtype), fold.reduction.removeprefix("arg")
        if fold.reduction in POSITIONS:
            yield Find(value, how, element)
        else:
            used = names(fold.value) if how == "sum" else ()
            vanishing = frozenset(each for each in used if vanishes(fold.value, each.__eq__))
            is_product = isinstance(fold.value, Apply) and fold.value.function == "mul"
            yield Join(value, how, element, compound=True, is_product=is_product, vanishing=vanishing)

    def _words(self, tree: Expr) -> str:
        """Return an index or a bound in the words of the entry."""
        return str(substitute(tree, {name: Name(self.texts[name]) for name in names(tree)}))

    def _emit(self, tree: Expr, dtype: DType) -> Emitted:
        return emit_tree(lower(tree, self.env, dtype, TARGET.native))


def _digits(position: int, sizes: Sequence[int]) -> list[str]:
    found: list[str] = []
    for size in reversed(sizes):
        position, digit = divmod(position, size)
        found.insert(0, str(digit))
    return found


def _integer(tree: Geometry) -> str:
    """Return an integer of the call in the words of entries."""
    if isinstance(tree, Arg):
        return tree.name
    if isinstance(tree, Const):
        return str(int(tree.value))
    if isinstance(tree, Cast):
        return _integer(tree.operand)
    assert isinstance(tree, Op)
    parts = [_integer(each) for each in tree.operands]
    if tree.function == ITEM:
        tensor = parts[0].removesuffix(SHAPE)
        return f"{parts[0]}[{parts[1]}]" if tensor == parts[0] else f"{tensor}.size({parts[1]})"
    if tree.function == "neg":
        return f"-{parts[0]}"
    symbol = FUNCTIONS[tree.function].symbol if tree.function in FUNCTIONS else None
    return f"({f' {symbol} '.join(parts)})" if symbol and len(parts) == 2 else f"{tree.function}({', '.join(parts)})"
