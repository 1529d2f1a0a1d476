"""Derives promotion and cost from expressions, so that entries need not declare them."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from ..dtypes import COMPUTE_DTYPES, DType, Promotion
from ..expr import FUNCTIONS, Apply, Expr, applications
from .parts import Expression


def uses_parts(tree: Expr) -> bool:
    """True if the value depends, other than through conditions, on a function without a complex derivative. Formulas
    with such functions follow torch's convention explicitly."""
    seen: set[Expr] = set()
    waiting = [tree]
    while waiting:
        node = waiting.pop()
        if isinstance(node, Apply):
            if not FUNCTIONS[node.function].holomorphic:
                return True
            parts = node.children[1:] if node.function == "where" else node.children
            waiting += [part for part in parts if part not in seen]
            seen.update(parts)
    return False


def computed(dtypes: Collection[DType]) -> list[DType]:
    """Return the dtypes of computation of accepted ones."""
    return [dtype for dtype in COMPUTE_DTYPES if any(dtype is each.opmath for each in dtypes)]


def promotion(
    types: Mapping[DType, Sequence[DType]], own: Sequence[DType | None], may_be_bool: bool = False
) -> Promotion:
    """Return the promotion that follows from the types of the results by dtype of computation; `own` are declared ones.

    If every value is bool, the result is bool. If integers and bool give floating values, they are converted to the
    default floating dtype first.
    """
    several = {
        dtype: [value for value, told in zip(values, own, strict=False) if told is None]
        for dtype, values in types.items()
    }
    if may_be_bool and several and all(values and values[0].is_bool for values in several.values()):
        return Promotion.ALWAYS_BOOL
    integral = [values for dtype, values in several.items() if dtype.is_integer or dtype.is_bool]
    if integral and all(any(value.is_floating for value in values) for values in integral):
        return Promotion.INT_TO_FLOAT
    return Promotion.DEFAULT


def cost_of(expressions: Sequence[Expression], free: float) -> float:
    """Return the sum for the functions that take longer than `free`. Simple arithmetic besides is hidden by memory
    accesses and by these functions."""
    distinct = frozenset[Expr]().union(*(applications(each.tree) for each in expressions))
    costs = (FUNCTIONS[each.function].cost for each in distinct if isinstance(each, Apply))
    return float(sum(cost for cost in costs if cost > free))
