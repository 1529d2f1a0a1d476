"""The operators that follow from an entry, by its family: those that it is made of, and those of its gradients."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from ..errors import Diagnostics
from ..model.family import Family
from ..model.operator import Operator
from . import (
    adjoints,
    drawing,
    fold_adjoints,
    fold_order,
    last_lines,
    loop_adjoints,
    placing,
    recurrence_adjoints,
    rounds,
    row_order,
    rows_adjoints,
    stages,
)

Follow = Callable[[Operator, Any, Diagnostics], Iterable[Operator] | None]
"""Takes an operator, its body and the diagnostics; returns operators in its place, or None where there are none."""

PARTS: dict[Family, tuple[Follow, ...]] = {
    Family.ELEMENTWISE: (drawing.follow,),
    Family.FOLD: (drawing.follow, fold_order.follow),
    Family.ROWS: (row_order.follow,),
    Family.COMPUTE: (placing.follow, last_lines.follow, rounds.follow, stages.follow),
}
"""The composite of an operator that is made of others, and these."""
GRADIENTS: dict[Family, tuple[Follow, ...]] = {
    Family.ELEMENTWISE: (loop_adjoints.follow,),
    Family.REDUCE: (fold_adjoints.follow_accumulation,),
    Family.SCAN: (fold_adjoints.follow_accumulation,),
    Family.FOLD: (fold_adjoints.follow,),
    Family.ROWS: (rows_adjoints.follow,),
    Family.COMPUTE: (recurrence_adjoints.follow, adjoints.follow),
}
"""The operator with formulas in place of `auto`, and what these call."""


def first(
    table: Mapping[Family, tuple[Follow, ...]], operator: Operator, diagnostics: Diagnostics
) -> list[Operator] | None:
    """Return the operators of the first function that has some to return."""
    for follow in table.get(operator.family, ()):
        found = follow(operator, operator.body, diagnostics)
        if found is not None:
            return [*found]
    return None
