"""Tables of numbers under `let`: `{table: [0, 1, 0, -1]}`, and lists of such lists."""

from __future__ import annotations

from ...dtypes import FLOAT64, INT64
from ...expr import Expr, Literal, evaluate, parse, type_of
from ...expr.evaluate import compute
from ...expr.lower import lower_integers
from ...expr.tables import Table
from ...expr.typed import convert
from ...source import Mapping, Node, Scalar, Sequence
from ..fields import Entry

KEY = "table"
EXAMPLE = "{table: [0, 1, 0, -1]}, or [[1, 2], [3, 4]] for two indices"
_MOST = 65536
"""Numbers of a table, which is text of every kernel."""


def is_table(node: Node | None) -> bool:
    """Return True if a node of `let` is a table of numbers."""
    return isinstance(node, (Mapping, Sequence))


def read(entry: Entry, node: Mapping | Sequence) -> Table | None:
    """The table, or None if it is wrong, which is reported."""
    listed: Node | None = node
    if isinstance(node, Mapping):
        entry.known_keys(node, (KEY,), where="let")
        listed = node.get(KEY)
        if KEY not in node:
            return None
    if not isinstance(listed, Sequence):
        entry.report(node.span if listed is None else listed.span, "a table is a list of numbers", EXAMPLE)
        return None
    before = len(entry.diagnostics)
    numbers: list[int | float] = []
    sizes = _sizes(listed)
    _collect(entry, listed, sizes, numbers)
    if len(entry.diagnostics) > before:
        return None
    if not 0 < len(numbers) <= _MOST:
        entry.report(
            listed.span, f"a table of {len(numbers)} numbers; it has 1 to {_MOST}", "make it a tensor argument"
        )
        return None
    if all(isinstance(each, int) for each in numbers):
        return Table(tuple(map(int, numbers)), sizes)
    return Table(tuple(map(float, numbers)), sizes)


def _sizes(node: Node) -> tuple[int, ...]:
    """The size of each dimension, as the first lists have it."""
    if not isinstance(node, Sequence):
        return ()
    return (len(node), *(_sizes(node[0]) if len(node) else ()))


def _collect(entry: Entry, node: Node, sizes: tuple[int, ...], numbers: list[int | float]) -> None:
    if isinstance(node, Sequence) and sizes:
        if len(node) != sizes[0]:
            entry.report(node.span, f"a row of {len(node)} in a table whose first has {sizes[0]}", "rows of one length")
            return
        for each in node:
            _collect(entry, each, sizes[1:], numbers)
    elif isinstance(node, Scalar) and not sizes:
        number = number_of(entry, node)
        numbers.append(0 if number is None else number)
    else:
        entry.report(node.span, "a table has numbers, or rows of one length, but not both", EXAMPLE)


def number_of(entry: Entry, text: Scalar) -> int | float | None:
    """The value of a number, or of an expression of numbers, as `4 / 9`."""
    if text.boolean is not None or not text.value.strip():
        entry.report(text.span, f"expected a number, not '{text.value}'", "0 or 1; 4/9 and sqrt(2) are numbers, too")
        return None
    return entry.located(text, lambda value: _value(parse(value, (), origin=text)))


def _value(tree: Expr) -> int | float:
    if isinstance(tree, Literal):
        return int(tree.value) if isinstance(tree.value, bool) else tree.value
    if type_of(tree, {}).dtype.is_floating:
        return float(evaluate(tree, {}, FLOAT64).item())
    return int(compute(convert(lower_integers(tree, {}, None, lambda *_: True), INT64), {}).item())
