"""Recorded calls as a graph: operations over values, in an order that respects what writes to memory.

A value is a tensor as one call has left it. Operations whose results nobody uses are gone, unless they do something
besides. A graph ends where an element is read, as a condition or a number, and is followed by one for each way on that
is known.

Two graphs of which all shown fields are the same have the same steps (`_kept_steps`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from math import prod
from typing import Any, NamedTuple

from .._base.devices import CPU
from .._base.keys import KEY_BITS
from .._base.pytree import Structure, flatten
from .._base.tensor_class import Tensor
from .._C import lib
from .._dispatch.op import INPLACE, NEW, Op
from .._operators import empty_strided
from ._python_state import CONSTANTS, is_own
from ._recording import NUMBERS, Call, Facts, Place, Recording, Unsupported


@dataclass(eq=False)
class Value:
    """A tensor while a program runs."""

    index: int = field(repr=False)
    facts: Facts
    tensor: Any = field(repr=False)
    """The tensor of the recorded run, or another one of which the same is known; None: a program has been made."""
    needs_grad: bool
    is_given: bool
    """True if it is there before the first operation."""

    @property
    def nbytes(self) -> int:
        return prod(self.facts.shape) * int(self.facts.dtype.itemsize)

    def restore(self) -> None:
        """Have a tensor again."""
        if self.tensor is None:
            facts = self.facts
            self.tensor = empty_strided(facts.shape, facts.stride, dtype=facts.dtype, device=CPU)


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
    place: Place = field(repr=False)
    renames: bool = False
    """True if it overwrites a tensor whose memory nothing else has, so that the result counts as another value."""
    is_copied: bool = False
    """True if it does so to a copy, as others still read what was there before."""
    casts: Any = None
    """The format of autocast for what it calls itself; None: there is none."""
    starts: tuple[int, ...] = field(default=(), repr=False)
    """The elements from the first one of its only tensor to that of each result, if these are views of it."""

    @property
    def operands(self) -> list[Value]:
        return [each for each in _leaves((self.args, self.out)) if isinstance(each, Value)]

    @property
    def writes(self) -> bool:
        return self.mode != NEW or self.out is not None or self.op.is_inplace

    @property
    def is_identity(self) -> bool:
        """True if there was nothing to compute, as for `contiguous` of a tensor that is so."""
        return not self.writes and [*self.results] == self.operands

    @property
    def has_effects(self) -> bool:
        """True if it does something besides computing its results."""
        return (self.writes and not self.renames) or not self.op.is_pure


class Outcome:
    """A bool or a number that was read: another one if it is of another type or prints differently, as -0.0 does.

    Attributes:
        value: itself.
    """

    __slots__ = ("_key", "value")

    def __init__(self, value: bool | complex) -> None:
        self.value = value
        self._key = type(value).__name__, repr(value)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Outcome) and self._key == other._key

    def __hash__(self) -> int:
        return hash(self._key)


@dataclass(eq=False)
class Graph:
    """The operations of a function, up to its end or where it reads an element."""

    inputs: list[Value] = field(default_factory=list)
    constants: list[tuple[Value, Any]] = field(default_factory=list)
    """The values of tensors that are made of numbers, and these tensors."""
    operations: list[Operation] = field(default_factory=list)
    structure: Structure = field(default_factory=lambda: Structure(None), repr=False)
    results: list[Any] = field(default_factory=list)
    """The leaves of the function's result: values, and what is no tensor. With a condition: values that are used
    afterwards."""
    condition: Operation | None = None
    """The operation that reads a condition or a number, by which the function goes on one way or another."""
    following: dict[Outcome, Graph] = field(default_factory=dict, repr=False)
    """The graphs that follow, by what is read."""

    def pruned(self) -> Graph:
        """Return the graph without operations that nothing needs, here and in what follows."""
        following = {outcome: each.pruned() for outcome, each in self.following.items()}
        results = self.results
        if self.condition is not None:
            used = (value for each in following.values() for value in each.used)
            results = [*dict.fromkeys((*self.condition.operands, *used))]
        return replace(self, operations=needed(self.operations, results), results=results, following=following)

    @property
    def used(self) -> list[Value]:
        """The values that are there before the first operation, and are used."""
        made = {value for value, _ in self.constants}
        used = []
        for operation in self.operations:
            used += [each for each in operation.operands if each not in made]
            made.update(each for each in operation.results if each is not None)
        return used + [each for each in self.results if isinstance(each, Value) and each not in made]

    def release(self) -> None:
        """Let go of the tensors of the recorded run, here and in what follows."""
        made = (value for each in self.operations for value in (*each.operands, *each.results) if value is not None)
        for value in (*self.inputs, *self.used, *made, *(value for value, _ in self.constants)):
            value.tensor = None
        for following in self.following.values():
            following.release()

    def join(self, other: Graph) -> None:
        """Add the ways that another graph of the same function takes."""
        self.inputs = other.inputs
        if [each.op for each in self.operations] != [each.op for each in other.operations]:
            raise Unsupported("the function does something else where nothing is different")
        for outcome, following in other.following.items():
            if outcome in self.following:
                self.following[outcome].join(following)
            else:
                self.following[outcome] = following


class Read(NamedTuple):
    """Fact that Python was told a size of a value."""

    value: Value | None
    """None: it is not known of which."""
    dim: int
    place: Place


class Ways:
    """The graphs of a function that differ only by the conditions on elements that it reads.

    Attributes:
        calls_modules: True if modules are called on one of the ways.
        reads: the sizes that Python was told.
    """

    def __init__(self) -> None:
        self.calls_modules = False
        self.reads: list[Read] = []
        self._values: dict[Any, Value] = {}
        self._graph: Graph | None = None

    def add(self, recording: Recording, given: Sequence[Any], result: Any) -> None:
        """Add the graph of a recording. Raises Unsupported as `graph_of` does."""
        self.calls_modules |= recording.calls_modules
        reader = _Reader(recording, given, self._values)
        graph = reader.graph(given, result)
        self.reads += reader.reads()
        if self._graph is None:
            self._graph = graph
        else:
            self._graph.join(graph)

    @property
    def recorded(self) -> Graph:
        """One graph of all of them, with all calls."""
        assert self._graph is not None
        return self._graph

    def graph(self) -> Graph:
        """Return one graph of all of them, with the calls that are needed."""
        assert self._graph is not None
        for value in self._values.values():
            value.restore()
        return self._graph.pruned()

    def release(self) -> None:
        """Let go of the tensors of recorded runs."""
        for value in self._values.values():
            value.tensor = None


def graph_of(recording: Recording, given: Sequence[Any], result: Any) -> Graph:
    """Return the graph of a recording of a function that had some tensors and gave a result.

    Raises Unsupported where the result is more than tensors and what does not change.
    """
    ways = Ways()
    ways.add(recording, given, result)
    return ways.graph()


class _Reader:
    """Makes a graph of a recording."""

    def __init__(self, recording: Recording, given: Sequence[Any], known: dict[Any, Value]) -> None:
        """Read a recording. `known` are the values of other recordings of the function, by the conditions that were
        read before and by their order."""
        self._recording = recording
        self._known = known
        self._outcomes: tuple[Outcome, ...] = ()
        self._count = 0
        self._values: dict[int, Value] = {}
        self._lasting = {_memory_of(each) for each in (*given, *(each for each, _ in recording.constants.values()))}
        self._made: dict[int, set[int]] = {}
        """The tensors that calls have made so far, by their memory."""

    def graph(self, given: Sequence[Any], result: Any) -> Graph:
        """Return the graph of all calls."""
        first = graph = Graph()
        first.inputs = [self._value(each, True, ("input", place)) for place, each in enumerate(given)]
        for call in self._recording.calls:
            operation = self._operation(graph, call)
            if isinstance(call.result, NUMBERS):
                graph.condition = operation
                graph.following[Outcome(call.result)] = graph = self._next(call)
            else:
                graph.operations.append(operation)
        leaves, graph.structure = flatten(result)
        for each in leaves:
            if not isinstance(each, (Tensor, *CONSTANTS)) and not is_own(type(each).__module__):
                raise Unsupported(f"the result has an object of class {type(each).__qualname__}")
        graph.results = [self._operand(graph, each) for each in leaves]
        return first

    def reads(self) -> Iterator[Read]:
        """Return the sizes that Python was told, of a graph that was made."""
        for read in () if self._recording.sizes is None else self._recording.sizes.found.values():
            yield Read(self._values.get(id(read.tensor)), read.dim, read.place)

    def _next(self, call: Call) -> Graph:
        """The beginning of the graph that follows where a condition was read."""
        self._outcomes += (Outcome(call.result),)
        self._count = 0
        if len(self._outcomes) > _MOST_CONDITIONS:
            raise Unsupported(f"elements are read more than {_MOST_CONDITIONS} times", call.place)
        return Graph()

    def _value(self, tensor: Any, is_given: bool, key: Any) -> Value:
        known = self._values.get(id(tensor)) or self._known.get(key)
        facts = self._recording.facts(tensor)
        if known is None:
            known = self._known[key] = Value(len(self._known), facts, tensor, tensor.requires_grad, is_given)
        elif known.facts != facts:
            raise Unsupported("the function computes something else where nothing is different")
        self._values[id(tensor)] = known
        return known

    def _new_value(self, tensor: Any, is_given: bool = False) -> Value:
        self._count += 1
        return self._value(tensor, is_given, (self._outcomes, self._count))

    def _operand(self, graph: Graph, leaf: Any) -> Any:
        if not isinstance(leaf, Tensor):
            return leaf
        leaf = self._recording.aliases.get(id(leaf), (leaf, leaf))[1]
        if id(leaf) not in self._values:
            graph.constants.append((self._new_value(leaf, True), self._recording.keep(leaf)))
        return self._values[id(leaf)]

    def _operation(self, graph: Graph, call: Call) -> Operation:
        args, out = (mapped(each, lambda leaf: self._operand(graph, leaf)) for each in (call.args, call.out))
        results, is_single = _results(call)
        plain = _AUTOGRAD if self._recording.has_elements else _AUTOGRAD | _META
        if any(lib.keys(each._h) & ~plain for each in results if each is not None):
            raise Unsupported(f"{call.op.name}() gives a tensor that is not dense", call.place)
        memory = [_memory_of(each) for each in results if each is not None]
        is_lasting = not self._lasting.isdisjoint(memory)
        is_alone = not is_lasting and all(self._made.get(each) == {id(call.result)} for each in memory)
        renames = call.mode == INPLACE and call.op.family == "elementwise" and is_alone
        if renames:
            self._values.pop(id(call.result))
        for each, where in zip((each for each in results if each is not None), memory, strict=True):
            self._made.setdefault(where, set()).add(id(each))
        made = tuple(None if each is None else self._new_value(each) for each in results)
        facts = (call.excluded, call.is_tracked, call.place, renames, False, call.casts)
        return Operation(call.op, args, out, call.mode, made, is_single, *facts, _starts(call, results))


_AUTOGRAD, _META = KEY_BITS["autograd"], KEY_BITS["meta"]
_MOST_CONDITIONS = 40
"""The number of conditions in one another that Python takes."""


def _memory_of(tensor: Any) -> int:
    return int(lib.storage_of(tensor._h))


def _starts(call: Call, results: Sequence[Any]) -> tuple[int, ...]:
    """The elements from the first one of the only tensor to that of each result; none: these are no views of it."""
    tensors = [each for each in _leaves(call.args) if isinstance(each, Tensor)]
    if call.mode != NEW or len(tensors) != 1 or any(each is None for each in results):
        return ()
    (tensor,) = tensors
    if any(_memory_of(each) != _memory_of(tensor) for each in results):
        return ()
    return tuple([int(lib.storage_offset(each._h) - lib.storage_offset(tensor._h)) for each in results])


def _results(call: Call) -> tuple[tuple[Any, ...], bool]:
    if isinstance(call.result, NUMBERS):
        return (), True
    if isinstance(call.result, (tuple, list)):
        return tuple(call.result), False
    return (call.result,), True


def needed(operations: Sequence[Operation], returned: Sequence[Any]) -> list[Operation]:
    """Return the operations that have effects, or whose results are used."""
    used = {each for each in returned if isinstance(each, Value)}
    kept = []
    for each in reversed(operations):
        if each.has_effects or used.intersection(each.results):
            used.update(each.operands)
            kept.append(each)
    return kept[::-1]


def mapped(value: Any, change: Callable[[Any], Any]) -> Any:
    """Return what a function makes of each value in tuples and lists."""
    if isinstance(value, (tuple, list)):
        return type(value)(mapped(each, change) for each in value) if type(value) in (tuple, list) else change(value)
    return change(value)


def _leaves(value: Any) -> Iterator[Any]:
    if type(value) in (tuple, list):
        for each in value:
            yield from _leaves(each)
    else:
        yield value
