"""Shared by the readers of bodies: expressions, degrees of results, and unused arguments."""

from __future__ import annotations

from collections.abc import Iterable

from ...expr import parse
from ...model.operator import Expression
from ...schema import Argument
from ...source import Mapping, Scalar, Sequence
from ..fields import Entry
from ..reserved import argument_reason

_CHECKED = ("layout", "device", "pin_memory")


def expression(entry: Entry, scalar: Scalar, known: Iterable[str]) -> Expression | None:
    tree = entry.located(scalar, lambda text: parse(text, known))
    return None if tree is None else Expression(tree, scalar)


def expression_field(entry: Entry, owner: Mapping, key: str, known: Iterable[str]) -> Expression | None:
    scalar = entry.text(owner, key)
    return None if scalar is None else expression(entry, scalar, known)


def degrees(entry: Entry, owner: Mapping, key: str, count: int) -> tuple[int, ...]:
    """`degrees`: for each of `count` results its degree of homogeneity in the elements, or nothing at all."""
    node = owner.get(key)
    if node is None:
        return ()
    texts = [
        item.value if isinstance(item, Scalar) else "" for item in (node if isinstance(node, Sequence) else [node])
    ]
    numbers = tuple(int(text) for text in texts if text in ("1", "2"))
    if len(numbers) != len(texts) or len(numbers) != count:
        entry.report(node.span, f"'{key}' must be 1 or 2" + (f" for each of {count} results" if count > 1 else ""))
    return numbers


def report_unused(entry: Entry, what: str, arguments: Iterable[Argument], used: frozenset[str]) -> None:
    """Report arguments that a body never uses, and needless words of `unused`. Arguments of placement are checked
    before the body runs, which need not use them."""
    spared = {word.value for word in entry.words("unused")}
    for word in entry.words("unused"):
        if word.value in used or word.value in _CHECKED:
            why = "is used" if word.value in used else "need not be used"
            entry.report(word.span, f"argument '{word.value}' {why}", "leave it out")
    for argument in arguments:
        refused = (
            argument_reason(argument.name, entry.family) is not None
        )  # it is reported already, and one mistake is enough
        if argument.name not in (*used, *spared, *_CHECKED) and not refused:
            message = f"the {what} does not use argument '{argument.name}'"
            entry.report(entry.argument_name_span(argument), message, "or list it under 'unused'")
