"""The order of lines in scans and reductions with a state: `sorted`, `rank`, `place`, and elements at positions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from ...expr import Apply, Expr, ExpressionError, Name, names, substitute
from ...expr.functions.lists import ITEM
from ...model.folding import Folding
from ...model.operator import Expression, Extent
from ...model.ordered_rows import PLACE, RANK, OrderedFolding, Taken
from ...source import Mapping as MappingNode
from ...source import Scalar
from ..fields import Entry
from . import shared
from .row_elements import Lifted, tree_of

SORTED = "sorted"
_COUNT = "count"


class Order:
    """The order of the lines of a fold, and the names for it in the fold's expressions."""

    def __init__(self, entry: Entry, node: MappingNode, state: Iterable[str]) -> None:
        self.entry = entry
        self.state = frozenset(state)
        arguments = [each.name for each in (*entry.tensors, *entry.scalars)]
        local = node.get("let")
        taken = {*arguments, *self.state, *(local if isinstance(local, MappingNode) else ())}
        self.positions = [name for name in (RANK, PLACE) if name not in taken]
        self.arguments = arguments
        self.of_elements = {*(each.name for each in entry.tensors), *self.positions}
        """The names that have a value for each element."""
        self.steps: list[Taken] = []
        self.taken = {*taken, *self.positions, _COUNT}
        self.lifted = Lifted(entry, self._is_element, self.taken)
        self.key = self._key(node)

    def _key(self, node: MappingNode) -> Expression | None:
        text = self.entry.text(node, SORTED)
        key = None if text is None else shared.expression(self.entry, text, (*self.arguments, *self.positions))
        if key is not None and RANK in self.positions and RANK in names(key.tree):
            self.entry.report(key.source.span, "the order would depend on itself: the rank is known in the order alone")
        return key

    def _is_element(self, tree: Expr) -> bool:
        return not names(tree).isdisjoint(self.of_elements)

    def tree(self, text: str, source: Scalar, known: Iterable[str], local: Mapping[str, Expr]) -> Expr:
        """The expression, in which elements at positions have names."""
        tree = tree_of(text, (*known, *self.positions, _COUNT), self.entry.expressions, source)
        return self.lifted(self._written_out(tree, local), source, self._note)

    def _written_out(self, tree: Expr, local: Mapping[str, Expr]) -> Expr:
        """The expression in which elements at positions are of tensors alone."""
        if isinstance(tree, Name) and tree.name == _COUNT:
            help = "it is known in positions of elements: self[count - 1]"
            raise ExpressionError.at(tree.span, f"unknown name '{_COUNT}'", help)
        if not isinstance(tree, Apply):
            return tree
        if tree.function != ITEM:
            return Apply(tree.function, tuple(self._written_out(each, local) for each in tree.args), span=tree.span)
        whole = substitute(tree, local)
        for name in sorted(names(whole) & self.state):
            message = f"'{name}' is known one element after the other, and so has none at positions"
            raise ExpressionError.at(tree.span, message, "elements of tensors: self[0]")
        return whole

    def _note(self, taken: Taken) -> None:
        self.steps.append(taken)
        self.taken.add(taken.name)
        if taken.extent is Extent.ELEMENT:
            self.of_elements.add(taken.name)

    def of(self, folding: Folding) -> Folding:
        """The fold along lines that have an order, where it says anything of one."""
        used = frozenset[str]().union(*(names(each.tree) for each in folding.expressions))
        if self.key is None and not self.steps and used.isdisjoint(self.positions):
            return folding
        return OrderedFolding(**vars(folding), steps=tuple(self.steps), key=self.key)


class OrderedLocals(shared.Locals):
    """The names of expressions that may read elements at positions, and say where an element is."""

    def __init__(
        self,
        order: Order,
        entry: Entry,
        owner: MappingNode | None,
        known: Iterable[str],
        refused: Callable[[str], str | None],
    ) -> None:
        self.order = order
        super().__init__(entry, owner, known, refused)

    def read(self, text: Scalar) -> Expression | None:
        def parsed(written: str) -> Expr:
            return self.order.tree(written, text, self.known, self.trees)

        self.used.update(shared.words_of(text))  # names within elements at positions are replaced
        tree = self.fields.located(text, parsed)
        return None if tree is None else Expression(tree, text)
