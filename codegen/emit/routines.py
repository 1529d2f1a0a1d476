"""The lists of the core's routines and distributions for C (include/ow_routines.h)."""

from __future__ import annotations

from ..routines import DISTRIBUTIONS, INDEXINGS, ROUTINES
from .text import render


def emit() -> str:
    return render(
        "routines.h.j2",
        "codegen/routines.py",
        "ow_routines.h",
        routines=ROUTINES,
        indexings=tuple(INDEXINGS),
        distributions=DISTRIBUTIONS,
    )
