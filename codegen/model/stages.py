"""Reductions that are computed once, before what uses them: the stages of an expression over indices.

A name of `let` that stands for a reduction is a tensor of its own where loops would compute it again and again: loops
over variables that it does not depend on,

    total: sum(exp(scores[i, k]) for k in range(n))      is a tensor with one element for each i, which
    value[i, j]: exp(scores[i, j]) / total               reads as total[i],

those of other reductions, and those of gradients, where the result is no linear function of it. So are reductions that
have no name. Each stage is an expression over indices, with the variables of the results that it depends on; its
gradients are of the size of its text, and those of the whole follow from them by the chain rule.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property

from ..expr import Expr, ExpressionError, Literal, Name, derive, names
from ..expr.atoms import Atom, Atoms, Carrier, Fold, Free, Integer, Named, Read, within
from ..expr.tree import names_in_order
from .compute import Border, Compute, Result, Size, following, size_of
from .operator import MAX_OUTPUTS
from .unrolled import unrolled

_FEW_TERMS = 16
"""Reductions of known length that are no longer are computed again where they are used,"""
_FEW_USES = 4
"""unless they have names and gradients are derived, which would multiply out what is used more often."""
_WORD = "part"
"""Begins the names of reductions that have none."""


@dataclass(frozen=True)
class Stage:
    """Tensors that are computed together, by their names, and the reductions that they hold; the last one has none, as
    it gives the results."""

    tensors: tuple[str, ...]
    held: tuple[Atom, ...]
    body: Compute


def stages(body: Compute, differentiated: bool, refused: frozenset[Atom], taken: Iterable[str]) -> tuple[Stage, ...]:
    """The stages of a body that has names of `let`, each after those that it reads; none where it is computed at once.

    `differentiated`: whether it has gradients by rule. `refused` are reductions that cannot be tensors. No tensor has
    a name that is `taken`.
    """
    held = _Search(body, differentiated, refused).found
    return tuple(_Split(body, held, taken).stages()) if held else ()


class _Search:
    """Finds what is held by tensors."""

    def __init__(self, body: Compute, differentiated: bool, refused: frozenset[Atom]) -> None:
        self.body = body
        self.differentiated = differentiated
        self.refused = refused
        self.free = Free(body.atoms)
        self.found: dict[str, Atom] = {}
        self._seen: set[tuple[Expr, frozenset[str], bool]] = set()
        self._places = frozenset(self._in_places())
        for each in body.results:
            self._walk(each.tree, frozenset(body.names), False)

    def _in_places(self) -> Iterator[str]:
        """Yield the parts of indices and bounds, other than through `int`."""
        for atom in self.body.used.values():
            if isinstance(atom, Read):
                yield from self._integers(atom.indices)
            elif isinstance(atom, Fold):
                yield from self._integers([bound for each in atom.ranges for bound in (each.first, each.stop)])

    def _integers(self, trees: Iterable[Expr]) -> Iterator[str]:
        for name in frozenset[str]().union(*map(names, trees)) & self.body.atoms.keys():
            atom = self.body.atoms[name]
            if not isinstance(atom, Integer):
                yield name
                yield from self._integers(atom.expressions)

    def _walk(self, tree: Expr, variables: frozenset[str], repeated: bool) -> None:
        """Looks into an expression that is computed for each position of these variables, `repeated` in loops."""
        if (tree, variables, repeated) in self._seen:
            return
        self._seen.add((tree, variables, repeated))
        for name in names_in_order(tree):
            atom = self.body.atoms.get(name)
            if isinstance(atom, (Fold, Named)):
                if name in self.found or self._is_held(tree, name, atom, variables, repeated):
                    self.found[name] = atom
                    self._within(atom, variables & self.free.of_atom(name), False)
                else:
                    self._within(atom, variables, repeated)
            elif atom is not None:
                for each in atom.expressions:
                    self._walk(each, variables, repeated)

    def _within(self, atom: Fold | Named, variables: frozenset[str], repeated: bool) -> None:
        if isinstance(atom, Named):
            self._walk(atom.value, variables, repeated)
            return
        for each in (atom.value, *([] if atom.condition is None else [atom.condition])):
            self._walk(each, variables, True)

    def _is_held(self, tree: Expr, name: str, atom: Fold | Named, variables: frozenset[str], repeated: bool) -> bool:
        """Return True if it is the same in loops that are repeated, so that it is computed once before them."""
        free = self.free.of_atom(name)
        if atom in self.refused or name in self._places or free & self.body.ranges.keys():
            return False
        is_long, is_once = self._is_long(name, _FEW_TERMS), not repeated and not variables - free
        if is_once or not is_long:
            is_used = isinstance(atom, Named) and not repeated and self._uses[name] > _FEW_USES
            is_worth = is_long or (is_used and self._is_long(name, 1))
            if not (is_worth and self.differentiated and self._is_curved(tree, name)):
                return False
        is_sure = is_once or isinstance(atom, Named) or self.body.cannot_fail(atom)
        return is_sure and not (repeated and self._skips(atom))

    def _is_long(self, name: str, few: int) -> bool:
        return any(isinstance(each, Fold) and _terms(each) > few for _, each in within(self.body.atoms, Name(name)))

    @cached_property
    def _uses(self) -> Counter[str]:
        """Return the number of times that atoms stand in the results, with names of `let` written out."""
        found: Counter[str] = Counter()
        for each in self.body.results:
            found.update(_occurrences(each.tree))
        for name, atom in reversed(tuple(self.body.used.items())):
            for tree in atom.expressions:
                for inner, times in _occurrences(tree).items():
                    found[inner] += found[name] * times
        return found

    def _is_curved(self, tree: Expr, name: str) -> bool:
        """Return True if the derivative by the name depends on elements."""
        try:
            return not names(derive(tree, name)).isdisjoint(self.body.atoms)
        except ExpressionError:
            return True

    def _skips(self, atom: Atom) -> bool:
        """Return True if an element outside leaves out the term of a reduction around it."""
        reads = (each for tree in atom.expressions for each in names(tree) & self.body.atoms.keys())
        found = (self.body.atoms[each] for each in reads)
        return isinstance(atom, Named) and any(
            self.body.outside.get(each.tensor) is Border.SKIP if isinstance(each, Read) else self._skips(each)
            for each in found
        )


def _occurrences(tree: Expr) -> Counter[str]:
    if isinstance(tree, Name):
        return Counter((tree.name,))
    return sum(map(_occurrences, tree.children), Counter())


def _terms(fold: Fold) -> float:
    """Return the number of terms of a reduction, as far as it is known."""
    count = 1.0
    for each in fold.ranges:
        if not isinstance(each.first, Literal) or not isinstance(each.stop, Literal):
            return float("inf")
        count *= each.stop.value - each.first.value
    return count


class _Split:
    def __init__(self, body: Compute, held: Mapping[str, Atom], taken: Iterable[str]) -> None:
        self.body = body
        self.free = Free(body.atoms)
        self.taken = {*taken, *body.names, *body.uniforms, *body.tensors, *body.ranges}
        self.held = held
        self._levels: dict[str, int] = {}

    def stages(self) -> Iterator[Stage]:
        reads: dict[Atom, Read] = {}
        groups: dict[object, list[str]] = {}
        for name in sorted(self.held, key=self._level):
            groups.setdefault(self._group(name), []).append(name)
        for group in (
            each[at : at + MAX_OUTPUTS] for each in groups.values() for at in range(0, len(each), MAX_OUTPUTS)
        ):
            variables = [each for each in self.body.names if each in self.free.of_atom(group[0])]
            made = self._made([(self._label(self.held[name]), Name(name)) for name in group], variables, reads)
            yield Stage(tuple(each.name for each in made.results), tuple(self.held[name] for name in group), made)
            for name, result in zip(group, made.results, strict=True):
                reads[self.held[name]] = Read(result.name, tuple(map(Name, variables)), made.batched)
        last = self._made([(each.name, each.tree) for each in self.body.results], list(self.body.names), reads)
        yield Stage((), (), replace(last, batched=self.body.batched))

    def _level(self, name: str) -> int:
        """Return the number of others that have to be there before, one after the other."""
        if name not in self._levels:
            inner = (each for each, _ in within(self.body.atoms, *self.held[name].expressions) if each in self.held)
            self._levels[name] = max((1 + self._level(each) for each in inner), default=0)
        return self._levels[name]

    def _group(self, name: str) -> object:
        """Return the key that values share which are computed in the same loops."""
        atom = self.held[name]
        if not isinstance(atom, Fold):
            return name
        variables = frozenset(self.body.names) & self.free.of_atom(name)
        return self._level(name), atom.ranges, atom.condition, variables, self._is_batched(name)

    def _is_batched(self, name: str) -> bool:
        return any(isinstance(each, Read) and each.batched for _, each in within(self.body.atoms, Name(name)))

    def _label(self, atom: Atom) -> str:
        word = atom.word if isinstance(atom, Named) else _WORD
        label, count = word, 0
        while label in self.taken:
            count += 1
            label = f"{word}_{count}"
        self.taken.add(label)
        return label

    def _made(self, wanted: list[tuple[str, Expr]], variables: list[str], reads: Mapping[Atom, Read]) -> Compute:
        """The body of these results, which read what is there already."""
        body, carrier = self.body, _Reading(self.body.atoms, Atoms(), reads)
        results = []
        for index, (label, tree) in enumerate(wanted):
            origin = self.body.results[min(index, len(body.results) - 1)].source
            dtype = next((each.dtype for each in body.results if each.name == label), None)
            results.append(Result(carrier(tree, {}), tree.span.origin or origin, label, dtype))
        atoms = carrier.atoms
        given = {
            each.tensor for _, each in within(atoms.named, *(each.tree for each in results)) if isinstance(each, Read)
        }
        sizes = tuple(
            (name, size if size.geometry is not None or size.tensor in given else Size(size_of(size.tensor, size.dim)))
            for name, size in body.variables
            if name in variables
        )
        return unrolled(following(body, tuple(results), atoms, sizes, body.uniforms))


class _Reading(Carrier):
    """Reads elements of tensors in the place of what they hold, and writes out other names."""

    def __init__(self, source: Mapping[str, Atom], atoms: Atoms, reads: Mapping[Atom, Read]) -> None:
        super().__init__(source, atoms)
        self.reads = reads

    def atom(self, atom: Atom, values: Mapping[str, Expr]) -> Expr:
        if atom in self.reads:
            return self.made(self.reads[atom])
        return self(atom.value, values) if isinstance(atom, Named) else super().atom(atom, values)
