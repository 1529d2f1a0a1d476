"""Expressions over indices: elements at computed positions, and reductions over ranges of integers.

    sum(self[..., y * s + i, x * s + j] * weight[i, j] for i in range(3) for j in range(3)) + bias[0]

is read into a tree of the language of elements (tree.py) in which every element, reduction and conversion to an integer
is a name, its *atom*. So the passes over expressions (types, C, derivatives, NumPy) are those of all expressions, and
only who makes loops looks into the atoms.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import TYPE_CHECKING

from ..errors import suggest
from . import random
from .errors import ExpressionError, raise_all
from .functions import ROWS
from .functions.lists import ITEM, LENGTH
from .parse import Family, OwnFunction, Reader
from .source import Source
from .tree import NOWHERE, Apply, Expr, Literal, Name, Span, names, substitute

if TYPE_CHECKING:
    from ..source import Scalar

REDUCTIONS = ("sum", "prod", "max", "min", "any", "all", "argmax", "argmin")
"""What a generator of values is reduced by."""
POSITIONS = frozenset(("argmax", "argmin"))
"""Reductions whose value is where the element stands, counted through the ranges, the last of which runs fastest."""
SHAPE = ".shape"
"""Ends the name that stands for the list of a tensor's sizes."""
FAMILY = Family("an expression over indices", ROWS)


@dataclass(frozen=True)
class Read:
    """One element of a tensor. `batched`: the indices are those of the last dimensions, `...` stands for the others."""

    tensor: str
    indices: tuple[Expr, ...]
    batched: bool
    span: Span = field(default=NOWHERE, compare=False, repr=False)

    @property
    def expressions(self) -> tuple[Expr, ...]:
        return self.indices


@dataclass(frozen=True)
class Range:
    """The integers from `first` on below `stop`."""

    name: str
    first: Expr
    stop: Expr


@dataclass(frozen=True)
class Fold:
    """A reduction of a value over ranges, the last of which runs fastest; where a condition does not hold, the value is
    left out."""

    reduction: str
    value: Expr
    ranges: tuple[Range, ...]
    condition: Expr | None
    span: Span = field(default=NOWHERE, compare=False, repr=False)

    @property
    def expressions(self) -> tuple[Expr, ...]:
        bounds = (bound for each in self.ranges for bound in (each.first, each.stop))
        return (self.value, *bounds, *([] if self.condition is None else [self.condition]))


@dataclass(frozen=True)
class Integer:
    """A number without its fraction, as an index; beyond 64 bits, and for NaN, one that is outside of every tensor."""

    value: Expr

    @property
    def expressions(self) -> tuple[Expr, ...]:
        return (self.value,)


Atom = Read | Fold | Integer


class Atoms:
    """The atoms of one body, each of which has one name."""

    def __init__(self) -> None:
        self.named: dict[str, Atom] = {}
        self._names: dict[Atom, str] = {}

    def name(self, atom: Atom) -> str:
        if atom not in self._names:
            self._names[atom] = f"_{len(self._names)}"
            self.named[self._names[atom]] = atom
        return self._names[atom]

    def within(self, *trees: Expr) -> Iterator[tuple[str, Atom]]:
        """The atoms that expressions are made of, inner ones first."""
        yield from within(self.named, *trees)

    def substituted(self, tree: Expr, replacements: Mapping[str, Expr]) -> Expr:
        """The tree with names replaced, in its atoms as well. Variables of ranges must not be among the names."""

        def visit(each: Expr) -> Expr:
            changed = {
                name: Name(self.name(rebuilt(self.named[name], visit)))
                for name in sorted(names(each) & self.named.keys())  # in an order that is the same every time
            }
            return substitute(substitute(each, changed), replacements)

        return visit(tree)


def rebuilt(atom: Atom, visit: object) -> Atom:
    """The atom with a function applied to its expressions."""
    assert callable(visit)
    if isinstance(atom, Read):
        return Read(atom.tensor, tuple(map(visit, atom.indices)), atom.batched, atom.span)
    if isinstance(atom, Integer):
        return Integer(visit(atom.value))
    ranges = tuple(Range(each.name, visit(each.first), visit(each.stop)) for each in atom.ranges)
    condition = None if atom.condition is None else visit(atom.condition)
    return Fold(atom.reduction, visit(atom.value), ranges, condition, atom.span)


def within(atoms: Mapping[str, Atom], *trees: Expr) -> Iterator[tuple[str, Atom]]:
    """The atoms that expressions are made of, inner ones first, each once."""
    seen: dict[str, Atom] = {}

    def visit(tree: Expr) -> None:
        for name in sorted(names(tree)):
            if name in atoms and name not in seen:
                for each in atoms[name].expressions:
                    visit(each)
                seen[name] = atoms[name]

    for tree in trees:
        visit(tree)
    return iter(seen.items())


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
    """Is a value sure to be zero where the names of which this is said are? As a product is with one of them."""
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


@dataclass(frozen=True)
class Scope:
    """What names mean in an expression over indices."""

    tensors: tuple[str, ...]
    variables: tuple[str, ...]
    """Index variables of results."""
    names: tuple[str, ...]
    """Arguments and names that were defined before."""


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

    def read(self, node: ast.expr) -> Expr:
        span = self.source.span(node)
        if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name) and node.value.id in self.scope.tensors:
            return self._element(node, node.value.id, span)
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
        return Name(self.atoms.name(Read(tensor, tuple(indices), batched, span)), span=span)

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
        if name in self.scope.tensors:
            return self._wrong(f"'{name}' is a tensor, and an expression sees elements", span, f"{name}[...]")
        return super()._name(name, span)

    # ---- calls

    def _call(self, node: ast.Call, span: Span) -> Expr:
        called = node.func
        if isinstance(called, ast.Attribute) and called.attr == "size" and len(node.args) == 1:
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
        if called.id in random.FUNCTIONS and not node.keywords:
            if len(node.args) < 2:
                return self._wrong(f"'{called.id}' takes a key and positions", span, f"{called.id}(key, y, x)")
            return random.FUNCTIONS[called.id]([self.read(each) for each in node.args], span)
        if called.id == "int" and len(node.args) == 1:
            return Name(self.atoms.name(Integer(self.read(node.args[0]))), span=span)
        return super()._call(node, span)

    def _reduction(self, reduction: str, node: ast.GeneratorExp, span: Span) -> Expr:
        outer, ranges, conditions = self.names, [], []
        for generator in node.generators:
            found = self._range(generator)
            if found is not None:
                ranges.append(found)
            conditions += [self.read(each) for each in generator.ifs]
        value = self.read(node.elt)
        self.names = outer
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
            return None
        name, call = node.target.id, node.iter
        if name in (self.names or ()) or name in self.scope.tensors or name in self.scope.variables:
            self._wrong(f"'{name}' is the name of something else", span, "rename the variable")
        before = self.names
        self.names = (*(self.names or ()), name)  # also where the range is wrong, as one mistake is enough
        is_range = isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id == "range"
        if not is_range or not isinstance(call, ast.Call) or not 1 <= len(call.args) <= 2 or call.keywords:
            self._wrong(
                "a variable runs over a range", self.source.span(node.iter), "range(stop) or range(first, stop)"
            )
            return None
        known, self.names = self.names, before
        bounds = [self.read(each) for each in call.args]
        self.names = known
        return Range(name, Literal(0, span=NOWHERE) if len(bounds) == 1 else bounds[0], bounds[-1])


def unknown_variable(name: str, known: Iterable[str]) -> ExpressionError:
    """A name among the indices of a result that is none."""
    return ExpressionError(f"'{name}' is not an index variable", 0, len(name), suggest(name, known))
