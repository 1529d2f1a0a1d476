"""`derivatives: auto` of recurrences: the operator that runs back through the results, and the gradients of one step.

A step is the body with the results as a tensor that is given, an operator without recurrence, whose gradients
adjoints.py makes: with what the first operator gives in the place of `grad` they are those of the recurrence. It is a
recurrence itself, and differentiated once more in the same way.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import count
from types import MappingProxyType

from ..errors import Diagnostics
from ..model.compute import Compute, shape_argument
from ..model.operator import Derivative, Operator
from ..model.paths import NoAdjointError, grad_name
from ..model.recurrence import given
from ..model.recurrence_adjoint import adjoint
from . import adjoints
from .adjoints import AUTO
from .internal import internal

_DEPTH = 2
"""How often an operator can be differentiated."""


def follow(operator: Operator, diagnostics: Diagnostics) -> Iterable[Operator] | None:
    """The operator, with formulas in place of `auto`, and those that these call; None where the body is another one."""
    body = operator.body
    if not isinstance(body, Compute) or not body.own:
        return None
    return _with_adjoints(operator, body, _DEPTH, diagnostics)


def _with_adjoints(operator: Operator, body: Compute, depth: int, diagnostics: Diagnostics) -> Iterator[Operator]:
    automatic = {name: each.source for name, each in operator.derivatives.items() if each.text == AUTO}
    if not automatic or not depth:
        none = {name: Derivative("none", source) for name, source in automatic.items()}
        yield replace(operator, derivatives=MappingProxyType({**operator.derivatives, **none}))
        return
    values = next(each for each in map("values{}".format, count(1)) if operator.schema.argument(each) is None)
    opened = given(body, {body.results[0].name: values})
    step = _step(operator, opened, values)
    first = next(iter(automatic.values()))
    if len(body.results) > 1:
        diagnostics.report(first.span, "a recurrence of several results has no automatic gradient", "declare 'none'")
        return
    grad = grad_name(opened)
    try:
        through = adjoints.operator_of(step, adjoint(opened, values), f"{operator.name}_through", "its result", grad)
    except NoAdjointError as error:
        diagnostics.report(first.span, str(error), "declare a formula, or 'none'")
        return
    step, *others = adjoints.follow(step, diagnostics) or ()
    call = adjoints.plain_call(step, opened, through, {values: "result", shape_argument(values): "result.shape"})
    formulas = {name: _with_names(step.derivatives[name], {values: "result"}) for name in automatic}
    formulas = {name: replace(each, grads=call) if _uses_grad(each) else each for name, each in formulas.items()}
    operator = replace(operator, derivatives=MappingProxyType({**operator.derivatives, **formulas}))
    yield operator
    if not any(each.grads for each in formulas.values()):
        return
    if depth == 1:  # what is left are gradients of the last order
        yield from (adjoints.constant(each, first) for each in others if _calls(operator, each.name))
    else:
        yield from [step, *others] if any(_calls(each, step.name) for each in others) else others
    again = through.body
    assert isinstance(again, Compute)
    differentiated = [each.name for each in through.inputs if each.name not in again.integers]
    through = replace(through, derivatives=MappingProxyType({name: Derivative(AUTO, first) for name in differentiated}))
    yield from _with_adjoints(through, again, depth - 1, diagnostics)


def _step(operator: Operator, opened: Compute, values: str) -> Operator:
    """The operator to which its result is given, as another tensor."""
    arguments = ", ".join([f"Tensor {values}", *(f"{each.type} {each.name}" for each in operator.schema.arguments)])
    name = f"{operator.name}_step"
    return internal(operator, f"{name}({arguments}) -> Tensor", opened, f"One step of `{operator.name}`.")


def _with_names(derivative: Derivative, names: Mapping[str, str]) -> Derivative:
    """The formula with expressions in the place of names."""

    class Replaced(ast.NodeTransformer):
        def visit_Name(self, node: ast.Name) -> ast.expr:
            return ast.parse(names[node.id], mode="eval").body if node.id in names else node

    if derivative.text == "none":
        return derivative
    return replace(derivative, text=ast.unparse(Replaced().visit(ast.parse(derivative.text, mode="eval"))))


def _uses_grad(derivative: Derivative) -> bool:
    return any(isinstance(each, ast.Name) and each.id == "grad" for each in ast.walk(ast.parse(derivative.text)))


def _calls(operator: Operator, name: str) -> bool:
    """Does a formula of the operator call the one of this name?"""
    trees = (ast.parse(each.text, mode="eval") for each in operator.derivatives.values())
    return any(isinstance(each, ast.Name) and each.id == name for tree in trees for each in ast.walk(tree))
