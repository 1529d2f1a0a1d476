"""`routine: {random: …}`: a distribution of the core, which fills `self` in place."""

from __future__ import annotations

from ...model.operator import Random
from ...model.routines import DISTRIBUTIONS
from ..fields import Entry


def read(entry: Entry) -> Random | None:
    """Read the name of a distribution; None: there is a mistake, which is reported."""
    distribution = entry.text(entry.routine, "random")
    if distribution is None:
        return None
    entry.known("distribution", distribution, DISTRIBUTIONS)
    return Random(distribution.value)
