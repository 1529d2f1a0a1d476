"""`elementwise`: one expression, or one for each class of dtypes; `fixed`, `absent`, `natural` and `require` beside
it."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from ...dtypes import DTYPE_CLASSES, DTYPES, DType, lookup, ordered
from ...errors import suggest
from ...expr import names
from ...model.operator import Elementwise, End, Expression, Requirement
from ...schema import Argument
from ...source import Mapping as MappingNode
from ...source import Node, Scalar
from ..fields import Entry
from . import requirements
from .shared import expression, expression_field, report_unused

_Case = tuple[frozenset[DType], Expression]


def read(entry: Entry, node: Node) -> Elementwise | None:
    fixed, absent, natural, require = _fixed(entry), _absent(entry), _natural(entry), _require(entry)
    known = tuple(argument.name for argument in entry.schema.arguments)
    cases: tuple[_Case, ...] | None
    if isinstance(node, Scalar):
        text = entry.text(entry.node, "elementwise")
        tree = None if text is None else expression(entry, text, known)
        cases = None if tree is None else ((DTYPE_CLASSES["any"], tree),)
    elif isinstance(node, MappingNode):
        cases = _cases(entry, node, known)
    else:
        entry.report(node.span, "'elementwise' must be an expression or a mapping from dtype class to expression")
        return None
    if cases is None:
        return None
    used = frozenset(name for _, case in cases for name in names(case.tree))
    report_unused(entry, "expression", (*entry.tensors, *entry.scalars), used)
    return Elementwise(cases, fixed, absent, natural, require)


def _cases(entry: Entry, node: MappingNode, known: tuple[str, ...]) -> tuple[_Case, ...] | None:
    """None when a case could not be read: what the others lack says nothing then."""
    if not node.items:
        entry.report(node.span, "'elementwise' is empty")
        return None
    if all(isinstance(value, Scalar) and value.is_null for _, value in node.items):
        # YAML reads `{self + 1}` as a mapping from `self + 1` to nothing.
        entry.report(node.span, "an expression in braces", "braces make a mapping: write the expression without them")
        return None
    if "let" in node:
        help = "what occurs several times is computed once: write it wherever it is used; 'rows' and 'view' have 'let'"
        entry.report(node.keys[[*node].index("let")].span, "'elementwise' has no 'let'", help)
        return None
    cases: list[_Case] = []
    covered: frozenset[DType] = frozenset()
    for key in node.keys:
        dtypes = entry.dtypes(key)
        if dtypes & covered:
            twice = ordered(dtypes & covered)[0]
            entry.report(key.span, f"two expressions for {twice}", "classes of dtypes must not overlap")
        covered |= dtypes
        case = expression_field(entry, node, key.value, known)
        if case is not None:
            cases.append((dtypes, case))
    return tuple(cases) if len(cases) == len(node) else None


def _fixed(entry: Entry) -> Mapping[str, DType]:
    """Inputs that do not take part in promotion but must have one dtype."""
    found: dict[str, DType] = {}
    node = entry.mapping(entry.node, "fixed", "argument to dtype")
    if node is None:
        return MappingProxyType(found)
    tensors = [argument.name for argument in entry.tensors]
    for key in node.keys:
        if key.value not in tensors:
            entry.report(key.span, f"'{key.value}' is not a tensor argument", suggest(key.value, tensors))
            continue
        word = entry.text(node, key.value)
        dtype = None if word is None else lookup(word.value)
        if word is not None and (dtype is None or not dtype.compute):
            computed = [name for name, dtype in DTYPES.items() if dtype.compute]
            entry.report(word.span, f"unknown dtype '{word.value}' for a fixed input", suggest(word.value, computed))
        elif dtype is not None:
            found[key.value] = dtype
    return MappingProxyType(found)


def _natural(entry: Entry) -> Mapping[str, str]:
    """Inputs that, given as integer numbers, must not be negative."""
    found: dict[str, str] = {}
    node = entry.mapping(entry.node, "natural", "argument to the message when it is negative")
    if node is None:
        return MappingProxyType(found)
    tensors = [argument.name for argument in entry.tensors]
    for key in node.keys:
        if key.value not in tensors:
            entry.report(key.span, f"'{key.value}' is not a tensor argument", suggest(key.value, tensors))
            continue
        message = entry.text(node, key.value)
        if message is not None:
            found[key.value] = message.value.strip()
    return MappingProxyType(found)


def _require(entry: Entry) -> tuple[Requirement[Expression, Argument], ...]:
    """Conditions on the parameters."""
    params = {argument.name: argument for argument in entry.scalars}

    def condition(text: Scalar) -> Expression | None:
        return expression(entry, text, params)

    def value(name: Scalar) -> Argument | None:
        return params[name.value] if entry.known("parameter", name, params) else None

    example = f"{next(iter(params), 'alpha')} > 0"
    return requirements.read(entry, entry.node.get("require"), example, condition, value, by_dtype=True)


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def _absent(entry: Entry) -> Mapping[str, End | float]:
    """What optional arguments stand for when they are None; every one must say it."""
    found: dict[str, End | float] = {}
    node = entry.mapping(entry.node, "absent", "optional argument to 'lowest', 'highest' or a number")
    optional = {argument.name: argument for argument in (*entry.tensors, *entry.scalars) if argument.is_optional}
    ends = {end.value: end for end in End}
    for key in () if node is None else node.keys:
        assert node is not None
        if key.value not in optional:
            entry.report(key.span, f"'{key.value}' is not an optional argument", suggest(key.value, optional))
            continue
        word = entry.text(node, key.value)
        if word is None:
            continue
        if word.value in ends:
            found[key.value] = ends[word.value]
        elif optional[key.value] in entry.scalars and _number(word.value) is not None:
            found[key.value] = float(word.value)
        else:
            entry.report(word.span, f"unknown end of range '{word.value}'", suggest(word.value, ends))
    for name, argument in optional.items():
        if node is None or name not in node:
            message = f"optional argument '{name}' needs a meaning for None"
            entry.report(entry.argument_span(argument), message, f"absent: {{{name}: lowest}}")
    return MappingProxyType(found)
