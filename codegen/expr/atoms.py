"""Atoms: what an expression over indices is made of besides names and functions. Elements, reductions and conversions
to integers are names in the trees, and `Atoms` knows what they stand for.

Variables of ranges belong to their reduction, never to their name. Whatever puts something in the place of names goes
through `Carrier`, which gives the variables of each reduction that it enters names of their own: no name is captured,
and two ranges never become one. `settled` gives names that people read at the end. What is the same up to names gets
the same text, a name has one range in a body, and reductions over one range share the variable, so that they can share
a loop.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, count
from types import MappingProxyType
from typing import Protocol, TypeVar

from .tree import NOWHERE, Expr, Name, Span, names, names_in_order, substitute

_OWN = "'"
"""The mark in names that a variable has until its body is settled; no name of an entry has it."""


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
    span: Span = field(default=NOWHERE, compare=False, repr=False)

    @property
    def expressions(self) -> tuple[Expr, ...]:
        return (self.value,)


@dataclass(frozen=True)
class Named:
    """The meaning of a name of `let`: its value, which is stored once. Bodies that loops are made of have none."""

    word: str
    value: Expr
    span: Span = field(default=NOWHERE, compare=False, repr=False)

    @property
    def expressions(self) -> tuple[Expr, ...]:
        return (self.value,)


Atom = Read | Fold | Integer | Named


class Atoms:
    """The atoms of one body, each of which has one name, and those that `known` has already."""

    def __init__(self, known: Mapping[str, Atom] = MappingProxyType({})) -> None:
        self.named: dict[str, Atom] = {**known}
        self._names: dict[Atom, str] = {atom: name for name, atom in known.items()}
        self._parts: dict[Expr, int] = {}
        self._numbers, self._owns = count(), count()

    def name(self, atom: Atom) -> str:
        if atom not in self._names:
            self._names[atom] = next(each for each in map("_{}".format, self._numbers) if each not in self.named)
            self.named[self._names[atom]] = atom
        return self._names[atom]

    def own(self, word: str) -> str:
        """A name for a variable of a range that nothing else has."""
        return f"{_word(word)}{_OWN}{next(self._owns)}"

    def within(self, *trees: Expr) -> Iterator[tuple[str, Atom]]:
        """The atoms that expressions are made of, inner ones first."""
        yield from within(self.named, *trees)

    def parts(self, tree: Expr) -> int:
        """Return the number of parts of an expression, with those of its atoms, each counted wherever it is used."""
        if tree not in self._parts:
            atom = self.named.get(tree.name) if isinstance(tree, Name) else None
            self._parts[tree] = 1 + sum(map(self.parts, tree.children if atom is None else atom.expressions))
        return self._parts[tree]

    def substituted(self, tree: Expr, values: Mapping[str, Expr]) -> Expr:
        """The tree with names replaced, in its atoms as well."""
        return Carrier(self.named, self)(tree, values)


def _word(name: str) -> str:
    return name.partition(_OWN)[0]


class Carrier:
    """Carries expressions into other atoms, with `values` in the place of free names.

    `made` says what an atom becomes when its expressions have been carried, and `finish` what an expression does.
    """

    def __init__(
        self,
        source: Mapping[str, Atom],
        atoms: Atoms,
        made: Callable[[Atom], Expr] | None = None,
        finish: Callable[[Expr], Expr] = lambda tree: tree,
    ) -> None:
        self.source = source
        self.atoms = atoms
        self.made = made or (lambda each: Name(atoms.name(each), span=each.span))
        self.finish = finish
        self.free = Free(source)
        self._done: dict[tuple[str, frozenset[tuple[str, Expr]]], Expr] = {}

    def __call__(self, tree: Expr, values: Mapping[str, Expr]) -> Expr:
        used = names(tree)
        found = {name: values[name] for name in used & values.keys()}
        for name in self._in_order(tree, used & self.source.keys() - values.keys()):
            known = {each: values[each] for each in self.free.of_atom(name) & values.keys()}
            key = (name, frozenset(known.items()))
            if key not in self._done:
                self._done[key] = self.atom(self.source[name], known)
            found[name] = self._done[key]
        return self.finish(substitute(tree, found))

    @staticmethod
    def _in_order(tree: Expr, used: Collection[str]) -> Iterable[str]:
        """These names in the order of the text, by which atoms are named: it is the same every time."""
        return used if len(used) < 2 else [each for each in names_in_order(tree) if each in used]

    def atom(self, atom: Atom, values: Mapping[str, Expr]) -> Expr:
        return self.made(self.rebuilt(atom, values))

    def rebuilt(self, atom: Atom, values: Mapping[str, Expr]) -> Atom:
        """The atom with its expressions carried, and variables of its own."""
        if isinstance(atom, Read):
            return replace(atom, indices=tuple(self(each, values) for each in atom.indices))
        if isinstance(atom, (Integer, Named)):
            return replace(atom, value=self(atom.value, values))
        ranges = []
        for each in atom.ranges:
            own = self.atoms.own(each.name)
            ranges.append(Range(own, self(each.first, values), self(each.stop, values)))
            values = {**values, each.name: Name(own)}
        condition = None if atom.condition is None else self(atom.condition, values)
        return Fold(atom.reduction, self(atom.value, values), tuple(ranges), condition, atom.span)


class WritingOut(Carrier):
    """Puts values in the place of what has a name."""

    def atom(self, atom: Atom, values: Mapping[str, Expr]) -> Expr:
        return self(atom.value, values) if isinstance(atom, Named) else super().atom(atom, values)


class Free:
    """The free names of expressions: those that no reduction within them has for a variable, without those of atoms."""

    def __init__(self, atoms: Mapping[str, Atom]) -> None:
        self.atoms = atoms
        self._of: dict[str, frozenset[str]] = {}

    def __call__(self, *trees: Expr) -> frozenset[str]:
        used = frozenset[str]().union(*map(names, trees))
        return (used - self.atoms.keys()).union(*map(self.of_atom, used & self.atoms.keys()))

    def of_atom(self, name: str) -> frozenset[str]:
        if name not in self._of:
            self._of[name] = self._found(self.atoms[name])
        return self._of[name]

    def _found(self, atom: Atom) -> frozenset[str]:
        if not isinstance(atom, Fold):
            return self(*atom.expressions)
        found = self(atom.value) if atom.condition is None else self(atom.value, atom.condition)
        for each in reversed(atom.ranges):
            found = found - {each.name} | self(each.first, each.stop)
        return found


class Part(Protocol):
    """An atom, or what stands for one in a nest of loops."""

    @property
    def expressions(self) -> tuple[Expr, ...]: ...


_Part = TypeVar("_Part", bound=Part)


def within(atoms: Mapping[str, _Part], *trees: Expr) -> Iterator[tuple[str, _Part]]:
    """The atoms that expressions are made of, inner ones first, each once."""
    seen: dict[str, _Part] = {}

    def visit(tree: Expr) -> None:
        for name in sorted(names(tree)):
            if name in atoms and name not in seen:
                for each in atoms[name].expressions:
                    visit(each)
                seen[name] = atoms[name]

    for tree in trees:
        visit(tree)
    return iter(seen.items())


def depends(atoms: Mapping[str, Part], tree: Expr, variable: str) -> bool:
    """Return True if the value depends on an index variable."""
    used = names(tree)
    return variable in used or any(
        depends(atoms, each, variable) for name in used & atoms.keys() for each in atoms[name].expressions
    )


def ragged(atoms: Mapping[str, Part], ranges: Iterable[Range]) -> frozenset[str]:
    """The variables of reductions whose bounds are data, as those of the rows of a compressed matrix are."""
    return frozenset(each.name for each in ranges if (names(each.first) | names(each.stop)) & atoms.keys())


def settled(
    trees: Sequence[Expr], atoms: Mapping[str, Atom], taken: Iterable[str]
) -> tuple[list[Expr], Mapping[str, Atom]]:
    """Expressions and their atoms with variables of ranges whose names follow from what they are, not from where they
    stand: equal ranges have one variable, unless one is within the other. No name is one of those that are `taken`."""
    settling = _Settling(atoms, {*taken, *Free(atoms)(*trees)})
    return [settling(tree, {}) for tree in trees], settling.atoms.named


class _Settling(Carrier):
    def __init__(self, source: Mapping[str, Atom], taken: Collection[str]) -> None:
        super().__init__(source, Atoms())
        self.taken = set(taken)
        self.variables: dict[tuple[Expr, Expr, int], str] = {}
        """The variables by range and by the number of variables within it."""
        self._depths: dict[str, int] = {}

    def rebuilt(self, atom: Atom, values: Mapping[str, Expr]) -> Atom:
        if not isinstance(atom, Fold):
            return super().rebuilt(atom, values)
        depth, ranges = self._depth(atom), []
        for place, each in enumerate(atom.ranges):
            first, stop = self(each.first, values), self(each.stop, values)
            name = self._variable(each.name, (first, stop, depth - place))
            values = {**values, each.name: Name(name)}
            ranges.append(Range(name, first, stop))
        condition = None if atom.condition is None else self(atom.condition, values)
        return Fold(atom.reduction, self(atom.value, values), tuple(ranges), condition, atom.span)

    def _variable(self, name: str, place: tuple[Expr, Expr, int]) -> str:
        if place not in self.variables:
            word = _word(name).strip("_") or "i"
            words = chain([word], (f"{word}_{number}" for number in count(1)))
            self.variables[place] = next(each for each in words if each not in self.taken)
            self.taken.add(self.variables[place])
        return self.variables[place]

    def _depth(self, atom: Atom) -> int:
        """Return the number of variables that are nested within each other."""
        inner = {name for tree in atom.expressions for name in names(tree)} & self.source.keys()
        for name in inner - self._depths.keys():
            self._depths[name] = self._depth(self.source[name])
        return max((self._depths[name] for name in inner), default=0) + (
            len(atom.ranges) if isinstance(atom, Fold) else 0
        )
