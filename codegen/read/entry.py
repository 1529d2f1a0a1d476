"""Reads one entry of ops.yaml into an Operator, reporting every mistake at its position.

Input: a mapping node of source/. Output: a frozen Operator; if part of the entry is unusable, its Declaration or None
(the diagnostics say why). Rules that need more than one entry are in check/.
"""

from __future__ import annotations

import ast
import dataclasses
import keyword
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeVar

from ..dtypes import DType, Promotion
from ..errors import Diagnostics, Span
from ..expr.parse import ELEMENTS
from ..expr.parse import Family as Expressions
from ..model.family import FAMILIES
from ..model.operator import AUTOCAST, Declaration, Family, Operator
from ..model.python_operators import PYTHON_OPERATORS
from ..model.rules import facts
from ..model.signatures import signature
from ..schema import FunctionSchema, SchemaError, SchemaKind, parse
from ..source import Mapping as MappingNode
from ..source import Node, Scalar
from ..source.text import to_yaml
from . import accepts, arguments, bodies, derivatives, like, overloads, rules, submodules, tags
from . import drawing as drawings
from .bodies import folding
from .bodies.composite import PYTHON
from .fields import ROUTINE, Entry, Fields, lacks

_KEYS = (
    "accepts", "aliases", "args", "autocast", "cost", "derivatives", "dtype_error",
    "dtypes", "in_range", "names", "none_means", "operator", "out", "overloads", "promotion", "python_module",
    "reference", "require", "rule", "tags", "unused", "variants",
)  # fmt: skip


def body_keys() -> tuple[str, ...]:
    """Return the keys of bodies; a fold is spelled as a reduction or a scan."""
    own = (each for each in FAMILIES.values() if each.routine_keys is None and each is not Family.FOLD)
    return (*(each.key for each in own), ROUTINE)


def keys() -> tuple[str, ...]:
    """Return all keys of an entry."""
    return ("func", "doc", like.KEY, *body_keys(), *_KEYS)


VARIANTS = ("function", "method")
INTERNAL = "internal"
PROPERTY, FUNCTION, ASSIGNABLE = "property", "function", "assignable"
_REFUSED = ("real", "complex", "factors")

_DECLARED = tuple(each.name for each in dataclasses.fields(Declaration) if each.name != "family")
"""The parts of a declaration that an operator takes over; its family is that of the body."""

T = TypeVar("T")


@dataclass(frozen=True)
class _Source:
    """The file of an entry."""

    file: str
    lines: tuple[str, ...]


def read(
    node: Node, file: str, lines: tuple[str, ...], diagnostics: Diagnostics, expressions: Expressions = ELEMENTS
) -> Declaration | None:
    """The declaration of one entry, whose expressions are in the language `expressions`. Mistakes go to
    `diagnostics`."""
    if not isinstance(node, MappingNode):
        diagnostics.report(node.span, "an entry must be a mapping", "- func: name(Tensor self) -> Tensor")
        return None
    own = Diagnostics()
    declaration = _read(Fields(node, own, expressions), _Source(file, lines))
    last = node.span.line + _text(node.span, lines).count("\n")
    diagnostics.extend(like.located(own, node, last))
    return declaration


def _read(fields: Fields, source: _Source) -> Declaration | None:
    fields.known_keys(fields.node, keys())
    family = _family(fields)
    func, schema = _schema(fields, family)
    doc, cost = _doc(fields), _cost(fields)
    before = fields.diagnostics.mistakes
    declared_dtypes, promotion = _dtypes(fields), _promotion(fields)
    reference, error_scale = _reference(fields)
    errors = _dtype_error(fields)
    aliases, given = _aliases(fields), tags.read(fields, family)
    module = submodules.read(fields)
    if family is not None:
        _check_meaning(fields, family)
    if func is None or schema is None or family is None:
        return None
    drawing = drawings.read(fields, family, schema)
    entry = Entry(fields, func, drawing.schema, family)
    arguments.check(entry)
    entry.expressions = drawing.language
    body = bodies.read(entry)
    entry.expressions = fields.expressions
    # Types and derivatives can only be checked if everything that they follow from is correct.
    sound = fields.diagnostics.mistakes == before
    accepted = accepts.read(entry)
    formulas = derivatives.read(entry, body, accepted)
    (rule, reason), naming = rules.read(entry), rules.read_names(entry)
    autocast = _autocast(fields)
    named = _property(entry)
    method, function, internal = _variants(entry, module)
    operator = _operator(entry)
    declaration = Declaration(
        schema=entry.schema,
        family=family,
        file=source.file,
        span=fields.node.span,
        method=method,
        function=function,
        operator=None if operator is None else operator.value,
        aliases=tuple(alias.value for alias in aliases if "." not in alias.value),
        module=module,
        exports=submodules.exports(fields, aliases),
        internal=internal,
        property_name=None if named is None else named.value,
        assignable=_property_has(entry, ASSIGNABLE),
        tags=(*given, "refuses_factors") if "factors" in errors else given,
        updates_self=body is not None and body.updates_self,
        places=_name_spans(entry, (*aliases, *([] if named is None else [named])), operator),
    )
    if body is None or not sound:
        return declaration
    of_complex = derivatives.read_complex(entry)
    dtypes = _declared(entry, "dtypes", declared_dtypes, body.dtypes(declaration, formulas, of_complex))
    read_operator = Operator(
        **{name: getattr(declaration, name) for name in _DECLARED},
        doc=doc,
        meanings=arguments.meanings(entry),
        body=body,
        dtypes=dtypes,
        promotion=_declared(entry, "promotion", promotion, body.promotion(declaration, dtypes)),
        refusal=_named(entry, errors.get("factors", errors.get("real"))),
        complex_refusal=_named(entry, errors.get("complex")),
        reference=None if reference is None else reference.value.strip(),
        reference_span=None if reference is None else reference.span,
        derivatives=formulas,
        complex_derivatives=of_complex,
        error_scale=None if error_scale is None else error_scale.value.strip(),
        cost=_declared(entry, "cost", cost, body.cost),
        unused=frozenset(word.value for word in fields.words("unused")),
        **vars(overloads.read(entry)),
        accepts=accepted,
        in_range=_in_range(entry),
        overloads=tuple(alias.value[1:] for alias in entry.words("aliases") if _is_overload(alias)),
        autocast=autocast,
        rule=rule,
        reason=reason,
        naming=naming,
        drawn=drawing.drawn(schema),
        text="- " + to_yaml(fields.node, "  ") if like.KEY in fields.node else _text(fields.node.span, source.lines),
    )
    _check_parameters(entry, read_operator)
    known = facts(read_operator)
    rules.check_has_rule(entry, known.rule, known.reason)
    return read_operator


# ---- what every entry has -----------------------------------------------------------------------------------


def _schema(fields: Fields, family: Family | None) -> tuple[Scalar | None, FunctionSchema | None]:
    if lacks(fields.node, ("func",), keys()):
        fields.report(fields.node.span, "an entry needs 'func'", "func: name(Tensor self, ...) -> Tensor")
    func = fields.text(fields.node, "func")
    if func is None:
        return None, None
    try:
        schema = parse(func.value)
    except SchemaError as error:
        for each in error.all:
            fields.report(func.span_at(each.offset, each.length), each.message, each.help)
        return func, None
    if schema.kind is SchemaKind.INPLACE and family in (Family.RANDOM, Family.CORE, Family.COMPOSITE, None):
        return func, schema
    if schema.kind is not SchemaKind.FUNCTIONAL:
        span = func.span_at(schema.name.offset, len(schema.name.identifier))
        help = "the in-place and out= variants are derived from it"
        fields.report(span, "an entry is written as the functional form", help)
        return func, None
    return func, schema


def _doc(fields: Fields) -> str:
    if lacks(fields.node, ("doc",), keys()):
        fields.report(fields.node.span, "an entry needs 'doc'", "one sentence on what the operator computes")
    scalar = fields.text(fields.node, "doc")
    if scalar is None:
        return ""
    end = len(scalar.value.rstrip())
    if scalar.value[end - 1] != ".":
        fields.report(scalar.span_at(end - 1), "'doc' must be a sentence that ends with a full stop")
    return scalar.value.strip()


def _autocast(fields: Fields) -> str | None:
    word = fields.text(fields.node, "autocast")
    if word is not None:
        fields.known("format of autocast", word, AUTOCAST)
    return None if word is None else word.value


def _in_range(entry: Entry) -> tuple[str, ...]:
    words = entry.words("in_range")
    for word in words:
        entry.known("argument", word, [each.name for each in entry.schema.arguments])
    return tuple(word.value for word in words)


def _family(fields: Fields) -> Family | None:
    known = body_keys()
    bodies = [key for key in fields.node.keys if key.value in known]
    if lacks(fields.node, known, keys()):
        fields.report(fields.node.span, "an entry needs a body", f"one of {', '.join(known)}")
    for extra in bodies[1:]:
        message = f"a second body '{extra.value}'; the first is '{bodies[0].value}'"
        fields.report(extra.span, message, "keep one of them")
    if bodies and bodies[0].value == ROUTINE:
        return _routine(fields)
    if bodies and folding.is_folding(fields, bodies[0].value):
        return Family.FOLD
    return FAMILIES[bodies[0].value] if bodies else None


def _routine(fields: Fields) -> Family | None:
    """The family of a `routine`, which is its first key; text is Python."""
    node = fields.node.get(ROUTINE)
    if isinstance(node, Scalar) or (isinstance(node, MappingNode) and node.items and node.keys[0].value in PYTHON):
        return Family.COMPOSITE
    if not isinstance(node, MappingNode) or not node.items:
        if node is not None:
            fields.report(node.span, f"'{ROUTINE}' must be a mapping", "routine: {lapack: getrf}")
        return None
    kinds = {each.key: each for each in FAMILIES.values() if each.routine_keys is not None}
    first = node.keys[0]
    if not fields.known("kind of routine", first, kinds):
        return None
    family = kinds[first.value]
    fields.known_keys(node, (first.value, *(family.routine_keys or ())), where=ROUTINE)
    return family


def _check_meaning(fields: Fields, family: Family) -> None:
    for mark in fields.node.keys:
        key, known = mark.value, [each.key for each in FAMILIES.values() if mark.value in each.keys]
        if known and key not in family.keys:
            only = " and ".join(known)
            fields.report(mark.span, f"'{key}' has no meaning for {family.title}", f"only for {only}")


def _text(span: Span, lines: tuple[str, ...]) -> str:
    """The lines of the entry, from its `- func` to the last line that is indented as deeply as its keys."""
    first, indentation = span.line - 1, " " * (span.column - 1)
    last = first + 1
    while last < len(lines) and (not lines[last].strip() or lines[last].startswith(indentation)):
        last += 1
    return "\n".join(lines[first:last]).rstrip()


# ---- dtypes -------------------------------------------------------------------------------------------------


def _dtypes(fields: Fields) -> frozenset[DType] | None:
    words = fields.words("dtypes")
    return frozenset().union(*map(fields.dtypes, words)) if words else None


def _promotion(fields: Fields) -> Promotion | None:
    """The kind of promotion; further words about numbers are read with the tags."""
    kinds = {kind.value: kind for kind in Promotion}
    words = [word for word in fields.words("promotion") if word.value not in tags.NUMBERS]
    for extra in words[1:]:
        fields.report(extra.span, f"a second promotion '{extra.value}'", "keep one of them")
    return kinds[words[0].value] if words and fields.known("promotion", words[0], (*kinds, *tags.NUMBERS)) else None


def _declared(entry: Entry, key: str, declared: T | None, inferred: T) -> T:
    """The declared value of `key`, or the derived one. A declaration of the derived value adds no information: it is a
    hint, as a later release may derive what had to be declared before."""
    node = entry.node.get(key)
    if declared is None or node is None:
        return inferred
    if declared == inferred:
        why = "the expression" if entry.family is Family.ELEMENTWISE else entry.family.title
        entry.hint(node.span, f"'{key}' follows from {why}", "leave it out")
    return declared


def _cost(fields: Fields) -> float | None:
    scalar = fields.text(fields.node, "cost")
    if scalar is None:
        return None
    try:
        cost = float(scalar.value)
    except ValueError:
        cost = 0.0
    if not 0 < cost < 1e6:
        fields.report(scalar.span, f"cost '{scalar.value}' is not a positive number", "1 is a float32 addition")
    return cost


def _dtype_error(fields: Fields) -> Mapping[str, str]:
    """Messages for dtypes that are not accepted, for real and for complex ones; a single text is for the real ones."""
    node = fields.node.get("dtype_error")
    if isinstance(node, MappingNode):
        fields.known_keys(node, _REFUSED, where="dtype_error")
        texts = {key: fields.text(node, key) for key in _REFUSED}
    else:
        texts = {"real": fields.text(fields.node, "dtype_error")}
    return {key: text.value.strip() for key, text in texts.items() if text is not None}


def _named(entry: Entry, message: str | None) -> str | None:
    return message and message.replace("{name}", entry.own_name)


def _reference(fields: Fields) -> tuple[Scalar | None, Scalar | None]:
    """The NumPy form and, if its rounding errors are larger than usual, the magnitude that they scale with."""
    node = fields.node.get("reference")
    if not isinstance(node, MappingNode):
        return fields.text(fields.node, "reference"), None
    fields.known_keys(node, ("formula", "error_scale"), where="reference")
    return fields.text(node, "formula"), fields.text(node, "error_scale")


# ---- names --------------------------------------------------------------------------------------------------


def _aliases(fields: Fields) -> tuple[Scalar, ...]:
    words = fields.words("aliases")
    for word in words:
        name = word.value.rpartition(".")[2]
        if not name.isidentifier() or (keyword.iskeyword(name) and not _is_overload(word)):
            fields.report(word.span, f"alias '{word.value}' is not a Python name")
    return tuple(word for word in words if not _is_overload(word))


def _is_overload(alias: Scalar) -> bool:
    """Return True if the alias is the name of a schema of torch, `.stable`, and no name of a function."""
    return alias.value.startswith(".")


def _variants(entry: Entry, module: str | None) -> tuple[bool, bool, bool]:
    """(method, function, internal): whether it is one. Neither of the first two is true for an operator that is only
    chosen by others, and for a property. Functions of submodules are no methods."""
    if isinstance(entry.node.get("variants"), MappingNode):
        return False, _property_has(entry, FUNCTION), False
    receiver = entry.schema.self_argument
    can_be_method = receiver is not None and receiver.is_tensor
    words = entry.words("variants")
    if [word.value for word in words] == [INTERNAL]:
        return False, False, True
    for word in words:
        if entry.known("variant", word, VARIANTS) and word.value == "method" and not can_be_method:
            entry.report(word.span, "a method needs an argument 'Tensor self'")
    names = {word.value for word in words} or ({"method"} if entry.family is Family.RANDOM else set())
    method = "method" in names if names else can_be_method and module is None
    return method, (not names or "function" in names), False


def _property(entry: Entry) -> Scalar | None:
    """The name of the property that the operator is: of a tensor, and of nothing else."""
    node = entry.node.get("variants")
    if not isinstance(node, MappingNode):
        return None
    entry.known_keys(node, (PROPERTY, FUNCTION, ASSIGNABLE), where="variants")
    scalar = entry.text(node, PROPERTY)
    if scalar is None:
        return None
    if not scalar.value.isidentifier() or keyword.iskeyword(scalar.value):
        entry.report(scalar.span, f"property '{scalar.value}' is not a Python name")
    if [argument.name for argument in entry.schema.arguments] != ["self"] or not entry.schema.arguments[0].is_tensor:
        entry.report(scalar.span, "a property has no arguments besides 'Tensor self'", "leave it out: it is a method")
    mark = entry.node.key("aliases")
    if mark is not None:
        entry.report(mark.span, "'aliases' has no meaning for a property", "leave it out")
    return scalar


def _property_has(entry: Entry, key: str) -> bool:
    """Return True if the operator is a property with this as well: a function of its own name, or that it can be
    assigned to."""
    node = entry.node.get("variants")
    return isinstance(node, MappingNode) and entry.flag(node, key)


def _check_parameters(entry: Entry, operator: Operator) -> None:
    """Report arguments of the schema with the name of a parameter that the function has besides, such as `axis`."""
    function = ast.parse(f"def f({signature(operator, 'input')}): ...").body[0]
    names = [each.arg for each in ast.walk(function) if isinstance(each, ast.arg)]
    for argument in entry.schema.arguments:
        if names.count(argument.name) > 1:
            message = f"argument '{argument.name}' is there already: the function has one of this name besides"
            entry.report(entry.argument_name_span(argument), message, "rename it")


def _operator(entry: Entry) -> Scalar | None:
    scalar = entry.text(entry.node, "operator")
    if scalar is None or not entry.known("operator", scalar, PYTHON_OPERATORS):
        return None
    wanted = PYTHON_OPERATORS[scalar.value].operands
    given = sum(argument.is_tensor for argument in entry.schema.positional)
    if given != wanted:
        message = f"operator '{scalar.value}' has {wanted} operand{'s' * (wanted != 1)}, the schema {given}"
        entry.report(scalar.span, message)
    return scalar


def _name_spans(entry: Entry, others: tuple[Scalar, ...], operator: Scalar | None) -> Mapping[str, Span]:
    """The position of each name that the entry defines."""
    name = entry.schema.name
    own = name.identifier if name.inplace else name.base
    spans = {own: entry.name_span} | {other.value: other.span for other in others}
    if operator is not None:
        python = PYTHON_OPERATORS[operator.value]
        for method in (python.method, python.reflected_method, python.augmented_method):
            spans[method] = operator.span
    return spans
