"""Functions that a file of operators defines for its own expressions:

    - function: smoothstep(x)
      let: {t: 'clamp(x, 0, 1)'}
      value: t * t * (3 - 2 * t)

Calls are replaced by the value, so that types and derivatives follow from it. A function may call those before it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace
from types import MappingProxyType

from ..errors import Diagnostics
from ..expr import FUNCTIONS
from ..expr.parse import ELEMENTS, OwnFunction
from ..expr.parse import Family as Expressions
from ..model.operator import Family
from ..source import Mapping, Node, Scalar
from .bodies.shared import Locals
from .fields import Fields
from .reserved import argument_reason

KEY = "function"
_KEYS = (KEY, "doc", "let", "value")
_EXAMPLE = "- {function: 'lerp(a, b, t)', value: a + t * (b - a)}"
_SIGNATURE = re.compile(r"\s*([^\W\d]\w*)\s*\(\s*((?:[^\W\d]\w*\s*(?:,\s*|(?=\))))+)\)\s*")
_NAME = re.compile(r"\w+")


def read(nodes: Iterable[Node], diagnostics: Diagnostics) -> tuple[tuple[Node, ...], Expressions]:
    """The other entries of a file, and the language of their expressions."""
    others: list[Node] = []
    language = ELEMENTS
    for node in nodes:
        if not isinstance(node, Mapping) or KEY not in node:
            others.append(node)
            continue
        function = _function(Fields(node, diagnostics, language))
        if function is not None:
            language = replace(language, own=MappingProxyType({**language.own, function.name: function}))
    return tuple(others), language


def _function(fields: Fields) -> OwnFunction | None:
    fields.known_keys(fields.node, _KEYS, where=KEY)
    signature, value = fields.text(fields.node, KEY), fields.text(fields.node, "value")
    if value is None and "value" not in fields.node:
        fields.report(fields.node.span, "a function needs 'value'", _EXAMPLE)
    match = None if signature is None else _SIGNATURE.fullmatch(signature.value)
    if signature is None or match is None:
        if signature is not None:
            fields.report(signature.span, f"'{signature.value}' is not a name with its parameters", _EXAMPLE)
        return None
    name, params = match[1], tuple(_NAME.findall(match[2]))
    taken = (
        "a function of the language"
        if name in FUNCTIONS
        else "defined already"
        if name in fields.expressions.own
        else None
    )
    if taken is not None:
        fields.report(signature.span_at(match.start(1), len(name)), f"'{name}' is {taken}", "rename it")
    for place in _NAME.finditer(match[2]):
        reason = _refused(place[0]) or ("is there already" if params.count(place[0]) > 1 else None)
        if reason is not None:
            span = signature.span_at(match.start(2) + place.start(), len(place[0]))
            fields.report(span, f"parameter '{place[0]}' {reason}", "rename it")
    local = Locals(fields, fields.node, params, _refused)
    tree = None if value is None else local.expression(value)
    local.report_unused()
    if tree is None or taken is not None:
        return None
    _report_unused(fields, signature, params, local)
    return OwnFunction(name, params, tree.tree)


def _report_unused(fields: Fields, signature: Scalar, params: tuple[str, ...], local: Locals) -> None:
    for param in params:
        if param not in local.used:
            at = signature.value.index(param, signature.value.index("("))
            fields.report(signature.span_at(at, len(param)), f"the value does not use '{param}'", "leave it out")


def _refused(name: str) -> str | None:
    return argument_reason(name, Family.ELEMENTWISE)
