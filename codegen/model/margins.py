"""Tensors that may be copied with margins: the elements around them that indices outside of them mean.

With margins all indices lie inside, and loops read without tests, which pays where lines are short.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from ..expr import names
from ..expr.atoms import Fold, Read, within
from ..expr.indexed import vanishes
from .compute import Border, Compute
from .parts import End

_NONE: Mapping[str, Border | End | float] = MappingProxyType({})


def margins(body: Compute) -> Mapping[str, Border | End | float]:
    """Return by tensor the values of its margins, if all indices lie inside with them; else nothing."""
    found: dict[str, Border | End | float] = {}
    if body.own:
        return _NONE  # elements that are not computed yet cannot be copied
    for name, read in body.reads.items():
        if all(body.is_sure(read, dim) for dim in range(len(read.indices))):
            continue
        if read.tensor in body.tables:
            return _NONE
        rule = body.outside.get(read.tensor, Border.ERROR)
        if rule is Border.SKIP and _adds_nothing(body, name):
            rule = 0.0
        if rule in (Border.ERROR, Border.SKIP):
            return _NONE
        found[read.tensor] = rule
    for read in body.reads.values():
        if read.tensor in found and not all(_is_bounded(body, read, dim) for dim in range(len(read.indices))):
            return _NONE
    return found


def _adds_nothing(body: Compute, name: str) -> bool:
    """Return True if the element is a factor of terms of sums alone, so that zeros add nothing."""
    users = [each for each in body.folds.values() if any(name == used for used, _ in within(body.atoms, each.value))]
    direct = any(name in names(each.tree) for each in body.results)
    return not direct and all(
        isinstance(each, Fold) and each.reduction == "sum" and vanishes(each.value, lambda zero: zero == name)
        for each in users
    )


def _is_bounded(body: Compute, read: Read, dim: int) -> bool:
    """Return True if the least and the greatest index are known before the computation."""
    affine = body.index(read.indices[dim]).affine
    if affine is None:
        return False
    ranges = (body.ranges[name] for name in affine.variables if name in body.ranges)
    return all(names(bound) <= body.uniforms.keys() for each in ranges for bound in (each.first, each.stop))
