"""Random numbers in expressions of elements: `rand()` and `randn()`, a tensor for each call.

    self + scale * randn()      is Python that draws a tensor, and an operator that has it as `random0`

The numbers are those of torch's streams, as functions of whole tensors draw them; kernels compute the rest.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType

from ..errors import Diagnostics
from ..expr import Expr, ExpressionError, Name, Span
from ..expr.parse import Family as Expressions
from ..expr.parse import OwnFunction
from ..expr.source import Source
from ..model.operator import Body, Composite, Derivative, Drawn, Family, Operator
from ..schema import Argument, BaseType, FunctionSchema
from ..source import Mapping as MappingNode
from ..source import Node, Scalar
from .fields import Fields
from .internal import internal, listed, returned, scalar_of, unused

KINDS = ("rand", "randn")
GENERATOR = "generator"
_CALL = re.compile(rf"\b({'|'.join(KINDS)})\s*\(")
_Calls = dict[tuple[int, int, int], tuple[str, str]]
"""Kind and tensor by the line, the column and the place in the text of a call."""
_BODIES = {Family.ELEMENTWISE: ("elementwise",), Family.FOLD: ("scan", "reduce")}
DRAW = "random_numbers"


@dataclass(frozen=True)
class _Draw(OwnFunction):
    """A function each call of which is another tensor."""

    texts: Collection[tuple[int, int]] = ()
    """The lines and columns of expressions that are computed."""
    free: list[str] = field(default_factory=list, compare=False)
    """The names of tensors that stand for no call yet."""
    found: _Calls = field(default_factory=dict, compare=False)
    """Kind and tensor of each call."""

    def called(self, args: Sequence[Expr], source: Source, span: Span) -> Expr:
        assert source.origin is not None
        text = source.origin.span
        if (text.line, text.column) not in self.texts:
            raise ExpressionError("a condition draws nothing", span.offset, span.length, "conditions are of arguments")
        place = (text.line, text.column, span.offset)
        if place not in self.found:
            self.found[place] = (self.name, self.free.pop(0))
        return Name(self.found[place][1], span=span)


@dataclass(frozen=True)
class Drawing:
    """The tensors of random numbers of an entry, and how its expressions are read."""

    schema: FunctionSchema
    """The schema of the entry with these tensors in front, and without the generator."""
    language: Expressions
    calls: _Calls

    def drawn(self, schema: FunctionSchema) -> Drawn | None:
        """Return what an entry of this schema draws, in the order of the text."""
        return Drawn(tuple(each for _, each in sorted(self.calls.items())), schema) if self.calls else None


def read(fields: Fields, family: Family, schema: FunctionSchema) -> Drawing:
    """Return what expressions of elements draw: nothing in bodies of other kinds."""
    texts = [text for key in _BODIES.get(family, ()) for text in _texts(fields.node.get(key))]
    count = sum(len(_CALL.findall(text.value)) for text in texts)
    if not count:
        return Drawing(schema, fields.expressions, {})
    taken = {each.name for each in schema.arguments}
    names = [unused(f"random{number}", taken) for number in range(count)]
    free, calls = [*names], _Calls()
    places = {(text.span.line, text.span.column) for text in texts}
    functions = {kind: _Draw(kind, (), Name(kind), places, free, calls) for kind in KINDS}
    tensors = tuple(Argument(name, BaseType("Tensor")) for name in names)
    positional = tuple(each for each in schema.positional if not _is_generator(each))
    keyword_only = tuple(each for each in schema.keyword_only if not _is_generator(each))
    return Drawing(
        replace(schema, positional=(*tensors, *positional), keyword_only=keyword_only),
        replace(fields.expressions, own=MappingProxyType({**fields.expressions.own, **functions})),
        calls,
    )


def _is_generator(argument: Argument) -> bool:
    return argument.name == GENERATOR and str(argument.type) == "Generator?"


def _texts(node: Node | None) -> Iterator[Scalar]:
    if isinstance(node, Scalar):
        yield node
    elif isinstance(node, MappingNode):
        for _, value in node.items:
            yield from _texts(value)


def follow(operator: Operator, body: Body, diagnostics: Diagnostics) -> Iterable[Operator] | None:
    """The operator as Python, and the one that has the numbers as tensors; None where none are drawn."""
    drawn = operator.drawn
    if drawn is None:
        return None
    made = _given(operator, {tensor for _, tensor in drawn.tensors})
    random = [tensor for _, tensor in drawn.tensors]
    tensors = [each.name for each in operator.inputs if each.name not in random]
    numbers = [each for each in tensors if each not in made.body.fixed]
    generator = GENERATOR if drawn.schema.argument(GENERATOR) is not None else "None"
    lines = [
        f"{tensor} = {DRAW}({kind!r}, {generator}, {listed(tensors)}, {listed(numbers)})"
        for kind, tensor in drawn.tensors
    ]
    lines.append(f"return {made.name}({', '.join(each.name for each in made.schema.arguments)})")
    public = replace(
        operator,
        schema=drawn.schema,
        body=Composite(scalar_of("\n".join(lines), operator.span), None),
        derivatives=MappingProxyType({}),
        complex_derivatives=MappingProxyType({}),
        drawn=None,
    )
    return [public, made]


def _given(operator: Operator, random: Collection[str]) -> Operator:
    """The operator to which the numbers are given, which have no derivative."""
    arguments = ", ".join(f"{each.type} {each.name}" for each in operator.schema.arguments)
    returns = returned(each.name for each in operator.schema.returns)
    derivatives = dict(operator.derivatives)
    source = next((each.source for each in derivatives.values()), None)
    if source is not None:
        derivatives |= dict.fromkeys(random, Derivative("none", source))
    return internal(
        operator,
        f"{operator.name}_drawn({arguments}) -> {returns}",
        operator.body,
        f"`{operator.name}` of random numbers.",
        derivatives=MappingProxyType(derivatives),
        drawn=None,
    )
