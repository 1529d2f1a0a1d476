"""Results whose terms belong to places that are computed:

    value[index[n], d]: {sum: self[n, d]}

is the terms by n and d, and for each n the place that its row of terms is added to. Both are expressions over indices,
by the variables of the terms.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ..errors import Span
from ..expr.atoms import Atoms, Read, within
from ..expr.geometry import Geometry

if TYPE_CHECKING:
    from .compute import Compute, Result, Size

COMBINATIONS = ("sum", "prod", "max", "min", "mean")
OUTSIDE, SKIPPED = -2, -1
"""The place of a term that is outside of the result, which is an error, and of one that is left out then."""


@dataclass(frozen=True)
class Places:
    """The places at which the terms of one result become its elements."""

    combination: str
    place: Result
    """The number of the row that terms belong to."""
    indices: tuple[Result, ...]
    """The indices of the result, as they are written."""
    sizes: tuple[Geometry, ...]
    """The sizes of the dimensions of the result."""
    row: int
    """The number of last dimensions whose indices are plain variables; they make a row."""
    empty: float | int | None
    """The value of an element to which no term belongs; None: the value of a reduction over no elements."""
    span: Span


def alone(body: Compute, result: Result, row: int = 0) -> Compute:
    """The body of one result, by all variables but those of the row."""
    from .compute import Size, following, size_of

    given = {each.tensor for _, each in within(body.atoms, result.tree) if isinstance(each, Read)}

    def known(size: Size) -> Size:
        return size if size.geometry is not None or size.tensor in given else Size(size_of(size.tensor, size.dim))

    variables = tuple((name, known(size)) for name, size in body.variables[: len(body.variables) - row])
    return following(body, (result,), Atoms(body.atoms), variables, body.uniforms)


def parts(body: Compute) -> tuple[tuple[Places, Compute, Compute], ...]:
    """Return for each result how its terms become elements, the body of the terms, and that of the places."""
    plain = replace(body, places=())
    return tuple(
        (each, alone(plain, terms), alone(plain, replace(each.place, name="value"), each.row))
        for each, terms in zip(body.places, body.results, strict=True)
    )
