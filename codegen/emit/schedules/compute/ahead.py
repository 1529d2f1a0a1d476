"""Tests of the places that data leads to, made for several results before these are computed without tests."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ....nest.forms import Axis, Block, Case, Form, Function, Line
from ..rows import NEVER_INLINE, call
from .lanes import pointers
from .parts import any_lanes, combined, integers, next_variables, signature

if TYPE_CHECKING:
    from ...indexed.nodes import Ahead, Kernel, Shared

_RESULTS = 64
"""Number of results that are tested at once: so few that the places of their terms are still in a cache afterwards."""


def functions(kernel: Kernel, ahead: Ahead, shared: Shared) -> Iterator[Function]:
    """Yield the function that tests the places of some results, and the one that computes these."""
    yield _tests(kernel, ahead, shared)
    row = shared.outer[-1][0]
    parts = ((1, f"{kernel.name}_lanes"), (0, any_lanes(kernel)))
    inside, others = (
        Block(
            f"for (; at < stop; at++, {row}++)",
            (combined(function, shared, f"0, 1, {is_inside}, 1, 0, 1"),),
        )
        for is_inside, function in parts
    )
    variables = [name for name, _ in shared.outer]
    forms = (
        Line("int status = OW_OK;"),
        Line("const int64_t stop = at + count;"),
        Case(call(_name(kernel), "c", "batch", *variables, "count"), (inside,), (others,)),
        Line("return status;"),
    )
    parameters = signature(shared, "int64_t count")
    yield Function(f"{NEVER_INLINE} int {kernel.name}_results({parameters})", forms, "`count` results of one line.")


def loop(kernel: Kernel, shared: Shared) -> Block:
    """Return the loop over all results, some of which are tested at once."""
    row, index = shared.outer[-1]
    left = f"c->range[{index}] - {row}"
    return Block(
        "for (int64_t at = begin, count; at < end; at += count)",
        (
            Line(f"count = {left} < {_RESULTS} ? {left} : {_RESULTS};"),
            Line("if (count > end - at) count = end - at;"),
            combined(f"{kernel.name}_results", shared, "count"),
            Line(f"{row} += count - 1;"),
            *next_variables(shared),
        ),
    )


def _tests(kernel: Kernel, ahead: Ahead, shared: Shared) -> Function:
    """Return the function that tests the places of `count` results. Their terms are tested as one range, unless they
    are far from each other."""
    name, row = ahead.variable, shared.outer[-1][0]
    first, end = f"first_{name}", f"end_{name}"
    bounds: tuple[Form, ...] = (
        *map(Line, ahead.bounds),
        Line(f"(void){first}_far, (void){end}_far;"),
        Line(f"if ((uint64_t){first} > size || (uint64_t){end} > size) return 0;"),
        Line(f"if ({first} >= {end}) continue;"),
        Line(f"if ({first} < least) least = {first};"),
        Line(f"if ({end} > most) most = {end};"),
        Line(f"terms += {end} - {first};"),
    )
    term = (*map(Line, ahead.places), Line(f"outside |= {' | '.join(f'({each})' for each in ahead.outside)};"))
    forms = (
        *integers(shared),
        *pointers(kernel, shared),
        Line("uint64_t size = INT64_MAX;"),
        *(Line(f"if ((uint64_t){each} < size) size = (uint64_t){each};") for each in ahead.sizes),
        Line("int64_t least = INT64_MAX, most = 0, terms = 0;"),
        Block(f"for (const int64_t stop = {row} + count; {row} < stop; {row}++)", bounds),
        Line("if (most - least > 2 * terms) return 0;"),
        Line("int outside = 0;"),
        Axis(name, "most", term, "least"),
        Line("return !outside;"),
    )
    outer = ", ".join(f"int64_t {each}" for each, _ in shared.outer)
    head = f"{NEVER_INLINE} int {_name(kernel)}(const ow_compute_context *c, int64_t batch, {outer}, int64_t count)"
    return Function(head, forms, "1 if the places of all terms of `count` results are known to be inside.")


def _name(kernel: Kernel) -> str:
    return f"{kernel.name}_are_inside"
