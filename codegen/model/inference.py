"""Derives accepted dtypes, promotion and cost from the body, for elementwise operators from the expression, so that
entries need not declare them."""

from __future__ import annotations

from collections.abc import Mapping

from ..dtypes import COMPLEX128, COMPUTE_DTYPES, DTYPE_CLASSES, DType, Promotion
from ..expr import FUNCTIONS, Apply, Expr, ExpressionError, applications, type_of
from .computation import argument_dtypes
from .operator import Body, Declaration, Derivative, Elementwise, Family

_MOVES = frozenset((Family.VIEW, Family.INDEXING, Family.ROUTINE, Family.COMPOSITE))
"""Families that compute nothing themselves and therefore accept complex numbers."""


def dtypes(
    declaration: Declaration,
    body: Body,
    derivatives: Mapping[str, Derivative],
    complex_derivatives: Mapping[str, Derivative],
) -> frozenset[DType]:
    """The dtypes that are accepted unless the entry says otherwise: all real ones, and the complex ones where the
    expression and its derivatives are defined for them."""
    if declaration.family in _MOVES:
        return DTYPE_CLASSES["any"]
    if declaration.family is Family.LAPACK:
        return DTYPE_CLASSES["lapack"]
    if not isinstance(body, Elementwise):
        return DTYPE_CLASSES["all"]
    expression = body.expression(COMPLEX128)
    if expression is None or (body.is_uniform and _type(declaration, body, COMPLEX128) is None):
        return DTYPE_CLASSES["all"]
    differentiated = any(derivative.text != "none" for derivative in derivatives.values())
    conjugates = differentiated and uses_parts(expression.tree) and not complex_derivatives
    return DTYPE_CLASSES["all" if conjugates else "any"]


def uses_parts(tree: Expr) -> bool:
    """True if the value depends, other than through conditions, on a function without a complex derivative. Formulas
    with such functions follow torch's convention explicitly."""
    if not isinstance(tree, Apply):
        return False
    parts = tree.children[1:] if tree.function == "where" else tree.children
    return not FUNCTIONS[tree.function].holomorphic or any(map(uses_parts, parts))


def promotion(declaration: Declaration, body: Body, dtypes: frozenset[DType]) -> Promotion:
    """The promotion that follows from the types of the expression in the dtypes that the operator accepts.

    If every value is bool, the result is bool. If integers and bool give floating values, they are converted to the
    default floating dtype first.
    """
    if not isinstance(body, Elementwise):
        return Promotion.DEFAULT
    accepted = [dtype for dtype in COMPUTE_DTYPES if any(dtype is each.opmath for each in dtypes)]
    types = {dtype: _type(declaration, body, dtype) for dtype in accepted}
    if types and all(value is not None and value.is_bool for value in types.values()):
        return Promotion.ALWAYS_BOOL
    integral = [value for dtype, value in types.items() if dtype.is_integer or dtype.is_bool]
    if integral and all(value is not None and value.is_floating for value in integral):
        return Promotion.INT_TO_FLOAT
    return Promotion.DEFAULT


def cost(body: Body) -> float:
    """The cost of an element: the sum for functions that take longer than an addition, at least that of an addition.
    Simple arithmetic besides is hidden by memory accesses and by these functions."""
    cases = [case.tree for _, case in body.cases] if isinstance(body, Elementwise) else []
    return max((1.0, *map(_cost_of, cases)))


def _cost_of(tree: Expr) -> float:
    costs = (FUNCTIONS[each.function].cost for each in applications(tree) if isinstance(each, Apply))
    return float(sum(cost for cost in costs if cost > 1))


def _type(declaration: Declaration, body: Elementwise, dtype: DType) -> DType | None:
    """The dtype of the expression's value; None if it has none, which the checks report."""
    expression = body.expression(dtype)
    if expression is None:
        return None
    try:
        return type_of(expression.tree, argument_dtypes(declaration, body, dtype)).dtype
    except ExpressionError:
        return None
