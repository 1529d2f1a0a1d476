"""Nodes of loops, statements and lanes, and the facts of kernels."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from ...nest.forms import Line
from ..expressions import Variable

_MOST_IN_FULL, _MOST_IN_PART = 60, 150
"""The largest numbers of statements of a kernel for which there are copies of the text for all numbers of lanes, and
one for the lanes of long lines that are inside. Compilers take in the order of a second for a thousand statements."""


@dataclass(frozen=True)
class Loop:
    """A loop over a range, and the statements that find its bounds."""

    variable: str
    first: str
    stop: str
    body: tuple[Node, ...]
    before: tuple[str, ...] = ()
    in_halves: bool = False
    """True if every second step belongs to the other `half` of the sums, and does not wait for the one before."""


@dataclass(frozen=True)
class Strips:
    """A loop over a range whose integers are those of the lanes, as many at a time as there are; at the end fewer."""

    variable: str
    first: str
    stop: str
    body: tuple[Node, ...]


@dataclass(frozen=True)
class Step:
    """Statements for each lane, preceded by those that are the same for all.

    Where indices may be outside, `clips` reduce the lanes to those that read inside. If that is not enough there are
    other statements for this case.
    """

    before: tuple[str, ...]
    inside: tuple[str, ...]
    clips: tuple[str, ...] = ()
    checked_before: tuple[str, ...] | None = None
    checked: tuple[str, ...] = ()


@dataclass(frozen=True)
class Copy:
    """A line that is copied: `value` of the lanes that `clips` leave, and `outside` for the others."""

    clips: tuple[str, ...]
    before: tuple[str, ...]
    value: str
    outside: str
    times: str


Node = Loop | Strips | Line | Step | Copy


def _steps_of(nodes: Iterable[Node]) -> Iterator[Step]:
    for node in nodes:
        if isinstance(node, Step):
            yield node
        elif isinstance(node, (Loop, Strips)):
            yield from _steps_of(node.body)


def _statements(nodes: Iterable[Node]) -> int:
    return sum(map(_statements_of, nodes))


def _statements_of(node: Node) -> int:
    if isinstance(node, Step):
        parts = (node.before, node.inside, node.clips, node.checked_before or (), node.checked)
        return sum(map(len, parts))
    if isinstance(node, (Loop, Strips)):
        return 1 + _statements(node.body)
    return 1


@dataclass(frozen=True)
class Cut:
    """The positions of a line at which an index lies inside: factor * position + [least, greatest] is in [0, size)."""

    factor: str
    least: str
    greatest: str
    size: str


@dataclass(frozen=True)
class Numbers:
    """A table of numbers in one dtype."""

    name: str
    ctype: str
    texts: tuple[str, ...]
    sizes: tuple[int, ...]


@dataclass(frozen=True)
class Threshold:
    """A position of a line before which a condition holds, or from which on."""

    text: str
    is_before: bool


@dataclass(frozen=True)
class Ahead:
    """Tests of the places of the terms of several results at once."""

    variable: str
    """The variable of the reduction."""
    bounds: tuple[str, ...]
    """Statements that find where it begins and ends for one result."""
    sizes: tuple[str, ...]
    """The sizes of the dimensions that it is an index of."""
    places: tuple[str, ...]
    """Statements that read the places of a term."""
    outside: tuple[str, ...]
    """Conditions under which one of them is outside."""


@dataclass(frozen=True)
class Kernel:
    """A kernel in one dtype."""

    name: str
    enums: tuple[str, ...]
    """The dtypes of computation that it is for."""
    ctype: str
    line: int
    params: tuple[Variable, ...]
    body: tuple[Node, ...]
    bounds: tuple[str, ...]
    """Declarations of the first and last values of variables of reductions."""
    cuts: tuple[Cut, ...]
    cuts_ranges: bool
    """True if these are the same in all lanes, so that loops of reductions leave out what is outside."""
    step: str | None
    """The step in memory, a number of the call, or that of positions with the same remainder."""
    steps: tuple[int, ...]
    """The steps that have loops of their own."""
    phases: bool
    """True if the line falls into as many parts as the step, whose positions leave the same remainder."""
    rows: int
    """The number of lines that are computed at a time, where there are so many inside."""
    row: str
    """The variable that these differ by, """
    row_step: str
    """and the distance from one to the next."""
    lanes: str
    outputs: tuple[str, ...]
    """The C types of the results."""
    tables: tuple[Numbers, ...]
    in_order: bool
    """True if an element of a line depends on the one before it."""
    parts: tuple[Kernel, ...] = ()
    """The kernels of the stretches of lines, by the truth values of conditions; empty: a line is computed as it
    stands."""
    thresholds: tuple[Threshold, ...] = ()
    bases: tuple[tuple[str, str], ...] = ()
    """The beginnings of stretches along which remainders grow, and the divisors."""
    is_part: bool = False
    seldom: bool = False
    """True if only gradients of gradients call the kernel."""
    ahead: Ahead | None = None
    """The tests that are made before several results are computed; None: each is tested where it is computed."""

    @property
    def copies(self) -> bool:
        """True if a line as a whole is one step, so that nothing is kept for each lane."""
        return any(isinstance(each, Copy) for each in self.body)

    @property
    def tests_places(self) -> bool:
        """True if there are other statements for lanes that may be outside. They test or compute places in each lane,
        so that only positions that are outside take them; otherwise such lanes are left out of the same statements."""
        return any(each.checked_before is not None for each in _steps_of(self.body))

    @property
    def inlined(self) -> str:
        """The places where the text of the kernel is compiled with the number of lanes known: `everywhere`, which is
        several times, for long `lines` that are inside, or `nowhere`, so that it is compiled once."""
        count = _statements(self.body)
        if count * (2 if self.cuts else 1) <= _MOST_IN_FULL and not self.seldom:
            return "everywhere"
        return "lines" if count <= _MOST_IN_PART else "nowhere"

    @property
    def splits(self) -> bool:
        """True if threads may share one line."""
        return not self.phases and not self.copies and not self.in_order


@dataclass(frozen=True)
class Tensor:
    """A tensor as kernels see it."""

    name: str
    index: int
    indices: int
    is_read: bool
    ctype: str | None
    """The C type of the elements, if they are not of the dtype of computation."""
    optional: bool
    batched: bool
    flat: bool
    known: tuple[int | None, ...]
    """The sizes that the entry tells."""
    result: int | None = None
    """The number of the result that it is; None: it is an input."""


@dataclass(frozen=True)
class Shared:
    """The parts that the kernels of all dtypes have in common."""

    tensors: tuple[Tensor, ...]
    outer: tuple[tuple[str, int], ...]
    """The variables besides that of the line, with their numbers; the last one runs fastest."""
    inner: str | None
    inner_index: int
    uniforms: tuple[str, ...]
    tables: tuple[tuple[str, tuple[int, ...]], ...]
    """Tables of numbers, by name with their sizes."""
    small: int
    """The number of elements of each result that stand side by side at one position of the variables."""
    sequence: int = 0
    """The number of outer variables, from the last on, whose positions are computed in order."""
    descending: bool = False
    """True if these are computed from the last position to the first."""
    bases: tuple[str, ...] = ()
    """The expressions that are constant in a stretch of a line."""
