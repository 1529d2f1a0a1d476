"""The gradient of rows, as rows: of one operator all gradients at once.

Values of a row are followed backwards: how the loss depends on each is a value of the row as well. What passes through
a sum is that value times the sum of the derivatives of its elements, so that such sums need no other one and run
together.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import reduce

from ..expr import Apply, Expr, Literal, Name, apply, derive, names, replaced, simplify, substitute
from .operator import Extent, Let, Rows, needed
from .parts import Expression

_ZERO = Literal(0)


def adjoint(
    body: Rows, targets: Sequence[str], grads: Mapping[str, int], saved: Mapping[str, str]
) -> tuple[Rows, frozenset[str]]:
    """The rows whose results are the gradients by `targets`, in their order, and the values of the row through which
    the loss depends on them. `grads` are the names of the gradients of results, with their places, `saved` those of
    values of the row that are given. Raises ExpressionError where a derivative is not known."""
    made = _Adjoint(body, targets, grads, saved)
    return made.rows(targets), made.moving


def saved_values(body: Rows) -> dict[str, int]:
    """The values of a row that are results, with their places."""
    known = {let.name for let in body.lets}
    places: dict[str, int] = {}
    for index, (extent, expression) in enumerate(body.outputs):
        if extent is Extent.ROW and isinstance(expression.tree, Name) and expression.tree.name in known:
            places.setdefault(expression.tree.name, index)
    return places


class _Adjoint:
    def __init__(self, body: Rows, targets: Sequence[str], grads: Mapping[str, int], saved: Mapping[str, str]) -> None:
        self.body = body
        self.saved = saved
        self.source = body.outputs[0][1].source
        self.lets: list[Let] = list(body.lets)
        self.taken = {let.name for let in body.lets}.union(*(names(each.tree) for each in body.expressions), grads)
        self.rows_of = body.per_row | {let.name for let in body.lets} | {"count"}
        outputs = [(body.outputs[place][0], body.outputs[place][1].tree, Name(grad)) for grad, place in grads.items()]
        self.of_rows = [(tree, grad) for extent, tree, grad in outputs if extent is Extent.ROW]
        self.of_elements = [(tree, grad) for extent, tree, grad in outputs if extent is not Extent.ROW]
        self.per_row = body.per_row | {grad for grad, place in grads.items() if body.outputs[place][0] is Extent.ROW}
        self.per_row |= frozenset(saved.values())
        places = {grad for grad, place in grads.items() if body.outputs[place][0] is Extent.PLACE}
        self.per_place = body.per_place | places
        self.bars: dict[str, Expr] = {}
        """The derivatives of the loss by each value of the row on which it depends."""
        self.moving: frozenset[str] = frozenset()
        for let in body.lets:
            tree = let.expression.tree
            if any(simplify(derive(tree, name)) != _ZERO for name in names(tree) & (self.moving | set(targets))):
                self.moving |= {let.name}

    def rows(self, targets: Sequence[str]) -> Rows:
        for let in reversed(self.body.lets):
            if let.name not in self.moving:
                continue
            bar = simplify(self._by_row_value(let.name))
            if bar != _ZERO:
                if let.combine in ("max", "min"):  # equal elements share it
                    equal = apply("where", self._is(let), Literal(1), _ZERO)
                    bar = apply("div", bar, self._sum(equal))
                self.bars[let.name] = self._named("adjoint", bar, None)
        outputs = []
        for target in targets:
            extent = self.body.extent(target)
            tree = self._by_row_value(target) if extent is Extent.ROW else self._by_element(target)
            outputs.append((extent, self._expression(simplify(tree))))
        return self._needed(outputs)

    def _partial(self, tree: Expr, name: str) -> Expr:
        """The derivative, in which values of the row stand for what they are."""
        found = derive(tree, name)
        for let in self.body.lets:
            if let.combine is None and not isinstance(let.expression.tree, (Name, Literal)):
                found = replaced(found, let.expression.tree, Name(let.name))
        return found

    def _is(self, let: Let) -> Expr:
        return apply("eq", let.expression.tree, Name(let.name))

    def _element(self, let: Let, name: str) -> Expr:
        """The derivative of an element of a reduction."""
        found = self._partial(let.expression.tree, name)
        if let.combine != "sum" and found != _ZERO:
            return apply("where", self._is(let), found, _ZERO)
        return found

    def _by_element(self, name: str) -> Expr:
        total = self._through(self.of_elements, name)
        for let in self.body.lets:
            if let.combine is not None and let.name in self.bars:
                total = _plus(total, self.bars[let.name], self._element(let, name))
        return total

    def _by_row_value(self, name: str) -> Expr:
        """The derivative by what is one number for a row: all elements depend on it."""
        total = self._sum(simplify(self._through(self.of_elements, name)))
        for tree, grad in self.of_rows:
            total = _plus(total, grad, self._partial(tree, name))
        for let in self.body.lets:
            if let.name not in self.bars:
                continue
            if let.combine is None:
                total = _plus(total, self.bars[let.name], self._partial(let.expression.tree, name))
            else:
                total = _plus(total, self.bars[let.name], self._sum(simplify(self._element(let, name))))
        return total

    def _through(self, outputs: Sequence[tuple[Expr, Expr]], name: str) -> Expr:
        total: Expr = _ZERO
        for tree, grad in outputs:
            total = _plus(total, grad, self._partial(tree, name))
        return total

    def _sum(self, element: Expr) -> Expr:
        """The sum of an expression over the row. Factors that are numbers of the row are no part of it, so that the
        same sums are found to be the same."""
        if element == _ZERO:
            return _ZERO
        if self._is_of_row(element):
            return apply("mul", element, Name("count"))
        if isinstance(element, Apply) and element.function == "neg":
            return apply("neg", self._sum(element.args[0]))
        if isinstance(element, Apply) and element.function == "div" and self._is_of_row(element.args[1]):
            return apply("div", self._sum(element.args[0]), element.args[1])
        factors = _factors(element)
        rest = [each for each in factors if not self._is_of_row(each)]
        if len(rest) < len(factors):
            # The sum stands where its first factor did, as the order keeps products in the range.
            first = factors.index(rest[0])
            before, after = factors[:first], [each for each in factors[first:] if self._is_of_row(each)]
            return _product([*before, self._sum(_product(rest)), *after])
        return self._named("sum", element, "sum")

    def _is_of_row(self, tree: Expr) -> bool:
        return names(tree) <= self.rows_of | self.per_row

    def _named(self, kind: str, tree: Expr, combine: str | None) -> Expr:
        tree = simplify(tree)
        for let in self.lets:
            if let.combine == combine and let.expression.tree == tree:
                return Name(let.name)
        name = next(each for index in range(len(self.taken) + 1) if (each := f"{kind}_{index}") not in self.taken)
        self.taken.add(name)
        self.rows_of |= {name}
        self.lets.append(Let(name, Expression(tree, self.source), combine))
        return Name(name)

    def _expression(self, tree: Expr) -> Expression:
        return Expression(tree, self.source)

    def _needed(self, outputs: list[tuple[Extent, Expression]]) -> Rows:
        """The rows with those of the values that the results need, and given values in place of their own."""
        given = {name: Name(label) for name, label in self.saved.items()}

        def with_given(expression: Expression) -> Expression:
            return Expression(substitute(expression.tree, given), expression.source)

        outputs = [(extent, with_given(expression)) for extent, expression in outputs]
        lets = [replace(let, expression=with_given(let.expression)) for let in self.lets if let.name not in given]
        return Rows(
            lets=needed(lets, (name for _, expression in outputs for name in names(expression.tree))),
            outputs=tuple(outputs),
            per_row=self.per_row,
            per_place=self.per_place,
            fixed=self.body.fixed,
            own=(None,) * len(outputs),
        )


def _factors(tree: Expr) -> list[Expr]:
    if isinstance(tree, Apply) and tree.function == "mul":
        return [factor for each in tree.args for factor in _factors(each)]
    return [tree]


def _product(factors: Sequence[Expr]) -> Expr:
    return reduce(lambda left, right: apply("mul", left, right), factors)


def _plus(total: Expr, factor: Expr, term: Expr) -> Expr:
    return total if term == _ZERO else apply("add", total, apply("mul", factor, term))
