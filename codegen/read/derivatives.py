"""`derivatives`: reads the formulas of an entry."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from types import MappingProxyType

from ..dtypes import DType
from ..errors import suggest
from ..expr import Expr, Literal, Name, apply, derive, parse, simplify
from ..model.operator import (
    Body,
    Derivative,
    Family,
    Found,
    grad_name,
    labels_of,
)
from ..schema import Argument, ListType
from ..schema.types import OptionalType, without_optional
from ..source import Mapping as MappingNode
from ..source import Scalar
from . import following
from .accepts import TENSOR, Accepts
from .fields import Entry
from .python_text import python_names

DIFFERS = "straight_through"
"""The key of a formula that is meant to differ from the derivative: that of rounding, by which quantized networks
learn."""
_NOT_AUTOMATIC = "only expressions, rows, reductions and scans to values can be differentiated automatically"


def read(entry: Entry, body: Body | None, accepts: Accepts) -> Mapping[str, Derivative]:
    """The formulas by argument. A wrong formula is included without a tree."""
    node = entry.node.get("derivatives")
    differentiable = (
        *(argument.name for argument in entry.tensors),
        *(name for name, types in accepts.items() if TENSOR in types),
        *(argument.name for argument in entry.schema.arguments if isinstance(node, MappingNode) and _is_list(argument)),
    )
    derivatives: dict[str, Derivative] = {}
    if isinstance(node, MappingNode):
        joint = _joint(entry, body, node, differentiable)
        derivatives |= joint
        entry.known_keys(node, (*differentiable, *(key.value for key in node.keys if "," in key.value)), "argument")
        for name in differentiable:
            if name in joint and name in node:
                entry.report(node.key(name).span, f"two formulas for '{name}'", "keep one of them")  # type: ignore[union-attr]
            if name in joint:
                continue
            kinds = node.get(name)
            differs = isinstance(kinds, MappingNode) and DIFFERS in kinds
            if isinstance(kinds, MappingNode) and (differs or entry.family.in_language):
                entry.known_keys(kinds, (DIFFERS,) if differs else ("real", "complex"), where=name)
                scalar = entry.text(kinds, DIFFERS if differs else "real")
            else:
                scalar = entry.text(node, name)
            is_read = entry.family is Family.COMPUTE and body is not None and name in body.discrete
            if body is not None and is_read and scalar is not None and scalar.value != "none":
                message = f"'{name}' is read as {body.fixed[name]}: there is no derivative by it"
                entry.report(scalar.span, message, "leave it out")
                derivatives[name] = Derivative("none", scalar)
            elif scalar is not None and differs and scalar.value.strip() in ("auto", "none"):
                entry.report(scalar.span, f"'{DIFFERS}' is a formula", f"{DIFFERS}: grad")
                derivatives[name] = Derivative("none", scalar)
            elif scalar is not None:
                derivatives[name] = replace(_formula(entry, body, name, scalar), differs=differs)
            elif name in node:
                derivatives[name] = Derivative("none", entry.func)  # the mistake is reported already
    elif isinstance(node, Scalar):
        scalar = entry.text(entry.node, "derivatives")
        if scalar is not None and scalar.value not in ("none", "auto"):
            help = "'auto', 'none' or a formula per argument"
            entry.report(scalar.span, f"unknown derivative '{scalar.value}'", help)
        elif scalar is not None:
            # Fixed inputs are masks and the like, which have no derivatives.
            fixed = () if body is None else body.discrete
            derivatives = {name: _formula(entry, body, name, scalar) for name in differentiable if name not in fixed}
    elif node is not None:
        entry.report(node.span, "'derivatives' must be 'auto', 'none' or a mapping from argument to formula")
    if node is not None and not isinstance(node, MappingNode) and not derivatives:
        derivatives = {name: Derivative("none", entry.func) for name in differentiable}  # as well
    return MappingProxyType(derivatives)


def _joint(entry: Entry, body: Body | None, node: MappingNode, known: tuple[str, ...]) -> dict[str, Derivative]:
    """Formulas for several arguments, `self, weight: both(grad)`, that give a tuple of gradients."""
    found: dict[str, Derivative] = {}
    for key in node.keys:
        if "," not in key.value:
            continue
        listed = [word.strip() for word in key.value.split(",")]
        wrong = next((each for each in listed if each not in known), None)
        scalar = entry.text(node, key.value)
        if wrong is not None:
            entry.report(key.span, f"unknown argument '{wrong}'", suggest(wrong, known))
        elif entry.family.in_language:
            entry.report(key.span, "formulas of an elementwise operator are of one argument each", "write one for each")
        elif found or len(set(listed)) < len(listed):
            entry.report(key.span, "an operator has one formula for several arguments, which are different ones")
        elif scalar is not None and scalar.value.strip() in ("auto", "none"):
            entry.report(
                scalar.span, "a formula for several arguments gives a tuple", "f(grad), with a gradient for each"
            )
        elif scalar is not None:
            formula = _formula(entry, body, listed[0], scalar)
            found = {name: replace(formula, place=index) for index, name in enumerate(listed)}
    return found


def read_complex(entry: Entry) -> Mapping[str, Derivative]:
    """The formulas for complex numbers, which are Python in every family."""
    node = entry.node.get("derivatives")
    derivatives: dict[str, Derivative] = {}
    for argument in entry.tensors if isinstance(node, MappingNode) and entry.family.in_language else ():
        assert isinstance(node, MappingNode)
        kinds = node.get(argument.name)
        scalar = entry.text(kinds, "complex") if isinstance(kinds, MappingNode) else None
        if scalar is not None:
            python_names(entry, scalar, "eval", _known(entry))
            derivatives[argument.name] = Derivative(scalar.value.strip(), scalar)
    return MappingProxyType(derivatives)


def _known(entry: Entry) -> tuple[str, ...]:
    """Names that a formula may use. Several results have a `grad_NAME` and a `result_NAME` each."""
    returns = entry.schema.returns
    names = [f"{kind}_{name}".rstrip("_") for kind in ("grad", "result") for name in labels_of(entry.schema)]
    if len(returns) == 1 and returns[0].is_tensor_list:
        names.append("grads")
    names += [f"by_{argument.name}" for argument in entry.tensors] if not entry.family.in_language else []
    return (*names, *(argument.name for argument in entry.schema.arguments))


def _formula(entry: Entry, body: Body | None, name: str, scalar: Scalar) -> Derivative:
    """The formula: in the expression language for an elementwise body, otherwise in Python."""
    text = scalar.value.strip()
    if text == "none":
        return Derivative(text, scalar)
    if text == "auto":
        if entry.family.in_language:
            return Derivative(text, scalar, _automatic(entry, body, name))
        gives_positions = body is not None and Found.POSITION in body.found
        if entry.family not in following.GRADIENTS or gives_positions:
            entry.report(scalar.span, _NOT_AUTOMATIC, "declare a formula, or 'none'")
            return Derivative("none", scalar)
        return Derivative(text, scalar)  # which is replaced by what follows
    known = _known(entry)
    if entry.family.in_language:
        return Derivative(
            text, scalar, entry.located(scalar, lambda formula: parse(formula, known, entry.expressions, scalar))
        )
    python_names(entry, scalar, "eval", known)
    return Derivative(text, scalar)


def _automatic(entry: Entry, body: Body | None, name: str) -> Expr | None:
    """The sum over the results of `grad` times the symbolic derivative of the floating expression."""
    if body is None or not body.floating or body.iterates:
        return None  # loop_adjoints.py differentiates loops
    total: Expr | None = None
    for label, (own, expression) in zip(labels_of(entry.schema), body.floating, strict=True):
        tree = entry.located(expression.source, partial(_derived, expression.tree, name))
        if tree is None:
            return None
        if _has_gradient(own):
            term = apply("mul", Name(grad_name(label)), tree)
            total = term if total is None else apply("add", total, term)
    return simplify(Literal(0) if total is None else total)


def _derived(tree: Expr, name: str, text: str) -> Expr:
    return derive(tree, name)


def _has_gradient(own: DType | None) -> bool:
    return own is None or own.is_floating or own.is_complex


def _is_list(argument: Argument) -> bool:
    """A list of tensors, each of which has a gradient where the list has."""
    kind = without_optional(argument.type)
    return argument.is_tensor_list and isinstance(kind, ListType) and not isinstance(kind.element, OptionalType)
