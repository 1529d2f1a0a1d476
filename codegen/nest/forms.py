"""The nodes of kernels in C: the forms that loops take in memory, in strips and lanes.

Schedules (`emit/schedules/`) choose them for the loops of an operator; `c.py` prints them and decides nothing.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Line:
    """A statement."""

    text: str


@dataclass(frozen=True)
class Declared:
    """A statement that comes from a line of the declarations, which the compiler's complaints are to name."""

    line: int
    text: str


@dataclass(frozen=True)
class Lanes:
    """A loop over `size` positions, in any number at a time: what is written at one is not read at another."""

    size: str
    body: tuple[Form, ...]
    index: str = "i"
    ctype: str = "int64_t"
    unrolled: int = 1


@dataclass(frozen=True)
class Axis:
    """A loop over positions, one after the other, from `first` to `size`, or as long as `size` says.

    It may be `descending`, or find `size` only `once`, before it begins.
    """

    index: str
    size: str
    body: tuple[Form, ...]
    first: str = "0"
    step: str = ""
    ctype: str = "int64_t"
    descending: bool = False
    once: bool = False


@dataclass(frozen=True)
class Strip:
    """A loop over a row of `length` elements in parts of up to `size`, with `done` of them before the part.

    `first` is where it begins; empty: with what `done` is already. It may be for `whole` parts alone.
    """

    size: str
    body: tuple[Form, ...]
    first: str = "0"
    length: str = "length"
    whole: bool = False


@dataclass(frozen=True)
class Case:
    """Two bodies, of which one is run where a condition holds, the other where it does not."""

    condition: str
    body: tuple[Form, ...]
    otherwise: tuple[Form, ...] = ()


@dataclass(frozen=True)
class Pragma:
    """A hint to the compiler about the next statement."""

    text: str


@dataclass(frozen=True)
class Block:
    """Statements within braces, and what stands before these."""

    head: str
    body: tuple[Form, ...]


@dataclass(frozen=True)
class Sourced:
    """Statements that come from a line of the declarations, as a whole."""

    line: int
    body: tuple[Form, ...]


Form = Line | Declared | Lanes | Axis | Strip | Case | Pragma | Block | Sourced


@dataclass(frozen=True)
class Function:
    """A function of the kernel."""

    head: str
    body: tuple[Form, ...]
    comment: str = ""


@dataclass(frozen=True)
class Text:
    """Declarations between functions."""

    text: str


def part(size: str, length: str = "length") -> str:
    """Return the number of elements in a part of a strip."""
    return f"{length} - done < {size} ? {length} - done : {size}"
