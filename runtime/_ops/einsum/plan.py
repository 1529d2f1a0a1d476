"""Plans sums of products for operands of given shapes: two operands at a time, as batches of matrices.

Plans depend on the equation and the shapes alone, so that each is made once.
"""

from __future__ import annotations

import importlib
import itertools
import math
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from .parse import Labels, labels_of

__all__ = ["Pair", "Plan", "Step", "VectorProduct", "plan", "plan_of"]

Step = tuple[str, tuple[Any, ...]]
"""A method of tensors and its arguments."""


class VectorProduct(NamedTuple):
    """Products with a vector: one operand is `outer` matrices of `columns` columns with a row for each element of the
    other operand.
    """

    swapped: bool
    order: tuple[int, ...]
    """The order of the other operand's dimensions."""
    outer: int
    columns: int
    shape: tuple[int, ...]


class Pair(NamedTuple):
    """Two terms become one: the product of the results of the steps `left` and `right`."""

    first: int
    second: int
    left: tuple[Step, ...]
    right: tuple[Step, ...]
    method: str
    result: tuple[Step, ...]
    vector: VectorProduct | None = None
    """A product with a vector to use instead where the memory allows it, on the terms after their sums."""
    summed_left: tuple[Step, ...] = ()
    summed_right: tuple[Step, ...] = ()


class Plan(NamedTuple):
    """The steps of each operand, then the pairs, then the steps of the last term."""

    operands: tuple[tuple[Step, ...], ...]
    pairs: tuple[Pair, ...]
    result: tuple[Step, ...]


class _Term:
    __slots__ = ("labels", "shape", "steps")

    def __init__(self, labels: Labels, shape: list[int]) -> None:
        self.labels = labels
        self.shape = shape
        self.steps: list[Step] = []

    def size(self, labels: Iterable[Any]) -> list[int]:
        return [self.shape[self.labels.index(label)] for label in labels]

    def diagonal(self, first: int, second: int) -> None:
        label, size = self.labels[first], self.shape[first]
        self.steps.append(("diagonal", (0, first, second)))
        self.labels = [each for position, each in enumerate(self.labels) if position not in (first, second)] + [label]
        self.shape = [each for position, each in enumerate(self.shape) if position not in (first, second)] + [size]

    def squeeze(self, position: int) -> None:
        self.steps.append(("squeeze", (position,)))
        del self.labels[position], self.shape[position]

    def unsqueeze(self, position: int, label: Any) -> None:
        self.steps.append(("unsqueeze", (position,)))
        self.labels.insert(position, label)
        self.shape.insert(position, 1)

    def sum(self, kept: set[Any]) -> None:
        """Sum over the dimensions whose labels nothing else refers to."""
        dims = [position for position, label in enumerate(self.labels) if label not in kept]
        if dims:
            self.steps.append(("sum", (dims,)))
            self.shape = [size for position, size in enumerate(self.shape) if position not in dims]
            self.labels = [label for label in self.labels if label in kept]

    def permute(self, labels: Sequence[Any]) -> None:
        if list(labels) != self.labels:
            self.steps.append(("permute", (tuple(self.labels.index(label) for label in labels),)))
            self.shape, self.labels = self.size(labels), list(labels)

    def reshape(self, *shape: int) -> None:
        if list(shape) != self.shape:
            self.steps.append(("reshape", (shape,)))

    def taken(self) -> tuple[Step, ...]:
        """Return the steps collected so far and clear them."""
        steps, self.steps = tuple(self.steps), []
        return steps


@lru_cache(maxsize=512)
def plan_of(equation: str, shapes: tuple[tuple[int, ...], ...]) -> Plan:
    """Return the plan of an equation for operands of these shapes, from a cache."""
    return plan(*labels_of(equation, [len(shape) for shape in shapes]), shapes)


def plan(labels: Sequence[Labels], output: Labels, shapes: Sequence[tuple[int, ...]]) -> Plan:
    """Plan a contraction. The order of the pairs is that of `opt_einsum` if it is installed."""
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
    for position, label in enumerate(output):
        if label not in term.labels:
            term.unsqueeze(position, label)
    shape = tuple(sizes[label] for label in output)
    if tuple(term.shape) != shape:
        term.steps.append(("expand", (shape,)))
    return Plan(operands, tuple(pairs), term.taken())


def _sizes(shapes: Sequence[tuple[int, ...]], labels: Sequence[Labels]) -> dict[Any, int]:
    """Return the size of each label; dimensions of size one broadcast."""
    sizes: dict[Any, int] = {}
    for position, (shape, each) in enumerate(zip(shapes, labels, strict=True)):
        own: dict[Any, int] = {}
        for label, size in zip(each, shape, strict=True):
            if own.setdefault(label, size) != size:
                raise RuntimeError(
                    f"einsum(): subscript {label} is repeated for operand {position} but the sizes don't match, "
                    f"{size} != {own[label]}"
                )
            known = sizes.get(label, 1)
            if size != known and 1 not in (size, known):
                what = f"subscript {label}" if isinstance(label, str) else "the ellipsis"
                raise RuntimeError(
                    f"einsum(): {what} has size {size} for operand {position} which does not broadcast with previously "
                    f"seen size {known}"
                )
            sizes[label] = known if size == 1 else size
    return sizes


def _prepared(labels: Labels, shape: Sequence[int], sizes: dict[Any, int]) -> _Term:
    """Return the operand with each label once and without the dimensions of size one that broadcast."""
    term = _Term(list(labels), list(shape))
    position = 0
    while position < len(term.labels):
        label = term.labels[position]
        if label in term.labels[:position]:
            term.diagonal(term.labels.index(label), position)
            position = 0
        elif term.shape[position] == 1 and sizes[label] != 1:
            term.squeeze(position)
        else:
            position += 1
    return term


def _path(terms: Sequence[_Term], output: Labels) -> list[tuple[int, int]]:
    """Return pairs of positions, the lower one first; the result of a pair is appended at the end."""
    count = len(terms)
    if count > 2:
        try:
            opt_einsum = importlib.import_module("opt_einsum")
        except ImportError:
            pass
        else:
            every = list(dict.fromkeys(label for term in terms for label in term.labels))
            symbol = {label: opt_einsum.get_symbol(position) for position, label in enumerate(every)}
            texts = ["".join(symbol[label] for label in term.labels) for term in terms]
            result = "".join(symbol[label] for label in output if label in symbol)
            shapes = [tuple(term.shape) for term in terms]
            path = opt_einsum.contract_path(f"{','.join(texts)}->{result}", *shapes, shapes=True)[0]
            if all(len(pair) == 2 for pair in path):
                return [(min(pair), max(pair)) for pair in path]
    # Contract from left to right: the result so far is last, the next operand first.
    return [(0, 1 if position == 0 else count - 1 - position) for position in range(count - 1)]


def _pair(first: int, second: int, left: _Term, right: _Term, kept: set[Any], output: Labels) -> tuple[Pair, _Term]:
    # Rows come before columns in the result: the operand whose dimensions it has first gives the rows.
    order = [label for label in output if (label in left.labels) != (label in right.labels)]
    if order and order[0] in right.labels:
        first, second, left, right = second, first, right, left
    for label in {*left.labels} & {*right.labels} - kept:
        if left.size([label]) == right.size([label]) == [1]:  # nothing is summed
            for term in (left, right):
                term.squeeze(term.labels.index(label))
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
    """Plan a product without a sum, which broadcasts."""
    labels = [*left.labels, *(label for label in right.labels if label not in left.labels)]
    for label in labels[len(left.labels) :]:
        left.unsqueeze(len(left.labels), label)
    right.permute([label for label in labels if label in right.labels])
    for position, label in enumerate(labels):
        if label not in right.labels:
            right.unsqueeze(position, label)
    return _Term(labels, [max(pair) if 0 not in pair else 0 for pair in zip(left.shape, right.shape, strict=True)])


def _by_vector(matrices: _Term, other: _Term, inner: Labels, swapped: bool) -> VectorProduct | None:
    """Plan a product with a vector if all dimensions of `other` are summed and adjacent in the matrices."""
    if len(other.labels) != len(inner):
        return None
    positions = [matrices.labels.index(label) for label in inner]
    first, behind = min(positions), max(positions) + 1
    if behind - first != len(inner):
        return None
    order = tuple(other.labels.index(label) for label in matrices.labels[first:behind])
    outer, columns = (math.prod(part) for part in (matrices.shape[:first], matrices.shape[behind:]))
    return VectorProduct(swapped, order, outer, columns, (*matrices.shape[:first], *matrices.shape[behind:]))
