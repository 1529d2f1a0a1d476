"""The list of the core's routines for C (include/ow_routines.h)."""

from __future__ import annotations

from ..routines import INDEXINGS, ROUTINES
from .text import render


def emit() -> str:
    return render("routines.h.j2", "codegen/routines.py", "ow_routines.h", names=ROUTINES, indexings=tuple(INDEXINGS))
