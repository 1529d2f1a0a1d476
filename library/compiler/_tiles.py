"""Steps that compute each row from the same row of their operands, which run together for a few rows at a time.

What they hand on is then read from the cache, and is a whole tensor only where something else uses it. A *row* is what
lies at one position of the first dimensions, which all results of the steps have. The calls are those of the steps,
made for parts of their tensors (`families/tiles.c`): elements are those that the steps give one after the other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import takewhile
from math import prod
from typing import Any

from .._dispatch.levels import run
from .._handle import run_tiles, tiles
from ._graph import Operation, Value
from ._kernels import Kernel

_TILE_BYTES = 1 << 20
"""The size of the values of a tile: larger ones leave the level-2 cache, smaller ones take the time of the calls."""
_SHORTEST = 16
"""Lines of fewer elements are reduced in an order that depends on their number (reduce.c)."""
_MOST_LATER = 20
"""The number of steps that wait for a tile, so that others which do not depend on them may be part of it."""
GIVEN, INNER, RESULT = range(3)
"""The kinds of values (families/tiles.h)."""

Step = Kernel | Operation


def tiled(steps: Sequence[Step], returned: Iterable[Any]) -> list[Step]:
    """Return steps that compute the same, some of which are kernels of several."""
    readers = readers_of(steps, returned)
    made: list[Step] = []
    waiting = [*steps]
    while waiting:
        rows = _Rows(readers)
        later: list[Step] = []
        late: set[Value | None] = set()
        for place, step in enumerate(waiting):
            if (changes_memory(step) and (later or not rows.is_empty)) or len(later) == _MOST_LATER:
                later += waiting[place:]
                break
            if late.isdisjoint(step.operands):
                of_rows = row_step(step)
                if of_rows is not None and rows.take(of_rows):
                    continue
                if rows.is_empty or (of_rows is None and rows.is_apart_from(step)):
                    made.append(step)
                    continue
            later.append(step)
            late.update(step.results)
        made += rows.together()
        waiting = later
    return made


def readers_of(steps: Sequence[Step], returned: Iterable[Any]) -> dict[Value, set[Any]]:
    """Return the steps that read each value, and None for those that are returned."""
    readers: dict[Value, set[Any]] = {each: {None} for each in returned if isinstance(each, Value)}
    for step in steps:
        for value in step.operands:
            readers.setdefault(value, set()).add(step)
    return readers


# ---- single steps -------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _RowStep:
    """A step whose results at a position of their first dimensions follow from its operands there."""

    step: Step
    depth: int
    """The number of these dimensions, at most."""
    ndim: int
    """The number of dimensions that the operands are broadcast to."""
    is_reshape: bool = False
    """True if the result is the operand, or its elements in another shape."""

    @property
    def is_of_lines(self) -> bool:
        """True if it computes with all elements of a line."""
        return not self.is_reshape and self.depth < self.ndim

    @property
    def operations(self) -> tuple[Operation, ...]:
        return operations_of(self.step)

    @property
    def operands(self) -> list[Value]:
        return [*dict.fromkeys(self.step.operands)]

    @property
    def results(self) -> list[Value]:
        return [each for each in self.step.results if each is not None]

    @property
    def work(self) -> int:
        """Time in additions, roughly."""
        return max(prod(each.facts.shape) for each in (*self.operands, *self.results)) * len(self.operations)


def operations_of(step: Step) -> tuple[Operation, ...]:
    """Return the operations that a step computes, in order."""
    return step.operations if isinstance(step, Kernel) else (step,)


def row_step(step: Step) -> _RowStep | None:
    """The facts of a step that tiles need; None: it is not one over rows."""
    results = step.results
    if None in results or not all(is_plain(each) for each in results if each is not None):
        return None
    if isinstance(step, Kernel):
        ndim = len(step.results[0].facts.shape)
        return _RowStep(step, ndim, ndim)
    if changes_memory(step) or not step.operands:
        return None
    found = _of_views if step.is_identity else _FAMILIES.get(step.op.family)
    return None if found is None else found(step)


def _of_elements(step: Operation) -> _RowStep | None:
    ndim = max(len(each.facts.shape) for each in step.results if each is not None)
    return _RowStep(step, ndim, ndim)


def _of_lines(step: Operation) -> _RowStep | None:
    """The facts of an operator that reduces the last dimensions, or computes with the elements of lines along these."""
    ndim = max(len(each.facts.shape) for each in step.operands)
    if ndim == 0:  # There are no lines, although reductions accept dimensions 0 and -1.
        return None
    dims = step.args[step.op.names.index("dim")] if "dim" in step.op.names else None
    wrapped = sorted({each % ndim for each in ([dims] if isinstance(dims, int) else dims)}) if dims is not None else []
    if step.op.sums_rows or not wrapped or wrapped != [*range(wrapped[0], ndim)]:
        return None
    lines = [each for each in step.operands if len(each.facts.shape) == ndim]
    count = max(prod(each.facts.shape[wrapped[0] :]) for each in lines)
    is_one = step.op.family == "rows" or len(step.operands) == len(step.results) == 1
    if not is_one or count < _SHORTEST or not all(is_plain(each) for each in lines):
        return None
    return _RowStep(step, wrapped[0], ndim)


def _of_views(step: Operation) -> _RowStep | None:
    """The facts of a view of all elements in their order."""
    (operand,), (result,) = step.operands, step.results
    assert result is not None
    if operand.nbytes != result.nbytes or not is_plain(operand):
        return None
    return _RowStep(step, _common(operand.facts.shape, result.facts.shape), len(operand.facts.shape), True)


_FAMILIES: dict[str, Callable[[Operation], _RowStep | None]] = {
    "elementwise": _of_elements,
    "reduce": _of_lines,
    "rows": _of_lines,
    "view": _of_views,
}


def changes_memory(step: Step) -> bool:
    """Return whether a step does more than compute its results, so that steps cannot change places with it."""
    return isinstance(step, Operation) and (step.writes or step.has_effects)


def is_plain(value: Value) -> bool:
    """True if it has elements, and these follow each other in memory."""
    expected = 1
    for size, stride in zip(reversed(value.facts.shape), reversed(value.facts.stride), strict=True):
        if size != 1 and stride != expected:
            return False
        expected *= size
    return expected > 0


def _common(first: Sequence[int], second: Sequence[int]) -> int:
    """The number of first dimensions that are the same."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(first, second, strict=False)))


# ---- steps together -----------------------------------------------------------------------------------------


class _Rows:
    """Steps over the same rows."""

    def __init__(self, readers: dict[Value, set[Any]]) -> None:
        self._readers = readers
        self._steps: list[_RowStep] = []
        self._leads: dict[Value, int] = {}
        """The values, with the dimension of results that the first one of each is."""
        self._made: set[Value] = set()
        self._shape: tuple[int, ...] = ()
        """The first dimensions, of which there is a row for each position."""

    @property
    def is_empty(self) -> bool:
        return not self._steps

    def is_apart_from(self, step: Step) -> bool:
        """Return whether a step may come before these."""
        return self._made.isdisjoint(step.operands)

    def take(self, added: _RowStep) -> bool:
        """Add a step. Returns False where it is not one over these rows."""
        shape = self._shape if self._steps else added.results[0].facts.shape
        shape = shape[: min(added.depth, *(_common(shape, each.facts.shape) for each in added.results))]
        leads = {each: added.ndim - len(each.facts.shape) for each in added.operands}
        leads |= dict.fromkeys(added.results, 0)
        if any(self._leads.get(each, lead) != lead for each, lead in leads.items()):
            return False
        if not shape or self._excluded not in (None, added.operations[0].excluded):
            return False
        if added.is_reshape and self._made.isdisjoint(added.operands):
            return False
        if _bytes(self._leads | leads, shape) > _TILE_BYTES * prod(shape):
            return False
        self._steps.append(added)
        self._shape = shape
        self._leads |= leads
        self._made.update(added.results)
        return True

    @property
    def _excluded(self) -> int | None:
        return self._steps[0].operations[0].excluded if self._steps else None

    def together(self) -> list[Step]:
        """Return the steps as one kernel; as they are where that is no gain, or there can be none."""
        as_they_are = [each.step for each in self._steps]
        # Elements alone take the time of the calls: the larger cache holds what they hand on.
        if sum(not each.is_reshape for each in self._steps) < 2 or not any(each.is_of_lines for each in self._steps):
            return as_they_are
        # What others use in another shape is a view of a result, which is taken afterwards.
        steps = frozenset(as_they_are)
        views = [each for each in self._steps if each.is_reshape and self._readers[each.results[0]] - steps]
        viewed = {value for each in views for value in each.operands}
        results = [
            value for each in self._steps if not each.is_reshape for value in each.results
            if value in viewed or self._readers.get(value, set()) - steps
        ]  # fmt: skip
        if not viewed <= {*results}:
            return as_they_are
        kernel = self._kernel(results)
        return as_they_are if kernel is None else [kernel, *(each.step for each in views)]

    def _kernel(self, results: Sequence[Value]) -> Kernel | None:
        inputs = tuple(each for each in self._leads if each not in self._made)
        values = [*dict.fromkeys((*inputs, *(value for each in self._steps for value in each.results)))]
        kinds = dict.fromkeys(values, INNER) | dict.fromkeys(inputs, GIVEN) | dict.fromkeys(results, RESULT)
        axis, step = self._division()
        made = tiles(
            tuple((each.tensor, kinds[each], self._leads[each], each.facts.shape) for each in values),
            tuple(self._calls({each: place for place, each in enumerate(values)}, kinds)),
            self._shape[: axis + 1],
            step,
            float(sum(each.work for each in self._steps)),
        )
        return tiled_kernel(made, tuple(each.step for each in self._steps), inputs, results)

    def _division(self) -> tuple[int, int]:
        """The dimension that is divided into tiles, and their size along it."""
        axis, nbytes = len(self._shape) - 1, _bytes(self._leads, self._shape) // prod(self._shape[:-1])
        while axis and nbytes <= _TILE_BYTES // 2:
            axis -= 1
            nbytes *= self._shape[axis]
        size = self._shape[axis]
        return axis, -(-size // max(1, min(-(-nbytes // _TILE_BYTES), size // 2)))

    def _calls(self, places: dict[Value, int], kinds: dict[Value, int]) -> Iterator[tuple[Any, ...]]:
        last = {value: each for each in self._steps for value in (*each.results, *each.operands)}
        for each in self._steps:
            frees = tuple(places[value] for value, step in last.items() if step is each and kinds[value] == INNER)
            results = tuple(places[value] for value in each.results)
            if isinstance(each.step, Operation) and each.step.is_identity:
                continue
            if each.is_reshape:
                yield None, (places[each.operands[0]],), results, frees
            elif isinstance(each.step, Kernel):
                yield each.step.function, arguments_of(each.step), results, frees
            else:
                yield each.step.op.function, arguments_of(each.step), results, frees


def _bytes(values: Iterable[Value], shape: tuple[int, ...]) -> int:
    """The size of values that have an element, or more of them, for each row."""
    return sum(each.nbytes for each in values if each.facts.shape[: len(shape)] == shape)


def arguments_of(step: Step) -> tuple[Any, ...]:
    """Return the arguments of a step, with the tensors of values."""
    given = step.inputs if isinstance(step, Kernel) else step.args
    return tuple(each.tensor if isinstance(each, Value) else each for each in given)


def tiled_kernel(made: Any, steps: Sequence[Step], inputs: Sequence[Value], results: Sequence[Value]) -> Kernel | None:
    """Return the kernel of what `tiles` has made of some steps; None: it could not."""
    if made is None:
        return None
    operations = tuple(operation for each in steps for operation in operations_of(each))
    texts = dict.fromkeys(each.text for each in steps if isinstance(each, Kernel))
    function = _function(made, steps, inputs, results)
    return Kernel(function, "", tuple(inputs), tuple(results), operations, "\n".join(texts), parts=tuple(steps))


def _function(
    made: Any, steps: Sequence[Step], inputs: Sequence[Value], results: Sequence[Value]
) -> Callable[..., Any]:
    def call(*tensors: Any) -> Any:
        found = run_tiles(made, *tensors)
        return one_by_one(*tensors) if found is None else found

    def one_by_one(*tensors: Any) -> Any:
        known: dict[Any, Any] = dict(zip(inputs, tensors, strict=True))
        for step in steps:
            if isinstance(step, Kernel):
                found = step.function(*(known[each] for each in step.inputs))
                is_single = len(step.results) == 1
            else:
                found = run(step.op, [known[each] if isinstance(each, Value) else each for each in step.args])
                is_single = step.is_single
            known |= zip(step.results, (found,) if is_single else found, strict=True)
        found = tuple(known[each] for each in results)
        return found[0] if len(found) == 1 else found

    return call
