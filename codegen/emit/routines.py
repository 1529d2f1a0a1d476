"""C declarations on which codegen and the core agree: routines, distributions and limits (include/ow_routines.h)."""

from __future__ import annotations

from ..model.compute import FURTHEST_BOUND, FURTHEST_INDEX, MAX_UNIFORMS, MAX_VARIABLES
from ..model.family import FAMILIES
from ..model.operator import MAX_INPUTS, MAX_OUTPUTS, MAX_PARAMS, MAX_REDUCTIONS, MAX_RESULTS, MAX_SHORTCUTS, Family
from ..model.routines import CORE, DISTRIBUTIONS, EXTERN, INDEXINGS, LAPACK
from .text import render


def emit() -> str:
    """Return the text of ow_routines.h."""
    return render(
        "routines.h.j2",
        "codegen/model/routines.py",
        "ow_routines.h",
        families=[each for each in FAMILIES.values() if each is not Family.COMPOSITE],
        extern=EXTERN,
        core=CORE,
        indexings=tuple(INDEXINGS),
        lapack=LAPACK,
        distributions=DISTRIBUTIONS,
        limits={
            "INPUTS": MAX_INPUTS,
            "PARAMS": MAX_PARAMS,
            "OUTPUTS": MAX_OUTPUTS,
            "REDUCTIONS": MAX_REDUCTIONS,
            "RESULTS": MAX_RESULTS,
            "SHORTCUTS": MAX_SHORTCUTS,
        },
        compute_limits={
            "MAX_VARIABLES": MAX_VARIABLES,
            "MAX_UNIFORMS": MAX_UNIFORMS,
            "FURTHEST_BOUND": FURTHEST_BOUND,
            "FURTHEST_INDEX": FURTHEST_INDEX,
        },
    )
