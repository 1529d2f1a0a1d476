"""Programs for other sizes: the calls that were recorded are made again for tensors without elements, and recorded.

That gives what recording the function would give, where its Python was told none of the sizes that are different
(`_size_reads`): no Python of it runs, and kernels are the same for all sizes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

from .._base.devices import CPU, META, on_device
from .._base.tensor_class import Tensor
from .._C import lib
from .._dispatch.dispatcher import call as dispatch
from .._dispatch.op import Op
from .._handle import excluded
from .._operators import empty_strided
from . import _recording
from ._graph import Graph, Operation, Outcome, Read, Value, Ways, mapped
from ._program import Program, casting_to, under
from ._python_state import is_own_frame
from ._recording import Call, Recording
from ._size_reads import LAYOUT, SHAPE


class Unbound(Exception):  # noqa: N818 (no error, and nobody sees it)
    """Exception: what was recorded may not be what the function does with other sizes. Its text says why."""


def bound(ways: Ways, tensors: Sequence[Any], hidden: int) -> Program:
    """Return the program of recorded ways for tensors of other sizes.

    Raises Unbound where the function could do something else with them.
    """
    graph, reads = ways.recorded, _by_value(ways.reads)
    for value, tensor in zip(graph.inputs, tensors, strict=True):
        _check(reads.get(value, ()), tensor)
    given = _described(tensors)
    made = Ways()
    try:
        for path in _paths(graph):
            replay = _Replay(reads, dict(zip(graph.inputs, given, strict=True)), path)
            recording = Recording(given, is_own_frame, has_conditions=True, hidden=hidden)
            recording.note_sizes(keeps_composites=True)
            recording.has_elements = False
            recording.constants |= replay.constants
            result = on_device(META, _recording.record, recording, None, replay, recording)
            if recording.reason is not None:
                raise recording.reason
            recording.calls = [each._replace(args=_placed(each.op, each.args, CPU)) for each in recording.calls]
            made.add(recording, given, result)
    except Unbound:
        raise
    except Exception as reason:
        raise Unbound(f"{type(reason).__name__}: {reason}") from None
    made.release()
    program = Program(made.graph(), excluded())
    made.release()
    return program


def _by_value(reads: Iterable[Read]) -> dict[Value, list[Read]]:
    found: dict[Value, list[Read]] = {}
    for read in reads:
        if read.value is None:
            raise Unbound(f"{size_read(read)} is read ({read.place})")
        found.setdefault(read.value, []).append(read)
    return found


def _check(reads: Iterable[Read], tensor: Any) -> None:
    """Raise Unbound if a size of a value that Python was told is another one for a tensor."""
    for read in reads:
        value, dim, _ = read
        assert value is not None
        shape, stride = value.facts.shape, value.facts.stride
        if dim >= 0:
            is_same = tensor.shape[dim] == shape[dim]
        else:
            is_same = tuple(tensor.shape) == shape and (dim == SHAPE or tensor.stride() == stride)
        if not is_same:
            raise Unbound(f"{size_read(read)} is read ({read.place}), and is one of {[*tensor.shape]} now")


def size_read(read: Read) -> str:
    """Return the name of a size that Python was told."""
    if read.value is None:
        return "the shape of a tensor that no operator has made"
    what = {SHAPE: "the shape", LAYOUT: "the layout"}.get(read.dim, f"dimension {read.dim}")
    return f"{what} of a tensor of {[*read.value.facts.shape]}"


def _described(tensors: Sequence[Any]) -> list[Any]:
    """Tensors without elements like others, of which none shares memory with another."""
    made: dict[int, Any] = {}
    memory = set()
    for each in tensors:
        if id(each) in made:
            continue
        where = int(lib.storage_of(each._h))
        if where in memory:
            raise Unbound("arguments share memory")
        memory.add(where)
        like = empty_strided(tuple(each.shape), each.stride(), dtype=each.dtype, device="meta")
        made[id(each)] = like.requires_grad_(each.requires_grad)
    return [made[id(each)] for each in tensors]


class _Part(NamedTuple):
    """A graph on a way, and what is read before the way goes on."""

    graph: Graph
    outcome: Outcome | None


def _paths(graph: Graph) -> Iterator[list[_Part]]:
    """The ways from the beginning of a function to its end."""
    if graph.condition is None:
        yield [_Part(graph, None)]
    for outcome, following in graph.following.items():
        for rest in _paths(following):
            yield [_Part(graph, outcome), *rest]


def _placed(op: Op, args: Sequence[Any], where: Any) -> tuple[Any, ...]:
    """Arguments with another device, if they name one."""
    return tuple(
        where if name == "device" and each is not None else each for name, each in zip(op.names, args, strict=True)
    )


class _Replay:
    """Makes the calls of a way again.

    Attributes:
        constants: for each tensor that stands for a constant, by its identity, itself and the constant.
    """

    def __init__(self, reads: Mapping[Value, list[Read]], tensors: dict[Value, Any], path: Sequence[_Part]) -> None:
        """Begin with the tensors of some values."""
        self.constants: dict[int, tuple[Any, Any]] = {}
        self._reads = reads
        self._tensors = tensors
        self._path = path
        for value, constant in (each for part in path for each in part.graph.constants):
            (like,) = _described((constant,))
            self.constants[id(like)] = like, constant
            tensors[value] = like

    def __call__(self, recording: Recording) -> Any:
        """Return the result of the function."""
        for graph, outcome in self._path:
            for operation in graph.operations:
                self._call(operation)
            if outcome is not None and graph.condition is not None:
                recording.calls.append(self._read(graph.condition, outcome))
        return graph.structure.unflatten(map(self._operand, graph.results))

    def _operand(self, leaf: Any) -> Any:
        return self._tensors[leaf] if isinstance(leaf, Value) else leaf

    def _arguments(self, operation: Operation) -> tuple[Any, Any]:
        args = mapped(_placed(operation.op, operation.args, META), self._operand)
        return args, mapped(operation.out, self._operand)

    def _call(self, operation: Operation) -> None:
        args, out = self._arguments(operation)
        function: Callable[..., Any] = partial(dispatch, operation.op)
        if operation.casts is not None:
            function = partial(casting_to, operation.casts, function)
        base = excluded()
        changed = operation.excluded ^ base
        result = under(base & changed, operation.excluded & changed, function, args, out, operation.mode)
        found = (result,) if operation.is_single else tuple(result)
        if len(found) != len(operation.results):
            raise Unbound(f"{operation.op.name}() gives another number of tensors ({operation.place})")
        for value, tensor in zip(operation.results, found, strict=True):
            if (value is None) is isinstance(tensor, Tensor):
                raise Unbound(f"{operation.op.name}() gives something else ({operation.place})")
            if value is not None:
                self._tensors[value] = tensor
                _check(self._reads.get(value, ()), tensor)

    def _read(self, condition: Operation, outcome: Outcome) -> Call:
        args, out = self._arguments(condition)
        facts = (condition.excluded, condition.is_tracked, condition.place, condition.casts)
        return Call(condition.op, args, out, condition.mode, outcome.value, *facts)
