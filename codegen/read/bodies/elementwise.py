"""`elementwise`: an expression of each result, or one for each class of dtypes; names of `let` and the variables of
`iterate`, which they may use; `none_means` and `require` beside it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType

from ...dtypes import DTYPE_CLASSES, DType, ordered
from ...errors import suggest
from ...expr import names
from ...model.operator import Elementwise, End, Expression, Family, Requirement
from ...schema import Argument
from ...source import Mapping as MappingNode
from ...source import Node, Scalar, Sequence
from ..fields import Entry
from ..reserved import argument_reason
from . import iterate, requirements
from .shared import Locals, conditions, declared_dtypes, expression, own_dtypes, report_unused

_NONNEGATIVE = re.compile(r"(\w+) >= 0")
_PARTS = ("let", "iterate", "value", "dtype")
_EXAMPLE = "elementwise: {let: {d: self - other}, value: d * d}"
_One = tuple[tuple[frozenset[DType], Expression], ...]
_Cases = tuple[tuple[frozenset[DType], tuple[Expression, ...]], ...]


def read(entry: Entry, node: Node) -> Elementwise | None:
    """Read an elementwise body; None: there is a mistake, which is reported."""
    absent, (natural, require) = _absent(entry), _require(entry)
    has_parts = isinstance(node, MappingNode) and any(key in node for key in _PARTS)
    parts = node if isinstance(node, MappingNode) and has_parts else None
    if parts is not None:
        entry.known_keys(parts, _PARTS, where="elementwise")
    known = tuple(argument.name for argument in entry.schema.arguments)
    local = Locals(entry, entry.node if parts is None else parts, known, _refused)
    loop = None if parts is None else iterate.read(entry, local, parts)
    owner, key = (entry.node, "elementwise") if parts is None else (parts, "value")
    cases = _results(entry, local, owner, key)
    own, fixed = _dtypes(entry, parts)
    local.report_unused()
    if cases is None or (loop is None and parts is not None and "iterate" in parts):
        return None
    trees = [case.tree for _, expressions in cases for case in expressions]
    trees += [] if loop is None else [each.tree for each in (*dict(loop.state).values(), loop.times, *loop.rounds)]
    report_unused(entry, "expression", (*entry.tensors, *entry.scalars), frozenset().union(*map(names, trees)))
    fixed = MappingProxyType({**conditions(entry, trees), **fixed})
    return Elementwise(cases, fixed, absent, natural, require, tuple(local.given.items()), own, loop)


def _dtypes(entry: Entry, parts: MappingNode | None) -> tuple[tuple[DType | None, ...], Mapping[str, DType]]:
    """Return the dtypes of results, and of inputs, that do not follow from promotion: `dtype: {self: uint8}`."""
    results = [result.name or "" for result in entry.schema.returns] or [""]
    if parts is None:
        return (None,) * len(results), {}
    if not isinstance(parts.get("dtype"), MappingNode):
        return own_dtypes(entry, parts), {}
    inputs = [argument.name for argument in entry.tensors]
    found = declared_dtypes(entry, parts, [*filter(None, results), *inputs], "result or input")
    return tuple(found.get(name) for name in results), {name: found[name] for name in inputs if name in found}


def _refused(name: str) -> str | None:
    return argument_reason(name, Family.ELEMENTWISE)


def _results(entry: Entry, local: Locals, owner: MappingNode, key: str) -> _Cases | None:
    """The expressions of all results, for each class of dtypes."""
    node, labels = owner.get(key), [result.name for result in entry.schema.returns]
    if node is None:
        entry.report(owner.span, f"'elementwise' needs '{key}'", _EXAMPLE)
        return None
    if len(labels) < 2:
        one = _value(entry, local, owner, key)
        return None if one is None else tuple((dtypes, (expression,)) for dtypes, expression in one)
    example = ", ".join(f"{name or f'result{index}'}: …" for index, name in enumerate(labels))
    if None in labels:
        help = f"-> ({', '.join(f'Tensor {name}' for name in ('quotient', 'remainder'))})"
        entry.report(entry.name_span, "several results of an elementwise body have names", help)
        return None
    if not isinstance(node, MappingNode):
        entry.report(node.span, f"the schema has {len(labels)} results, the body one", f"{key}: {{{example}}}")
        return None
    entry.known_keys(node, [name for name in labels if name], "result")
    found = []
    for name in filter(None, labels):
        if name not in node:
            entry.report(node.span, f"the result '{name}' has no expression", f"{key}: {{{example}}}")
            return None
        found.append(_value(entry, local, node, name))
    cases: _Cases = ((DTYPE_CLASSES["any"], ()),)
    for each in found:
        if each is None:
            return None
        pairs = [(of & dtypes, (*before, case)) for of, before in cases for dtypes, case in each]
        cases = tuple((dtypes, expressions) for dtypes, expressions in pairs if dtypes)
    return cases


def _value(entry: Entry, local: Locals, owner: MappingNode, key: str) -> _One | None:
    """An expression, or a mapping from classes of dtypes to expressions."""
    node = owner.get(key)
    if isinstance(node, Scalar):
        text = entry.text(owner, key)
        tree = None if text is None else local.expression(text)
        return None if tree is None else ((DTYPE_CLASSES["any"], tree),)
    if isinstance(node, MappingNode):
        return _cases(entry, node, local)
    if node is not None:
        entry.report(node.span, f"'{key}' must be an expression or a mapping from dtype class to expression")
    return None


def _cases(entry: Entry, node: MappingNode, local: Locals) -> _One | None:
    """The cases; None if one could not be read, as missing dtypes cannot be judged then."""
    if not node.items:
        entry.report(node.span, "'elementwise' is empty")
        return None
    if all(isinstance(value, Scalar) and value.is_null for _, value in node.items):
        # YAML reads `{self + 1}` as a mapping from `self + 1` to null.
        entry.report(node.span, "an expression in braces", "braces make a mapping: write the expression without them")
        return None
    cases: list[tuple[frozenset[DType], Expression]] = []
    covered: frozenset[DType] = frozenset()
    for key in node.keys:
        dtypes = entry.dtypes(key)
        if dtypes & covered:
            twice = ordered(dtypes & covered)[0]
            entry.report(key.span, f"two expressions for {twice}", "classes of dtypes must not overlap")
        covered |= dtypes
        text = entry.text(node, key.value)
        case = None if text is None else local.expression(text)
        if case is not None:
            cases.append((dtypes, case))
    return tuple(cases) if len(cases) == len(node) else None


def _require(entry: Entry) -> tuple[Mapping[str, str], tuple[Requirement[Expression, Argument], ...]]:
    """Requirements on the parameters, and by input the message for a number that is negative."""
    params = {argument.name: argument for argument in entry.scalars}
    node = entry.node.get("require")
    items = tuple(node) if isinstance(node, Sequence) else () if node is None else (node,)
    natural = {item: input for item in items if (input := _nonnegative(entry, item)) is not None}

    def condition(text: Scalar) -> Expression | None:
        return expression(entry, text, params)

    def value(name: Scalar) -> Argument | None:
        return params[name.value] if entry.known("parameter", name, params) else None

    example = f"{next(iter(params), 'alpha')} > 0"
    rest = [item for item in items if item not in natural]
    required = requirements.read(entry, rest, example, condition, value, by_dtype=True)
    return MappingProxyType(dict(natural.values())), required


def _nonnegative(entry: Entry, item: Node) -> tuple[str, str] | None:
    """The input and the message of a requirement `input >= 0` for integers, or None."""
    check = item.get("check") if isinstance(item, MappingNode) else None
    match = _NONNEGATIVE.fullmatch(check.value) if isinstance(check, Scalar) else None
    if match is None or not isinstance(item, MappingNode) or match[1] not in [each.name for each in entry.tensors]:
        return None
    entry.known_keys(item, ("check", "dtypes", "message"), where="require")
    dtypes, message = entry.text(item, "dtypes"), entry.text(item, "message")
    if dtypes is None or dtypes.value != "integer":
        entry.report(item.span, f"'{match[1]} >= 0' is for integer numbers in place of an input", "dtypes: integer")
    return match[1], "" if message is None else message.value.strip()


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def _absent(entry: Entry) -> Mapping[str, End | float]:
    """The values of optional arguments that are None, which every entry must declare."""
    absent: dict[str, End | float] = {}
    node = entry.mapping(entry.node, "none_means", "optional argument to 'lowest', 'highest' or a number")
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
            absent[key.value] = ends[word.value]
        elif optional[key.value] in entry.scalars and _number(word.value) is not None:
            absent[key.value] = float(word.value)
        else:
            entry.report(word.span, f"unknown end of range '{word.value}'", suggest(word.value, ends))
    for name, argument in optional.items():
        if node is None or name not in node:
            message = f"optional argument '{name}' needs a meaning for None"
            entry.report(entry.argument_span(argument), message, f"none_means: {{{name}: lowest}}")
    return MappingProxyType(absent)
