"""`derivatives: auto` of reductions and scans: the operators of their gradients, and formulas that call
them.

These operators have no derivatives themselves.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from types import MappingProxyType

from ..dtypes import FLOAT64
from ..errors import Diagnostics
from ..expr import ExpressionError
from ..model.computation import fold_dtypes, own_dtypes
from ..model.fold_adjoint import COUNT, FIRST, adjoint, of_one_value, states, used
from ..model.folding import Folding
from ..model.operator import (
    MAX_INPUTS,
    Declaration,
    Derivative,
    Family,
    Operator,
    Reduce,
    Scan,
    grad_name,
)
from ..source import Scalar
from .adjoints import AUTO, name_of
from .internal import internal


def derived(declarations: Iterable[Declaration], diagnostics: Diagnostics) -> list[Declaration]:
    """The declarations, with formulas in place of `auto`, and the operators that these call."""
    found: list[Declaration] = []
    for declaration in declarations:
        body = declaration.body if isinstance(declaration, Operator) else None
        if isinstance(body, (Reduce, Scan)):
            body = of_one_value(body)
        if isinstance(declaration, Operator) and isinstance(body, Folding) and _is_automatic(declaration):
            found += _Adjoints(declaration, body, diagnostics).operators()
        else:
            found.append(declaration)
    return found


def _is_automatic(operator: Operator) -> bool:
    return any(each.text == AUTO for each in operator.derivatives.values())


class _Adjoints:
    def __init__(self, operator: Operator, body: Folding, diagnostics: Diagnostics) -> None:
        self.operator = operator
        self.body = body
        self.diagnostics = diagnostics
        self.types = fold_dtypes(operator, body, FLOAT64)
        own = own_dtypes(operator)
        self.grads = {
            index: grad_name(label)
            for index, label in enumerate(operator.labels)
            if own[index] is None or own[index].is_floating  # type: ignore[union-attr]
        }
        self.numbers = [f"{each.type} {each.name}" for each in operator.params]

    def operators(self) -> Iterator[Operator]:
        automatic = [name for name, each in self.operator.derivatives.items() if each.text == AUTO]
        formulas: dict[str, Derivative] = dict(self.operator.derivatives)
        made: list[Operator] = []
        for name in automatic:
            source = formulas[name].source
            formulas[name] = Derivative("none", source)
            try:
                body = adjoint(self.body, name, self.types, self.grads)
            except ExpressionError as error:
                for each in error.all:
                    self.diagnostics.report(each.place(source), each.message, each.help)
                continue
            kept = [each for each in self.body.names if each in used(body)]
            tensors = [*self.grads.values(), *(each.name for each in self.operator.inputs), *kept, FIRST]
            if len(tensors) > MAX_INPUTS:
                message = f"the gradient would take {len(tensors)} tensors; the core takes up to {MAX_INPUTS}"
                self.diagnostics.report(source.span, message, "declare a formula, or 'none'")
                continue
            count = [] if self.body.is_scan else [f"int {COUNT}"]
            made.append(self._made(name_of(self.operator.name, name), body, tensors, count, 1))
            if kept:
                self._add_states(made)
            formulas[name] = Derivative(self._formula(name, kept), source)
        yield replace(self.operator, derivatives=MappingProxyType(formulas))
        yield from made

    @property
    def _states(self) -> str:
        return f"{self.operator.name}_states"

    def _add_states(self, made: list[Operator]) -> None:
        if not any(each.name == self._states for each in made):
            tensors = [each.name for each in self.operator.inputs]
            body = states(self.body, self.types)
            made.append(self._made(self._states, body, tensors, [], len(body.names)))

    def _made(self, name: str, body: Folding, tensors: list[str], more: list[str], results: int) -> Operator:
        arguments = [*(f"Tensor {each}" for each in tensors), "int dim", *self.numbers, *more]
        returns = "Tensor" if results == 1 else f"({', '.join(['Tensor'] * results)})"
        return internal(
            self.operator,
            f"{name}({', '.join(arguments)}) -> {returns}",
            body,
            f"Part of the gradient of `{self.operator.name}`.",
            family=Family.FOLD,
            derivatives=MappingProxyType({each: Derivative("none", self._source) for each in tensors if each != FIRST}),
        )

    @property
    def _source(self) -> Scalar:
        return next(iter(self.operator.derivatives.values())).source

    def _formula(self, name: str, kept: list[str]) -> str:
        places = [self.body.names.index(each) for each in kept]
        parts = (
            f"({self._states}, {places})" if kept else "None",
            name_of(self.operator.name, name),
            "dim",
            "None" if self.body.is_scan else "keepdim",
            _tuple(self.grads.values()),
            _tuple(each.name for each in self.operator.inputs),
            _tuple(each.name for each in self.operator.params),
        )
        return f"fold_backward({', '.join(parts)})"


def _tuple(texts: Iterable[str]) -> str:
    return f"({''.join(f'{text}, ' for text in texts)})"
