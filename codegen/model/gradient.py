"""The gradient of one result of an expression over indices by a tensor: what is gathered, and what is scattered.

Each path from an element to the result has a term. Where the variables of the path follow from the position of the
element, the gradient gathers the terms (adjoint.py); where data or an extremum says to which element a term belongs, it
is added there (scatter.py), for all paths through the same reductions at once.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from ..expr import Expr, ExpressionError
from ..expr.affine import ZERO
from ..expr.atoms import Fold, Range
from .adjoint import Adjoint
from .compute import Compute
from .paths import IndependentError, NoAdjointError, Path, UnsolvedIndexError, paths, summed, with_rests
from .scatter import scattered


@dataclass(frozen=True)
class Gradient:
    """The gradient by one tensor: what is gathered for each element, and terms that are scattered to them."""

    gathered: Compute | None
    scattered: tuple[tuple[Compute, Compute], ...]
    """The terms and their places among all elements."""


def gradient(body: Compute, target: str, result: int, tests: Mapping[Fold, Expr] | None = None) -> Gradient:
    """The gradient by a tensor, of `grad` by the result. Raises NoAdjointError.

    With `tests`, the conditions that extrema have chosen an element (choices.py), all terms are gathered.
    """
    body = body.rolled or body
    body = with_rests(replace(body, results=(body.results[result],)))
    try:
        found = [each for each in paths(body, body.results[0].tree, target) if each.derivative != ZERO]
    except ExpressionError as error:  # of a function whose derivative is not known
        raise NoAdjointError(error.message) from error
    if not found:
        raise IndependentError(f"the result does not depend on '{target}'")
    if body.ragged:
        raise NoAdjointError("there is no automatic gradient of sums over ranges whose bounds are data")
    adjoint = Adjoint(body, target, tests)
    left: dict[tuple[Range, ...], list[Path]] = {}
    for path in found:
        try:
            adjoint.add(path)
        except UnsolvedIndexError:
            left.setdefault(summed(path), []).append(path)
    return Gradient(adjoint.body(), tuple(scattered(body, target, each) for each in left.values()))
