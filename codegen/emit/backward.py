"""Backward kernels: each derivative formula of an elementwise operator becomes an operator with one kernel.

Backward passes that are not differentiated again call these. They are internal, have no Python and no derivatives;
formulas that are a single operation need none.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from types import MappingProxyType

from ..dtypes import DTYPE_CLASSES, FLOAT64, Promotion
from ..expr import Expr, Literal, Name, applications, apply, names
from ..model.computation import turns_real, value_of
from ..model.operator import (
    MAX_INPUTS,
    MAX_PARAMS,
    Derivative,
    Elementwise,
    Expression,
    Operator,
    grad_name,
    term_of,
)
from ..schema import parse

_SMALLEST = 2
"""The least number of operations for which a formula gets a kernel."""


def operators(of: Sequence[Operator]) -> tuple[Operator, ...]:
    """The operators of all formulas, in the order of operators and arguments."""
    return tuple(operator for _, _, operator in _all(of))


def indices(of: Sequence[Operator], first: int) -> dict[tuple[str, str], int]:
    """Indices of these operators by (operator, argument), counted from `first`."""
    return {(name, argument): first + index for index, (name, argument, _) in enumerate(_all(of))}


def arguments(operator: Operator, tree: Expr) -> tuple[list[str], list[str]]:
    """The tensors and the numbers that a formula uses, in the order in which its kernel takes them."""
    used = names(tree)
    results = [f"{kind}_{label}".rstrip("_") for kind in ("grad", "result") for label in operator.labels]
    tensors: list[str] = [name for name in results if name in used]
    tensors += [argument.name for argument in operator.inputs if argument.name in used]
    return tensors, [argument.name for argument in operator.params if argument.name in used]


def _all(of: Sequence[Operator]) -> Iterator[tuple[str, str, Operator]]:
    for operator in of:
        for argument, derivative in operator.derivatives.items():
            kernel = _kernel(operator, argument, derivative) if operator.family.in_language else None
            if kernel is not None:
                yield operator.name, argument, kernel


def _kernel(operator: Operator, argument: str, derivative: Derivative) -> Operator | None:
    tree = derivative.tree
    if tree is None or derivative.text == "none" or _operations(tree) < _SMALLEST:
        return None
    tensors, numbers = arguments(operator, tree)
    optional = any(each.is_optional for each in (*operator.inputs, *operator.params) if each.name in names(tree))
    fits = len(tensors) <= MAX_INPUTS and len(numbers) <= MAX_PARAMS
    if turns_real(operator) or not tensors or tensors[0].partition("_")[0] != "grad" or not fits or optional:
        return None
    if value_of(tree, FLOAT64) is None:
        return None
    typed = [f"Tensor {name}" for name in tensors]
    kinds = {each.name: str(each.type) if each.is_real or each.is_integral else "Scalar" for each in operator.params}
    keywords = ["*", *(f"{kinds[name]} {name}" for name in numbers)] if numbers else []
    name = f"{operator.name}_backward_{argument}"
    fixed = {name: dtype for name, dtype in operator.body.fixed.items() if name in tensors}
    if len(operator.labels) > 1:
        tree = _guarded(tree, operator.labels)
    cases = ((DTYPE_CLASSES["floating"], (Expression(tree, derivative.source),)),)
    return replace(
        operator,
        schema=parse(f"{name}({', '.join([*typed, *keywords])}) -> Tensor"),
        method=False,
        function=False,
        operator=None,
        aliases=(),
        module=None,
        exports=(),
        internal=True,
        tags=(),
        body=Elementwise(cases, fixed, MappingProxyType({}), MappingProxyType({})),
        dtypes=DTYPE_CLASSES["floating"],
        promotion=Promotion.DEFAULT,
        derivatives=MappingProxyType({}),
        choices=MappingProxyType({}),
        shortcuts=MappingProxyType({}),
    )


def _guarded(tree: Expr, labels: Sequence[str]) -> Expr:
    """The formula of several gradients, of which those that are absent are passed as zero: their parts are zero then,
    also where the derivative is infinite."""
    total: Expr | None = None
    for label in labels:
        term, grad = term_of(tree, label, labels), Name(grad_name(label))
        if grad.name in names(term):
            part = term if term == grad else apply("where", apply("eq", grad, Literal(0)), Literal(0), term)
            total = part if total is None else apply("add", total, part)
    assert total is not None
    return total


def _operations(tree: Expr) -> int:
    """The number of distinct operator calls that compute the formula."""
    return sum(not all(isinstance(each, Literal) for each in part.children) for part in applications(tree))
