"""Recurrences: results whose elements depend on earlier elements of the results.

    value[..., t]: self[..., t] + decay * value[..., t - 1]

The order in which elements are computed follows from the positions that are read: in the first dimension that is no
variable of the result as it stands, each of them is a number of steps behind, or each a number of steps ahead, and the
positions are run through forwards, or backwards. Dimensions before it are independent of each other; where it is not
the last one, those of a line are as well.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType

from ..expr import Apply, Expr, Literal, Name
from ..expr.affine import ONE
from ..expr.atoms import Atom, Atoms, Carrier, Read
from .compute import Compute


class OrderError(ValueError):
    """An error: an element that is read may not have been computed."""

    def __init__(self, read: Read, message: str, help: str) -> None:
        super().__init__(message)
        self.read, self.message, self.help = read, message, help


@dataclass(frozen=True)
class Order:
    """The order in which positions follow each other."""

    independent: int
    """The number of variables, from the first on, whose positions do not depend on each other."""
    descending: bool
    along_line: bool
    """True if elements depend on others that differ from them in the last variable alone."""
    steps: tuple[Expr, ...]
    """Integers of the call that must be positive, as so many steps are gone."""

    @property
    def final(self) -> int:
        """The index of the position that is computed last, of variables that are not independent."""
        return 0 if self.descending else -1


def own_reads(body: Compute) -> Iterator[Read]:
    """Return the reads of a body's own results."""
    return (read for read in body.reads.values() if read.tensor in body.own)


def order(body: Compute) -> Order | None:
    """The order of a recurrence; None: the body is none. Raises OrderError where there is no order."""
    steps = [(_step(body, read), read) for read in own_reads(body)]
    if not steps:
        return None
    descending = steps[0][0].ahead
    for step, read in steps:
        if step.ahead != descending:
            raise OrderError(read, "elements before and after the one that is computed are read", "two operators")
    dims = [step.dim for step, _ in steps]
    named = (step.count for step, _ in steps if not isinstance(step.count, Literal))
    return Order(min(dims), descending, max(dims) == len(body.names) - 1, tuple(dict.fromkeys(named)))


@dataclass(frozen=True)
class _Step:
    dim: int
    count: Expr
    ahead: bool


def _step(body: Compute, read: Read) -> _Step:
    """The first dimension in which the element is another one than that which is computed, and how far away."""
    for dim, (name, tree) in enumerate(zip(body.names, read.indices, strict=True)):
        if tree == Name(name):
            continue
        index = body.index(tree)
        affine = index.affine
        if affine is None or index.divisor != ONE or affine.factors != ((name, ONE),):
            raise OrderError(
                read,
                f"index {dim} of '{read.tensor}' may be that of an element which is not computed yet",
                f"the first index that is not the variable itself is a number of steps back: {name} - 1",
            )
        rest = affine.rest
        if isinstance(rest, Literal):
            return _Step(dim, Literal(abs(int(rest.value))), rest.value > 0)
        ahead = True
        while isinstance(rest, Apply) and rest.function == "neg":
            rest, ahead = rest.args[0], not ahead
        return _Step(dim, rest, ahead)
    example = ", ".join([*(["..."] if read.batched else []), *body.names[:-1], f"{body.names[-1]} - 1"])
    raise OrderError(read, f"'{read.tensor}' is read at the position that is computed", f"{read.tensor}[{example}]")


def renaming(body: Compute, atoms: Atoms, names: Mapping[str, str]) -> Carrier:
    """Carries expressions of a body to where its tensors have these names."""

    def renamed(atom: Atom) -> Expr:
        if isinstance(atom, Read) and atom.tensor in names:
            atom = replace(atom, tensor=names[atom.tensor])
        return Name(atoms.name(atom))

    return Carrier(body.atoms, atoms, renamed)


def given(body: Compute, names: Mapping[str, str]) -> Compute:
    """The body in which the results that it reads are tensors that are given, by these names."""
    atoms = Atoms()
    carrier = renaming(body, atoms, names)
    results = tuple(replace(each, tree=carrier(each.tree, {})) for each in body.results)
    return replace(
        body,
        results=results,
        atoms=MappingProxyType(atoms.named),
        outside=MappingProxyType({names.get(name, name): rule for name, rule in body.outside.items()}),
        tensors=MappingProxyType({names.get(name, name): rank for name, rank in body.tensors.items()}),
        own=frozenset(),
    ).settled()
