"""Prints a typed expression as C: declarations of temporaries, then the value.

Every case of integer arithmetic is defined: signed operations are done in the unsigned type of the same width, narrow
results are cast back, and operations that C leaves undefined are helpers of the core. The compiler's option `-fwrapv`
would define signed overflow without the unsigned types, but for all of a kernel: it could no longer assume that loop
counters and offsets computed from them do not wrap, which it needs to know how often a loop runs and that its accesses
are consecutive, and some loops become slower. `&&` and `||` are not used, as they keep compilers from turning
conditions into masks.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

from ..dtypes import DType, Kind
from .functions import FUNCTIONS, Rule
from .functions.lists import LENGTH, LIST
from .lower import Env, lower
from .targets import C, Target
from .tree import Expr
from .typed import Arg, Cast, Const, Node, Op, may_fail, postorder, roots

# C's precedences, loosest first.
_TERNARY, _OR, _XOR, _AND, _EQUAL, _ORDER, _SHIFT, _SUM, _PRODUCT, _UNARY, _PRIMARY = range(11)

_INFIX = {
    "|": _OR, "^": _XOR, "&": _AND, "==": _EQUAL, "!=": _EQUAL, "<": _ORDER, "<=": _ORDER, ">": _ORDER, ">=": _ORDER,
    "+": _SUM, "-": _SUM, "*": _PRODUCT, "/": _PRODUCT,
}  # fmt: skip
_SYMBOLS = {"and": "&", "or": "|", "not": "!"}
"""The symbols of C where the language has other ones. Truth values are 0 or 1, so bit operations combine them."""
_CHEAP = frozenset(
    function.name
    for function in FUNCTIONS.values()
    if function.cost == 1 and not (function.c or function.c_integer)
    if function.symbol or function.rule is Rule.SELECT or function.c_complex == "operator"
)
"""Functions that are single instructions and operators in C."""


@dataclass(frozen=True)
class Emitted:
    """C text of one expression, or of several. `statements` declare temporaries; `values` may be used more than once.
    `uses_err` is true if a helper may set the error flag that the target passes. `root` is what was printed."""

    statements: tuple[str, ...]
    values: tuple[str, ...]
    uses_err: bool
    root: Node = field(repr=False, compare=False)

    @property
    def value(self) -> str:
        """The value of the only expression."""
        (value,) = self.values
        return value

    @property
    def text(self) -> str:
        return " ".join((*self.statements, *self.values))


def emit_c(
    expr: Expr,
    env: Env,
    result: DType | None = None,
    *,
    target: Target = C,
    names: Mapping[str, str] | None = None,
    prefix: str = "t",
) -> Emitted:
    """C for an expression of arguments whose compute dtypes `env` gives, converted to `result`.

    Arguments are variables of the same name, or as `names` spells them, and bool ones hold 0 or 1.
    Temporaries are called `prefix` and a number. Raises ExpressionError when the types do not fit.
    """
    return print_c(lower(expr, env, result, target.native), target, names, prefix)


def print_c(root: Node, target: Target = C, names: Mapping[str, str] | None = None, prefix: str = "t") -> Emitted:
    """C for a typed tree, which was lowered for this target."""
    return _Printer(root, target, names or {}, prefix).emit()


class _Printer:
    def __init__(self, root: Node, target: Target, names: Mapping[str, str], prefix: str) -> None:
        self.root = root
        self.target = target
        self.names = names
        self.prefix = prefix
        self.nodes = postorder(root)
        self.has_parts = any(isinstance(node, Op) and node.function == "complex" for node in self.nodes)
        """True if complex numbers are built from sums and differences, which compilers would fuse with products."""
        self.bound: dict[Node, str] = {}
        self.bounds: dict[Node, int] = {}

    def emit(self) -> Emitted:
        statements = []
        taken = {self._variable(node) for node in self.nodes if isinstance(node, Arg)}
        free = (f"{self.prefix}{number}" for number in range(len(self.nodes) + len(taken)))
        for node in self._shared() if self.target.temporaries else ():
            text = self._print(node)[0]
            name = next(name for name in free if name not in taken)
            statements.append(f"const {self.target.variable_type(node.dtype)} {name} = {text};")
            self.bound[node] = name
        values = tuple(self._text(root)[0] for root in roots(self.root))
        return Emitted(tuple(statements), values, any(map(may_fail, self.nodes)), self.root)

    def _shared(self) -> list[Node]:
        """Subexpressions that get a temporary, operands first: those that occur more than once, and cheap nested
        choices.

        Compilers vectorize choices that follow one another in half the instructions of nested ones. A division in one
        arm of a choice must not be computed outside it: it would report a zero divisor that the choice avoids.
        """
        uses = Counter(child for node in self.nodes for child in node.children)
        failing: set[Node] = set()
        for node in self.nodes:
            if may_fail(node) or any(child in failing for child in node.children):
                failing.add(node)
        certain = _unconditional(self.root)
        inner = {arm for node in self.nodes if _is_choice(node) for arm in node.children[1:] if _is_cheap_choice(arm)}
        return [
            node
            for node in self.nodes
            if (uses[node] > 1 or node in inner)
            and not isinstance(node, (Arg, Const))
            and not (isinstance(node, Cast) and isinstance(node.operand, Arg))
            and (node not in failing or node in certain)
        ]

    def _variable(self, node: Arg) -> str:
        return self.names.get(node.name, node.name)

    # ---- one node

    def _text(self, node: Node) -> tuple[str, int]:
        return (self.bound[node], _PRIMARY) if node in self.bound else self._print(node)

    def _within(self, node: Node, precedence: int) -> str:
        return _parenthesise(*self._text(node), precedence)

    def _print(self, node: Node) -> tuple[str, int]:
        if isinstance(node, Arg):
            return self._variable(node), _PRIMARY
        if isinstance(node, Const):
            text = self.target.number(node.value, node.dtype)
            return text, _UNARY if text[0] in "-(" else _PRIMARY
        if isinstance(node, Cast):
            return self._cast(node)
        assert isinstance(node, Op)
        if node.function == LIST:
            items = ", ".join(self._text(item)[0] for item in node.operands) or "0"
            return f"&(ow_ints){{{len(node.operands)}, {{{items}}}}}", _UNARY
        if node.function == LENGTH:
            return f"(int64_t){self._within(node.operands[0], _PRIMARY)}->n", _UNARY
        return self._operation(node)

    def _cast(self, node: Cast) -> tuple[str, int]:
        if node.dtype.is_bool:
            zero = self.target.number(0, node.operand.dtype)
            return f"{self._within(node.operand, _EQUAL + 1)} != {zero}", _EQUAL
        if node.operand.dtype.is_bool and node.dtype.is_integer and node.dtype.bits <= 32:
            return self._text(node.operand)  # already an int of 0 or 1
        return self._to(node.dtype.c_type, node.operand)

    def _to(self, c_type: str, node: Node) -> tuple[str, int]:
        return f"({c_type}){self._within(node, _UNARY)}", _UNARY

    def _operation(self, node: Op) -> tuple[str, int]:
        row, operands, dtype = node.row, node.operands, node.operand_dtype
        symbol = _SYMBOLS.get(row.symbol or "", row.symbol or "")
        if symbol in ("<<", ">>") and self._plain_count(operands[1]):
            return self._shift(node)
        call = self.target.call(row.name, dtype)
        if call is not None:
            return call.format(*(self._text(operand)[0] for operand in operands)), _PRIMARY
        if row.rule is Rule.SELECT:
            condition, then, other = (self._within(operand, _TERNARY + 1) for operand in operands)
            return f"{condition} ? {then} : {other}", _TERNARY
        if row.rule is Rule.COMPARISON and symbol:
            return self._infix(symbol, operands, _ORDER + 1), _INFIX[symbol]
        if symbol in ("&", "|", "^"):
            return self._infix(symbol, operands, _UNARY), _INFIX[symbol]
        if symbol == "!" or (symbol == "~" and dtype.is_bool):
            return "!" + self._within(operands[0], _UNARY), _UNARY
        if symbol == "~":
            text = "~" + self._within(operands[0], _UNARY)
            return (f"({dtype.c_type}){text}" if dtype.bits < 32 else text), _UNARY
        if symbol:
            return self._arithmetic(node, symbol)
        if row.c_complex == "operator":
            return f"__{row.name}__ {self._within(operands[0], _UNARY)}", _UNARY
        return f"{row.name}({self._text(operands[0])[0]}) != 0", _EQUAL  # a macro of C that classifies

    def _infix(self, text: str, operands: tuple[Node, ...], precedence: int) -> str:
        left, right = (self._within(operand, precedence) for operand in operands)
        return f"{left} {text} {right}"

    # ---- arithmetic

    def _arithmetic(self, node: Op, text: str) -> tuple[str, int]:
        precedence = _UNARY if len(node.operands) == 1 else _INFIX[text]
        dtype = node.dtype
        if dtype.is_floating or dtype.is_complex or (dtype.kind is Kind.UNSIGNED and dtype.bits >= 32):
            return self._plain(node, text, precedence), precedence
        if dtype.bits == 32 and self._bound(node) <= dtype.highest:
            return self._plain(node, text, precedence), precedence
        # Narrow operands become int, which holds every result except products of unsigned 16-bit numbers.
        if dtype.bits < 32 and not (dtype.bits == 16 and dtype.kind is Kind.UNSIGNED):
            plain = self._plain(node, text, precedence)
            return f"({dtype.c_type}){plain if precedence == _UNARY else f'({plain})'}", _UNARY
        return f"({dtype.c_type})({self._unsigned(node)[0]})", _UNARY

    def _plain(self, node: Op, text: str, precedence: int) -> str:
        if len(node.operands) == 1:
            return text + self._within(node.operands[0], _PRIMARY)
        left, right = node.operands
        first = self._within(left, precedence)
        if self.has_parts and precedence == _SUM and node.dtype.is_floating and _is_product(left):
            first = f"{self.target.helper_prefix}rounded_{node.dtype.suffix}({self._text(left)[0]})"
        return f"{first} {text} {self._within(right, precedence + 1)}"

    def _unsigned(self, node: Node) -> tuple[str, int]:
        """C of the node's value modulo 2^n, in the unsigned type of its width (at least 32 bits)."""
        dtype = node.dtype
        if node in self.bound or not isinstance(node, Op) or not _wraps(node):
            return self._to(f"uint{max(32, dtype.bits)}_t", node)
        operands = [self._unsigned(operand) for operand in node.operands]
        if len(operands) == 1:
            text, precedence = operands[0]
            # Two signs in a row would be a decrement.
            return "-" + (f"({text})" if precedence < _UNARY or text[0] == "-" else text), _UNARY
        text, (left, right) = node.row.symbol or "", operands
        precedence = _INFIX[text]
        return (
            f"{_parenthesise(*left, precedence)} {text} {_parenthesise(*right, precedence + 1)}",
            precedence,
        )

    def _bound(self, node: Node) -> int:
        """An upper bound of the node's magnitude, by which bool and narrow integers need no unsigned types."""
        if node not in self.bounds:
            self.bounds[node] = self._find_bound(node)
        return self.bounds[node]

    def _find_bound(self, node: Node) -> int:
        if isinstance(node, Const):
            return abs(int(node.value))
        if isinstance(node, Cast):
            return max(node.operand.dtype.highest, -node.operand.dtype.lowest)
        if isinstance(node, Op) and (_wraps(node) or _is_choice(node)):
            bounds = [self._bound(operand) for operand in node.operands if not operand.dtype.is_bool]
            if node.function == "mul":
                magnitude = math.prod(bounds)
            else:
                magnitude = sum(bounds) if node.function in ("add", "sub") else max(bounds)
            if magnitude <= node.dtype.highest:
                return magnitude
        return -node.dtype.lowest or node.dtype.highest

    def _plain_count(self, count: Node) -> bool:
        return isinstance(count, Const) and 0 <= count.value < count.dtype.bits

    def _shift(self, node: Op) -> tuple[str, int]:
        dtype, (value, count) = node.dtype, node.operands
        assert isinstance(count, Const)
        if node.function == "bitwise_right_shift":
            return f"{self._within(value, _UNARY)} >> {int(count.value)}", _SHIFT
        work = f"uint{max(32, dtype.bits)}_t"
        return f"({dtype.c_type})({self._to(work, value)[0]} << {int(count.value)})", _UNARY


def _parenthesise(text: str, own: int, precedence: int) -> str:
    return text if own >= precedence else f"({text})"


def _wraps(node: Op) -> bool:
    """True for arithmetic operators of C, whose integer results wrap."""
    row = node.row
    return row.rule is Rule.ARITHMETIC and row.symbol in ("+", "-", "*")


def _is_product(node: Node) -> bool:
    return isinstance(node, Op) and node.function == "mul"


def _is_choice(node: Node) -> bool:
    return isinstance(node, Op) and node.row.rule is Rule.SELECT


def _is_cheap_choice(node: Node) -> bool:
    """True for a choice that takes a few instructions at most, including its operands."""
    return _is_choice(node) and all(
        not isinstance(each, Op) or (each.function in _CHEAP and not each.dtype.is_complex) for each in postorder(node)
    )


def _unconditional(root: Node) -> set[Node]:
    """The nodes that are computed whatever the values of the conditions are."""
    seen: set[Node] = set()
    waiting = [root]
    while waiting:
        node = waiting.pop()
        if node not in seen:
            seen.add(node)
            waiting.extend(node.children[:1] if _is_choice(node) else node.children)
    return seen
