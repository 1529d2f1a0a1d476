"""Checks the formulas of `derivatives` against the expression that they belong to."""

from __future__ import annotations

from ..dtypes import FLOAT64
from ..errors import Diagnostics
from ..expr import Expr, ExpressionError, Name, check_by_differences, check_derivative, derive, lower, names, substitute
from ..model.operator import Family, Operator, grad_name, term_of
from ..source import Scalar


def check(operator: Operator, diagnostics: Diagnostics) -> None:
    """Check that every needed formula is declared, that none is unused, and that all agree with the expression."""
    for name, derivative in operator.derivatives.items():
        if derivative.text != "none" and operator.result_is_bool:
            diagnostics.report(derivative.source.span, f"the result is bool: it has no derivative by '{name}'")
        elif derivative.tree is not None and derivative.text != "auto" and not derivative.differs:
            _check_formula(operator, name, derivative.tree, derivative.source, diagnostics)
    if not _needs_derivatives(operator):
        return
    # Indices and masks are integers and bools.
    discrete = ("index", "mask") if operator.family is Family.INDEXING else ()
    for argument in operator.inputs:
        if argument.name not in operator.derivatives and argument.name not in (*operator.body.discrete, *discrete):
            diagnostics.report(
                operator.place(operator.name),
                f"'{operator.name}' has no derivative by '{argument.name}'",
                f"derivatives: {{{argument.name}: ...}}, or 'auto', or 'none' to decline",
            )


def _needs_derivatives(operator: Operator) -> bool:
    if operator.family in (Family.COMPOSITE, Family.FACTORY, Family.RANDOM) or operator.result_is_bool:
        return False
    floating = [dtype for dtype in operator.compute_dtypes if dtype.is_floating]
    return any(map(operator.body.computes, floating))


def _check_formula(operator: Operator, name: str, formula: Expr, source: Scalar, diagnostics: Diagnostics) -> None:
    """A formula must agree with the symbolic derivatives of the expressions."""
    expressions = [expression for _, expression in operator.body.floating]
    if not expressions or not any(dtype.is_floating for dtype in operator.dtypes):
        return
    try:
        lower(formula, dict.fromkeys(names(formula), FLOAT64))
    except ExpressionError as error:
        for each in error.all:
            diagnostics.report(each.place(source), each.message, each.help)
        return
    if operator.body.iterates:
        return
    results = {f"result_{label}": each.tree for label, each in zip(operator.labels, expressions, strict=True) if label}
    for label, forward in zip(operator.labels, expressions, strict=True):
        term = substitute(term_of(formula, label, operator.labels), {grad_name(label): Name("grad"), **results})
        if not _agrees(forward.tree, name, term, source, diagnostics):
            return


def _agrees(forward: Expr, name: str, formula: Expr, source: Scalar, diagnostics: Diagnostics) -> bool:
    try:
        derive(forward, name)
        compare = check_derivative
    except ExpressionError:
        compare = check_by_differences
    try:
        mismatch = compare(forward, name, formula)
    except ExpressionError as error:
        # Functions without a known derivative are evaluated by SciPy, which may not be installed.
        if compare is check_derivative:
            diagnostics.report(source.span, error.message, error.help)
        return False
    if mismatch is not None:
        diagnostics.report(source.span, str(mismatch))
    return mismatch is None
