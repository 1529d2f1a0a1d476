"""How sums of products are computed for operands of given shapes: two at a time, as batches of matrices.

Nothing here looks at a tensor, so that a plan is made once for an equation and its shapes.
"""

from __future__ import annotations

import importlib
import itertools
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from .parse import Labels, labels_of

__all__ = ["Pair", "Plan", "Step", "VectorProduct", "plan", "plan_of"]

Step = tuple[str, tuple[Any, ...]]
"""A method of tensors and its arguments."""


@dataclass(frozen=True, slots=True)
class VectorProduct:
    """Of an operand that is `outer` matrices with a row for each element of the other one, and so many columns."""

    swapped: bool
    order: tuple[int, ...]
    """Of the other's dimensions."""
    outer: int
    columns: int
    shape: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Pair:
    """Two terms become one, the product of what `left` and `right` make of them."""

    first: int
    second: int
    left: tuple[Step, ...]
    right: tuple[Step, ...]
    method: str
    result: tuple[Step, ...]
    vector: VectorProduct | None = None
    """Instead, where the memory allows it: of the terms after those steps of theirs that sum."""
    summed_left: tuple[Step, ...] = ()
    summed_right: tuple[Step, ...] = ()


@dataclass(frozen=True, slots=True)
class Plan:
    """The steps of each operand, the pairs one after the other, the steps of what is left."""

    operands: tuple[tuple[Step, ...], ...]
    pairs: tuple[Pair, ...]
    result: tuple[Step, ...]


@dataclass(slots=True)
class _Term:
    labels: Labels
    shape: list[int]
    steps: list[Step] = field(default_factory=list)

    def size(self, labels: Iterable[Any]) -> list[int]:
        return [self.shape[self.labels.index(label)] for label in labels]

    def diagonal(self, first: int, second: int) -> None:
        label, size = self.labels[first], self.shape[first]
        self.steps.append(("diagonal", (0, first, second)))
        self.labels = [each for place, each in enumerate(self.labels) if place not in (first, second)] + [label]
        self.shape = [each for place, each in enumerate(self.shape) if place not in (first, second)] + [size]

    def squeeze(self, place: int) -> None:
        self.steps.append(("squeeze", (place,)))
        del self.labels[place], self.shape[place]

    def unsqueeze(self, place: int, label: Any) -> None:
        self.steps.append(("unsqueeze", (place,)))
        self.labels.insert(place, label)
        self.shape.insert(place, 1)

    def sum(self, kept: set[Any]) -> None:
        """Without the dimensions that nothing else refers to."""
        dims = [place for place, label in enumerate(self.labels) if label not in kept]
        if dims:
            self.steps.append(("sum", (dims,)))
            self.shape = [size for place, size in enumerate(self.shape) if place not in dims]
            self.labels = [label for label in self.labels if label in kept]

    def permute(self, labels: Sequence[Any]) -> None:
        if list(labels) != self.labels:
            self.steps.append(("permute", (tuple(self.labels.index(label) for label in labels),)))
            self.shape, self.labels = self.size(labels), list(labels)

    def reshape(self, *shape: int) -> None:
        if list(shape) != self.shape:
            self.steps.append(("reshape", (shape,)))

    def taken(self) -> tuple[Step, ...]:
        """The steps so far, which are then done."""
        steps, self.steps = tuple(self.steps), []
        return steps


@lru_cache(maxsize=512)
def plan_of(equation: str, shapes: tuple[tuple[int, ...], ...]) -> Plan:
    return plan(*labels_of(equation, [len(shape) for shape in shapes]), shapes)


def plan(labels: Sequence[Labels], output: Labels, shapes: Sequence[tuple[int, ...]]) -> Plan:
    """The pairs are contracted in the order that `opt_einsum` finds, if it is installed."""
    sizes = _sizes(shapes, labels)
    terms = [_prepared(each, shape, sizes) for each, shape in zip(labels, shapes, strict=True)]
    operands = tuple(term.taken() for term in terms)
    pairs = []
    for first, second in _path(terms, output):
        right, left = terms.pop(second), terms.pop(first)
        kept = {*output, *(label for term in terms for label in term.labels)}
        pair, term = _pair(first, second, left, right, kept, output)
        pairs.append(pair)
        terms.append(term)
    term = terms[0]
    term.sum(set(output))
    term.permute([label for label in output if label in term.labels])
    for place, label in enumerate(output):
        if label not in term.labels:
            term.unsqueeze(place, label)
    shape = tuple(sizes[label] for label in output)
    if tuple(term.shape) != shape:
        term.steps.append(("expand", (shape,)))
    return Plan(operands, tuple(pairs), term.taken())


def _sizes(shapes: Sequence[tuple[int, ...]], labels: Sequence[Labels]) -> dict[Any, int]:
    """The extent of each label; dimensions of size one broadcast."""
    sizes: dict[Any, int] = {}
    for place, (shape, each) in enumerate(zip(shapes, labels, strict=True)):
        own: dict[Any, int] = {}
        for label, size in zip(each, shape, strict=True):
            if own.setdefault(label, size) != size:
                raise RuntimeError(
                    f"einsum(): subscript {label} is repeated for operand {place} but the sizes don't match, "
                    f"{size} != {own[label]}"
                )
            known = sizes.get(label, 1)
            if size != known and 1 not in (size, known):
                what = f"subscript {label}" if isinstance(label, str) else "the ellipsis"
                raise RuntimeError(
                    f"einsum(): {what} has size {size} for operand {place} which does not broadcast with previously "
                    f"seen size {known}"
                )
            sizes[label] = known if size == 1 else size
    return sizes


def _prepared(labels: Labels, shape: Sequence[int], sizes: dict[Any, int]) -> _Term:
    """With every label once, and none for a dimension that broadcasts."""
    term = _Term(list(labels), list(shape))
    place = 0
    while place < len(term.labels):
        label = term.labels[place]
        if label in term.labels[:place]:
            term.diagonal(term.labels.index(label), place)
            place = 0
        elif term.shape[place] == 1 and sizes[label] != 1:
            term.squeeze(place)
        else:
            place += 1
    return term


def _path(terms: Sequence[_Term], output: Labels) -> list[tuple[int, int]]:
    """Pairs of places, lower first; a result goes to the end."""
    count = len(terms)
    if count > 2:
        try:
            opt_einsum = importlib.import_module("opt_einsum")
        except ImportError:
            pass
        else:
            every = list(dict.fromkeys(label for term in terms for label in term.labels))
            symbol = {label: opt_einsum.get_symbol(place) for place, label in enumerate(every)}
            texts = ["".join(symbol[label] for label in term.labels) for term in terms]
            result = "".join(symbol[label] for label in output if label in symbol)
            shapes = [tuple(term.shape) for term in terms]
            found = opt_einsum.contract_path(f"{','.join(texts)}->{result}", *shapes, shapes=True)[0]
            if all(len(pair) == 2 for pair in found):
                return [(min(pair), max(pair)) for pair in found]
    # From left to right: the result so far is last, the next operand first.
    return [(0, 1 if place == 0 else count - 1 - place) for place in range(count - 1)]


def _pair(first: int, second: int, left: _Term, right: _Term, kept: set[Any], output: Labels) -> tuple[Pair, _Term]:
    # Rows come before columns in the result: the operand whose dimensions it has first gives the rows.
    order = [label for label in output if (label in left.labels) != (label in right.labels)]
    if order and order[0] in right.labels:
        first, second, left, right = second, first, right, left
    left.sum(kept | set(right.labels))
    right.sum(kept | set(left.labels))
    summed_left, summed_right = tuple(left.steps), tuple(right.steps)
    common = [label for label in left.labels if label in right.labels]
    inner = [label for label in common if label not in kept]
    batch = [label for label in common if label in kept]
    if not inner:
        term = _product(left, right)
        return Pair(first, second, left.taken(), right.taken(), "mul", ()), term
    rows = [label for label in left.labels if label not in common]
    columns = [label for label in right.labels if label not in common]
    vector = None if batch else _by_vector(left, right, inner, False) or _by_vector(right, left, inner, True)
    shape = [left.size(batch), left.size(rows), right.size(columns)]
    many, height, wide = map(math.prod, shape)
    width = math.prod(left.size(inner))
    left.permute([*batch, *rows, *inner])
    right.permute([*batch, *inner, *columns])
    if batch:
        left.reshape(many, height, width)
        right.reshape(many, width, wide)
    else:
        left.reshape(height, width)
        right.reshape(width, wide)
    term = _Term([*batch, *rows, *columns], [*itertools.chain(*shape)])
    result: tuple[Step, ...] = (("view", (tuple(term.shape),)),)
    if list(term.shape) == ([many] if batch else []) + [height, wide]:
        result = ()
    method = "bmm" if batch else "mm"
    return Pair(first, second, left.taken(), right.taken(), method, result, vector, summed_left, summed_right), term


def _product(left: _Term, right: _Term) -> _Term:
    """Nothing is summed: a product with broadcasting."""
    labels = [*left.labels, *(label for label in right.labels if label not in left.labels)]
    for label in labels[len(left.labels) :]:
        left.unsqueeze(len(left.labels), label)
    right.permute([label for label in labels if label in right.labels])
    for place, label in enumerate(labels):
        if label not in right.labels:
            right.unsqueeze(place, label)
    return _Term(labels, [max(pair) if 0 not in pair else 0 for pair in zip(left.shape, right.shape, strict=True)])


def _by_vector(matrices: _Term, other: _Term, inner: Labels, swapped: bool) -> VectorProduct | None:
    """All of `other` is summed over: dimensions of the matrices that are neighbours."""
    if len(other.labels) != len(inner):
        return None
    places = [matrices.labels.index(label) for label in inner]
    first, behind = min(places), max(places) + 1
    if behind - first != len(inner):
        return None
    order = tuple(other.labels.index(label) for label in matrices.labels[first:behind])
    outer, columns = (math.prod(part) for part in (matrices.shape[:first], matrices.shape[behind:]))
    return VectorProduct(swapped, order, outer, columns, (*matrices.shape[:first], *matrices.shape[behind:]))
