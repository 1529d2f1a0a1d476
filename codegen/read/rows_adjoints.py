"""`derivatives: auto` of rows: the operator of their gradients, which is of rows too, and formulas that call it.

One operator computes all gradients in one run. It has derivatives of its own, from an operator whose derivatives are
those of operators of tensors.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from types import MappingProxyType

from ..dtypes import DTYPE_CLASSES, Promotion
from ..errors import Diagnostics
from ..expr import ExpressionError, names
from ..model.operator import (
    MAX_INPUTS,
    MAX_OUTPUTS,
    MAX_ROW_LETS,
    MAX_ROW_VALUES,
    Derivative,
    Extent,
    Operator,
    Rows,
)
from ..model.rows_adjoint import adjoint, saved_values
from .adjoints import AUTO, NO_SECOND
from .internal import internal, listed, returned, unused

_DEPTH = 2
"""The largest order of an operator's derivatives."""


def follow(operator: Operator, body: Rows, diagnostics: Diagnostics) -> Iterator[Operator]:
    """Yield the operator, with formulas in place of `auto`, and those that these call."""
    return _with_adjoint(operator, body, diagnostics, _DEPTH)


def _with_adjoint(operator: Operator, body: Rows, diagnostics: Diagnostics, depth: int) -> Iterator[Operator]:
    targets = [name for name, each in operator.derivatives.items() if each.text == AUTO]
    if not targets:
        yield operator
        return
    source = operator.derivatives[targets[0]].source
    problem = f"the gradient would take more than {MAX_INPUTS} tensors or {MAX_ROW_VALUES} reductions"
    made: Operator | None = None
    formula = "none"
    if depth:
        try:
            made, formula = _made(operator, body, targets)
        except ExpressionError as error:
            for each in error.all if depth == _DEPTH else ():
                diagnostics.report(each.place(body.outputs[0][1].source), each.message, each.help)
            problem = error.message if depth < _DEPTH else ""
    if made is None and depth == _DEPTH and problem:
        diagnostics.report(source.span, problem, "declare a formula, or 'none'")
    elif made is None and depth < _DEPTH:
        formula = _by_operators(operator, targets)
        if formula == "none" and depth:
            diagnostics.note(source.span, f"there are no second derivatives: {problem}", NO_SECOND)
    joint = len(targets) > 1 and formula != "none"
    text = formula if joint or formula == "none" else f"{formula}[0]"
    formulas = {
        name: Derivative(text, source, place=targets.index(name) if joint else None) if name in targets else each
        for name, each in operator.derivatives.items()
    }
    yield replace(operator, derivatives=MappingProxyType(formulas))
    if made is not None:
        yield from _with_adjoint(made, made.body_of(Rows), diagnostics, depth - 1)


def _made(operator: Operator, body: Rows, targets: list[str]) -> tuple[Operator | None, str]:
    """The operator of the gradients, and the formula that calls it; None where the core does not take it."""
    taken = {each.name for each in operator.schema.arguments} | {let.name for let in body.lets}
    floating = [index for index, own in enumerate(body.own) if own is None or own.is_floating]
    grads = {unused(f"given_{operator.labels[index]}".rstrip("_"), taken): index for index in floating}
    kept = {name: index for name, index in saved_values(body).items() if index in floating}
    saved = {name: unused(f"kept_{name}", taken) for name in kept}
    rows, moving = adjoint(body, targets, grads, saved)
    constant = {saved[name] for name in kept if name not in moving}
    used = frozenset[str]().union(*(names(each.tree) for each in rows.expressions))
    grads = {name: index for name, index in grads.items() if name in used}
    inputs = [each.name for each in operator.inputs if each.name in used]
    saved = {name: label for name, label in saved.items() if label in used}
    tensors = [*grads, *inputs, *saved.values()]
    numbers = [each for each in operator.params if each.name in used]
    reductions = sum(let.combine is not None for let in rows.lets)
    many = len(tensors) > MAX_INPUTS or len(targets) > MAX_OUTPUTS
    if many or reductions > MAX_ROW_VALUES or len(rows.lets) > MAX_ROW_LETS:
        return None, "none"
    rows = replace(
        rows,
        per_row=rows.per_row & frozenset(tensors),
        per_place=rows.per_place & frozenset(tensors),
        fixed=MappingProxyType({name: each for name, each in rows.fixed.items() if name in inputs}),
    )
    name = f"{operator.name}_backward"
    if not any(rows.extent(each) is Extent.ELEMENT for each in tensors):
        tensors.append(next(each.name for each in operator.inputs if body.extent(each.name) is Extent.ELEMENT))
        inputs.append(tensors[-1])  # which tells the shape
    arguments = [f"Tensor {each}" for each in tensors]
    arguments += ["int[1]? dim", "bool keepdim", *(f"{each.type} {each.name}" for each in numbers)]
    returns = returned(f"by_{each}" for each in targets)
    source = operator.derivatives[targets[0]].source
    made = internal(
        operator,
        f"{name}({', '.join(arguments)}) -> {returns}",
        rows,
        f"Gradients of `{operator.name}` by {' and '.join(f'`{each}`' for each in targets)}.",
        dtypes=operator.dtypes & (DTYPE_CLASSES["floating"] | DTYPE_CLASSES["complex"]),
        promotion=Promotion.DEFAULT,
        derivatives=MappingProxyType(
            {
                each: Derivative("None" if each in constant else AUTO, source)
                for each in tensors
                if each not in rows.fixed
            }
        ),
    )
    return made, _formula(operator, body, made, targets, grads, inputs, {saved[each]: kept[each] for each in saved})


def _by_operators(operator: Operator, targets: list[str]) -> str:
    """The formula of gradients of an operator of this module that no other one computes."""
    if operator.body.by_operators(operator) is None:
        return "none"
    inputs = [each.name for each in operator.inputs]
    grads = listed(f"grad_{label}".rstrip("_") for label in operator.labels)
    numbers = listed(each.name for each in operator.params)
    wanted = listed(str(inputs.index(each)) for each in targets)
    return f"gradients_of_rows({operator.name}, dim, {listed(inputs)}, {numbers}, {grads}, {wanted})"


def _formula(
    operator: Operator,
    body: Rows,
    made: Operator,
    targets: list[str],
    grads: Mapping[str, int],
    inputs: list[str],
    saved: Mapping[str, int],
) -> str:
    def named(kind: str, index: int) -> str:
        return f"{kind}_{operator.labels[index]}".rstrip("_")

    extents = [extent.value for extent, _ in body.outputs]
    parts = (
        made.name,
        "dim",
        "keepdim" if operator.schema.argument("keepdim") is not None else "False",
        listed(f"{each.name}.shape" for each in operator.inputs),
        listed(f"({named('grad', index)}, {extents[index]!r})" for index in grads.values()),
        listed(f"({each}, {body.extent(each).value!r})" for each in inputs),
        listed(named("result", index) for index in saved.values()),
        listed(each.name for each in operator.params if made.schema.argument(each.name) is not None),
        listed(f"({each}.shape, {body.extent(each).value!r})" for each in targets),
    )
    return f"rows_backward({', '.join(parts)})"
