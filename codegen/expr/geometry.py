"""The language of view geometry: integers, truth values and lists over shape, strides and arguments.

`parse` reads a Python subset into typed nodes (geometry_tree.py); mistakes are located and reported all at
once. geometry_c.py prints the nodes as C.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping

from ..errors import suggest
from .errors import ExpressionError, raise_all
from .geometry_tree import (
    BASE_SCOPE,
    BOOL,
    FUNCTIONS,
    INT,
    INT_LIST,
    Call,
    Geometry,
    GeometryType,
    Number,
    Signature,
    Variable,
    names,
    type_of,
    variables,
)
from .source import Source
from .tree import Span

__all__ = [
    "BASE_SCOPE",
    "BOOL",
    "FUNCTIONS",
    "INT",
    "INT_LIST",
    "Call",
    "Geometry",
    "GeometryType",
    "Number",
    "Signature",
    "Variable",
    "names",
    "parse",
    "type_of",
    "variables",
]

_ARITHMETIC: dict[type[ast.operator], str] = {
    ast.Add: "+",
    ast.Sub: "-",
    ast.Mult: "*",
    ast.FloorDiv: "//",
    ast.Mod: "%",
}
_LOGICAL: dict[type[ast.AST], str] = {ast.BitAnd: "&", ast.BitOr: "|", ast.And: "&", ast.Or: "|"}
_COMPARE: dict[type[ast.cmpop], str] = {
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
    ast.Eq: "==",
    ast.NotEq: "!=",
}


def parse(text: str, scope: Mapping[str, GeometryType] = BASE_SCOPE, expected: GeometryType | None = None) -> Geometry:
    """The typed tree of an expression over the names in `scope`; of type `expected`, if one is given.

    Raises ExpressionError; its `all` holds every mistake of the text.
    """
    source = Source(text)
    reader = _Reader(source, scope)
    tree = reader.read(source.parse(), expected)
    raise_all(reader.errors)
    assert tree is not None
    return tree


class _Reader:
    """Types what it reads; None stands for a part whose mistake has been noted."""

    def __init__(self, source: Source, scope: Mapping[str, GeometryType]) -> None:
        self.source = source
        self.scope = scope
        self.errors: list[ExpressionError] = []
        self.unknown: set[str] = set()

    def read(self, node: ast.expr, expected: GeometryType | None = None) -> Geometry | None:
        tree = self._read(node, self.source.span(node))
        if tree is not None and expected is not None and tree.type is not expected:
            return self._wrong(f"expected {expected}, got {tree.type}", tree.span)
        return tree

    def _read(self, node: ast.expr, span: Span) -> Geometry | None:
        if isinstance(node, ast.Constant):
            return self._constant(node, span)
        if isinstance(node, ast.Name):
            return self._name(node.id, span)
        if isinstance(node, ast.UnaryOp):
            return self._unary(node, span)
        if isinstance(node, ast.BinOp):
            return self._binary(node, span)
        if isinstance(node, ast.BoolOp):
            return self._logical(_LOGICAL[type(node.op)], node.values, span)
        if isinstance(node, ast.Compare):
            return self._compare(node, span)
        if isinstance(node, ast.IfExp):
            return self._choice(node, span)
        if isinstance(node, ast.List):
            return self._call(INT_LIST, "list", [self.read(item, INT) for item in node.elts], span)
        if isinstance(node, ast.Subscript) and not isinstance(node.slice, ast.Slice):
            return self._call(INT, "at", [self.read(node.value, INT_LIST), self.read(node.slice, INT)], span)
        if isinstance(node, ast.Call):
            return self._application(node, span)
        what = "slicing" if isinstance(node, ast.Subscript) else "this construct"
        return self._wrong(f"{what} is not part of a geometry expression", span)

    def _constant(self, node: ast.Constant, span: Span) -> Geometry | None:
        if isinstance(node.value, bool):
            return Number(BOOL, int(node.value), span=span)
        if not isinstance(node.value, int):
            return self._wrong(f"geometry is made of integers, got {node.value!r}", span)
        if node.value >= 1 << 63:
            return self._wrong(f"{node.value} does not fit in int64", span)
        return Number(INT, node.value, span=span)

    def _name(self, name: str, span: Span) -> Geometry | None:
        if name in self.scope:
            return Variable(self.scope[name], name, span=span)
        if name in FUNCTIONS:
            return self._wrong(f"'{name}' is a function", span, f"call it: {FUNCTIONS[name].usage(name)}")
        if name in self.unknown:
            return None
        self.unknown.add(name)
        return self._wrong(f"unknown name '{name}'", span, suggest(name, self.scope))

    # ---- operators

    def _unary(self, node: ast.UnaryOp, span: Span) -> Geometry | None:
        if isinstance(node.op, ast.Not):
            return self._call(BOOL, "not", [self.read(node.operand, BOOL)], span)
        if isinstance(node.op, ast.Invert):
            return self._wrong("'~' is not part of a geometry expression", span, "use 'not'")
        operand = self.read(node.operand, INT)
        if isinstance(node.op, ast.UAdd):
            return operand
        if isinstance(operand, Number):
            return Number(INT, -operand.value, span=span)
        return self._call(INT, "neg", [operand], span)

    def _binary(self, node: ast.BinOp, span: Span) -> Geometry | None:
        operator = type(node.op)
        if operator in _LOGICAL:
            return self._logical(_LOGICAL[operator], [node.left, node.right], span)
        if operator in _ARITHMETIC:
            operands = [self.read(node.left, INT), self.read(node.right, INT)]
            return self._call(INT, _ARITHMETIC[operator], operands, span)
        help = "'//' or ceil_div(a, b) divides integers" if operator is ast.Div else None
        return self._wrong("this operator is not part of a geometry expression", span, help)

    def _logical(self, operator: str, values: list[ast.expr], span: Span) -> Geometry | None:
        operands = [self.read(value, BOOL) for value in values]
        tree = operands[0]
        for operand in operands[1:]:
            tree = self._call(BOOL, operator, [tree, operand], span)
        return tree

    def _compare(self, node: ast.Compare, span: Span) -> Geometry | None:
        operands = [self.read(operand) for operand in (node.left, *node.comparators)]
        tree: Geometry | None = None
        for place, operator in enumerate(node.ops):
            if type(operator) not in _COMPARE:
                return self._wrong("'in' and 'is' are not part of a geometry expression", span)
            left, right = operands[place : place + 2]
            if left is None or right is None:
                return None
            symbol = _COMPARE[type(operator)]
            ordering = symbol not in ("==", "!=")
            if left.type is not right.type or (ordering and left.type is not INT):
                return self._wrong(f"'{symbol}' cannot compare {left.type} with {right.type}", span)
            pair = self._call(BOOL, symbol, [left, right], span)
            tree = pair if tree is None else self._call(BOOL, "&", [tree, pair], span)
        return tree

    def _choice(self, node: ast.IfExp, span: Span) -> Geometry | None:
        condition = self.read(node.test, BOOL)
        then = self.read(node.body)
        other = self.read(node.orelse, None if then is None else then.type)
        return None if then is None else self._call(then.type, "if", [condition, then, other], span)

    # ---- calls

    def _application(self, node: ast.Call, span: Span) -> Geometry | None:
        if not isinstance(node.func, ast.Name):
            return self._wrong("only functions can be called", span)
        name = node.func.id
        if name not in FUNCTIONS:
            place = self.source.span(node.func)
            return self._wrong(f"unknown function '{name}'", place, suggest(name, FUNCTIONS))
        signature = FUNCTIONS[name]
        for keyword in node.keywords:
            place = self.source.span(keyword)
            return self._wrong(f"{name} takes no keyword arguments", place, signature.usage(name))
        wanted = list(signature.params.values())
        if len(node.args) != len(wanted):
            message = f"{name} takes {len(wanted)} argument{'s' * (len(wanted) != 1)}, got {len(node.args)}"
            return self._wrong(message, span, signature.usage(name))
        args = [self.read(arg, kind) for arg, kind in zip(node.args, wanted, strict=True)]
        return self._call(signature.result, name, args, span)

    def _call(self, result: GeometryType, function: str, args: list[Geometry | None], span: Span) -> Geometry | None:
        complete = tuple(arg for arg in args if arg is not None)
        return Call(result, function, complete, span=span) if len(complete) == len(args) else None

    def _wrong(self, message: str, span: Span, help: str | None = None) -> Geometry | None:
        self.errors.append(ExpressionError(message, span.offset, span.length, help))
        return None
