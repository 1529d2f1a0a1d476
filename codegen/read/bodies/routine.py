"""`routine: {core: …}`: a function of the core that is given the whole call."""

from __future__ import annotations

from ...model.operator import Routine
from ...model.routines import CORE
from ..fields import Entry


def read(entry: Entry) -> Routine | None:
    name = entry.text(entry.routine, "core")
    if name is None:
        return None
    entry.known("routine", name, CORE)
    return Routine(name.value)
