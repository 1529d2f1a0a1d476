"""`derivatives: auto` of recurrences: the operator that runs back through the results, and the gradients of one step.

A step is the body with the results as a tensor that is given, an operator without recurrence, whose gradients
adjoints.py makes: with what the first operator gives in the place of `grad` they are those of the recurrence. It is a
recurrence itself, and differentiated once more in the same way.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import count
from types import MappingProxyType

from ..errors import Diagnostics
from ..model.compute import Compute, shape_argument
from ..model.operator import Derivative, Operator
from ..model.paths import NoAdjointError, grad_name
from ..model.recurrence import given
from ..model.recurrence_adjoint import Through, adjoint
from ..source import Scalar
from . import adjoints
from .adjoints import AUTO
from .internal import internal, returned

_DEPTH = 2
"""The largest order of an operator's derivatives."""


def follow(operator: Operator, body: Compute, diagnostics: Diagnostics) -> Iterable[Operator] | None:
    """The operator, with formulas in place of `auto`, and those that these call; None where it reads no results."""
    if not body.own:
        return None
    return _with_adjoints(operator, body, _DEPTH, diagnostics)


def _with_adjoints(operator: Operator, body: Compute, depth: int, diagnostics: Diagnostics) -> Iterator[Operator]:
    automatic = {name: each.source for name, each in operator.derivatives.items() if each.text == AUTO}
    if not automatic or not depth:
        none = {name: Derivative("none", source) for name, source in automatic.items()}
        yield replace(operator, derivatives=MappingProxyType({**operator.derivatives, **none}))
        return
    first = next(iter(automatic.values()))
    results = _results(operator, body)
    opened = given(body, {name: each.given for name, each in results.items()})
    known = [each.given for each in results.values() if each.given in opened.tensors]
    step = _step(operator, opened, known)
    grads = [each.grad for each in results.values()]
    try:
        back, chosen = adjoint(opened, results, [each.name for each in step.schema.arguments])
    except NoAdjointError as error:
        diagnostics.report(first.span, str(error), "declare a formula, or 'none'")
        return
    names = [each for each in chosen.tensors if each in back.tensors]
    name = f"{operator.name}_through"
    through = adjoints.operator_of(_step(operator, opened, [*known, *names]), back, name, "its results", *grads)
    positions = {each: _positions(operator, step, chosen.tensors[each], each, first) for each in names}
    step, *others = adjoints.follow(step, step.body_of(Compute), diagnostics)
    texts = _given(operator, results)
    formulas = {name: _with_names(step.derivatives[name], texts) for name in automatic}
    arriving = _arriving(operator, results)
    arriving |= {name: adjoints.plain_call(step, opened, each, texts) for name, each in positions.items()}
    call = adjoints.plain_call(step, opened, through, arriving)
    formulas = {name: replace(each, grads=call) if _uses_grads(each) else each for name, each in formulas.items()}
    operator = replace(operator, derivatives=MappingProxyType({**operator.derivatives, **formulas}))
    yield operator
    if not any(each.grads for each in formulas.values()):
        return
    yield from positions.values()
    if depth == 1:  # what is left are gradients of the last order
        yield from (adjoints.constant(each, first) for each in others if _calls(operator, each.name))
    else:
        yield from others
        if any(_calls(each, step.name) for each in others):
            yield adjoints.constant(step, first)
    again = through.body
    assert isinstance(again, Compute)
    differentiated = [each.name for each in through.inputs if each.name not in again.discrete]
    through = replace(through, derivatives=MappingProxyType({name: Derivative(AUTO, first) for name in differentiated}))
    yield from _with_adjoints(through, again, depth - 1, diagnostics)


def _results(operator: Operator, body: Compute) -> Mapping[str, Through]:
    """Return the names of the results in their adjoint, which differ from those of the arguments."""
    alone = len(body.results) == 1
    for number in count(1):
        named = {
            each.name: Through(f"values{number}", grad_name(body), "value")
            if alone
            else Through(
                f"values{number}_{each.name}", f"{grad_name(body)}{number}_{each.name}", f"{each.name}_through{number}"
            )
            for each in body.results
        }
        used = {name for each in named.values() for name in (each.given, each.grad)}
        if not any(operator.schema.argument(name) for name in used):
            break
    return named


def _step(operator: Operator, opened: Compute, results: Sequence[str]) -> Operator:
    """The operator to which its results are given, as further tensors."""
    arguments = [f"Tensor {each}" for each in results]
    arguments += [f"{each.type} {each.name}" for each in operator.schema.arguments]
    returns = returned(each.name for each in operator.schema.returns)
    name = f"{operator.name}_step"
    return internal(operator, f"{name}({', '.join(arguments)}) -> {returns}", opened, f"One step of `{operator.name}`.")


def _positions(operator: Operator, step: Operator, body: Compute, tensor: str, source: Scalar) -> Operator:
    """The operator of the positions that an extremum has chosen, which are integers."""
    name = f"{operator.name}_{tensor}"
    made = adjoints.operator_of(step, body, name, tensor, dtypes=operator.dtypes | adjoints.DEFAULT)
    return adjoints.constant(made, source)


def _given(operator: Operator, results: Mapping[str, Through]) -> dict[str, str]:
    """The results in formulas, by the names of the tensors that they are in one step."""
    alone = len(results) == 1
    return {each.given: "result" if alone else f"result_{name}" for name, each in results.items()}


def _arriving(operator: Operator, results: Mapping[str, Through]) -> dict[str, str]:
    """Return the arguments of the operator that runs back: the results, and the gradients by them that there are."""
    texts = _given(operator, results)
    texts |= {shape_argument(name): f"{result}.shape" for name, result in texts.items()}
    if len(results) == 1:
        return texts
    for name, each in results.items():
        grad, result = f"grad_{name}", f"result_{name}"
        texts[each.grad] = f"({grad} if {grad} is not None else {result}.new_zeros({result}.shape))"
    return texts


def _with_names(derivative: Derivative, names: Mapping[str, str]) -> Derivative:
    """The formula with expressions in the place of names."""

    class Replaced(ast.NodeTransformer):
        def visit_Name(self, node: ast.Name) -> ast.expr:
            return ast.parse(names[node.id], mode="eval").body if node.id in names else node

    if derivative.text == "none":
        return derivative
    return replace(derivative, text=ast.unparse(Replaced().visit(ast.parse(derivative.text, mode="eval"))))


def _uses_grads(derivative: Derivative) -> bool:
    names = (each.id for each in ast.walk(ast.parse(derivative.text)) if isinstance(each, ast.Name))
    return any(name.partition("_")[0] == "grad" for name in names)


def _calls(operator: Operator, name: str) -> bool:
    """Return True if a formula of the operator calls the one of this name."""
    trees = (ast.parse(each.text, mode="eval") for each in operator.derivatives.values())
    return any(isinstance(each, ast.Name) and each.id == name for tree in trees for each in ast.walk(tree))
