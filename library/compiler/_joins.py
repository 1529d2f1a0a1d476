"""Joins of tensors, such as `cat`, together with the operations of elements before and after them.

What is computed of a join is computed of each of its pieces, and the pieces of results are written to their places in
memory: nothing is joined before it is used, and nothing copied after it was computed.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import accumulate
from math import prod
from typing import Any

from .._dispatch.op import NEW
from .._dispatch.transfer import is_dense
from ._graph import Graph, Value
from ._parts import ELEMENTS, JOIN, OTHER, VIEW, Node, nodes_of
from ._pieces import Joined

_MOST_PIECES = 8
_SHORTEST = 16
"""The number of elements of a piece that follow each other in memory, at least on average: each has a loop."""


def with_joins(graph: Graph) -> Graph:
    """Return a graph that computes the same, in which joins are one operation with those of elements around them."""
    nodes = nodes_of(graph.operations, graph.results)
    for seed in [each for each in nodes if each.kind == JOIN]:
        if seed in nodes:
            nodes = _Region(seed, nodes, graph.results).together()
    return replace(graph, operations=[operation for each in nodes for operation in each.operations])


class _Region:
    """A join, and the nodes that are computed piece by piece with it."""

    def __init__(self, seed: Node, nodes: Sequence[Node], returned: Iterable[Any]) -> None:
        self._seed, self._nodes = seed, nodes
        self._shape = seed.results[0].facts.shape
        self._readers: dict[Value, set[Node | None]] = {each: {None} for each in returned if isinstance(each, Value)}
        self._makers: dict[Value, Node] = {}
        self._origins: dict[Node, set[Node]] = {}
        """The nodes that each node depends on."""
        for node in nodes:
            made = [self._makers[each] for each in node.operands if each in self._makers]
            self._origins[node] = set(made).union(*(self._origins[each] for each in made))
            self._makers |= dict.fromkeys(node.results, node)
            for value in node.operands:
                self._readers.setdefault(value, set()).add(node)
        self._taken: set[Node] = set()
        self._apart: set[Value] = set()
        """The values that are whole tensors, as some of their positions would be computed twice."""

    def together(self) -> list[Node]:
        """Return the nodes, of which those that are computed together are one; as they are where that is no gain."""
        while True:
            self._grow()
            joined = self._joined()
            repeated = joined.repeated if joined is not None else set()
            if joined is None or not repeated:
                return [*self._nodes] if joined is None else self._with(joined)
            self._apart |= repeated

    # ---- which nodes ----

    def _grow(self) -> None:
        self._taken = {self._seed}
        count = 0
        while len(self._taken) > count:
            count = len(self._taken)
            self._taken.update(each for each in self._nodes if each not in self._taken and self._belongs(each))

    def _belongs(self, node: Node) -> bool:
        is_other = node.kind == OTHER or (node.kind != ELEMENTS and node.dim != self._seed.dim)
        if is_other or node.operations[0].excluded != self._seed.operations[0].excluded:
            return False
        if node.kind == VIEW:  # which may be taken once more for others
            return any(each in self._taken for value in node.results for each in self._readers.get(value, ()))
        return self._is_before(node) or self._is_after(node)

    def _is_before(self, node: Node) -> bool:
        """Return whether all that is computed by a node is read by those that are taken alone."""
        return self._apart.isdisjoint(node.results) and not any(map(self._is_read_apart, node.results))

    def _is_read_apart(self, value: Value) -> bool:
        return any(each is None or not self._is_inner(each) for each in self._readers.get(value, ()))

    def _is_inner(self, node: Node) -> bool:
        return node in self._taken and not (node.kind == VIEW and any(map(self._is_read_apart, node.results)))

    def _is_after(self, node: Node) -> bool:
        """Return whether a node computes elements of a whole join, and of nothing that others make of it."""
        makers = [self._makers[each] for each in node.operands if each in self._makers]
        reads = any(each in self._taken and each.kind != VIEW for each in makers)
        if node.kind != ELEMENTS or not reads or node.results[0].facts.shape != self._shape:
            return False
        whole = {each for each in self._taken if each.kind != VIEW}
        return all(each in self._taken or whole.isdisjoint(self._origins[each]) for each in makers)

    # ---- as one ----

    def _joined(self) -> Joined | None:
        """The operation of all that is taken; None: there is none, or it is no gain."""
        nodes = [each for each in self._nodes if each in self._taken]
        joins = [each for each in nodes if each.kind == JOIN]
        operations = [operation for each in nodes for operation in each.operations]
        made = {value for each in nodes for value in each.results}
        results = [
            value for each in nodes if each.kind != VIEW for value in each.results if self._is_read_apart(value)
        ]  # fmt: skip
        is_tracked = any(each.is_tracked for each in operations)
        if not prod(self._shape) or (is_tracked and len(operations) > len(nodes)):  # zeros are written to
            return None
        cuts = {0}.union(*(
            accumulate(part.end - part.begin for part in each.parts)
            for each in joins if each.results[0].facts.shape == self._shape
        ))  # fmt: skip
        ends = sorted(cuts)
        dim, first = self._seed.dim, self._seed.operations[-1]
        count, size = len(ends) - 1, self._shape[dim]
        is_long = all(is_dense(each.tensor) and size * each.facts.stride[dim] >= _SHORTEST * count for each in results)
        if not is_long or count > _MOST_PIECES or not any(each.kind == ELEMENTS for each in nodes):
            return None
        inputs = dict.fromkeys(value for each in nodes for value in each.operands if value not in made)
        return Joined(
            first.op, tuple(inputs), None, NEW, tuple(results), len(results) == 1, first.excluded, is_tracked,
            first.place, nodes=tuple(nodes), dim=dim, cuts=tuple(ends),
        )  # fmt: skip

    def _with(self, joined: Joined) -> list[Node]:
        """All nodes, with this operation in place of those that it computes; as they are where it has no place."""
        places = [place for place, each in enumerate(self._nodes) if each in self._taken]
        before, after = [*self._nodes[: places[0]]], []
        late: set[Value | None] = {*joined.results}
        for node in self._nodes[places[0] : places[-1] + 1]:
            if self._is_inner(node):
                continue
            if node.has_effects:
                return [*self._nodes]
            if late.isdisjoint(node.operands):
                before.append(node)
            else:
                after.append(node)
                late.update(node.results)
        if not late.isdisjoint(joined.operands):
            return [*self._nodes]
        results = tuple([each for each in joined.results if each is not None])
        return [*before, Node((joined,), joined.operands, results), *after, *self._nodes[places[-1] + 1 :]]
