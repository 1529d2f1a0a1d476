"""Reads an expression, a subset of Python, into the tree. Mistakes are located and reported all at once."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from ..errors import suggest
from ..source import Scalar
from .errors import ExpressionError, raise_all
from .functions import CONSTANTS, FOREIGN_NAMES, FUNCTIONS, ROWS, Function, Rule
from .functions.lists import ITEM, LIST
from .source import Source
from .tree import NOWHERE, Apply, Expr, Literal, Name, Span, substitute


def _syntax(function: Function) -> type[ast.AST]:
    """The class of ast that stands for the symbol of a function."""
    text = f"x {function.symbol} y" if function.arity == 2 else f"{function.symbol} x"
    node: Any = ast.parse(text, mode="eval").body
    return type(node.ops[0] if isinstance(node, ast.Compare) else node.op)


_OPERATORS = {_syntax(function): function.name for function in FUNCTIONS.values() if function.symbol}


@dataclass(frozen=True)
class OwnFunction:
    """A function that a file of operators defines: calls are replaced by its value."""

    name: str
    params: tuple[str, ...]
    value: Expr

    @property
    def arity(self) -> int:
        return len(self.params)

    def called(self, args: Sequence[Expr], source: Source, span: Span) -> Expr:
        """Return the expression that stands where the function is called."""
        return substitute(self.value, dict(zip(self.params, args, strict=True)))


@dataclass(frozen=True)
class Family:
    """A family of expressions. Families are read, typed and printed alike, and differ in the functions that they
    apply."""

    noun: str
    """The name of such an expression in messages."""
    functions: Mapping[str, Function]
    numbers: tuple[type, ...] = (bool, int, float)
    """The kinds of numbers that may be written."""
    own: Mapping[str, OwnFunction] = field(default_factory=lambda: MappingProxyType({}))
    """Functions of the file."""


_SUMMED = "an expression sees one element: 'reduce' and 'rows' combine them, and 'compute' over index variables"
_DRAWN = "'elementwise' and bodies with a state have rand() and randn(), and 'compute' rand(key, x) of positions"
_ABSENT = "a number; what a tensor that is not given is says 'none_means', and in 'compute' its elements are 0"
_PRODUCT = "a product of matrices is a 'compute': sum(a[i, k] * b[k, j] for k in range(a.size(1)))"
_MEANT = {
    "float": "integers become floating where they meet floating numbers: 1.0 * x",
    "bool": "a condition is x != 0",
    "int": "trunc(x) drops the fraction",
    **dict.fromkeys(("sum", "mean", "prod", "any", "all", "argmax", "argmin"), _SUMMED),
    **{
        name: f"write {text}"
        for name, text in {
            "silu": "x * sigmoid(x)",
            "swish": "x * sigmoid(x)",
            "gelu": "0.5 * x * erfc(-x * sqrt(0.5))",
            "leaky_relu": "x if x > 0 else 0.01 * x",
            "elu": "x if x > 0 else expm1(x)",
            "mish": "x * tanh(log1p(exp(x)))",
            "heaviside": "1 if x > 0 else 0",
            "logit": "log(x / (1 - x))",
        }.items()
    },
    **dict.fromkeys(
        ("softmax", "log_softmax", "normalize", "layer_norm"),
        "a row has keys of its own, 'rows'; over indices write exp(x - top) / total, with 'top' and 'total' in 'let'",
    ),
    **dict.fromkeys(("dot", "matmul", "inner"), "over indices write sum(a[i, k] * b[k, j] for k in range(n))"),
    **dict.fromkeys(("rand", "randn", "random", "uniform", "normal"), _DRAWN),
}
"""The functions to use in place of functions of other languages that do not exist here."""

ELEMENTS = Family("an expression", FUNCTIONS)
"""Expressions over the elements of tensors."""


def parse(
    text: str, names: Iterable[str] | None = None, family: Family = ELEMENTS, origin: Scalar | None = None
) -> Expr:
    """The tree of an expression. If `names` are given, any other name is a mistake. With an `origin` the nodes know the
    text that they stand in, so that they may become part of another tree.

    Raises ExpressionError; its `all` holds every mistake of the text.
    """
    source = Source(text, origin)
    reader = Reader(source, None if names is None else tuple(names), family)
    tree = reader.read(source.parse())
    raise_all(reader.errors)
    return tree


def truth(tree: Expr) -> Expr:
    """A condition, which is true where a number is not zero."""
    return tree if _is_truth(tree) else Apply("ne", (tree, Literal(0)), span=tree.span)


def _is_truth(tree: Expr) -> bool:
    if isinstance(tree, Literal):
        return isinstance(tree.value, bool)
    rule = ROWS[tree.function].rule if isinstance(tree, Apply) else None
    return rule in (Rule.COMPARISON, Rule.LOGICAL) or (rule is Rule.BITWISE and all(map(_is_truth, tree.children)))


def is_reserved(name: str) -> bool:
    """True for a constant, whose name no argument can have. `nan` is an exception: torch's nan_to_num has it."""
    return name in CONSTANTS and name != "nan"


class Reader:
    """Turns nodes of ast into nodes of the tree; a node that has no equivalent is noted as a mistake and read as
    zero."""

    def __init__(self, source: Source, names: tuple[str, ...] | None, family: Family) -> None:
        self.source = source
        self.names = names
        self.family = family
        self.functions: Mapping[str, Function | OwnFunction] = {**family.functions, **family.own}
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
            return self._operator(node.op, (self.read(node.left), self.read(node.right)), span)
        if isinstance(node, ast.BoolOp):
            return self._fold(_OPERATORS[type(node.op)], [self.read(value) for value in node.values], span)
        if isinstance(node, ast.Compare):
            return self._compare(node, span)
        if isinstance(node, ast.IfExp):
            parts = (node.test, node.body, node.orelse)
            return Apply("where", tuple(map(self.read, parts)), span=span)
        if isinstance(node, ast.Call):
            return self._call(node, span)
        if isinstance(node, ast.List) and LIST in self.functions:
            return Apply(LIST, tuple(map(self.read, node.elts)), span=span)
        if isinstance(node, ast.Subscript) and ITEM in self.functions and not isinstance(node.slice, ast.Slice):
            return Apply(ITEM, (self.read(node.value), self.read(node.slice)), span=span)
        return self._unsupported(node, span)

    # ---- leaves

    def _literal(self, node: ast.Constant, span: Span) -> Expr:
        if isinstance(node.value, (bool, int, float)) and isinstance(node.value, self.family.numbers):
            return Literal(node.value, span=span)
        what = "complex numbers are" if isinstance(node.value, complex) else f"{node.value!r} is"
        help = _ABSENT if node.value is None else None
        return self._wrong(f"{what} not part of {self.family.noun}", span, help)

    def _name(self, name: str, span: Span) -> Expr:
        if name in CONSTANTS and name not in (self.names or ()) and float in self.family.numbers:
            return Literal(CONSTANTS[name], span=span)
        if self.names is not None and name not in self.names:
            if name in self.functions:
                params = ", ".join(self.functions[name].params)
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
        if isinstance(node.op, ast.USub) and isinstance(operand, Literal) and not isinstance(operand.value, bool):
            return Literal(-operand.value, span=span)
        return self._operator(node.op, (operand,), span)

    def _operator(self, operator: ast.AST, operands: tuple[Expr, ...], span: Span) -> Expr:
        function = FUNCTIONS.get(_OPERATORS.get(type(operator), ""))
        if function is None:
            return self._wrong(f"'@' is not part of {self.family.noun}", span, _PRODUCT)
        if function.name not in self.functions:
            return self._wrong(f"'{function.symbol}' is not part of {self.family.noun}", span, function.meant)
        return Apply(function.name, operands, span=span)

    def _fold(self, function: str, operands: list[Expr], span: Span) -> Expr:
        tree = operands[0]
        for operand in operands[1:]:
            tree = Apply(function, (tree, operand), span=span)
        return tree

    def _compare(self, node: ast.Compare, span: Span) -> Expr:
        if any(type(operator) not in _OPERATORS for operator in node.ops):
            is_absent = any(isinstance(each, ast.Constant) and each.value is None for each in node.comparators)
            help = _ABSENT if is_absent else "use '==' or '!='"
            return self._wrong("'in' and 'is' do not compare elements", span, help)
        operands = [self.read(operand) for operand in (node.left, *node.comparators)]
        functions = [_OPERATORS[type(operator)] for operator in node.ops]
        pairs = [
            Apply(function, (operands[index], operands[index + 1]), span=span)
            for index, function in enumerate(functions)
        ]
        return self._fold("logical_and", list(pairs), span)

    # ---- calls

    def _call(self, node: ast.Call, span: Span) -> Expr:
        args = [self.read(arg) for arg in node.args if not isinstance(arg, ast.Starred)]
        if not isinstance(node.func, ast.Name):
            return self._method(node, span)
        name, name_span = node.func.id, self.source.span(node.func)
        if name not in self.functions:
            known = FOREIGN_NAMES.get(name)
            if self.names is not None and name in self.names:
                return self._wrong(f"'{name}' is an argument, not a function", name_span)
            help = f"it is called '{known}' here" if known in self.functions else suggest(name, self.functions)
            help = _MEANT.get(name, help)
            return self._wrong(f"unknown function '{name}'", name_span, help)
        function = self.functions[name]
        usage = f"{name}({', '.join(function.params)})"
        for starred in (arg for arg in node.args if isinstance(arg, ast.Starred)):
            return self._wrong("arguments cannot be unpacked here", self.source.span(starred), usage)
        for keyword in node.keywords:
            return self._wrong(f"{name} takes no keyword arguments", self.source.span(keyword), usage)
        if len(args) != function.arity:
            count = f"{function.arity} argument" + "s" * (function.arity != 1)
            return self._wrong(f"{name} takes {count}, got {len(args)}", span, usage)
        if isinstance(function, OwnFunction):
            return function.called(args, self.source, span)
        return Apply(name, tuple(args), span=span)

    def _method(self, node: ast.Call, span: Span) -> Expr:
        if not isinstance(node.func, ast.Attribute):
            return self._wrong("only functions can be called", span)
        name = node.func.attr
        name = FOREIGN_NAMES.get(name, name)
        help = f"write {name}(...)" if name in self.functions else "functions: " + ", ".join(self.functions)
        return self._wrong(f"{self.family.noun} has no methods", span, help)

    # ---- mistakes

    def _unsupported(self, node: ast.expr, span: Span) -> Expr:
        what = {
            ast.Tuple: "a tuple",
            ast.List: "a list",
            ast.Dict: "a dict",
            ast.Set: "a set",
            ast.Lambda: "a lambda",
            ast.Subscript: "slicing" if ITEM in self.functions else "indexing",
            ast.Attribute: "an attribute",
            ast.NamedExpr: "an assignment",
            ast.JoinedStr: "a string",
            ast.Starred: "unpacking",
        }.get(type(node), "this construct")
        help = "an expression sees one element of each argument" if what == "indexing" else None
        return self._wrong(f"{what} is not part of {self.family.noun}", span, help)

    def _wrong(self, message: str, span: Span, help: str | None = None) -> Expr:
        self.errors.append(ExpressionError(message, span.offset, span.length, help))
        return Literal(0, span=NOWHERE)
