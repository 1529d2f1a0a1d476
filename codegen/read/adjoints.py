"""`derivatives: auto` of expressions over indices: the operators of their gradients, which are such expressions.

An operator that is linear in each tensor, as products and means are, is in turn the gradient of its gradients, so that
these have all derivatives. Of others there are first and second derivatives.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import TypeAlias

from ..dtypes import BOOL, DTYPE_CLASSES, DType, Promotion
from ..errors import Diagnostics
from ..expr import Literal, names, substitute
from ..expr.atoms import Read
from ..expr.typed import names as typed_names
from ..model.adjoint import is_identity
from ..model.compute import Compute, shape_argument
from ..model.gradient import Gradient, gradient
from ..model.operator import Derivative, Operator
from ..model.paths import GRAD, IndependentError, NoAdjointError, grad_name, is_linear
from ..source import Scalar
from .internal import internal, returned

AUTO = "auto"


def refuse_formulas(operator: Operator, why: str, diagnostics: Diagnostics) -> None:
    """Reports derivatives that are formulas, of an operator whose derivatives follow."""
    for name, formula in operator.derivatives.items():
        if formula.text not in (AUTO, "none"):
            diagnostics.report(formula.source.span, f"'{name}': {why}", "auto, or none")


DEFAULT = DTYPE_CLASSES["floating"]
"""The classes of dtypes that the default dtype may be, in which places are computed where no tensor has another
dtype."""


NO_SECOND = "first derivatives are there; second ones raise an error"


def name_of(operator: str, argument: str) -> str:
    """The operator that computes a gradient."""
    return f"{operator}_backward_{argument}"


@dataclass(frozen=True)
class _Part:
    """The operators of the gradient of one result: of what is gathered, and of terms and of their places."""

    grad: str
    """The name of the gradient by the result in formulas."""
    gathered: Operator | None
    scattered: tuple[tuple[Operator, Operator], ...]
    passes: bool = False
    """True if what is gathered is the gradient by the result itself, for which there is no operator."""


_Made: TypeAlias = tuple[_Part, ...] | NoAdjointError
"""The parts of a gradient that are due to the results that have one, or why there is none."""


def follow(operator: Operator, body: Compute, diagnostics: Diagnostics) -> Iterator[Operator]:
    """Yield the operator, with formulas in place of `auto`, and those that these call."""
    automatic = [name for name, each in operator.derivatives.items() if each.text == AUTO]
    formulas: dict[str, Derivative] = dict(operator.derivatives)
    found: dict[str, tuple[_Part, ...]] = {}
    for name in automatic:
        made = _gradient(operator, body, name)
        source = formulas[name].source
        formulas[name] = Derivative(_formula(operator, body, made, name), source)
        if not isinstance(made, NoAdjointError):
            found[name] = made
        elif not isinstance(made, IndependentError):  # a gradient of zeros
            diagnostics.report(source.span, f"'{name}': {made}", "declare a formula, or 'none'")
    yield replace(operator, derivatives=MappingProxyType(formulas))
    for name, parts in found.items():
        for terms, places in (each for part in parts for each in part.scattered):
            yield from _terms(terms, name, formulas[name].source, diagnostics)
            yield constant(places, formulas[name].source)
    alone = {name: each for name, parts in found.items() if (each := _only_gathered(operator, parts)) is not None}
    for name, parts in found.items():
        for part in parts:
            if part.gathered is not None:
                yield from _differentiable(operator, body, name, part.gathered, alone, diagnostics)


def _only_gathered(operator: Operator, parts: tuple[_Part, ...]) -> Operator | None:
    """The operator that is the gradient, where no others take part."""
    return parts[0].gathered if len(operator.schema.returns) == 1 and not parts[0].scattered else None


def _formula(operator: Operator, body: Compute, made: _Made, target: str) -> str:
    """The formula of a gradient that is computed by these operators."""
    if isinstance(made, IndependentError):
        return f"{target}.new_zeros({target}.shape)"
    if isinstance(made, NoAdjointError):
        return "none"
    if len(operator.schema.returns) == 1:
        return _sum(operator, body, made[0], target)
    terms = (f"{_sum(operator, body, each, target)} if {each.grad} is not None else None, " for each in made)
    return f"total({''.join(terms)})"


def _sum(operator: Operator, body: Compute, part: _Part, target: str) -> str:
    """Return the sum of what one result contributes."""
    values = {grad_name(body): part.grad}
    texts = [] if part.gathered is None else [_call(operator, body, part.gathered, target, values)]
    texts += [f"{part.grad}{_summed(body, target)}"] if part.passes else []
    for made in part.scattered:
        terms, places = (plain_call(operator, body, each, values) for each in made)
        inner = f", {body.tensors[target]}, {len(made[0].body_of(Compute).names)}" if body.is_batched(target) else ""
        texts.append(f"add_at({part.grad}, {target}.shape, {places}, {terms}{inner})")
    return " + ".join(texts)


def _gradient(operator: Operator, body: Compute, target: str) -> _Made:
    """The parts of a gradient, or why there is none."""
    parts = []
    returns = operator.schema.returns
    for place, label in enumerate(each.name or str(place) for place, each in enumerate(returns)):
        try:
            found = gradient(body, target, place)
        except IndependentError as error:
            independent = error
            continue
        except NoAdjointError as error:
            return error
        prefix = operator.name if place == 0 else f"{operator.name}_{label}"
        grad = "grad" if len(returns) == 1 else f"grad_{label}"
        parts.append(_part(operator, found, prefix, target, grad))
    return tuple(parts) or independent


def _part(operator: Operator, found: Gradient, prefix: str, target: str, grad: str) -> _Part:
    name, argument = name_of(prefix, target), grad_name(operator.body_of(Compute))
    passes = found.gathered is not None and is_identity(found.gathered, argument)
    gathered = (
        None if found.gathered is None or passes else operator_of(operator, found.gathered, name, target, argument)
    )
    scattered = []
    for count, (terms, places) in enumerate(found.scattered):
        end = f"{target}_{count}" if count else target
        own = name if gathered is None and not count else f"{prefix}_terms_{end}"
        scattered.append(
            (
                operator_of(operator, terms, own, target, argument),
                operator_of(
                    operator, places, f"{prefix}_places_{end}", target, dtypes=_continuous(operator.dtypes) | DEFAULT
                ),
            )
        )
    return _Part(grad, gathered, tuple(scattered), passes)


def operator_of(
    operator: Operator,
    body: Compute,
    name: str,
    target: str,
    *grads: str,
    dtypes: frozenset[DType] | None = None,
) -> Operator:
    """Return the operator that computes a body, with the arguments that the body uses."""
    used = used_in(body)
    arguments = [f"Tensor {grad}" for grad in grads if grad in body.tensors]
    for argument in operator.schema.arguments:
        if not argument.is_tensor or argument.name in body.tensors:
            arguments.append(f"{argument.type} {argument.name}")
    shapes = [shape_argument(each.name) for each in operator.inputs]
    arguments += [f"int[] {each}" for each in shapes if each in used]
    return internal(
        operator,
        f"{name}({', '.join(arguments)}) -> {returned(each.name for each in body.results)}",
        body,
        f"Gradient of `{operator.name}` by `{target}`.",
        dtypes=dtypes or _dtypes(operator, target),
        order=operator.order + 1,
        promotion=Promotion.DEFAULT,
        derivatives=MappingProxyType({}),
    )


def _dtypes(operator: Operator, target: str) -> frozenset[DType]:
    """The dtypes of a gradient. The transposed map of a linear one may be called for its own sake, with integers."""
    body = operator.body_of(Compute)
    summed = operator.dtypes - {BOOL}
    if not operator.order and target in body.tensors and _without_optional(body, target) is not None:
        return summed
    return _continuous(summed) or summed


def _continuous(dtypes: frozenset[DType]) -> frozenset[DType]:
    return frozenset(each for each in dtypes if each.is_floating or each.is_complex)


def used_in(body: Compute) -> set[str]:
    """The names of arguments besides tensors that a body uses."""
    used = {name.removesuffix(".shape") for tree in body.uniforms.values() for name in typed_names(tree)}
    used |= {name for _, size in body.variables if size.geometry is not None for name in typed_names(size.geometry)}
    used |= {name.removesuffix(".shape") for _, tree in body.let for name in typed_names(tree)}
    conditions = (tree for each in (*body.require, *body.late) for tree in each.values)
    used |= {name.removesuffix(".shape") for tree in conditions for name in typed_names(tree)}
    for tree in (*(each.tree for each in body.results), *(x for each in body.used.values() for x in each.expressions)):
        used |= names(tree)
    return used


def _call(operator: Operator, body: Compute, made: Operator, target: str, values: Mapping[str, str] = {}) -> str:
    """The call of a gradient's operator in a formula of the operator."""
    text = plain_call(operator, body, made, values)
    summed = _summed(body, target)
    if summed:
        return f"{text}{summed}"
    own = made.body_of(Compute)
    # Nothing that is read tells the dimensions in front.
    unknown = own.batched and not any(map(own.is_batched, own.tensors))
    return f"{text}.expand({target}.shape)" if unknown else text


def _summed(body: Compute, target: str) -> str:
    """The end of a formula that sums over dimensions in front which the target may not have."""
    batched = [each for each in body.tensors if body.is_batched(each)]
    return f".sum_to_size({target}.shape)" if target in batched and len(batched) > 1 else ""


def plain_call(operator: Operator, body: Compute, made: Operator, values: Mapping[str, str] = {}) -> str:
    """Return the call of an operator of adjoints, as text."""
    given = {shape_argument(each.name): f"{each.name}.shape" for each in operator.inputs}
    given |= {grad_name(body): "grad", **values}
    return f"{made.name}({', '.join(given.get(each.name, each.name) for each in made.schema.arguments)})"


def _differentiable(
    operator: Operator,
    body: Compute,
    target: str,
    made: Operator,
    adjoints: Mapping[str, Operator],
    diagnostics: Diagnostics,
) -> Iterator[Operator]:
    """The operator of a gradient with derivatives of its own, and what they call."""
    own = made.body_of(Compute)
    formulas: dict[str, Derivative] = {}
    further: dict[str, Operator] = {}
    others: list[Operator] = []
    source = operator.derivatives[target].source
    linear = _without_optional(body, target) if len(operator.schema.returns) == 1 else None
    for argument in made.inputs:
        if argument.name in own.discrete:
            continue
        text = None
        if linear is not None and argument.name == GRAD:
            text = _original(operator, target, linear)
            if any(size.geometry is not None for _, size in linear.variables):
                # A gradient of a smaller result is one as well: not all that the sizes allow was there.
                text = f"leading({text}, {GRAD}.shape, {len(linear.names)})"
        elif linear is not None and argument.name in adjoints and is_linear(linear, argument.name):
            text = _call(operator, body, adjoints[argument.name], argument.name, {GRAD: GRAD, target: "grad"})
        if text is None or not _known(text, made):
            second = _second(made, target, argument.name, source, diagnostics)
            text = _formula(made, own, second, argument.name)
            if not isinstance(second, NoAdjointError):
                alone = _only_gathered(made, second)
                if alone is not None:
                    further[argument.name] = alone
                else:
                    others += _operators(second)
        formulas[argument.name] = Derivative(text, source)
    yield replace(made, derivatives=MappingProxyType(formulas))
    yield from (constant(each, source) for each in others)
    for name, each in further.items():
        last = {argument.name: Derivative("none", source) for argument in each.inputs}
        if is_linear(own, name):
            grad = each.inputs[0].name
            text = _original(made, name, own, {shape_argument(target): f"{grad}.shape"})
            last[grad] = Derivative(text, source)
        yield replace(each, derivatives=MappingProxyType(last))


def _operators(parts: tuple[_Part, ...]) -> Iterator[Operator]:
    for part in parts:
        yield from [] if part.gathered is None else [part.gathered]
        yield from (each for both in part.scattered for each in both)


def constant(made: Operator, source: Scalar) -> Operator:
    """The operator without derivatives."""
    names = (each.name for each in made.inputs if each.name not in made.body.discrete)
    return replace(made, derivatives=MappingProxyType({name: Derivative("none", source) for name in names}))


def _second(made: Operator, target: str, argument: str, source: Scalar, diagnostics: Diagnostics) -> _Made:
    """The parts of a gradient of a gradient; where there is none that is noted."""
    found = _gradient(made, made.body_of(Compute), argument)
    if isinstance(found, NoAdjointError) and not isinstance(found, IndependentError):
        message = f"the gradient by '{target}' has no derivative by '{argument}': {found}"
        diagnostics.note(source.span, message, NO_SECOND)
    return found


def _terms(made: Operator, target: str, source: Scalar, diagnostics: Diagnostics) -> Iterator[Operator]:
    """The operator of terms with derivatives, and what they call."""
    own = made.body_of(Compute)
    formulas: dict[str, Derivative] = {}
    further: list[Operator] = []
    for argument in made.inputs:
        if argument.name not in own.discrete:
            second = _second(made, target, argument.name, source, diagnostics)
            formulas[argument.name] = Derivative(_formula(made, own, second, argument.name), source)
            further += [] if isinstance(second, NoAdjointError) else _operators(second)
    yield replace(made, derivatives=MappingProxyType(formulas))
    yield from (constant(each, source) for each in further)


def _without_optional(body: Compute, target: str) -> Compute | None:
    """The body without optional tensors that are added, where it is linear in the target then."""
    absent = {
        name: Literal(0) for name, each in body.atoms.items() if isinstance(each, Read) and each.tensor in body.optional
    }
    if target in body.optional:
        return None
    results = tuple(replace(each, tree=substitute(each.tree, absent)) for each in body.results)
    without = replace(body, results=results, optional=frozenset())
    return without if is_linear(without, target) else None


def _original(operator: Operator, target: str, body: Compute, values: Mapping[str, str] = {}) -> str:
    """The call of the operator itself with the gradient in place of the target, without tensors that the body does not
    read."""
    read = {each.tensor for each in body.reads.values()}
    given = {target: "grad", **values}
    given |= {each.name: "None" for each in operator.inputs if each.name not in {*read, *given}}
    texts = [given.get(each.name, each.name) for each in operator.schema.positional]
    texts += [f"{each.name}={given.get(each.name, each.name)}" for each in operator.schema.keyword_only]
    return f"{operator.name}({', '.join(texts)})"


def _known(text: str, made: Operator) -> bool:
    """Return True if a formula uses nothing but the arguments of the operator."""
    known = {each.name for each in made.schema.arguments} | {"grad"}
    tree = ast.parse(text, mode="eval")
    called = {id(each.func) for each in ast.walk(tree) if isinstance(each, ast.Call)}
    used = {each.id for each in ast.walk(tree) if isinstance(each, ast.Name) and id(each) not in called}
    return used <= known
