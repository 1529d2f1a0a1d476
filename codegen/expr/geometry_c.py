"""Prints geometry as C: integers are int64_t, truth values int, lists `ow_list`, pointers to constant
`ow_ints`.

What can fail (an index out of range, too many dimensions, a sum or a product beyond 64 bits) is a helper of
the core that gets the context `view` as its first argument and notes the error there.
"""

from __future__ import annotations

from collections.abc import Mapping

from .geometry_tree import BOOL, INT, INT_LIST, Call, Geometry, GeometryType, Number, Variable

C_TYPES: Mapping[GeometryType, str] = {INT: "int64_t", BOOL: "int", INT_LIST: "ow_list"}

# C's precedences, loosest first.
_TERNARY, _OR, _AND, _EQUAL, _ORDER, _UNARY, _PRIMARY = range(7)

_COMPARISONS = {"<": _ORDER, "<=": _ORDER, ">": _ORDER, ">=": _ORDER, "==": _EQUAL, "!=": _EQUAL}
_LOGICAL = {"&": _AND, "|": _OR}
# Functions on integers; all others work on lists and are called ow_ints_ and their name.
_INT_HELPERS = {
    "+": "ow_int_add",
    "-": "ow_int_sub",
    "*": "ow_int_mul",
    "neg": "ow_int_neg",
    "//": "ow_int_floordiv",
    "%": "ow_int_rem",
    "ceil_div": "ow_int_ceil_div",
    "min": "ow_int_min",
    "max": "ow_int_max",
    "default": "ow_int_default",
    "stepped": "ow_int_stepped",
}
_CANNOT_FAIL = frozenset(("min", "max", "default", "stepped"))


def emit_c(tree: Geometry, names: Mapping[str, str] | None = None, context: str = "view") -> str:
    """C for the value of an expression. Names are variables, or whatever `names` maps them to."""
    return _Printer(names or {}, context).text(tree)


def declare(name: str, tree: Geometry, names: Mapping[str, str] | None = None, context: str = "view") -> str:
    """The statement that declares a variable and gives it the value of the expression."""
    return f"const {C_TYPES[tree.type]} {name} = {emit_c(tree, names, context)};"


class _Printer:
    def __init__(self, names: Mapping[str, str], context: str) -> None:
        self.names = names
        self.context = context

    def text(self, tree: Geometry) -> str:
        return self._print(tree)[0]

    def _within(self, tree: Geometry, precedence: int) -> str:
        return _parenthesise(*self._print(tree), precedence)

    def _print(self, tree: Geometry) -> tuple[str, int]:
        if isinstance(tree, Variable):
            return self.names.get(tree.name, tree.name), _PRIMARY
        if isinstance(tree, Number):
            # A truth value is an int, and small integers convert to what they meet.
            text = str(tree.value) if abs(tree.value) < 1 << 31 else f"INT64_C({tree.value})"
            return text, _UNARY if text.startswith("-") else _PRIMARY
        assert isinstance(tree, Call)
        function, args = tree.function, tree.args
        if function in _COMPARISONS:
            return self._comparison(function, args)
        if function in _LOGICAL:
            left, right = (self._within(arg, _UNARY) for arg in args)
            return f"{left} {function} {right}", _LOGICAL[function]
        if function == "not":
            return "!" + self._within(args[0], _UNARY), _UNARY
        if function == "if":
            condition, then, other = (self._within(arg, _TERNARY + 1) for arg in args)
            return f"{condition} ? {then} : {other}", _TERNARY
        if function == "len":
            return f"(int64_t){self._within(args[0], _PRIMARY)}->n", _UNARY
        if function == "list":
            items = ", ".join(map(self.text, args)) or "0"
            return f"&(ow_ints){{{len(args)}, {{{items}}}}}", _UNARY
        operands = [] if function in _CANNOT_FAIL else [self.context]
        operands += map(self.text, args)
        name = _INT_HELPERS.get(function, f"ow_ints_{function}")
        return f"{name}({', '.join(operands)})", _PRIMARY

    def _comparison(self, function: str, args: tuple[Geometry, ...]) -> tuple[str, int]:
        if args[0].type is INT_LIST:
            equal = f"ow_ints_equal({self.text(args[0])}, {self.text(args[1])})"
            return (equal, _PRIMARY) if function == "==" else ("!" + equal, _UNARY)
        left, right = (self._within(arg, _ORDER + 1) for arg in args)
        return f"{left} {function} {right}", _COMPARISONS[function]


def _parenthesise(text: str, own: int, precedence: int) -> str:
    return text if own >= precedence else f"({text})"
