"""Loop nests of expressions over indices: loops of the variables of results, and those of reductions within."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..dtypes import BOOL, DType
from ..expr import Emitted, Expr, Name, names, substitute
from ..expr.atoms import Fold, Integer, Range, Read
from ..expr.functions import FUNCTIONS
from ..expr.functions.lists import ITEM
from ..expr.geometry import Geometry
from ..expr.indexed import POSITIONS, SHAPE
from ..expr.kernel_text import TARGET, emit_tree
from ..expr.lower import lower
from ..expr.typed import Arg, Cast, Const, Op
from ..model.computation import computed_dtype
from ..model.compute import Compute, Size
from ..model.operator import Operator
from ..model.places import Places
from ..model.recurrence import order
from ..model.unrolled import by_position
from .nodes import NEUTRAL, Axis, Comment, Count, Find, Guard, Identity, Join, Load, Map, Node, Store, Table

_FRONT = "..."
"""The text that stands for the dimensions in front, also where kernels have an index of them."""


def compute(operator: Operator, body: Compute, dtype: DType) -> Iterator[Node]:
    """Yield the loops in one dtype."""
    return _Nest(operator, body, dtype).nodes()


class _Nest:
    def __init__(self, operator: Operator, body: Compute, dtype: DType) -> None:
        self.outputs = [computed_dtype(operator, body, index, dtype) for index in range(len(body.results))]
        self.labels = [label or "result" for label in operator.labels]
        self.own = {each.name: label for each, label in zip(body.results, self.labels, strict=False) if body.own}
        self.body = body if body.places else by_position(body)
        self.dtype = dtype
        self.env = dict(self.body.env({each.name: dtype for each in operator.params}, dtype))
        self.texts: dict[str, str] = {name: name for name in self.env}
        self.counted = 0

    def nodes(self) -> Iterator[Node]:
        yield Comment(self._described())
        for name, tree in self.body.let:
            if not tree.dtype.is_list:
                yield Map(name, "int64_t", Emitted((), (_integer(tree),), False, tree), constant=True)
        for name, table in self.body.tables.items():
            dtype = self.body.read_dtype(Read(name, (), False), self.dtype)
            yield Table(name, dtype.c_type, table.sizes, tuple(map(str, table.numbers)))
        for name, tree in self.body.uniforms.items():
            yield self._known(name, _integer(tree))
        if self.body.over_batch:
            yield self._known(self.body.names[0], _FRONT)
        nodes = tuple(node for index, each in enumerate(self.body.results) for node in self._result(index, each.tree))
        found = order(self.body)
        for name, size in reversed(self.body.variables):
            if self.texts[name] != _FRONT:
                is_sequence = found is not None and self.body.names.index(name) >= found.independent
                descends = found is not None and found.descending and is_sequence
                nodes = (Axis(name, self._extent(size), nodes, descending=descends),)
        yield from nodes

    def _described(self) -> str:
        front = "all positions of the dimensions in front; " if self.body.batched or self.body.over_batch else ""
        shared = "threads share the lines" if order(self.body) is None else "elements follow each other in this order"
        shared = "terms are combined in this order" if self.body.places else shared
        last = f"; the last line along {', '.join(self.body.last)} is the result" if self.body.last else ""
        return f"{front}{shared}{last}"

    def _known(self, name: str, text: str) -> Load:
        self.texts[name] = text
        return Load(name, text)

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
        yield Store((f"{label}[{', '.join(places)}]",), self._emit(tree, dtype))

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
            atom = self.body.atoms[name]
            if isinstance(atom, Fold):
                yield from self._fold(name, atom)
                continue
            for each in atom.expressions:
                yield from self._atoms(each)
            if isinstance(atom, Read):
                places = [*([_FRONT] if atom.batched else []), *map(self._words, atom.indices)]
                yield self._known(name, f"{self.own.get(atom.tensor, atom.tensor)}[{', '.join(places)}]")
            elif isinstance(atom, Integer):
                node = lower(atom.value, self.env, self.dtype, TARGET.native)
                yield self._known(name, f"(int64_t)({emit_tree(node, self.texts).value})")

    def _fold(self, name: str, fold: Fold) -> Iterator[Node]:
        kind, dtype = fold.reduction.removeprefix("arg"), self.body.value_dtype(fold, self.env)
        value = f"{kind}_{self.counted}" if self.counted else kind
        self.counted += 1
        yield Identity(value, dtype.c_type, NEUTRAL[kind])
        if fold.reduction in POSITIONS:
            yield from (Identity(f"{value}_{each}", "int64_t", "-1") for each in ("at", "counted"))
        yield from self._steps(fold, fold.ranges, value, dtype)
        yield self._known(name, f"{value}_at" if fold.reduction in POSITIONS else value)

    def _steps(self, fold: Fold, ranges: Sequence[Range], value: str, dtype: DType) -> Iterator[Node]:
        """Yield the loops over ranges, and what is done in each step."""
        if ranges:
            first, *others = ranges
            for bound in (first.first, first.stop):
                yield from self._atoms(bound)
            start, stop = self._words(first.first), self._words(first.stop)
            yield Axis(first.name, stop, tuple(self._steps(fold, others, value, dtype)), start)
            return
        if fold.reduction in POSITIONS:
            yield Count(value)
        if fold.condition is not None:
            yield from self._atoms(fold.condition)
            yield Guard(self._emit(fold.condition, BOOL), skips=True)
        yield from self._atoms(fold.value)
        element, how = self._emit(fold.value, dtype), fold.reduction.removeprefix("arg")
        yield Find(value, how, element) if fold.reduction in POSITIONS else Join(value, how, element, compound=True)

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
