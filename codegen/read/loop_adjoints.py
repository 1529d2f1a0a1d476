"""`derivatives: auto` of loops for each element: operators that carry the derivative of each variable along.

They are such loops themselves, so they are differentiated once more; the operators of second derivatives are not.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from types import MappingProxyType

from ..dtypes import DTYPE_CLASSES, FLOAT64, Promotion
from ..errors import Diagnostics
from ..expr import Expr, ExpressionError, Literal, Name, apply, derive, simplify
from ..model.computation import own_dtypes, variable_dtypes
from ..model.operator import (
    MAX_INPUTS,
    Derivative,
    Elementwise,
    Expression,
    Iteration,
    Operator,
    grad_name,
)
from ..source import Scalar
from .adjoints import AUTO, name_of
from .internal import internal

_DEPTH = 2


def follow(operator: Operator, body: Elementwise, diagnostics: Diagnostics) -> Iterable[Operator] | None:
    """The operator, with formulas in place of `auto`, and those that these call; None where the body has no loop."""
    return _with_gradients(operator, _DEPTH, diagnostics) if _is_loop(operator) else None


def _is_loop(operator: Operator) -> bool:
    return operator.body.iterates and any(each.text == AUTO for each in operator.derivatives.values())


def _with_gradients(operator: Operator, depth: int, diagnostics: Diagnostics) -> Iterator[Operator]:
    formulas = dict(operator.derivatives)
    made: list[Operator] = []
    for name, derivative in operator.derivatives.items():
        if derivative.text != AUTO:
            continue
        formulas[name] = Derivative("none", derivative.source)
        if not depth:
            continue
        try:
            gradient = _gradient(operator, name, derivative.source)
        except ExpressionError as error:
            for each in error.all:
                if depth == _DEPTH:  # second derivatives may be unknown where first ones are known
                    diagnostics.report(each.place(derivative.source), each.message, each.help)
            continue
        if len(gradient.inputs) <= MAX_INPUTS:
            formulas[name] = Derivative(_call(operator, gradient), derivative.source, calls=True)
            made.append(gradient)
    yield replace(operator, derivatives=MappingProxyType(formulas))
    for other in made:
        yield from _with_gradients(other, depth - 1, diagnostics)


def _labels(operator: Operator) -> dict[int, str]:
    """The results that have a gradient, by index."""
    own = own_dtypes(operator)
    return {index: label for index, label in enumerate(operator.labels) if _has_gradient(own[index])}


def _argument(operator: Operator, label: str) -> str:
    """The argument for the gradient of a result: another name than formulas give to that of its own result."""
    name = f"cotangent_{label}".rstrip("_")
    while operator.schema.argument(name) is not None:
        name += "_"
    return name


def _has_gradient(own: object) -> bool:
    return own is None or bool(getattr(own, "is_floating", False))


def _gradient(operator: Operator, target: str, source: Scalar) -> Operator:
    body = operator.body_of(Elementwise)
    loop = body.iterate
    assert loop is not None
    types = variable_dtypes(operator, body, FLOAT64)
    # Another name than those of the variables that a first gradient carries.
    suffix = f"_by_{target}"
    while any(f"{name}{suffix}" in loop.names for name in loop.names):
        suffix += "_"
    carried = {name: Name(f"{name}{suffix}") for name in loop.names if types[name].is_floating}

    def total(tree: Expr) -> Expr:
        """The derivative by the target, also through the variables."""
        found = derive(tree, target)
        for name, by in carried.items():
            found = apply("add", found, apply("mul", derive(tree, name), by))
        return simplify(found)

    starts, following = dict(loop.state), dict(zip(loop.names, loop.following, strict=True))
    state = [*loop.state]
    state += [(by.name, _as(starts[name], derive(starts[name].tree, target))) for name, by in carried.items()]
    rounds = [*loop.following, *(_as(following[name], total(following[name].tree)) for name in carried)]
    value: Expr = Literal(0)
    expressions = body.expressions(FLOAT64)
    for index, label in _labels(operator).items():
        term = apply("mul", Name(_argument(operator, label)), total(expressions[index].tree))
        value = apply("add", value, term)
    iterate = Iteration(tuple(state), loop.proceeds, loop.times, tuple(rounds))
    name = name_of(operator.name, target)
    tensors = [f"Tensor {_argument(operator, label)}" for label in _labels(operator).values()]
    tensors += [f"Tensor {each.name}" for each in operator.inputs]
    numbers = [f"{each.type} {each.name}" for each in operator.params]
    gradient = Elementwise(
        ((DTYPE_CLASSES["floating"], (_as(expressions[0], simplify(value)),)),),
        body.fixed,
        MappingProxyType({}),
        MappingProxyType({}),
        body.conditions,
        iterate=iterate,
    )
    return internal(
        operator,
        f"{name}({', '.join([*tensors, *(['*', *numbers] if numbers else [])])}) -> Tensor",
        gradient,
        f"Gradient of `{operator.name}` by `{target}`.",
        dtypes=operator.dtypes & DTYPE_CLASSES["floating"],
        promotion=Promotion.DEFAULT,
        derivatives=MappingProxyType(
            {each.split()[1]: Derivative(AUTO, source) for each in tensors if each.split()[1] not in body.fixed}
        ),
    )


def _as(expression: Expression, tree: Expr) -> Expression:
    return replace(expression, tree=tree)


def _call(operator: Operator, gradient: Operator) -> str:
    grads = [grad_name(label) for label in _labels(operator).values()]
    if len(operator.labels) > 1:
        grads = [f"({each} if {each} is not None else grad.new_zeros(()))" for each in grads]
    given = [
        *grads,
        *(each.name for each in operator.inputs),
        *(f"{each.name}={each.name}" for each in operator.params),
    ]
    return f"{gradient.name}({', '.join(given)})"
