"""Derives accepted dtypes, promotion and cost from the body, for elementwise operators from the expression, so that
entries need not declare them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..dtypes import COMPLEX128, COMPUTE_DTYPES, DTYPE_CLASSES, EVERY_DTYPE, DType, Promotion
from ..expr import FUNCTIONS, Apply, Expr, ExpressionError, applications, type_of
from .computation import value_dtypes, variable_dtypes
from .compute import Compute
from .folding import Folding
from .operator import Body, Declaration, Derivative, Elementwise, Expression, Family

_OTHERS_COMPUTE = frozenset((Family.VIEW, Family.COMPOSITE))
"""Families that read no element themselves and therefore accept every dtype."""
_MOVES = frozenset((Family.INDEXING, Family.CORE))
"""Families that compute nothing themselves and therefore accept complex numbers."""


def dtypes(
    declaration: Declaration,
    body: Body,
    derivatives: Mapping[str, Derivative],
    complex_derivatives: Mapping[str, Derivative],
) -> frozenset[DType]:
    """The dtypes that are accepted unless the entry says otherwise: all real ones, and the complex ones where the
    expression and its derivatives are defined for them."""
    if declaration.family in _OTHERS_COMPUTE:
        return EVERY_DTYPE
    if declaration.family in _MOVES:
        return DTYPE_CLASSES["any"]
    if declaration.family is Family.LAPACK:
        return DTYPE_CLASSES["lapack"]
    if isinstance(body, Compute) and body.given and not body.promotes and not body.places:
        return DTYPE_CLASSES["floating"]  # those of numbers alone, where there are such
    if not isinstance(body, Elementwise):
        return DTYPE_CLASSES["all"]
    expressions = body.expressions(COMPLEX128)
    if not expressions or (body.is_uniform and not _types(declaration, body, COMPLEX128)):
        return DTYPE_CLASSES["all"]
    differentiated = any(derivative.text != "none" for derivative in derivatives.values())
    by_parts = any(uses_parts(each.tree) for each in expressions)
    conjugates = differentiated and by_parts and not complex_derivatives
    return DTYPE_CLASSES["all" if conjugates else "any"]


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


def promotion(declaration: Declaration, body: Body, dtypes: frozenset[DType]) -> Promotion:
    """The promotion that follows from the types of the expression in the dtypes that the operator accepts.

    If every value is bool, the result is bool. If integers and bool give floating values, they are converted to the
    default floating dtype first.
    """
    if not isinstance(body, (Elementwise, Folding)):
        return Promotion.DEFAULT
    accepted = [dtype for dtype in COMPUTE_DTYPES if any(dtype is each.opmath for each in dtypes)]
    types = {dtype: _types(declaration, body, dtype) for dtype in accepted}
    several = {dtype: _promoted(values, body) for dtype, values in types.items()}
    if (
        isinstance(body, Elementwise)
        and len(body.own) == 1
        and several
        and all(values and values[0].is_bool for values in several.values())
    ):
        return Promotion.ALWAYS_BOOL
    integral = [values for dtype, values in several.items() if dtype.is_integer or dtype.is_bool]
    if integral and all(any(value.is_floating for value in values) for values in integral):
        return Promotion.INT_TO_FLOAT
    return Promotion.DEFAULT


def _promoted(types: Sequence[DType], body: Elementwise | Folding) -> list[DType]:
    """The types of the results that have no declared one."""
    return [value for value, own in zip(types, body.own, strict=False) if own is None]


def cost(body: Body) -> float:
    """The cost of an element: the sum for functions that take longer than an addition, at least that of an addition.
    Simple arithmetic besides is hidden by memory accesses and by these functions."""
    if isinstance(body, Folding):
        return 1.0 + _cost_of((*body.element, *body.following), 0)
    if not isinstance(body, Elementwise):
        return 1.0
    rounds = _ROUNDS * _cost_of(body.iterate.rounds, 0) if body.iterate is not None else 0
    return max((1.0, *(_cost_of(case, 1) for _, case in body.cases))) + rounds


_ROUNDS = 16
"""The number of rounds that a loop is expected to take."""


def _cost_of(expressions: Sequence[Expression], free: float) -> float:
    """The sum for the functions that take longer than `free`."""
    distinct = frozenset[Expr]().union(*(applications(each.tree) for each in expressions))
    costs = (FUNCTIONS[each.function].cost for each in distinct if isinstance(each, Apply))
    return float(sum(cost for cost in costs if cost > free))


def _types(declaration: Declaration, body: Elementwise | Folding, dtype: DType) -> tuple[DType, ...]:
    """The dtypes of the values of the results; none if a value has none, which the checks report."""
    values = value_dtypes(declaration, body, dtype)
    if isinstance(body, Folding) or body.iterate is None or not values:
        return values
    env = variable_dtypes(declaration, body, dtype)
    try:
        for each in (body.iterate.times, *body.iterate.rounds):
            type_of(each.tree, env)
    except ExpressionError:
        return ()
    return values
