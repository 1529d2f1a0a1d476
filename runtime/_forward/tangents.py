"""The tangents of the results of a call."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from itertools import chain
from typing import Any

from .._autograd.backward_api import grad
from .._autograd.grad_mode import enable_grad, is_grad_enabled
from .._autograd.node import Edge, Node, edges_of, is_differentiable
from .._autograd.record import derivative, unrecorded
from .._base.handles import tensors_in
from .._base.tensor_class import Tensor
from .._dispatch.dispatcher import call as dispatch
from .._dispatch.levels import alias_of, run
from .._dispatch.op import Op
from .._handle import meta


class Inputs:
    """The arguments of a call.

    Attributes:
        op: the operator.
        primals: the arguments, without tangents.
        tangents: in the same form the tangents, None where there is none.
        active: the places of the arguments with a tangent and a gradient: of one in a list with its index there.
    """

    def __init__(self, op: Op, primals: list[Any], tangents: list[Any]) -> None:
        self.op, self.primals, self.tangents = op, primals, tangents
        kind = derivative(op)
        places = () if kind is None else (kind.listed,) if kind.listed is not None else kind.inputs
        self.active = [
            (place, index)
            for place in (range(len(primals)) if places is None else places)
            for index in _indices(tangents[place])
        ]

    def tangent(self, place: int, index: int | None) -> Any:
        """A tangent."""
        return self.tangents[place] if index is None else self.tangents[place][index]

    def with_variables(self) -> tuple[list[Any], list[Any]]:
        """The arguments with variables of their own in the places of those with a tangent, and the variables."""
        values: list[Any] = [list(each) if isinstance(each, (list, tuple)) else each for each in self.primals]
        variables = []
        for place, index in self.active:
            primal = values[place] if index is None else values[place][index]
            variable = primal.view_as(primal) if primal.requires_grad else alias_of(primal).requires_grad_()
            variables.append(variable)
            if index is None:
                values[place] = variable
            else:
                values[place][index] = variable
        return values, variables

    @property
    def is_recorded(self) -> bool:
        """True if the tangents of the result have a graph."""
        return is_grad_enabled() and any(each.requires_grad for each in tensors_in([*self.primals, *self.tangents]))


def _indices(tangent: Any) -> list[int | None]:
    if isinstance(tangent, list):
        return [index for index, each in enumerate(tangent) if each is not None]
    return [] if tangent is None else [None]


def computed(inputs: Inputs) -> tuple[Any, list[Any]]:
    """The result of a call, and for each tensor of it the tangent, None where that is zero."""
    op = inputs.op
    kind = derivative(op)
    if kind is None or not inputs.active:
        result = run(op, inputs.primals)
        return result, [None] * (len(result) if isinstance(result, (list, tuple)) else 1)
    if op.family == "elementwise" and not any(each.is_complex() for each in tensors_in(inputs.primals)):
        result = run(op, inputs.primals)
        if not any(each.is_complex() for each in _listed(result)):
            pointwise = partial(_pointwise, inputs, kind, result)
            return result, pointwise() if inputs.is_recorded else unrecorded(pointwise)
    if {place for place, _ in inputs.active} <= set(chain.from_iterable(kind.linear)):
        result = run(op, inputs.primals)
        if not isinstance(result, (list, tuple)):
            return result, [_linear(inputs, kind.linear) if is_differentiable(result.dtype) else None]
    return _transposed(inputs)


# ---- linear operators ---------------------------------------------------------------------------------------


def _linear(inputs: Inputs, groups: Sequence[Sequence[int]]) -> Any:
    """The sum of the results for the tangents of a group of arguments at a time."""
    left = {place for place, _ in inputs.active}
    total = None
    while left:
        group = max(groups, key=lambda each: len(left.intersection(each)))
        chosen = left.intersection(group)
        values = [
            _tangent_or_zero(primal, inputs.tangents[place] if place in chosen else None) if place in group else primal
            for place, primal in enumerate(inputs.primals)
        ]
        term = run(inputs.op, values)
        total = term if total is None else total + term
        left -= chosen
    return total


def _tangent_or_zero(primal: Any, tangent: Any) -> Any:
    """The tangent of an argument, or zeros; those of a list."""
    if isinstance(primal, (list, tuple)):
        tangents = tangent if isinstance(tangent, list) else [None] * len(primal)
        return [_tangent_or_zero(*each) for each in zip(primal, tangents, strict=True)]
    if tangent is not None or primal is None:
        return tangent
    return alias_of(primal).new_zeros(primal.shape) if isinstance(primal, Tensor) else 0


def written_linearly(inputs: Inputs, target: Any, mode: int) -> None:
    """Overwrites a tangent as an operator that only has a form in place overwrites the primal: with tangents."""
    op = inputs.op
    if op.random:
        target.zero_()
        return
    kind = derivative(op)
    places = () if kind is None else kind.inputs or ()
    values = [
        _tangent_or_zero(primal, inputs.tangents[place]) if place in places else primal
        for place, primal in enumerate(inputs.primals)
    ]
    values[op.target] = target
    dispatch(op, values, None, mode)


# ---- elementwise operators ----------------------------------------------------------------------------------


def _pointwise(inputs: Inputs, kind: type[Node], result: Any) -> list[Any]:
    """The gradient by each input, for its tangent in place of the gradient of the result."""
    results, places = _listed(result), kind.inputs or ()
    edges: tuple[Edge | None, ...] = (None,) * len(places)
    if kind.kept_results and is_grad_enabled():
        edges = edges_of(kind.differentiated(inputs.primals))
    tangents = []
    for number, each in enumerate(results):
        total = None
        for place, _ in inputs.active if is_differentiable(each.dtype) else ():
            node = kind(tuple([_EDGE if place == other else edge for other, edge in zip(places, edges, strict=True)]))
            node.save(*inputs.primals)
            if kind.kept_results:
                node.keep_results(results)
                node.metas = tuple([meta(each) for each in results])
            tangent = inputs.tangent(place, None).expand(each.shape).to(each.dtype)
            terms = node.apply(*[tangent if at == number else None for at in range(len(results))])
            node.edges = edges  # results that the formula uses are outputs of the node, whose inputs are the primals
            (term,) = (term for other, term in zip(places, terms, strict=True) if place == other)
            if term is not None:
                total = term if total is None else total + term
        tangents.append(None if total is None else total.expand(each.shape).to(each.dtype))
    return tangents


_EDGE = (Node(()), 0)
"""Says that a gradient is wanted."""


# ---- all others ---------------------------------------------------------------------------------------------


def _transposed(inputs: Inputs) -> tuple[Any, list[Any]]:
    """The gradients, differentiated by the gradients of the results: these are linear in those (J. Townsend, "A new
    trick for calculating Jacobian vector products", 2017)."""
    is_recorded = inputs.is_recorded
    with enable_grad():
        values, variables = inputs.with_variables()
        result = run(inputs.op, values)
        results = _listed(result)
        places = [place for place, each in enumerate(results) if isinstance(each, Tensor) and each.requires_grad]
        outputs = [results[place] for place in places]
        cotangents = [alias_of(each).new_zeros(each.shape).requires_grad_() for each in outputs]
        gradients = grad(outputs, variables, cotangents, True, True, allow_unused=True) if outputs else []
    tangents: list[Any] = [None] * len(results)
    pairs = [
        (gradient, inputs.tangent(*active).to(gradient.dtype))
        for gradient, active in zip(gradients, inputs.active, strict=False)
        if gradient is not None and gradient.requires_grad
    ]
    if pairs:
        given = [tangent for _, tangent in pairs]
        found = grad([each for each, _ in pairs], cotangents, given, True, is_recorded, allow_unused=True)
        for place, tangent in zip(places, found, strict=True):
            tangents[place] = tangent
    return _outside(result, is_recorded), tangents


def _listed(result: Any) -> list[Any]:
    return list(result) if isinstance(result, (list, tuple)) else [result]


def _outside(result: Any, is_recorded: bool) -> Any:
    """A result without the graph of variables."""
    if is_recorded:
        return result
    if isinstance(result, (list, tuple)):
        return [_outside(each, False) for each in result]
    return alias_of(result) if isinstance(result, Tensor) else result
