"""Elements at computed positions in expressions over rows, `self[k - 1]`: each gets a name of its own."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator
from dataclasses import replace

from ...dtypes import FLOAT64, INT64, DType
from ...expr import Apply, Expr, ExpressionError, Literal, Name, apply, names, parse, type_of
from ...expr.functions.lists import ITEM, LISTS
from ...expr.parse import Family
from ...model.operator import Expression, Extent
from ...model.ordered_rows import Taken
from ...source import Scalar
from ..fields import Entry

_ROUNDING = ("floor", "ceil", "round", "trunc")
_ITEM = {each.name: each for each in LISTS if each.name == ITEM}


def tree_of(text: str, known: tuple[str, ...], family: Family, origin: Scalar) -> Expr:
    """The tree of an expression in which elements at positions are items."""
    return parse(text, known, replace(family, functions={**family.functions, **_ITEM}), origin)


def only_positions(entry: Entry, taken: Iterable[Taken], expressions: Iterable[Expression]) -> dict[str, DType]:
    """Tensors that are positions of elements, and nothing else in the expressions of a body."""
    places = [each.position for each in taken]
    others = [each for each in expressions if not any(each is place for place in places)]
    used, elsewhere = (frozenset[str]().union(*(names(each.tree) for each in part)) for part in (places, others))
    return {each.name: INT64 for each in entry.tensors if each.name in used - elsewhere}


def elements_in(tree: Expr, of_elements: Container[str]) -> Iterator[Name]:
    """The names in an expression that have a value for each element, but those of which one is taken."""
    if isinstance(tree, Name) and tree.name in of_elements:
        yield tree
    elif isinstance(tree, Apply):
        for each in tree.args[tree.function == ITEM :]:
            yield from elements_in(each, of_elements)


class Lifted:
    """Replaces items by names, and keeps what these stand for."""

    def __init__(self, entry: Entry, is_element: Callable[[Expr], bool], taken: Container[str]) -> None:
        self.entry = entry
        self.is_element = is_element
        """True if the expression has a value for each element."""
        self.taken = taken
        self.found: dict[tuple[Expr, Expr], Taken] = {}
        fractions = [each.name for each in entry.scalars if not each.is_integral]
        self.fractions = dict.fromkeys(fractions, FLOAT64)

    def __call__(self, tree: Expr, source: Scalar, note: Callable[[Taken], None]) -> Expr:
        """The tree with names for items; `note` is told of new ones."""
        if not isinstance(tree, Apply):
            return tree
        args = tuple(self(each, source, note) for each in tree.args)
        if tree.function != ITEM:
            return Apply(tree.function, args, span=tree.span)
        values, position = args
        if not self.is_element(values):
            message = "this is one value of the row, which has no elements"
            raise ExpressionError.at(tree.args[0].span, message, "self[0]")
        self._check(position, tree.args[1])
        if isinstance(position, Literal) and position.value < 0:
            position = apply("add", Name("count"), position)
        if (values, position) not in self.found:
            numbers = range(len(self.found) + 1000)
            name = next(each for number in numbers if (each := f"element_{number}") not in self.taken)
            extent = Extent.ELEMENT if self.is_element(position) else Extent.ROW
            made = Taken(name, Expression(values, source), Expression(position, source), extent)
            self.found[values, position] = made
            note(made)
        return Name(self.found[values, position].name)

    def _check(self, position: Expr, written: Expr) -> None:
        whole = _rounded(position)
        kinds = {name: self.fractions.get(name, INT64) for name in names(whole)}
        try:
            kind = type_of(whole, kinds).dtype
        except ExpressionError:
            return  # which is reported where the expression is checked
        if not kind.is_integer:
            message = f"a position is an integer, and this is {kind}"
            raise ExpressionError.at(written.span, message, "floor(x), ceil(x), round(x) or trunc(x)")


def _rounded(tree: Expr) -> Expr:
    """The expression in which what gives integers is one."""
    if not isinstance(tree, Apply):
        return tree
    return Literal(0) if tree.function in _ROUNDING else Apply(tree.function, tuple(map(_rounded, tree.args)))
