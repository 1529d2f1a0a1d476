"""`routine: {lapack: …}`: a routine of LAPACK, which the core calls for each matrix of a batch."""

from __future__ import annotations

from ...model.operator import Lapack
from ...model.routines import LAPACK
from ..fields import Entry


def read(entry: Entry) -> Lapack | None:
    """Read the name of a routine of LAPACK; None: there is a mistake, which is reported."""
    routine = entry.text(entry.routine, "lapack")
    if routine is None:
        return None
    entry.known("routine", routine, LAPACK)
    if [word.value for word in entry.words("variants")] != ["internal"]:
        message = "an operator with a lapack body checks nothing and is for composites alone"
        entry.report(entry.name_span, message, "variants: internal")
    return Lapack(routine.value)
