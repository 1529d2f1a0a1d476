"""Recorded calls as a graph: operations over values, in an order that respects what writes to memory.

A value is a tensor as one call has left it. Operations whose results nobody uses are gone, unless they do something
besides.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import count
from typing import Any

from .._base.handles import tensors_in
from .._base.pytree import Structure, flatten
from .._base.tensor_class import Tensor
from .._C import lib
from .._dispatch.op import INPLACE, NEW, Op
from ._python_state import CONSTANTS, is_own
from ._recording import Call, Facts, Place, Recording, Unsupported

PURE = frozenset(("elementwise", "reduce", "scan", "rows", "fold", "compute", "extern", "view", "factory"))
"""Families whose operators do nothing but compute results."""


@dataclass(eq=False)
class Value:
    """A tensor while a program runs."""

    index: int
    facts: Facts
    tensor: Any = field(repr=False)
    """The tensor of the recorded run."""
    needs_grad: bool
    is_given: bool
    """True if it is there before the first operation."""

    @property
    def nbytes(self) -> int:
        count: int = self.tensor.numel()
        return count * int(self.facts.dtype.itemsize)


@dataclass(eq=False)
class Operation:
    """A call of an operator whose tensors are values."""

    op: Op
    args: tuple[Any, ...]
    out: Any
    mode: int
    results: tuple[Value | None, ...]
    is_single: bool
    """True if the operator gives a tensor, not several."""
    excluded: int
    is_tracked: bool
    place: Place
    renames: bool = False
    """True if it overwrites a tensor whose memory nothing else has, so that the result counts as another value."""
    is_copied: bool = False
    """True if it does so to a copy, as others still read what was there before."""

    @property
    def operands(self) -> list[Value]:
        return [each for each in _leaves((self.args, self.out)) if isinstance(each, Value)]

    @property
    def writes(self) -> bool:
        return self.mode != NEW or self.out is not None or self.op.is_inplace

    @property
    def has_effects(self) -> bool:
        """True if it does something besides computing its results."""
        return (self.writes and not self.renames) or self.op.random or self.op.family not in PURE


@dataclass(eq=False)
class Graph:
    """The operations of a function."""

    inputs: list[Value]
    constants: list[tuple[Value, Any]]
    """The values of tensors that are made of numbers, and these tensors."""
    operations: list[Operation]
    structure: Structure
    results: list[Any]
    """The leaves of the function's result: values, and what is no tensor."""


def graph_of(recording: Recording, given: Sequence[Any], result: Any) -> Graph:
    """Return the graph of a recording of a function that had some tensors and gave a result.

    Raises Unsupported where the result is more than tensors and what does not change.
    """
    values: dict[int, Value] = {}
    constants: list[tuple[Value, Any]] = []
    numbers = count()

    def value_of(tensor: Any, is_given: bool = False) -> Value:
        known = values.get(id(tensor))
        if known is None:
            known = Value(next(numbers), recording.facts(tensor), tensor, tensor.requires_grad, is_given)
            values[id(tensor)] = known
        return known

    def operand(leaf: Any) -> Any:
        if not isinstance(leaf, Tensor):
            return leaf
        leaf = recording.aliases.get(id(leaf), (leaf, leaf))[1]
        if id(leaf) not in values:
            constants.append((value_of(leaf, True), recording.keep(leaf)))
        return values[id(leaf)]

    inputs = [value_of(each, True) for each in given]
    operations = []
    shared = _shared_memory(recording, given)
    for call in recording.calls:
        args = tuple(_mapped(each, operand) for each in call.args)
        out = _mapped(call.out, operand)
        results, is_single = _results(call)
        if any(lib.keys(each._h) & ~_AUTOGRAD for each in results if each is not None):
            raise Unsupported(f"{call.op.name}() gives a tensor that is not dense", call.place)
        renames = call.mode == INPLACE and call.op.family == "elementwise" and _memory_of(call.result) not in shared
        if renames:
            values.pop(id(call.result))
        made = tuple(None if each is None else value_of(each) for each in results)
        facts = (call.excluded, call.is_tracked, call.place, renames)
        operations.append(Operation(call.op, args, out, call.mode, made, is_single, *facts))
    leaves, structure = flatten(result)
    for each in leaves:
        if not isinstance(each, (Tensor, *CONSTANTS)) and not is_own(type(each).__module__):
            raise Unsupported(f"the result has an object of class {type(each).__qualname__}")
    returned = [operand(each) for each in leaves]
    return Graph(inputs, constants, _needed(operations, returned), structure, returned)


_AUTOGRAD = 1


def _memory_of(tensor: Any) -> int:
    return int(lib.storage_of(tensor._h))


def _shared_memory(recording: Recording, given: Sequence[Any]) -> set[int]:
    """The memory of given tensors, and of more tensors than one."""
    fixed = [*given, *(tensor for tensor, _ in recording.constants.values())]
    made = {id(each): each for call in recording.calls for each in tensors_in((call.result,))}
    counts = Counter(map(_memory_of, made.values()))
    return {*map(_memory_of, fixed), *(memory for memory, number in counts.items() if number > 1)}


def _results(call: Call) -> tuple[tuple[Any, ...], bool]:
    if isinstance(call.result, (tuple, list)):
        return tuple(call.result), False
    return (call.result,), True


def _needed(operations: Sequence[Operation], returned: Sequence[Any]) -> list[Operation]:
    """The operations that have effects, or whose results are used."""
    used = {each for each in returned if isinstance(each, Value)}
    kept = []
    for each in reversed(operations):
        if each.has_effects or used.intersection(each.results):
            used.update(each.operands)
            kept.append(each)
    return kept[::-1]


def _mapped(value: Any, change: Callable[[Any], Any]) -> Any:
    if isinstance(value, (tuple, list)):
        return type(value)(_mapped(each, change) for each in value) if type(value) in (tuple, list) else change(value)
    return change(value)


def _leaves(value: Any) -> Iterator[Any]:
    if type(value) in (tuple, list):
        for each in value:
            yield from _leaves(each)
    else:
        yield value
