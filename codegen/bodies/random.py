"""`random`: a distribution of the core, which fills `self` in place."""

from __future__ import annotations

from ..errors import suggest
from ..fields import Entry
from ..model import Random
from ..routines import DISTRIBUTIONS


def read(entry: Entry) -> Random | None:
    distribution = entry.text(entry.node, "random")
    if distribution is None:
        return None
    if distribution.value not in DISTRIBUTIONS:
        message = f"unknown distribution '{distribution.value}'"
        entry.report(distribution.span, message, suggest(distribution.value, DISTRIBUTIONS))
    return Random(distribution.value)
