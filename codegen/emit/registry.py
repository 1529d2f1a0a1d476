"""The array of descriptors: Python calls an operator by its index in this array."""

from __future__ import annotations

from collections.abc import Sequence

from ..expr.functions import FUNCTIONS
from ..model.operator import Family, Operator
from . import backward
from .text import render


def indexed(operators: Sequence[Operator]) -> list[Operator]:
    """The operators that have a descriptor; composites are Python only."""
    return [operator for operator in operators if operator.family is not Family.COMPOSITE]


def emit(operators: Sequence[Operator], source: str, library: str | None = None) -> str:
    """Return the C array of the descriptors of all operators."""
    names = [operator.name for operator in (*indexed(operators), *backward.operators(operators))]
    vector_functions = [(each.c, len(each.params)) for each in FUNCTIONS.values() if each.libmvec]
    return render(
        "registry_ops.c.j2", source, "registry_ops.c", names=names, library=library, vector_functions=vector_functions
    )
