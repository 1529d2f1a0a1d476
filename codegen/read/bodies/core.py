"""`routine: {core: …}`: a function of the core that is given the whole call."""

from __future__ import annotations

from ...model.operator import Core
from ...model.routines import CORE
from ..fields import Entry


def read(entry: Entry) -> Core | None:
    """Read the name of a routine of the core; None: there is a mistake, which is reported."""
    routine = entry.text(entry.routine, "core")
    if routine is None:
        return None
    entry.known("routine", routine, CORE)
    return Core(routine.value)
