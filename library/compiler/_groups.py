"""Divides a graph into steps: groups of elementwise operations, of which each is one loop, and single operations.

A group takes operations as they come while none of its values is needed elsewhere: then it is computed, and what it has
given is read from memory. So every value is computed once, and no group waits for another one that waits for it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from .._base.dtypes import get_default_dtype
from ..codegen import recorded
from ..codegen.dtypes import BOOL, DTYPES, INT64, DType, Promotion, promote, promote_all
from ..codegen.expr.typed import Arg, Node, convert, postorder
from ..codegen.model.operator import MAX_INPUTS, Elementwise, Operator
from ._declarations import declared
from ._graph import Graph, Operation, Value
from ._python_state import PACKAGE

_MOST_NODES, _MOST_LEVELS = 300, 60
"""The size of a tree up to which operations are added to it: compilers take longer for the same loop in one piece than
in two, and functions over trees are recursive."""


@dataclass(eq=False)
class Group:
    """Operations of one shape that are computed by one loop."""

    shape: tuple[int, ...]
    nodes: dict[Value, Node] = field(default_factory=dict)
    operations: list[Operation] = field(default_factory=list)
    leaves: dict[str, Value] = field(default_factory=dict)
    """The values that are read from memory, by the names of arguments."""
    kept: list[Value] = field(default_factory=list)
    """The values that are written to memory."""
    is_tracked: bool = False
    """True if gradients of it are recorded."""
    excluded: int = 0
    """The dispatch keys that the thread does not look at."""

    def add(self, other: Group) -> None:
        """Take over all of another group, which is computed nowhere yet."""
        self.nodes |= other.nodes
        self.operations += other.operations
        self.leaves |= other.leaves
        self.is_tracked |= other.is_tracked


class Grouping:
    """The steps of a graph."""

    def __init__(self, graph: Graph) -> None:
        self.steps: list[Group | Operation] = []
        self._open: list[Group] = []
        self._holder: dict[Value, Group] = {}
        self._read = {each for each in graph.results if isinstance(each, Value)}
        for operation in graph.operations:
            if not self._merge(operation):
                self._compute_apart(operation)
        for group in [*self._open]:
            self._close(group)
        for step in self.steps:
            if isinstance(step, Group):
                step.kept = [each for each in step.nodes if each in self._read]
        self.steps = [each for each in self.steps if not isinstance(each, Group) or each.kept]

    def _compute_apart(self, operation: Operation) -> None:
        for value in operation.operands:
            self._read.add(value)
            if value in self._holder:
                self._close(self._holder[value])
        if operation.writes:
            for group in [*self._open]:
                self._close(group)
        self.steps.append(operation)

    def _close(self, group: Group) -> None:
        self._open.remove(group)
        for value in group.nodes:
            self._holder.pop(value, None)
        self.steps.append(group)

    def _merge(self, operation: Operation) -> bool:
        """Add an operation to a group. Returns False where it is none of elements, or not to be merged."""
        operator = _elementwise(operation)
        if operator is None:
            return False
        result = operation.results[0]
        assert result is not None
        operands = operation.operands
        for value in operands:
            holder = self._holder.get(value)
            if holder is not None and (holder.shape, holder.excluded) != (result.facts.shape, operation.excluded):
                self._close(holder)
        holders = list(dict.fromkeys(self._holder[each] for each in operands if each in self._holder))
        group = self._joined(operation, operator, holders)
        if group is None and holders:
            for holder in holders:
                self._close(holder)
            group = self._joined(operation, operator, [])
        return group is not None

    def _joined(self, operation: Operation, operator: Operator, holders: list[Group]) -> Group | None:
        """The group of some groups and an operation; None where that is not possible."""
        (result,) = operation.results
        assert result is not None
        merged = Group(result.facts.shape, is_tracked=operation.is_tracked, excluded=operation.excluded)
        for each in holders:
            merged.add(each)
        leaves = {name_of(value): value for value in operation.operands if value not in merged.nodes}
        if not holders:
            beside = next((each for each in self._open if _fits_beside(each, merged, leaves)), None)
            if beside is not None:
                merged.add(beside)
                holders = [beside]
        node = _node(operation, operator, merged.nodes)
        merged.leaves |= leaves
        if node is None or len(merged.leaves) > MAX_INPUTS or _is_large(node):
            return None
        merged.nodes[result] = node
        merged.operations.append(operation)
        self._read.update(leaves.values())
        for each in holders:
            self._open.remove(each)
        self._open.append(merged)
        for value in merged.nodes:
            self._holder[value] = merged
        return merged


def _is_large(root: Node) -> bool:
    levels: dict[Node, int] = {}
    for node in postorder(root):
        levels[node] = 1 + max((levels[each] for each in node.children), default=0)
    return len(levels) > _MOST_NODES or levels[root] > _MOST_LEVELS


def _fits_beside(group: Group, other: Group, leaves: Mapping[str, Value]) -> bool:
    """True if a group reads one of the values that another one reads, is like it, and has room for the others."""
    is_like = (group.shape, group.is_tracked, group.excluded) == (other.shape, other.is_tracked, other.excluded)
    return is_like and bool(group.leaves.keys() & leaves) and len(group.leaves.keys() | leaves) <= MAX_INPUTS


def name_of(value: Value) -> str:
    """Return the argument that a value is in trees."""
    return f"a{value.index}"


def _elementwise(operation: Operation) -> Operator | None:
    """The declaration of an operation of elements that gives a new tensor."""
    op = operation.op
    if op.family != "elementwise" or not operation.is_single or (operation.writes and not operation.renames):
        return None
    operator = declared(op.name) if op.package == PACKAGE else None
    return operator if operator is not None and recorded.takes(operator) else None


def _node(operation: Operation, operator: Operator, nodes: Mapping[Value, Node]) -> Node | None:
    """The tree of an operation; None where it is no expression of the elements of its tensors."""
    (result,) = operation.results
    assert result is not None
    found = operands_of(operation, operator, nodes)
    node = None if found is None else recorded.call(*found)
    if node is not None and operation.renames:
        node = convert(node, dtype_of(result))
    return node if node is not None and node.dtype == dtype_of(result) else None


def operands_of(
    operation: Operation, operator: Operator, nodes: Mapping[Value, Node]
) -> tuple[Operator, dict[str, recorded.Operand], DType] | None:
    """Return the operator whose kernel the core calls for an operation, its operands and their common dtype; None where
    there are others than tensors and numbers."""
    arguments = dict(zip((each.name for each in operator.schema.arguments), operation.args, strict=True))
    operator, arguments = _for_number(operator, arguments)
    operands: dict[str, recorded.Operand] = {}
    for name in (each.name for each in (*operator.inputs, *operator.params)):
        value = arguments[name]
        if isinstance(value, Value):
            dtype = dtype_of(value)
            if not dtype.compute:
                return None
            operands[name] = nodes.get(value) or Arg(dtype, name_of(value))
        elif value is None or isinstance(value, (bool, int, float)):
            operands[name] = value
        else:
            return None
    common = _common(operator, arguments)
    return None if common is None else (operator, operands, common)


def _for_number(operator: Operator, arguments: dict[str, Any]) -> tuple[Operator, dict[str, Any]]:
    """The operator that the core calls for a number in place of the last input, as it computes the same, and its
    arguments."""
    first, last = operator.inputs[0].name, operator.inputs[-1].name
    self, number = arguments[first], arguments[last]
    if not isinstance(self, Value) or not isinstance(number, (bool, int, float)):
        return operator, arguments
    other = operator.shortcuts.get(float(number)) if abs(number) < _LARGEST_SHORTCUT else None
    if other is None or _of_number(number).kind.category > dtype_of(self).kind.category:
        return operator, arguments
    found = declared(other)
    dtype = dtype_of(self)
    if found is None or dtype not in found.dtypes or found.promotion.resolve(dtype)[1] != dtype:
        return operator, arguments
    return found, {each.name: each.default.value for each in found.params if each.default} | {
        found.inputs[0].name: self
    }


_LARGEST_SHORTCUT = 1000


def _common(operator: Operator, arguments: Mapping[str, Any]) -> DType | None:
    """The dtype that decides about that of the computation: tensors with dimensions come before those without, and
    these before numbers, where their kinds do not differ."""
    body = operator.body
    assert isinstance(body, Elementwise)
    given = [arguments[each.name] for each in operator.inputs if each.name not in body.fixed]
    if operator.promotion is Promotion.KEEP:
        return dtype_of(given[0]) if given and isinstance(given[0], Value) else None
    tensors = [each for each in given if isinstance(each, Value)]
    ranks = (
        [dtype_of(each) for each in tensors if each.facts.shape],
        [dtype_of(each) for each in tensors if not each.facts.shape],
        [_of_number(each) for each in given if each is not None and not isinstance(each, Value)],
    )
    dimensioned, without, number = (promote_all(dtypes) if dtypes else None for dtypes in ranks)
    return _combined(dimensioned, _combined(without, number))


def _combined(stronger: DType | None, weaker: DType | None) -> DType | None:
    """The common dtype of two ranks of operands (promotion.c)."""
    if stronger is None or weaker is None:
        return stronger or weaker
    if stronger.is_complex:
        return stronger
    if stronger.is_floating:
        return stronger.to_complex if weaker.is_complex else stronger
    if stronger.is_bool or weaker.is_floating or weaker.is_complex:
        return promote(stronger, weaker)
    return stronger


def _of_number(value: bool | int | float) -> DType:
    if isinstance(value, bool):
        return BOOL
    return INT64 if isinstance(value, int) else DTYPES[get_default_dtype().name]


def dtype_of(value: Value) -> DType:
    """Return the dtype of a value."""
    return DTYPES[value.facts.dtype.name]
