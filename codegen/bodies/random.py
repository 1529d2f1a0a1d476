"""`random`: a distribution of the core, which fills `self` in place."""

from __future__ import annotations

from ..fields import Entry
from ..model import Random
from ..routines import DISTRIBUTIONS


def read(entry: Entry) -> Random | None:
    distribution = entry.text(entry.node, "random")
    if distribution is None:
        return None
    entry.known("distribution", distribution, DISTRIBUTIONS)
    return Random(distribution.value)
