"""The loops of expressions over indices as people write them, for `opweave show`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ...dtypes import BOOL, DType
from ...expr import Emitted, Expr, Name, names, substitute
from ...expr.atoms import Fold, Integer, Read
from ...expr.functions import FUNCTIONS
from ...expr.functions.lists import ITEM
from ...expr.geometry import Geometry
from ...expr.indexed import POSITIONS, SHAPE
from ...expr.kernel_text import TARGET, emit_tree
from ...expr.lower import lower
from ...expr.typed import Arg, Cast, Const, Op
from ...model.computation import computed_dtype
from ...model.compute import Compute, Size
from ...model.operator import Operator
from ...model.places import Places
from ...model.recurrence import order
from ...model.unrolled import by_position

_START = {"sum": "0", "prod": "1", "max": "-INFINITY", "min": "INFINITY", "any": "0", "all": "1"}
_JOINED = {"sum": "{0} + ({1})", "prod": "{0} * ({1})", "max": "maximum({0}, {1})", "min": "minimum({0}, {1})",
           "any": "{0} || ({1})", "all": "{0} && ({1})"}  # fmt: skip
_FRONT = "..."
"""The text that stands for the dimensions in front, also where kernels have an index of them."""


def nest(operator: Operator, body: Compute, dtype: DType) -> list[str]:
    """The lines of the loops in one dtype."""
    return list(_Nest(operator, body, dtype).lines())


class _Nest:
    def __init__(self, operator: Operator, body: Compute, dtype: DType) -> None:
        self.outputs = [computed_dtype(operator, body, index, dtype) for index in range(len(body.results))]
        self.labels = [label or "result" for label in operator.labels]
        self.own = {each.name: label for each, label in zip(body.results, self.labels, strict=False) if body.own}
        self.body = body if body.places else by_position(body)
        self.dtype = dtype
        self.env = dict(self.body.env({each.name: dtype for each in operator.params}, dtype))
        self.texts: dict[str, str] = {name: name for name in self.env}
        self.texts |= {name: integer_text(tree) for name, tree in self.body.uniforms.items()}
        if self.body.over_batch:
            self.texts[self.body.names[0]] = _FRONT
        self.counted = 0

    def lines(self) -> Iterator[str]:
        front = "all positions of the dimensions in front; " if self.body.batched or self.body.over_batch else ""
        found = order(self.body)
        shared = "threads share the lines" if found is None else "elements follow each other in this order"
        shared = "terms are combined in this order" if self.body.places else shared
        if self.body.last:
            shared += f"; the last line along {', '.join(self.body.last)} is the result"
        yield f"/* {front}{shared} */"
        for name, tree in self.body.let:
            if not tree.dtype.is_list:
                yield f"const int64_t {name} = {integer_text(tree)};"
        for name, table in self.body.tables.items():
            kind = self.body.read_dtype(Read(name, (), False), self.dtype).c_type
            sizes = "".join(f"[{size}]" for size in table.sizes)
            yield f"static const {kind} {name}{sizes} = {{{', '.join(map(str, table.numbers))}}};"
        loops = [each for each in self.body.variables if self.texts[each[0]] != _FRONT]
        for name, size in loops:
            if found is not None and found.descending and self.body.names.index(name) >= found.independent:
                yield f"for (int64_t {name} = {self._extent(size)} - 1; {name} >= 0; {name}--) {{"
            else:
                yield _loop(name, "0", self._extent(size))
        for index, each in enumerate(self.body.results):
            yield from self._result(index, each.tree)
        yield from "}" * len(loops)

    def _extent(self, size: Size) -> str:
        return f"{size.tensor}.size({size.dim})" if size.geometry is None else integer_text(size.geometry)

    def _result(self, index: int, tree: Expr) -> Iterator[str]:
        count = max(1, len(self.body.results) // len(self.outputs))
        output, position = divmod(index, count)
        yield from self._atoms(tree)
        if self.body.places:
            yield from self._combined(self.labels[output], self.body.places[index], tree, self.outputs[output])
            return
        places = [*([_FRONT] if self.body.batched else []), *(self.texts[name] for name in self.body.names)]
        if self.body.small:
            places += _digits(position, self.body.small)
        yield from self._assigned(f"{self.labels[output]}[{', '.join(places)}]", tree, self.outputs[output])

    def _combined(self, label: str, places: Places, tree: Expr, dtype: DType) -> Iterator[str]:
        """The term, where it belongs."""
        for each in places.indices:
            yield from self._atoms(each.tree)
        computed = self._emit(tree, dtype)
        yield from computed.statements
        front = [_FRONT] if self.body.batched else []
        target = f"{label}[{', '.join([*front, *(self._words(each.tree) for each in places.indices)])}]"
        kind = "sum" if places.combination == "mean" else places.combination
        end = " /* divided by their number in the end */" if places.combination == "mean" else ""
        yield f"{target} = {_JOINED[kind].format(target, computed.value)};{end}"

    def _atoms(self, tree: Expr) -> Iterator[str]:
        """The texts of elements and integers, and the loops of reductions."""
        for name in sorted(names(tree) & self.body.atoms.keys()):
            atom = self.body.atoms[name]
            if isinstance(atom, Fold):
                yield from self._fold(name, atom)
                continue
            for each in atom.expressions:
                yield from self._atoms(each)
            if isinstance(atom, Read):
                places = [
                    *([_FRONT] if atom.batched else []),
                    *map(self._words, atom.indices),
                ]
                self.texts[name] = f"{self.own.get(atom.tensor, atom.tensor)}[{', '.join(places)}]"
            elif isinstance(atom, Integer):
                self.texts[name] = f"(int64_t)({self._emit(atom.value, self.dtype).value})"

    def _fold(self, name: str, fold: Fold) -> Iterator[str]:
        kind, dtype = fold.reduction.removeprefix("arg"), self.body.value_dtype(fold, self.env)
        value = f"{kind}_{self.counted}" if self.counted else kind
        self.counted += 1
        yield f"{dtype.c_type} {value} = {_START[kind]};"
        if fold.reduction in POSITIONS:
            yield f"int64_t {value}_at = -1, {value}_counted = -1;"
        for each in fold.ranges:
            for bound in (each.first, each.stop):
                yield from self._atoms(bound)
            yield _loop(each.name, self._words(each.first), self._words(each.stop))
        if fold.reduction in POSITIONS:
            yield f"{value}_counted++;"
        if fold.condition is not None:
            yield from self._atoms(fold.condition)
            yield f"if (!({self._emit(fold.condition, BOOL).value})) continue;"
        yield from self._atoms(fold.value)
        computed = self._emit(fold.value, dtype)
        yield from computed.statements
        if fold.reduction in POSITIONS:
            yield f"if ({value}_at < 0 || {computed.value} {'>' if kind == 'max' else '<'} {value}) {{"
            yield from (f"{value} = {computed.value};", f"{value}_at = {value}_counted;", "}")
            self.texts[name] = f"{value}_at"
        else:
            yield f"{value} = {_JOINED[kind].format(value, computed.value)};"
            self.texts[name] = value
        yield from "}" * len(fold.ranges)

    def _assigned(self, target: str, tree: Expr, dtype: DType) -> Iterator[str]:
        computed = self._emit(tree, dtype)
        yield from computed.statements
        yield f"{target} = {computed.value};"

    def _words(self, tree: Expr) -> str:
        """An index or a bound, in the words of the entry."""
        return str(substitute(tree, {name: Name(self.texts[name]) for name in names(tree)}))

    def _emit(self, tree: Expr, dtype: DType) -> Emitted:
        return emit_tree(lower(tree, self.env, dtype, TARGET.native), self.texts)


def _loop(name: str, first: str, stop: str) -> str:
    return f"for (int64_t {name} = {first}; {name} < {stop}; {name}++) {{"


def _digits(position: int, sizes: Sequence[int]) -> list[str]:
    found: list[str] = []
    for size in reversed(sizes):
        position, digit = divmod(position, size)
        found.insert(0, str(digit))
    return found


def integer_text(tree: Geometry) -> str:
    """An integer of the call in the words of entries."""
    if isinstance(tree, Arg):
        return tree.name
    if isinstance(tree, Const):
        return str(int(tree.value))
    if isinstance(tree, Cast):
        return integer_text(tree.operand)
    assert isinstance(tree, Op)
    parts = [integer_text(each) for each in tree.operands]
    if tree.function == ITEM:
        tensor = parts[0].removesuffix(SHAPE)
        return f"{parts[0]}[{parts[1]}]" if tensor == parts[0] else f"{tensor}.size({parts[1]})"
    if tree.function == "neg":
        return f"-{parts[0]}"
    symbol = FUNCTIONS[tree.function].symbol if tree.function in FUNCTIONS else None
    return f"({f' {symbol} '.join(parts)})" if symbol and len(parts) == 2 else f"{tree.function}({', '.join(parts)})"
