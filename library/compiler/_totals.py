"""Reductions of all elements together with the loop that makes these, which are read from the cache then.

The elements are reduced in the units in which those of any tensor are (reduce_lines.c): results have the same bits.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import prod
from typing import Any

from .._handle import tiles
from ._graph import Operation, Value
from ._kernels import Kernel
from ._tiles import (
    GIVEN,
    INNER,
    RESULT,
    Step,
    arguments_of,
    changes_memory,
    is_plain,
    operations_of,
    readers_of,
    row_step,
    tiled_kernel,
)

_UNIT = 1 << 16
"""The number of elements of a tile (reduce.h)."""


def with_totals(steps: Sequence[Step], returned: Iterable[Any]) -> list[Step]:
    """Return steps that compute the same, where reductions of all elements are part of the kernels before them."""
    readers = readers_of(steps, returned)
    totals: dict[Step, list[Operation]] = {}
    makers: dict[Value, Step] = {}
    for step in steps:
        if changes_memory(step):
            makers = {}
        elif _is_of_elements(step):
            makers |= {each: step for each in step.results if each is not None}
        elif isinstance(step, Operation) and _is_total(step) and step.operands[0] in makers:
            maker = makers[step.operands[0]]
            if operations_of(maker)[0].excluded == step.excluded:
                totals.setdefault(maker, []).append(step)
    made: list[Step] = []
    taken: set[Step] = set()
    for step in steps:
        kernel = _together(step, totals[step], readers) if step in totals else None
        if kernel is not None:
            taken.update(totals[step])
        if step not in taken:
            made.append(kernel or step)
    return made


def _is_of_elements(step: Step) -> bool:
    """Return whether a step is a loop over many elements that follow each other in all of its tensors."""
    of_rows = row_step(step)
    if of_rows is None or of_rows.is_reshape or of_rows.is_of_lines:
        return False
    count = _count(of_rows.results[0])
    return count > _UNIT and all(
        is_plain(each) and _count(each) in (1, count) for each in (*of_rows.operands, *of_rows.results)
    )


def _is_total(step: Operation) -> bool:
    """Return whether an operation reduces all elements of a tensor to one."""
    is_reduction = step.op.family == "reduce" and len(step.operands) == len(step.results) == 1
    return is_reduction and step.results[0] is not None and _count(step.results[0]) == 1


def _count(value: Value) -> int:
    return prod(value.facts.shape)


def _together(step: Step, totals: Sequence[Operation], readers: dict[Value, set[Any]]) -> Kernel | None:
    """A kernel of a step and reductions of what it makes; None: there can be none."""
    inputs = [*dict.fromkeys(step.operands)]
    made = [each for each in step.results if each is not None]
    inner = [each for each in made if readers.get(each, set()) <= {*totals}]
    reduced = [each for total in totals for each in total.results if each is not None]
    values = [*inputs, *made, *reduced]
    kinds = dict.fromkeys(values, RESULT) | dict.fromkeys(inputs, GIVEN) | dict.fromkeys(inner, INNER)
    places = {each: place for place, each in enumerate(values)}
    count = _count(made[0])
    function = step.function if isinstance(step, Kernel) else step.op.function
    calls: list[tuple[Any, ...]] = [(function, arguments_of(step), tuple(places[each] for each in made), ())]
    for total, result in zip(totals, reduced, strict=True):
        calls.append((total.op.function, arguments_of(total), (places[result],), None))
    work = float(count * (len(operations_of(step)) + len(totals)))
    found = tiles(
        tuple((each.tensor, kinds[each], *_in_tiles(each)) for each in values), tuple(calls), (count,), _UNIT, work
    )
    return tiled_kernel(found, (step, *totals), inputs, [each for each in values if kinds[each] == RESULT])


def _in_tiles(value: Value) -> tuple[int, tuple[int, ...]]:
    """The first dimension of a value, and its shape, in tiles over one dimension."""
    shape = (_count(value),) if value.facts.shape else ()
    return 1 - len(shape), shape
