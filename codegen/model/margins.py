"""Tensors that may be copied with margins: the elements around them that indices outside of them mean.

With margins all indices lie inside, and loops read without tests, which pays where lines are short.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from ..expr import Apply, Expr, Literal, Name, names
from ..expr.atoms import Fold, Read, within
from ..expr.indexed import vanishes
from .compute import Border, Compute
from .parts import End


@dataclass(frozen=True)
class Margin:
    """The value of a tensor's margins."""

    value: Border | End | float
    finite: frozenset[str] = frozenset()
    """The tensors that must be finite: their elements are factors of terms that are left out, as zeros in the margins
    make them zeros."""


_NONE: Mapping[str, Margin] = MappingProxyType({})


def margins(body: Compute) -> Mapping[str, Margin]:
    """Return by tensor its margins, if all indices lie inside with them; else nothing."""
    found: dict[str, Margin] = {}
    if body.own:
        return _NONE  # elements that are not computed yet cannot be copied
    for name, read in body.reads.items():
        if all(body.is_sure(read, dim) for dim in range(len(read.indices))):
            continue
        if read.tensor in body.tables:
            return _NONE
        margin = _margin(body, name, body.outside.get(read.tensor, Border.ERROR))
        if margin is None:
            return _NONE
        before = found.get(read.tensor, margin)
        found[read.tensor] = Margin(margin.value, before.finite | margin.finite)
    for read in body.reads.values():
        if read.tensor in found and not all(_is_bounded(body, read, dim) for dim in range(len(read.indices))):
            return _NONE
    return found


def _margin(body: Compute, name: str, rule: Border | End | float) -> Margin | None:
    """Return the margin that has the value of an element outside, or None where none has."""
    if rule in (Border.SKIP, 0.0) and _adds_nothing(body, name):
        users = [fold.value for fold in body.folds.values() if _uses(body, fold, name)]
        others = [_factors(body, each, name) for each in users]
        known = [each for each in others if each is not None]
        return Margin(0.0, frozenset().union(*known)) if len(known) == len(others) else None
    return None if rule in (Border.ERROR, Border.SKIP) else Margin(rule)


def _adds_nothing(body: Compute, name: str) -> bool:
    """Return True if the element is a factor of terms of sums alone, so that zeros add nothing."""
    users = [each for each in body.folds.values() if _uses(body, each, name)]
    direct = any(name in names(each.tree) for each in body.results)
    return not direct and all(
        isinstance(each, Fold) and each.reduction == "sum" and vanishes(each.value, lambda zero: zero == name)
        for each in users
    )


def _uses(body: Compute, fold: Fold, name: str) -> bool:
    return any(name == used for used, _ in within(body.atoms, fold.value))


def _factors(body: Compute, tree: Expr, name: str) -> frozenset[str] | None:
    """The tensors whose elements a vanishing element is multiplied by, one after the other; None where there are
    factors that may be infinite or undefined even if these tensors are finite."""
    if isinstance(tree, (Literal, Name)):
        return frozenset()
    if not isinstance(tree, Apply):
        return None
    parts, found = list(tree.args), frozenset[str]()
    if tree.function == "where":
        parts = parts[1:]
    elif tree.function == "mul":
        other = parts.pop(vanishes(parts[0], lambda zero: zero == name))
        read = body.atoms.get(str(other))
        if isinstance(read, Read):
            found = frozenset({read.tensor})
        elif not names(other) <= body.uniforms.keys() | body.all_variables:
            return None
    elif tree.function not in ("add", "sub", "neg"):
        return None
    for each in parts:
        factors = _factors(body, each, name)
        if factors is None:
            return None
        found |= factors
    return found


def _is_bounded(body: Compute, read: Read, dim: int) -> bool:
    """Return True if the least and the greatest index are known before the computation."""
    affine = body.index(read.indices[dim]).affine
    if affine is None:
        return False
    ranges = (body.ranges[name] for name in affine.variables if name in body.ranges)
    return all(names(bound) <= body.uniforms.keys() for each in ranges for bound in (each.first, each.stop))
