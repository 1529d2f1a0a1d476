"""Operations as what they compute of parts of tensors: of some positions along one dimension.

Operations of elements compute a part from the same part of their operands, joins such as `cat` from parts of what is
joined, and views of positions along the dimension from another part of what they view.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import Any, NamedTuple

from .._base.dtypes import EXPORTS
from .._dispatch.op import INPLACE
from ._graph import Operation, Value
from ._python_state import PACKAGE

ELEMENTS, JOIN, VIEW, OTHER = range(4)
"""The kinds of nodes: operations of elements, joins, views of positions along one dimension, and others."""


_HALVES = frozenset(EXPORTS[name] for name in ("bfloat16", "complex32", "float16"))
"""The dtypes whose operators run one by one."""


class Part(NamedTuple):
    """Positions of a value along a dimension."""

    value: Value | None
    """None: zeros."""
    begin: int
    end: int
    is_lifted: bool = False
    """True if it is all of the value, which gets this dimension as `stack` gives it."""


@dataclass(eq=False)
class Node:
    """An operation; or three that write a tensor to a part of zeros, as the gradient of a view does."""

    operations: tuple[Operation, ...]
    operands: list[Value]
    results: tuple[Value, ...]
    kind: int = OTHER
    dim: int = 0
    """The dimension of a join, or of positions, from the end."""
    parts: tuple[Part, ...] = ()
    """Parts that follow each other in the result of a join, or that of each result of a view."""

    @property
    def has_effects(self) -> bool:
        """True if it does something besides computing its results."""
        return self.kind == OTHER and any(each.has_effects for each in self.operations)

    def parts_of(self, part: Part, dim: int) -> list[Part]:
        """Return the parts from which that of a result is computed: of operations of elements one for each operand."""
        value, begin, end, is_lifted = part
        assert value is not None
        if self.kind == VIEW:
            whole = self.parts[self.results.index(value)]
            return [whole._replace(begin=whole.begin + begin, end=whole.begin + end)]
        if self.kind == JOIN:
            ends = (0, *accumulate(each.end - each.begin for each in self.parts))
            pairs = [(each, max(begin, first) - first, min(end, last) - first)
                     for each, (first, last) in zip(self.parts, pairwise(ends), strict=True)]  # fmt: skip
            return [
                each if each.is_lifted else each._replace(begin=each.begin + first, end=each.begin + last)
                for each, first, last in pairs if first < last
            ]  # fmt: skip
        is_broadcast = {each: size_of(each, dim) != size_of(value, dim) for each in self.operands}
        return [Part(each, *((0, 1) if is_broadcast[each] else (begin, end)), is_lifted) for each in self.operands]


def size_of(value: Value, dim: int) -> int:
    """Return the size along a dimension, from the end, from which a value is broadcast."""
    shape = value.facts.shape
    return shape[dim] if len(shape) >= -dim else 1


def nodes_of(operations: Sequence[Operation], returned: Iterable[Any]) -> list[Node]:
    """Return the nodes of a graph, in order."""
    nodes = [_node(each) for each in operations]
    readers: dict[Value, list[Node | None]] = {each: [None] for each in returned if isinstance(each, Value)}
    for node in nodes:
        for value in node.operands:
            readers.setdefault(value, []).append(node)
    made: dict[Value, Node] = {}
    gone: set[Node] = set()
    for place, node in enumerate(nodes):
        found = _in_zeros(nodes[:place], node.operations[0], made, readers)
        if found is not None:
            gone.update(found[:2])
            nodes[place] = found[2]
        made |= dict.fromkeys(nodes[place].results, nodes[place])
    return [each for each in nodes if each not in gone]


def _node(operation: Operation) -> Node:
    results = tuple([each for each in operation.results if each is not None])
    node = Node((operation,), [*dict.fromkeys(operation.operands)], results)
    op = operation.op
    if op.package != PACKAGE or operation.writes or operation.casts is not None or not results:
        return node
    if op.family == "elementwise" and operation.is_single and not op.random:
        is_half = any(each.facts.dtype in _HALVES for each in (*node.operands, *results))
        node.kind = OTHER if is_half else ELEMENTS
    elif op.rule == "join":
        node.kind, node.dim, node.parts = JOIN, *_of_join(operation.args, results[0])
    elif op.rule == "roll":
        node.kind, node.dim, node.parts = JOIN, *_of_roll(operation.args, results[0])
    elif operation.starts:
        node.kind, node.dim, node.parts = VIEW, *_of_view(node.operands[0], results, operation.starts)
    if node.kind != ELEMENTS and not node.parts:
        node.kind = OTHER
    return node


_Parts = tuple[int, tuple[Part, ...]]
"""The dimension, from the end, and the parts; none: it is not described so."""


# ---- joins --------------------------------------------------------------------------------------------------


def _of_join(args: Sequence[Any], result: Value) -> _Parts:
    (values, dim), ndim = args, len(result.facts.shape)
    dim = dim % ndim - ndim
    dims = {len(each.facts.shape) for each in values}
    if len(dims) > 1 or any(each.facts.dtype is not result.facts.dtype for each in values):
        return dim, ()
    is_lifted = dims == {ndim - 1}
    return dim, tuple([Part(each, 0, 1 if is_lifted else each.facts.shape[dim], is_lifted) for each in values])


def _of_roll(args: Sequence[Any], result: Value) -> _Parts:
    value, *numbers = args
    shift, dim = (each if isinstance(each, int) else each[0] if each and len(each) == 1 else None for each in numbers)
    shape = result.facts.shape
    if shift is None or dim is None or not shape:
        return 0, ()
    dim = dim % len(shape) - len(shape)
    size = shape[dim]
    place = size - shift % size if size else 0
    return dim, (Part(value, place, size), Part(value, 0, place))


# ---- views --------------------------------------------------------------------------------------------------


def _of_view(value: Value, results: Sequence[Value], starts: Sequence[int]) -> _Parts:
    """Results whose elements lie as those of the value do, but for positions along one dimension that they lack."""
    shape, ndim = value.facts.shape, len(value.facts.shape)
    if any(each.facts.dtype is not value.facts.dtype or len(each.facts.shape) != ndim for each in results):
        return 0, ()
    dims = {dim for each in results for dim in range(ndim) if each.facts.shape[dim] != shape[dim]}
    if len(dims) != 1:
        return 0, ()
    (dim,) = dims
    parts = []
    for each, start in zip(results, starts, strict=True):
        size, step = each.facts.shape[dim], value.facts.stride[dim]
        begin = start // step if size and step else 0
        lies_alike = all(
            one == other or count < 2
            for one, other, count in zip(value.facts.stride, each.facts.stride, each.facts.shape, strict=True)
        )
        if not lies_alike or (size and begin * step != start) or not 0 <= begin <= shape[dim] - size:
            return 0, ()
        parts.append(Part(value, begin, begin + size))
    return dim - ndim, tuple(parts)


# ---- parts of zeros -----------------------------------------------------------------------------------------


def _in_zeros(
    before: Sequence[Node], copy: Operation, made: dict[Value, Node], readers: dict[Value, list[Node | None]]
) -> tuple[Node, Node, Node] | None:
    """The nodes of zeros and of a view of them, if an operation copies a tensor to all of the view and nothing has read
    them before, and the join that all three are."""
    if copy.op.name != "copy_" or copy.mode != INPLACE or copy.is_tracked:
        return None
    target, source = copy.args[:2]
    view = made.get(target)
    if view is None or view.kind != VIEW or not isinstance(source, Value) or source.facts[:2] != target.facts[:2]:
        return None
    (whole,) = view.operands
    zeros = made.get(whole)
    if zeros is None or zeros.operations[0].op.name != "new_zeros" or len(readers[target]) > 1 or len(view.results) > 1:
        return None
    if any(whole in each.operands for each in before if each is not view):
        return None
    _, begin, end, _ = view.parts[0]
    parts = Part(None, 0, begin), Part(source, 0, end - begin), Part(None, 0, whole.facts.shape[view.dim] - end)
    operations = (*zeros.operations, *view.operations, copy)
    kept = tuple([each for each in parts if each.end])
    return zeros, view, Node(operations, [source], (whole,), JOIN, view.dim, kept)
