"""Reads an expression, a subset of Python, into the tree. Mistakes are located and reported all at once."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from typing import Any

from ..errors import suggest
from .errors import ExpressionError, raise_all
from .functions import CONSTANTS, FOREIGN_NAMES, FUNCTIONS, Function
from .source import Source
from .tree import NOWHERE, Apply, Expr, Literal, Name, Span


def _syntax(function: Function) -> type[ast.AST]:
    """How Python's tree says the symbol of a function."""
    text = f"x {function.symbol} y" if function.arity == 2 else f"{function.symbol} x"
    node: Any = ast.parse(text, mode="eval").body
    return type(node.ops[0] if isinstance(node, ast.Compare) else node.op)


_OPERATORS = {_syntax(function): function.name for function in FUNCTIONS.values() if function.symbol}


def parse(text: str, names: Iterable[str] | None = None) -> Expr:
    """The tree of an expression. With `names`, any other name is a mistake; without, every name is taken.

    Raises ExpressionError; its `all` holds every mistake of the text.
    """
    source = Source(text)
    reader = _Reader(source, None if names is None else tuple(names))
    tree = reader.read(source.parse())
    raise_all(reader.errors)
    return tree


def is_reserved(name: str) -> bool:
    """A name that no argument can have, because it means a constant. `nan` may be hidden: torch's nan_to_num does."""
    return name in CONSTANTS and name != "nan"


class _Reader:
    """Turns ast nodes into ours; a node that cannot be turned is noted as a mistake and read as zero."""

    def __init__(self, source: Source, names: tuple[str, ...] | None) -> None:
        self.source = source
        self.names = names
        self.errors: list[ExpressionError] = []
        self.unknown: set[str] = set()

    def read(self, node: ast.expr) -> Expr:
        span = self.source.span(node)
        if isinstance(node, ast.Constant):
            return self._literal(node, span)
        if isinstance(node, ast.Name):
            return self._name(node.id, span)
        if isinstance(node, ast.UnaryOp):
            return self._unary(node, span)
        if isinstance(node, ast.BinOp):
            if type(node.op) not in _OPERATORS:
                return self._wrong("'@' is not an elementwise operator", span)
            return Apply(_OPERATORS[type(node.op)], (self.read(node.left), self.read(node.right)), span=span)
        if isinstance(node, ast.BoolOp):
            return self._fold(_OPERATORS[type(node.op)], [self.read(value) for value in node.values], span)
        if isinstance(node, ast.Compare):
            return self._compare(node, span)
        if isinstance(node, ast.IfExp):
            parts = (node.test, node.body, node.orelse)
            return Apply("where", tuple(map(self.read, parts)), span=span)
        if isinstance(node, ast.Call):
            return self._call(node, span)
        return self._unsupported(node, span)

    # ---- leaves

    def _literal(self, node: ast.Constant, span: Span) -> Expr:
        if isinstance(node.value, (bool, int, float)):
            return Literal(node.value, span=span)
        what = "complex numbers are" if isinstance(node.value, complex) else f"{node.value!r} is"
        return self._wrong(f"{what} not part of an expression", span)

    def _name(self, name: str, span: Span) -> Expr:
        if name in CONSTANTS and name not in (self.names or ()):
            return Literal(CONSTANTS[name], span=span)
        if self.names is not None and name not in self.names:
            if name in FUNCTIONS:
                params = ", ".join(FUNCTIONS[name].params)
                return self._wrong(f"'{name}' is a function", span, f"call it: {name}({params})")
            if name in self.unknown:
                return Literal(0, span=NOWHERE)
            self.unknown.add(name)
            return self._wrong(f"unknown name '{name}'", span, suggest(name, self.names))
        return Name(name, span=span)

    # ---- operators

    def _unary(self, node: ast.UnaryOp, span: Span) -> Expr:
        operand = self.read(node.operand)
        if isinstance(node.op, ast.UAdd):
            return operand
        if isinstance(node.op, ast.USub):
            if isinstance(operand, Literal) and not isinstance(operand.value, bool):
                return Literal(-operand.value, span=span)
            return Apply("neg", (operand,), span=span)
        return Apply(_OPERATORS[type(node.op)], (operand,), span=span)

    def _fold(self, function: str, operands: list[Expr], span: Span) -> Expr:
        tree = operands[0]
        for operand in operands[1:]:
            tree = Apply(function, (tree, operand), span=span)
        return tree

    def _compare(self, node: ast.Compare, span: Span) -> Expr:
        if any(type(operator) not in _OPERATORS for operator in node.ops):
            return self._wrong("'in' and 'is' do not compare elements", span, "use '==' or '!='")
        operands = [self.read(operand) for operand in (node.left, *node.comparators)]
        functions = [_OPERATORS[type(operator)] for operator in node.ops]
        pairs = [
            Apply(function, (operands[place], operands[place + 1]), span=span)
            for place, function in enumerate(functions)
        ]
        return self._fold("logical_and", list(pairs), span)

    # ---- calls

    def _call(self, node: ast.Call, span: Span) -> Expr:
        args = [self.read(arg) for arg in node.args if not isinstance(arg, ast.Starred)]
        if not isinstance(node.func, ast.Name):
            return self._method(node, span)
        name, place = node.func.id, self.source.span(node.func)
        if name not in FUNCTIONS:
            known = FOREIGN_NAMES.get(name)
            if self.names is not None and name in self.names:
                return self._wrong(f"'{name}' is an argument, not a function", place)
            help = f"it is called '{known}' here" if known else suggest(name, FUNCTIONS)
            return self._wrong(f"unknown function '{name}'", place, help)
        function = FUNCTIONS[name]
        usage = f"{name}({', '.join(function.params)})"
        for starred in (arg for arg in node.args if isinstance(arg, ast.Starred)):
            return self._wrong("arguments cannot be unpacked here", self.source.span(starred), usage)
        for keyword in node.keywords:
            return self._wrong(f"{name} takes no keyword arguments", self.source.span(keyword), usage)
        if len(args) != function.arity:
            count = f"{function.arity} argument" + "s" * (function.arity != 1)
            return self._wrong(f"{name} takes {count}, got {len(args)}", span, usage)
        return Apply(name, tuple(args), span=span)

    def _method(self, node: ast.Call, span: Span) -> Expr:
        if not isinstance(node.func, ast.Attribute):
            return self._wrong("only functions can be called", span)
        name = node.func.attr
        name = FOREIGN_NAMES.get(name, name)
        help = f"write {name}(...)" if name in FUNCTIONS else "elementwise functions: " + ", ".join(FUNCTIONS)
        return self._wrong("an expression has no methods", span, help)

    # ---- mistakes

    def _unsupported(self, node: ast.expr, span: Span) -> Expr:
        what = {
            ast.Tuple: "a tuple",
            ast.List: "a list",
            ast.Dict: "a dict",
            ast.Set: "a set",
            ast.Lambda: "a lambda",
            ast.Subscript: "indexing",
            ast.Attribute: "an attribute",
            ast.NamedExpr: "an assignment",
            ast.JoinedStr: "a string",
            ast.Starred: "unpacking",
        }.get(type(node), "this construct")
        help = "an expression sees one element of each argument" if isinstance(node, ast.Subscript) else None
        return self._wrong(f"{what} is not part of an expression", span, help)

    def _wrong(self, message: str, span: Span, help: str | None = None) -> Expr:
        self.errors.append(ExpressionError(message, span.offset, span.length, help))
        return Literal(0, span=NOWHERE)
