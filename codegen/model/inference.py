"""What follows from the expression of an elementwise operator, so that its entry does not say it: the promotion."""

from __future__ import annotations

from ..dtypes import COMPUTE_DTYPES, DType, Promotion
from ..expr import ExpressionError, type_of
from .computation import argument_dtypes
from .operator import Body, Declaration, Elementwise


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


def _type(declaration: Declaration, body: Elementwise, dtype: DType) -> DType | None:
    """Dtype of the expression's value; None where it has none, which the checks report."""
    expression = body.expression(dtype)
    if expression is None:
        return None
    try:
        return type_of(expression.tree, argument_dtypes(declaration, body, dtype)).dtype
    except ExpressionError:
        return None
