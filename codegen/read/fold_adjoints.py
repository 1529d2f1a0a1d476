"""`derivatives: auto` of reductions and scans: the operators of their gradients, and formulas that call
them.

One operator computes all gradients in one run. It has derivatives of its own, from operators that have none.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from types import MappingProxyType

from ..dtypes import DTYPE_CLASSES, FLOAT64
from ..errors import Diagnostics
from ..expr import ExpressionError
from ..model.accumulation import Accumulation
from ..model.computation import own_dtypes
from ..model.fold_adjoint import COUNT, adjoint, of_one_value, states, used
from ..model.folding import Folding
from ..model.operator import (
    MAX_INPUTS,
    MAX_OUTPUTS,
    Derivative,
    Operator,
    grad_name,
)
from .adjoints import AUTO, NO_SECOND
from .internal import internal, listed, returned, unused

_DEPTH = 2
"""The largest order of an operator's derivatives."""


def follow(operator: Operator, body: Folding, diagnostics: Diagnostics) -> Iterator[Operator]:
    """Yield the operator, with formulas in place of `auto`, and those that these call."""
    return _with_adjoint(operator, body, diagnostics, _DEPTH)


def follow_accumulation(operator: Operator, body: Accumulation, diagnostics: Diagnostics) -> Iterator[Operator]:
    """Yield the same of a reduction or a scan of one value."""
    return follow(operator, of_one_value(body), diagnostics)


def _with_adjoint(operator: Operator, body: Folding, diagnostics: Diagnostics, depth: int) -> Iterator[Operator]:
    targets = [name for name, each in operator.derivatives.items() if each.text == AUTO]
    if not targets:
        yield operator
        return
    made: list[Operator] = []
    source, problem = operator.derivatives[targets[0]].source, "they are not known"
    formula = "none"
    if depth:
        try:
            made, formula = _Adjoint(operator, body, targets).made()
        except ExpressionError as error:
            problem = error.message
            for each in error.all if depth == _DEPTH else ():
                diagnostics.report(each.place(source), each.message, each.help)
        except _TooManyError as error:
            problem = str(error)
            if depth == _DEPTH:
                diagnostics.report(source.span, problem, "declare a formula, or 'none'")
        if not made and depth < _DEPTH:
            diagnostics.note(source.span, f"there are no second derivatives: {problem}", NO_SECOND)
    joint = len(targets) > 1 and bool(made)
    text = formula if joint or not made else f"{formula}[0]"
    formulas = {
        name: Derivative(text, each.source, place=targets.index(name) if joint else None) if name in targets else each
        for name, each in operator.derivatives.items()
    }
    yield replace(operator, derivatives=MappingProxyType(formulas))
    for other in made:
        yield from _with_adjoint(other, other.body_of(Folding), diagnostics, depth - 1)


class _TooManyError(ValueError):
    """More tensors than the core takes."""


class _Adjoint:
    """The gradients of an operator by `targets`."""

    def __init__(self, operator: Operator, body: Folding, targets: Sequence[str]) -> None:
        self.operator = operator
        self.body = body
        self.targets = targets
        self.types = body.variable_dtypes(operator, FLOAT64)
        taken = {each.name for each in operator.schema.arguments} | {*body.names}
        own = own_dtypes(operator)
        self.grads = {
            index: unused(f"given_{label}".rstrip("_"), taken)
            for index, label in enumerate(operator.labels)
            if own[index] is None or own[index].is_floating  # type: ignore[union-attr]
        }
        self.first = unused("is_first", taken)
        self.numbers = [f"{each.type} {each.name}" for each in operator.params]

    def made(self) -> tuple[list[Operator], str]:
        """The operators, and the formula that calls them."""
        body = adjoint(self.body, self.targets, self.types, self.grads, self.first)
        needed = used(body)
        inputs = [each.name for each in self.operator.inputs if each.name in needed]
        kept = [each for each in self.body.names if each in needed]
        tensors = [*self.grads.values(), *inputs, *kept, *([self.first] if self.first in needed else [])]
        if len(tensors) > MAX_INPUTS or len(self.targets) > MAX_OUTPUTS:
            message = f"the gradient would take {len(tensors)} tensors; the core takes up to {MAX_INPUTS}"
            raise _TooManyError(message)
        count = [] if self.body.is_scan else [f"int {COUNT}"]
        fixed = MappingProxyType({name: each for name, each in body.fixed.items() if name in tensors})
        backward = self._made("backward", replace(body, fixed=fixed), tensors, count, self.targets)
        made = [backward]
        before = "None"
        if kept and not self._gives_states:
            of_inputs = [each.name for each in self.operator.inputs]
            made.append(self._made("states", states(self.body, self.types), of_inputs, [], self.body.names))
            before = made[1].name
        return made, self._formula(backward, before, inputs, kept)

    @property
    def _gives_states(self) -> bool:
        """Return True if the results are the states before each element themselves."""
        body = self.body
        return body.is_scan and body.results == states(body, self.types).results

    def _made(
        self, kind: str, body: Folding, tensors: Sequence[str], more: Sequence[str], results: Sequence[str]
    ) -> Operator:
        arguments = [*(f"Tensor {each}" for each in tensors), "int dim", *self.numbers, *more]
        returns = returned(f"by_{each}" for each in results)
        source = next(iter(self.operator.derivatives.values())).source
        return internal(
            self.operator,
            f"{self.operator.name}_{kind}({', '.join(arguments)}) -> {returns}",
            body,
            f"Part of the gradient of `{self.operator.name}`.",
            dtypes=self.operator.dtypes & (DTYPE_CLASSES["floating"] | DTYPE_CLASSES["complex"]),
            derivatives=MappingProxyType(
                {each: Derivative(AUTO, source) for each in tensors if self._is_floating(each, body)}
            ),
        )

    def _is_floating(self, name: str, body: Folding) -> bool:
        return name not in body.fixed and (name not in self.body.names or self.types[name].is_floating)

    def _formula(self, backward: Operator, before: str, inputs: Sequence[str], kept: Sequence[str]) -> str:
        labels = self.operator.labels
        places = [self.body.names.index(each) for each in kept]
        results = [f"result_{labels[place]}".rstrip("_") for place in places] if self._gives_states else []
        names = [each.name for each in self.operator.inputs]
        parts = (
            backward.name,
            before,
            listed(results) if before == "None" else str(places),
            "dim",
            "None" if self.body.is_scan else "keepdim",
            listed(grad_name(labels[index]) for index in self.grads),
            listed(names),
            str([names.index(each) for each in inputs]),
            listed(each.name for each in self.operator.params),
            str(backward.schema.argument(self.first) is not None),
            listed(f"{each}.shape" for each in self.targets),
        )
        return f"fold_backward({', '.join(parts)})"
