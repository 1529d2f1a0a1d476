"""What follows from a body, of elementwise operators from the expression, so that entries need not say it: accepted
dtypes, promotion and cost."""

from __future__ import annotations

from collections.abc import Mapping

from ..dtypes import COMPLEX128, COMPUTE_DTYPES, DTYPE_CLASSES, DType, Promotion
from ..expr import FUNCTIONS, Apply, Expr, ExpressionError, applications, type_of
from .computation import argument_dtypes
from .operator import Body, Declaration, Derivative, Elementwise, Family

_MOVES = frozenset((Family.VIEW, Family.INDEXING, Family.COMPOSITE))
"""Bodies that compute nothing themselves, so that nothing of theirs stands against complex numbers."""


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
    """Is the value made of a function without a complex derivative? Conditions only choose. Formulas that it is part of
    say what torch's convention makes of it."""
    if not isinstance(tree, Apply):
        return False
    parts = tree.children[1:] if tree.function == "where" else tree.children
    return not FUNCTIONS[tree.function].holomorphic or any(map(uses_parts, parts))


def promotion(declaration: Declaration, body: Body, dtypes: frozenset[DType]) -> Promotion:
    """The promotion that the types of the expression ask for, in the dtypes that the operator accepts.

    Where every value is bool the result is bool. Where integers and bool give floating values they are converted to the
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
    """The time for an element: that of the functions in the expression which take longer than an addition, or of one
    addition. Simple arithmetic beside them is hidden behind memory and behind their own."""
    cases = [case.tree for _, case in body.cases] if isinstance(body, Elementwise) else []
    return max((1.0, *map(_cost_of, cases)))


def _cost_of(tree: Expr) -> float:
    costs = (FUNCTIONS[each.function].cost for each in applications(tree) if isinstance(each, Apply))
    return float(sum(cost for cost in costs if cost > 1))


def _type(declaration: Declaration, body: Elementwise, dtype: DType) -> DType | None:
    """Dtype of the expression's value; None where it has none, which the checks report."""
    expression = body.expression(dtype)
    if expression is None:
        return None
    try:
        return type_of(expression.tree, argument_dtypes(declaration, body, dtype)).dtype
    except ExpressionError:
        return None
