"""The functions of expressions, for people: docs/functions.md and `opweave functions`.

All of it follows from the table of functions. What a function means is said by its row, by the documentation of the
operator that is this function and nothing else, or by its definition.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from ..expr import Apply, Name
from ..expr.functions import (
    CONSTANTS,
    FUNCTIONS,
    LIST_FUNCTIONS,
    Function,
    Rule,
    bits,
    choices,
    elementary,
    operators,
    special,
)
from ..expr.functions.lists import ITEM, LIST
from ..expr.source import MAX_DEPTH
from ..model.operator import MAX_OPERANDS, MAX_OUTPUTS, MAX_PARAMS, MAX_ROW_VALUES, Elementwise, Operator

_GROUPS: tuple[tuple[str, Sequence[Function]], ...] = (
    ("Operators", operators.OPERATORS),
    ("Exponentials, logarithms, roots", elementary.EXPONENTIALS),
    ("Trigonometric and hyperbolic functions", elementary.TRIGONOMETRIC),
    ("Signs and divisors", choices.SIGNS),
    ("Rounding", choices.ROUNDING),
    ("Order", choices.ORDER),
    ("Bits", bits.BITS),
    ("Complex numbers", choices.PARTS),
    ("Classification", choices.CLASSES),
    ("Special functions", special.SPECIAL),
)
_RULES: Mapping[Rule, str] = {
    Rule.ARITHMETIC: "the common dtype; bool counts as a small integer",
    Rule.FLOATING: "the common dtype; integers and bool become floating",
    Rule.SAME: "the common dtype, bool included",
    Rule.BITWISE: "the common dtype of integers, or bool",
    Rule.SHIFT: "the common dtype of integers; bool counts as a small integer",
    Rule.COMPARISON: "operands in their common dtype; the result is bool",
    Rule.LOGICAL: "operands become bool; so is the result",
    Rule.SELECT: "the condition becomes bool; the others have their common dtype",
}
_QUOTED, _WORD = re.compile(r"`[^`]*`"), re.compile(r"\w+")


@dataclass(frozen=True)
class Row:
    """A row of the table of functions."""

    names: tuple[str, ...]
    """The name of the function, and that of its operator."""
    call: str
    meaning: str
    derivative: str
    types: str

    @property
    def cells(self) -> tuple[str, str, str, str]:
        return self.call, self.meaning, self.derivative, self.types


def groups(declared: Iterable[Operator]) -> Iterator[tuple[str, list[Row]]]:
    """The functions of elements by topic. `declared` are opweave's own operators, which say what functions mean."""
    meanings = _meanings(declared)
    listed = {function.name for _, functions in _GROUPS for function in functions}
    others = [function for name, function in FUNCTIONS.items() if name not in listed]
    for title, functions in (*_GROUPS, ("Other functions", others)):
        if functions:
            yield title, [_row(each, meanings) for each in functions]


def list_rows() -> list[Row]:
    """The functions of integers and lists of integers, which have no derivatives."""
    return [Row((each.name,), _call(each), each.meaning or "", "", "integers") for each in LIST_FUNCTIONS.values()]


def _row(function: Function, meanings: Mapping[str, str]) -> Row:
    meaning = function.meaning or meanings.get(function.name) or function.definitions.get("any") or ""
    names = (function.name, *([] if function.symbol is None else [function.symbol]))
    return Row(names, _call(function), meaning, _derivative(function), function.rule.value)


def _call(function: Function) -> str:
    params, symbol = function.params, function.symbol
    if function.name == LIST:
        return "[a, b, …]"
    if function.name == ITEM:
        return "list[index]"
    if function.rule is Rule.SELECT:
        return "x if condition else y"
    if symbol is None:
        return f"{function.name}({', '.join(params)})"
    if len(params) == 1:
        return f"{symbol}{' ' * symbol.isalpha()}{params[0]}"
    return f"{params[0]} {symbol} {params[1]}"


def _derivative(function: Function) -> str:
    if function.derivatives is None:
        return "none"
    if not any(each != "0" for each in function.derivatives):
        return "0"
    if len(function.params) == 1:
        return function.derivatives[0]
    pairs = zip(function.params, function.derivatives, strict=True)
    return "; ".join(
        f"{name}: {each}" for name, each in pairs if function.rule is not Rule.SELECT or name != "condition"
    )


def _meanings(declared: Iterable[Operator]) -> dict[str, str]:
    """Return by function the first sentence of the operator that is this function, in terms of the function's
    parameters."""
    found: dict[str, str] = {}
    for operator in declared:
        cases = operator.body.cases if isinstance(operator.body, Elementwise) else ()
        for _, results in cases:
            tree = results[0].tree
            if len(results) > 1 or not isinstance(tree, Apply) or not all(isinstance(each, Name) for each in tree.args):
                continue
            sentence = _renamed(operator.doc.split(". ")[0].rstrip("."), tree)
            if operator.name == tree.function:
                found[tree.function] = sentence
            elif len(cases) == 1:
                found.setdefault(tree.function, sentence)
    return found


def _renamed(sentence: str, tree: Apply) -> str:
    """Quotes of a sentence with the function's parameters in place of the operator's arguments."""
    names = [each.name for each in tree.args if isinstance(each, Name)]
    params = dict(zip(names, FUNCTIONS[tree.function].params, strict=True))
    return _QUOTED.sub(lambda quote: _WORD.sub(lambda word: params.get(word[0], word[0]), quote[0]), sentence)


# ---- the page -----------------------------------------------------------------------------------------------

_HEAD = """\
# Functions of expressions

Written by `opweave functions --markdown`; a test says when it must be written again. Expressions stand in the bodies of
entries and in the formulas of derivatives ([adding-an-operator.md](adding-an-operator.md)). They are Python: names,
numbers, operators with Python's precedence, `a if condition else b`, and calls of these functions, each of which
applies to one element.

*Names* are those of the entry's arguments, of its `let` and of the functions of the file. {constants} are constants.
A name may not begin with `_`; formulas also know `grad` and `result`.

*Limits*: {operands} tensors, {params} numbers and {outputs} results in an elementwise operator and in `rows`, {values}
reductions in `rows`, expressions nested {depth} levels deep.

*Associative functions* combine in any order, up to rounding, as `combine` of reductions and scans must:
{associative}. A `combine` of another form is tried with sample values.

*Types*: the operands have one dtype, the *common* one to which they promote, and so has the result.

| | |
|---|---|
{rules}

In derivatives `result` is the value of the function; "none" means that an operator which needs it declares it.
"""


def page(declared: Iterable[Operator]) -> str:
    """docs/functions.md."""
    associative = ", ".join(f"`{_call(each)}`" for each in FUNCTIONS.values() if each.associative)
    text = _HEAD.format(
        constants=", ".join(f"`{name}`" for name in CONSTANTS),
        operands=MAX_OPERANDS,
        params=MAX_PARAMS,
        outputs=MAX_OUTPUTS,
        values=MAX_ROW_VALUES,
        depth=MAX_DEPTH,
        associative=associative,
        rules="\n".join(f"| {rule.value} | {meaning} |" for rule, meaning in _RULES.items()),
    )
    for title, rows in groups(declared):
        text += f"\n## {title}\n\n| | meaning | derivative | types |\n|---|---|---|---|\n"
        text += "".join(_line(_code(each.call), each.meaning, _code(each.derivative), each.types) for each in rows)
    text += "\n## Integers and lists of integers\n\nThese are for the shapes and strides of views, and for sizes.\n\n"
    text += "| | meaning |\n|---|---|\n"
    return text + "".join(_line(_code(each.call), each.meaning) for each in list_rows())


def _code(text: str) -> str:
    return text if text == "none" else f"`{text}`"


def _line(*cells: str) -> str:
    return "| " + " | ".join(each.replace("|", "\\|") for each in cells) + " |\n"
