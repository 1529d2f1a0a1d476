"""Expressions over indices: elements at computed positions, and reductions over ranges of integers.

    sum(self[..., y * s + i, x * s + j] * weight[i, j] for i in range(3) for j in range(3)) + bias[0]

is read into a tree of the language of elements (tree.py) in which every element, reduction and conversion to an integer
is a name, its *atom* (atoms.py). So the passes over expressions (types, C, derivatives, NumPy) are those of all
expressions, and only who makes loops looks into the atoms.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import TYPE_CHECKING

from . import random
from .atoms import Atoms, Fold, Integer, Range, Read
from .errors import raise_all
from .functions import ROWS
from .functions.lists import ITEM, LENGTH
from .parse import Family, OwnFunction, Reader, truth
from .source import Source
from .tables import Table
from .tree import NOWHERE, Apply, Expr, Literal, Name, Span

if TYPE_CHECKING:
    from ..source import Scalar

REDUCTIONS = ("sum", "prod", "max", "min", "any", "all", "argmax", "argmin")
"""The reductions that a generator of values can be given to."""
_MEAN, _SQUARES = "sum(value for i in range(n)) / n", "sum((value - mean) ** 2 for i in range(n)) / n"
_IN_ORDER = "rows have an order, by the keys 'rows' and 'sorted'"
_FOREIGN_REDUCTIONS: Mapping[str, str] = {
    **dict.fromkeys(("mean", "average", "avg"), f"it is {_MEAN}, and {{mean: value}} of places"),
    **dict.fromkeys(("var", "variance"), f"it is {_SQUARES}, with the name 'mean' in 'let'"),
    **dict.fromkeys(("std", "stdev"), f"it is sqrt({_SQUARES}), with the name 'mean' in 'let'"),
    "norm": "it is sqrt(sum(value ** 2 for i in range(n)))",
    "logsumexp": "it is top + log(sum(exp(value - top) for i in range(n))), with the maximum 'top' in 'let'",
    "softmax": "it is exp(x[i] - top) / total, with the maximum 'top' and the sum 'total' in 'let'",
    **dict.fromkeys(("count", "count_nonzero", "len"), "it is sum(condition for i in range(n))"),
    **dict.fromkeys(("product", "mul"), "it is called 'prod' here"),
    **dict.fromkeys(("amax", "maximum"), "it is called 'max' here"),
    **dict.fromkeys(("amin", "minimum"), "it is called 'min' here"),
    **dict.fromkeys(("median", "quantile", "sort", "sorted", "argsort", "topk"), _IN_ORDER),
    **dict.fromkeys(
        ("cumsum", "cumprod", "accumulate"), "it is 'value[i]: value[i - 1] + x[i]' and an 'outside' of value"
    ),
}
"""The names of reductions in other languages, with the ones to use here."""
POSITIONS = frozenset(("argmax", "argmin"))
"""Reductions whose value is where the element stands, counted through the ranges, the last of which runs fastest."""
SHAPE = ".shape"
"""Ends the name that stands for the list of a tensor's sizes."""
FAMILY = Family("an expression over indices", ROWS)


def conjuncts(condition: Expr | None) -> Iterator[Expr]:
    """The conditions that hold together where this one does; of None there are none."""
    if isinstance(condition, Apply) and condition.function == "logical_and":
        for each in condition.args:
            yield from conjuncts(each)
    elif condition is not None:
        yield condition


def chosen(variable: str, trees: Sequence[Expr]) -> Expr:
    """The expression whose number a variable is."""
    result = trees[-1]
    for number in reversed(range(len(trees) - 1)):
        if trees[number] != result:
            result = Apply("where", (Apply("eq", (Name(variable), Literal(number))), trees[number], result))
    return result


def vanishes(tree: Expr, is_zero: Callable[[str], bool]) -> bool:
    """Return True if a value is sure to be zero where these names are zero, as a product with one of them is."""
    if isinstance(tree, Name):
        return is_zero(tree.name)
    if isinstance(tree, Literal):
        return tree.value == 0
    if isinstance(tree, Apply) and tree.function in ("add", "sub", "mul", "div", "neg"):
        parts = [vanishes(each, is_zero) for each in tree.args]
        return parts[0] if tree.function == "div" else any(parts) if tree.function == "mul" else all(parts)
    if isinstance(tree, Apply) and tree.function == "where":
        return all(vanishes(each, is_zero) for each in tree.args[1:])
    return False


def outside_of(name: str, table: Table) -> str:
    """Return the end of a message about a position that a table does not have."""
    return f"outside of the table '{name}', which has {' x '.join(map(str, table.sizes))} numbers"


@dataclass(frozen=True)
class Indexed:
    """An expression with a name that has variables in brackets, in whose place positions stand where it is used."""

    variables: tuple[str, ...]
    value: Expr
    is_bare: bool = False
    """True if it has no brackets, as its variables are those of the ranges that it is used in."""


def free_names(text: str, variables: Mapping[str, Sequence[str]]) -> tuple[str, ...]:
    """The words of an expression that no generator in it has for a variable, in their order, with those that words
    stand for: `variables`. None of a text that is no expression."""
    try:
        tree = ast.parse(text.strip(), mode="eval")
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ()
    return tuple(dict.fromkeys(_free(tree, frozenset(), variables)))


def _free(node: ast.AST, bound: frozenset[str], variables: Mapping[str, Sequence[str]]) -> Iterator[str]:
    if isinstance(node, ast.Name):
        yield from (word for word in (node.id, *variables.get(node.id, ())) if word not in bound)
    elif isinstance(node, ast.GeneratorExp):
        for each in node.generators:
            yield from _free(each.iter, bound, variables)
            bound |= {part.id for part in ast.walk(each.target) if isinstance(part, ast.Name)}
            for condition in each.ifs:
                yield from _free(condition, bound, variables)
        yield from _free(node.elt, bound, variables)
    else:
        for part in ast.iter_child_nodes(node):
            yield from _free(part, bound, variables)


@dataclass(frozen=True)
class Scope:
    """The meanings of names in an expression over indices."""

    tensors: tuple[str, ...]
    variables: tuple[str, ...]
    """Index variables of results."""
    names: tuple[str, ...]
    """Arguments and names that were defined before."""
    indexed: Mapping[str, Indexed] = field(default_factory=lambda: MappingProxyType({}))
    """The names that have variables in brackets."""
    tables: Mapping[str, Table] = field(default_factory=lambda: MappingProxyType({}))
    unknown: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    """Names that are not known here, and what to do."""

    @property
    def readable(self) -> tuple[str, ...]:
        """The names that have elements."""
        return (*self.tensors, *self.tables)


def read(
    text: str,
    scope: Scope,
    atoms: Atoms,
    own: Mapping[str, OwnFunction] = MappingProxyType({}),
    origin: Scalar | None = None,
) -> Expr:
    """The tree of an expression, which may call functions of its file; its atoms join `atoms`. With an `origin` they
    know the text that they stand in. Raises ExpressionError, whose `all` has every mistake."""
    source = Source(text, origin)
    reader = _IndexReader(source, scope, atoms, own)
    tree = reader.read(source.parse())
    raise_all(reader.errors)
    return tree


class _IndexReader(Reader):
    def __init__(self, source: Source, scope: Scope, atoms: Atoms, own: Mapping[str, OwnFunction]) -> None:
        super().__init__(source, (*scope.names, *scope.variables), replace(FAMILY, own=own))
        self.scope = scope
        self.atoms = atoms
        self.bound: Mapping[str, str] = {}
        """The variables of ranges that are known, by the words for them."""

    def read(self, node: ast.expr) -> Expr:
        span = self.source.span(node)
        if (
            isinstance(node, ast.Subscript)
            and isinstance(node.value, ast.Name)
            and node.value.id in self.scope.readable
        ):
            return self._element(node, node.value.id, span)
        if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name) and node.value.id in self.scope.indexed:
            return self._indexed(node, node.value.id, span)
        if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Subscript):
            inner = node.value
            if isinstance(inner.value, ast.Name) and inner.value.id in self.scope.readable:
                indices = ", ".join(ast.unparse(each) for each in (inner.slice, node.slice))
                name = inner.value.id
                return self._wrong(f"the indices of '{name}' stand in one pair of brackets", span, f"{name}[{indices}]")
        if isinstance(node, ast.Attribute):
            return self._attribute(node, span)
        return super().read(node)

    # ---- elements and sizes

    def _element(self, node: ast.Subscript, tensor: str, span: Span) -> Expr:
        items = list(node.slice.elts) if isinstance(node.slice, ast.Tuple) else [node.slice]
        batched = bool(items) and isinstance(items[0], ast.Constant) and items[0].value is Ellipsis
        indices = []
        for item in items[batched:]:
            if isinstance(item, ast.Slice):
                self._wrong("an index is one position", self._span_of_slice(item, span), "name a variable for it")
            else:
                indices.append(self.read(item))
        count = len(indices)
        indices = [self._from_the_end(each, tensor, dim - count) for dim, each in enumerate(indices)]
        if tensor in self.scope.tables:
            return self._number(Read(tensor, tuple(indices), batched, span), self.scope.tables[tensor])
        return Name(self.atoms.name(Read(tensor, tuple(indices), batched, span)), span=span)

    def _number(self, read: Read, table: Table) -> Expr:
        """The number of a table, which is there already where its position is."""
        count = len(table.sizes)
        if read.batched or len(read.indices) != count:
            usage = f"{read.tensor}[{', '.join('ijkl'[:count])}]"
            return self._wrong(
                f"the table '{read.tensor}' has {count} ind{'ices' if count > 1 else 'ex'}", read.span, usage
            )
        places = [each.value for each in read.indices if isinstance(each, Literal) and type(each.value) is int]
        if len(places) < count:
            return Name(self.atoms.name(read), span=read.span)
        return table.at(places) or self._wrong(outside_of(read.tensor, table), read.span)

    def _indexed(self, node: ast.Subscript, name: str, span: Span) -> Expr:
        items = list(node.slice.elts) if isinstance(node.slice, ast.Tuple) else [node.slice]
        own = self.scope.indexed[name]
        if own.is_bare:
            return self._wrong(f"'{name}' is defined without brackets", span, f"{name}, or define {name}[i]")
        usage = f"{name}[{', '.join(own.variables)}]"
        if len(items) != len(own.variables) or any(isinstance(each, ast.Slice) for each in items):
            count = f"{len(own.variables)} position" + "s" * (len(own.variables) != 1)
            return self._wrong(f"'{name}' has {count}, got {len(items)}", span, usage)
        values = dict(zip(own.variables, map(self.read, items), strict=True))
        return self.atoms.substituted(own.value, values)

    def _bare(self, name: str, span: Span) -> Expr:
        own = self.scope.indexed[name]
        missing = [word for word in own.variables if word not in self.bound and word not in self.scope.variables]
        if missing:
            words = " and ".join(f"'{word}'" for word in missing)
            return self._wrong(f"'{name}' uses {words}, which no range has here", span, f"for {missing[0]} in range(n)")
        return self.atoms.substituted(own.value, {word: self._name(word, span) for word in own.variables})

    def _from_the_end(self, index: Expr, tensor: str, dim: int) -> Expr:
        """The index, which counts from the end where the text has a negative number, as in Python."""
        if not isinstance(index, Literal) or isinstance(index.value, bool) or index.value >= 0:
            return index
        if tensor in self.scope.tables:
            sizes = self.scope.tables[tensor].sizes
            return Literal(index.value + sizes[dim], span=index.span) if -dim <= len(sizes) else index
        size = Apply(ITEM, (Name(tensor + SHAPE, span=index.span), Literal(dim)), span=index.span)
        return Apply("add", (size, index), span=index.span)

    def _span_of_slice(self, item: ast.Slice, span: Span) -> Span:
        bound = item.lower or item.upper
        return span if bound is None else self.source.span(bound)

    def _attribute(self, node: ast.Attribute, span: Span) -> Expr:
        if isinstance(node.value, ast.Name) and node.value.id in self.scope.tensors:
            sizes = Name(node.value.id + SHAPE, span=span)
            if node.attr == "shape":
                return sizes
            if node.attr == "ndim":
                return Apply(LENGTH, (sizes,), span=span)
        return self._wrong(f"'{node.attr}' is no attribute here", span, "tensors have shape, ndim and size(dim)")

    def _name(self, name: str, span: Span) -> Expr:
        if name in self.bound:
            return Name(self.bound[name], span=span)
        if name in self.scope.indexed and self.scope.indexed[name].is_bare:
            return self._bare(name, span)
        if name in self.scope.indexed:
            usage = f"{name}[{', '.join(self.scope.indexed[name].variables)}]"
            return self._wrong(f"'{name}' has positions", span, usage)
        if name in self.scope.tables:
            return self._wrong(f"'{name}' is a table, of which an expression sees numbers", span, f"{name}[...]")
        if name in self.scope.tensors:
            return self._wrong(f"'{name}' is a tensor, and an expression sees elements", span, f"{name}[...]")
        if name in self.scope.unknown and name not in (self.names or ()):
            return self._wrong(f"unknown name '{name}'", span, self.scope.unknown[name])
        return super()._name(name, span)

    # ---- calls

    def _call(self, node: ast.Call, span: Span) -> Expr:
        called = node.func
        if isinstance(called, ast.Attribute) and called.attr == "size" and len(node.args) == 1:
            if isinstance(called.value, ast.Name) and called.value.id in self.scope.tables:
                return self._size_of(self.scope.tables[called.value.id], node.args[0], span)
            sizes = self._attribute(ast.copy_location(ast.Attribute(called.value, "shape", ast.Load()), called), span)
            return Apply(ITEM, (sizes, self.read(node.args[0])), span=span)
        if not isinstance(called, ast.Name):
            return super()._call(node, span)
        if called.id in REDUCTIONS:
            if len(node.args) == 1 and isinstance(node.args[0], ast.GeneratorExp) and not node.keywords:
                return self._reduction(called.id, node.args[0], span)
            help = {"max": "of two numbers it is maximum(a, b)", "min": "of two numbers it is minimum(a, b)"}
            example = f"{called.id}(value for i in range(n))"
            return self._wrong(f"'{called.id}' reduces a generator", span, help.get(called.id, example))
        is_reduction = any(isinstance(each, ast.GeneratorExp) for each in node.args) or called.id == "mean"
        if called.id not in self.functions and is_reduction:
            known = f"reductions: {', '.join(REDUCTIONS)}"
            return self._wrong(f"unknown reduction '{called.id}'", span, _FOREIGN_REDUCTIONS.get(called.id, known))
        if called.id in random.FUNCTIONS and not node.keywords:
            if len(node.args) < 2:
                return self._wrong(f"'{called.id}' takes a key and positions", span, f"{called.id}(key, y, x)")
            return random.FUNCTIONS[called.id]([self.read(each) for each in node.args], span)
        if called.id == "int" and len(node.args) == 1:
            return Name(self.atoms.name(Integer(self.read(node.args[0]), span)), span=span)
        return super()._call(node, span)

    def _size_of(self, table: Table, dim: ast.expr, span: Span) -> Expr:
        number = self.read(dim)
        if isinstance(number, Literal) and number.value in range(-len(table.sizes), len(table.sizes)):
            return Literal(table.sizes[int(number.value)], span=span)
        return self._wrong("a table has no such dimension", span, f"0 to {len(table.sizes) - 1}")

    def _reduction(self, reduction: str, node: ast.GeneratorExp, span: Span) -> Expr:
        outer, ranges, conditions = (self.names, self.bound), [], []
        for generator in node.generators:
            found = self._range(generator)
            if found is not None:
                ranges.append(found)
            conditions += [truth(self.read(each)) for each in generator.ifs]
        value = self.read(node.elt)
        value = truth(value) if reduction in ("any", "all") else value
        self.names, self.bound = outer
        condition = self._all(conditions)
        return Name(self.atoms.name(Fold(reduction, value, tuple(ranges), condition, span)), span=span)

    def _all(self, conditions: Iterable[Expr]) -> Expr | None:
        joined: Expr | None = None
        for each in conditions:
            joined = each if joined is None else Apply("logical_and", (joined, each), span=each.span)
        return joined

    def _range(self, node: ast.comprehension) -> Range | None:
        span = self.source.span(node.target)
        if not isinstance(node.target, ast.Name):
            self._wrong("a range has one variable", span, "for i in range(n) for j in range(m)")
            words = [each.id for each in ast.walk(node.target) if isinstance(each, ast.Name)]
            self.names = (*(self.names or ()), *words)  # one mistake is enough
            return None
        word, call = node.target.id, node.iter
        if word in (self.names or ()) or word in self.scope.readable or word in self.scope.indexed:
            self._wrong(f"'{word}' is the name of something else", span, "rename the variable")
        bounds: list[Expr] = []
        is_range = isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id == "range"
        if is_range and isinstance(call, ast.Call) and 1 <= len(call.args) <= 2 and not call.keywords:
            bounds = [self.read(each) for each in call.args]
        else:
            place = self.source.span(node.iter)
            steps = is_range and isinstance(call, ast.Call) and len(call.args) == 3
            help = "range(first, stop) has no step: multiply, x[2 * i] for i in range(n // 2)"
            self._wrong("a variable runs over a range", place, help if steps else "range(stop) or range(first, stop)")
        name = self.atoms.own(word)
        self.names = (*(self.names or ()), word)  # also where the range is wrong, as one mistake is enough
        self.bound = {**self.bound, word: name}
        if not bounds:
            return None
        first, stop = Literal(0, span=NOWHERE) if len(bounds) == 1 else bounds[0], bounds[-1]
        # As it is written: names and arguments of functions may well leave nothing between bounds where they are used.
        if isinstance(first, Literal) and isinstance(stop, Literal) and first.value >= stop.value:
            message = f"the range of '{word}' is empty: it ends at {stop.value} and begins at {first.value}"
            self._wrong(message, stop.span, "range(first, stop), with stop > first")
        return Range(name, first, stop)
