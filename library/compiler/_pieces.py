"""Results of joins that are computed piece by piece: what operations compute of each piece, as a program."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from .._base.devices import META, on_device
from .._dispatch.levels import run
from .._operators import cat, empty_strided, zeros
from . import _recording
from ._graph import Graph, Operation, Value, Ways
from ._kernels import Kernel
from ._parts import ELEMENTS, JOIN, Node, Part, size_of
from ._python_state import is_own_frame
from ._recording import Recording
from ._tiles import readers_of

if TYPE_CHECKING:
    from ._program import Program


@dataclass(eq=False)
class Joined(Operation):
    """Joins and operations of elements whose results are computed piece by piece."""

    nodes: tuple[Node, ...] = ()
    dim: int = 0
    """The dimension that has the pieces, from the end."""
    cuts: tuple[int, ...] = ()
    """The positions where they begin and end."""

    @property
    def has_effects(self) -> bool:
        """False: it makes its results and nothing else."""
        return False

    @property
    def operations(self) -> tuple[Operation, ...]:
        """The operations, in order."""
        return tuple([operation for each in self.nodes for operation in each.operations])

    @property
    def repeated(self) -> set[Value]:
        """The results of operations of elements of which some positions would be computed twice."""
        counts: dict[Value, int] = {}
        for part in self._parts():
            node = self._makers.get(part.value)
            if part.value is not None and node is not None and node.kind == ELEMENTS:
                count = size_of(part.value, self.dim) if part.is_lifted else part.end - part.begin
                counts[part.value] = counts.get(part.value, 0) + count
        return {value for value, count in counts.items() if count > size_of(value, self.dim)}

    def _parts(self) -> list[Part]:
        """All parts that are computed or given, each once."""
        seen: dict[Part, None] = {}
        waiting = self._pieces
        while waiting:
            part = waiting.pop()
            if part not in seen and part.value is not None:
                seen[part] = None
                waiting += operands_of(part, self._makers.get(part.value), self.dim)
        return [*seen]

    @property
    def _pieces(self) -> list[Part]:
        return [Part(each, begin, end) for each in self.results for begin, end in pairwise(self.cuts)]

    @property
    def _makers(self) -> dict[Value | None, Node]:
        return {value: node for node in self.nodes for value in node.results}

    def kernel(self, make: Callable[..., Program]) -> Kernel:
        """Return the kernel that computes the results. `make` makes a program of a graph."""
        inputs, results = tuple(self.operands), tuple([each for each in self.results if each is not None])
        makers = self._makers
        given = [each for each in self._parts() if each.value not in makers and not each.is_lifted]
        views, places = self._views(inputs, given), self._views(results, self._pieces)
        graph = self._graph(given, views(_made(inputs, META)), places(_made(results, META)))
        program = make(graph, 0, fills=True)
        graph.release()
        compute, makes = program.run, [_maker(each) for each in results]

        def call(*tensors: Any) -> Any:
            made = [make() for make in makes]
            compute(*views(tensors), *places(made))
            return made[0] if len(made) == 1 else tuple(made)

        texts = dict.fromkeys(each.text for each in program.steps if isinstance(each, Kernel))
        return Kernel(call, "", inputs, results, self.operations, "\n".join(texts))

    def _views(self, values: Sequence[Value], parts: Sequence[Part]) -> Callable[[Sequence[Any]], list[Any]]:
        """The function that takes views of parts of some values."""
        dim, taken = self.dim, []
        for value, begin, end, _ in parts:
            assert value is not None
            taken.append((values.index(value), end - begin == size_of(value, dim), begin, end - begin))
        return lambda tensors: [
            tensors[place] if is_whole else tensors[place].narrow(dim, begin, count)
            for place, is_whole, begin, count in taken
        ]

    def _graph(self, given: Sequence[Part], views: Sequence[Any], places: Sequence[Any]) -> Graph:
        """The graph that computes pieces of parts that are given, and copies them to places when all are computed."""

        def compute() -> None:
            computing = _Computing(self._makers, self.dim, dict(zip(given, views, strict=True)))
            pieces = [computing.tensor(each) for each in self._pieces]
            for place, piece in zip(places, pieces, strict=True):
                place.copy_(piece)

        recording = Recording((*views, *places), is_own_frame)
        recording.has_elements = False
        ways = Ways()
        ways.add(recording, (*views, *places), on_device(META, _recording.record, recording, None, compute))
        ways.release()
        graph = ways.graph()
        graph.operations = [replace(each, excluded=0) for each in graph.operations]
        return graph


def _maker(value: Value) -> Callable[[], Any]:
    return partial(empty_strided, value.facts.shape, value.facts.stride, dtype=value.facts.dtype)


def _made(values: Sequence[Value], where: Any) -> list[Any]:
    return [on_device(where, _maker(each)) for each in values]


def operands_of(part: Part, node: Node | None, dim: int) -> list[Part]:
    """Return the parts from which a part is computed; none: it is given."""
    if part.value is None or (node is None and not part.is_lifted):
        return []
    if node is None or (part.is_lifted and node.kind != ELEMENTS):
        return [Part(part.value, 0, size_of(part.value, dim))]
    return node.parts_of(part, dim)


def filled(steps: Sequence[Kernel | Operation], returned: Sequence[Any]) -> list[Kernel | Operation]:
    """Return steps that compute the same, of which those whose results are copied elsewhere alone write them there."""
    readers = readers_of(steps, returned)
    places = {
        each.args[1]: each.args[0] for each in steps
        if isinstance(each, Operation) and each.op.name == "copy_" and readers[each.args[1]] == {each}
    }  # fmt: skip
    writing = [each for each in steps if _can_write(each) and places.keys() >= {*each.results}]
    written = {value for each in writing for value in each.results}
    made: list[Kernel | Operation] = []
    for step in steps:
        if step in writing:
            out = tuple([places[each] for each in step.results])
            step = replace(step, out=out) if isinstance(step, Kernel) else replace(step, out=out[0])
        if not (isinstance(step, Operation) and step.op.name == "copy_" and step.args[1] in written):
            made.append(step)
    return made


def _can_write(step: Kernel | Operation) -> bool:
    return isinstance(step, Kernel) or (step.op.family == "elementwise" and not step.writes)


class _Computing:
    """The tensors of parts, each computed once."""

    def __init__(self, makers: Mapping[Value | None, Node], dim: int, given: Mapping[Part, Any]) -> None:
        self._makers, self._dim = makers, dim
        self._made = dict(given)

    def tensor(self, part: Part) -> Any:
        """Return the tensor of a part."""
        if part not in self._made:
            self._made[part] = self._compute(part)
        return self._made[part]

    def _compute(self, part: Part) -> Any:
        node = self._makers.get(part.value)
        parts = operands_of(part, node, self._dim)
        if node is not None and node.kind == ELEMENTS:
            return self._of_elements(node, dict(zip(node.operands, parts, strict=True)))
        tensors = [self._zeros(part, each) if each.value is None else self.tensor(each) for each in parts]
        if part.is_lifted:
            return tensors[0].unsqueeze(self._dim) if tensors[0].ndim >= -self._dim - 1 else tensors[0]
        return tensors[0] if len(tensors) == 1 else cat(tensors, self._dim)

    def _of_elements(self, node: Node, parts: Mapping[Value, Part]) -> Any:
        """The elements that an operation computes; of a sum with zeros, as gradients of views are, with the number."""
        operation, operands = node.operations[0], node.operands
        rest = [each for each in operands if not self._is_zero(parts[each])]
        is_alike = len(operands) == 2 and len({each.facts[:2] for each in (*operands, *node.results)}) == 1
        if operation.op.name == "add" and operation.args[-1] == 1 and len(rest) == 1 and is_alike:
            return run(operation.op, (self.tensor(parts[rest[0]]), 0, 1))
        found = {each: self.tensor(parts[each]) for each in operands}
        return run(operation.op, [found[each] if isinstance(each, Value) else each for each in operation.args])

    def _is_zero(self, part: Part) -> bool:
        node = self._makers.get(part.value)
        return node is not None and node.kind == JOIN and not any(each.value for each in node.parts_of(part, self._dim))

    def _zeros(self, part: Part, zero: Part) -> Any:
        """Zeros like a part of a value, all of which are one element."""
        assert part.value is not None
        shape = [*part.value.facts.shape]
        shape[self._dim] = zero.end - zero.begin
        return zeros([1] * len(shape), dtype=part.value.facts.dtype).expand(shape)
