"""Operators whose terms belong to computed places: those of the terms and of the places, and Python that combines them.

    segment_sum(self, index, count) -> combined_at(..., segment_sum_terms(self), segment_sum_places(index, count))

The terms have the derivatives of all expressions over indices; `combined_at` consists of operators that have theirs.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from types import MappingProxyType

from ..dtypes import BOOL, DTYPE_CLASSES, Promotion
from ..errors import Diagnostics
from ..expr import ExpressionError, Name
from ..expr.geometry import Geometry
from ..expr.python_text import python_text
from ..expr.typed import Op
from ..model.compute import Compute, shape_argument, size_of
from ..model.operator import Composite, Derivative, Operator, Requirement
from ..model.places import Places, parts
from ..model.unrolled import unrolled
from ..source import Scalar
from .adjoints import AUTO, refuse_formulas, used_in
from .internal import internal, scalar_of

COMBINED = "combined_at"


def follow(operator: Operator, body: Compute, diagnostics: Diagnostics) -> Iterable[Operator] | None:
    """The operator as Python, and those that it calls; None where results stand where their variables are."""
    if not body.places:
        return None
    _check(operator, body, diagnostics)
    try:
        return list(_made(operator, body))
    except ExpressionError as error:
        diagnostics.report(body.span, error.message, error.help)
        return []


def _check(operator: Operator, body: Compute, diagnostics: Diagnostics) -> None:
    for each in body.places:
        if each.combination == "mean" and not all(dtype.is_floating or dtype.is_complex for dtype in operator.dtypes):
            diagnostics.report(each.span, "a mean is of floating dtypes", "dtypes: floating")
        if each.combination in ("max", "min") and any(dtype.is_complex for dtype in operator.dtypes):
            diagnostics.report(each.span, f"complex numbers have no {each.combination}", "dtypes: all, or fewer")
    refuse_formulas(operator, "the derivatives of results whose places are computed follow", diagnostics)


def _made(operator: Operator, body: Compute) -> Iterator[Operator]:
    calls: list[str] = []
    others: list[Operator] = []
    known: dict[object, Operator] = {}
    none = Derivative("none", scalar_of("none", body.span))
    declined = dict.fromkeys((each.name for each in operator.inputs), none)
    labels = [each.name or str(place) for place, each in enumerate(operator.schema.returns)]
    for label, (places, terms, rows) in zip(labels, parts(body), strict=True):
        end = f"_{label}" if len(labels) > 1 else ""
        term = _part(operator, body, terms, f"{operator.name}_terms{end}", "Terms", operator.derivatives)
        others.append(term)
        key = (places.place.tree, places.row)
        if key not in known:
            known[key] = _part(operator, body, rows, f"{operator.name}_places{end}", "Places", declined)
            others.append(known[key])
        calls.append(_call(operator, body, places, term, known[key]))
    tensors = {name for made in others for name in made.derivatives if made.derivatives[name].text == AUTO}
    automatic = tuple(each.name for each in operator.inputs if each.name in tensors)
    returned = calls[0] if len(calls) == 1 else f"({', '.join(calls)})"
    require = tuple(_python(each, body) for each in (*_equal_sizes(operator.name, body), *body.require, *body.late))
    yield replace(
        operator,
        body=Composite(scalar_of(f"return {returned}", body.span), None, require, loops=body, automatic=automatic),
        derivatives=MappingProxyType({}),
    )
    yield from others


def _equal_sizes(function: str, body: Compute) -> Iterator[Requirement[Geometry, Geometry]]:
    """Yield the requirements that all dimensions with one variable as index have one size, so that no term is left out
    silently."""
    for name, size in body.variables:
        if size.geometry is not None:
            continue
        first = size_of(size.tensor, size.dim)
        for read in {(each.tensor, len(each.indices)): each for each in body.reads.values()}.values():
            for dim, index in enumerate(read.indices):
                other = size_of(read.tensor, dim - len(read.indices))
                if index == Name(name) and other != first and read.tensor not in {*body.tables, *body.optional}:
                    message = (
                        f"{function}(): '{name}' has ",
                        first,
                        f" positions in '{size.tensor}' and ",
                        other,
                        f" in '{read.tensor}'",
                    )
                    yield Requirement(Op(BOOL, "eq", (first, other)), "RuntimeError", message)


def _part(
    operator: Operator, whole: Compute, body: Compute, name: str, what: str, formulas: Mapping[str, Derivative]
) -> Operator:
    """The operator of one part, which takes the tensors that it reads, or one of which nothing else is known."""
    tensors = [each.name for each in operator.inputs if each.name in body.tensors]
    if not tensors:
        tensors = [next(each.name for each in operator.inputs if each.name in whole.tensors)]
        told = {name: dtype for name, dtype in whole.given.items() if name in tensors}
        body = replace(body, integers=whole.integers.intersection(tensors), given=MappingProxyType(told))
    body = unrolled(body, demands=True)
    arguments = [
        f"{each.type} {each.name}" for each in operator.schema.arguments if not each.is_tensor or each.name in tensors
    ]
    used = used_in(body)
    differentiable = {*tensors} - body.discrete
    arguments += [f"int[] {each}" for each in map(shape_argument, (e.name for e in operator.inputs)) if each in used]
    return internal(
        operator,
        f"{name}({', '.join(arguments)}) -> Tensor",
        body,
        f"{what} of `{operator.name}`.",
        dtypes=DTYPE_CLASSES["floating"] if body.fixed.keys() >= {*tensors} else operator.dtypes,
        promotion=Promotion.DEFAULT,
        derivatives=MappingProxyType({name: each for name, each in formulas.items() if name in differentiable}),
    )


def _call(operator: Operator, body: Compute, places: Places, terms: Operator, rows: Operator) -> str:
    lets = dict(body.let)
    sizes = ", ".join(python_text(each, lets) for each in places.sizes)
    given = [json.dumps(operator.name), json.dumps(places.combination), f"[{sizes}]", _plain(operator, terms)]
    given += [_plain(operator, rows), str(len(body.names)), str(places.row)]
    if places.empty is not None:
        given.append(f"float('{places.empty}')" if isinstance(places.empty, float) else str(places.empty))
    return f"{COMBINED}({', '.join(given)})"


def _plain(operator: Operator, made: Operator) -> str:
    shapes = {shape_argument(each.name): f"{each.name}.shape" for each in operator.inputs}
    return f"{made.name}({', '.join(shapes.get(each.name, each.name) for each in made.schema.arguments)})"


def _python(condition: Requirement[Geometry, Geometry], body: Compute) -> Requirement[Scalar, Scalar]:
    lets = dict(body.let)

    def scalar(tree: Geometry) -> Scalar:
        return scalar_of(python_text(tree, lets), body.span)

    message = tuple(each if isinstance(each, str) else scalar(each) for each in condition.message)
    return Requirement(scalar(condition.check), condition.error, message)
