"""Schedule of reductions and scans with a state of several values.

A state has an array of lanes for each variable: those of lines side by side, or of the elements of one line in turn,
which join pairwise.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from ...dtypes import INT64
from ...expr.kernel_text import variable
from ...nest.forms import Axis, Block, Case, Form, Function, Lanes, Line, Text
from ..expressions import Variable
from .element import computed, function, of_values
from .rows import ALWAYS_INLINE, locals_of, pointers

if TYPE_CHECKING:
    from ..folds import FoldKernel
    from ..results import Part

_INLINE = f"{ALWAYS_INLINE} void"
_PARAMS = "const ow_scalar *params"


def functions(kernel: FoldKernel) -> Iterator[Function | Text]:
    """Yield the functions of one kernel."""
    state = f"state_{kernel.suffix}"
    variables = "".join(f"    {each.ctype} {each.name}[OW_FOLD_LANES];\n" for each in kernel.state)
    yield Text(f"typedef struct {{\n{variables}}} {state};")
    yield _of_lane(kernel, "start", kernel.start, kernel.inputs if kernel.is_scan else ())
    yield _of_lane(kernel, "step", kernel.step, (*kernel.inputs, *kernel.state))
    if kernel.merge is not None:
        yield _of_lane(kernel, "join", kernel.merge, (*kernel.state, *kernel.others))
    if kernel.finish is not None:
        count = Variable(variable("count"), INT64.c_type)
        yield _of_lane(kernel, "value", kernel.finish, (*kernel.state, count))
    yield _begin(kernel)
    yield _lanes(kernel)
    yield _steps(kernel)
    if kernel.merge is not None:
        yield from _merge(kernel, kernel.merge)
    if kernel.finish is not None:
        yield _finish(kernel, kernel.finish)
    yield Text(f'_Static_assert(sizeof({state}) <= OW_MAX_FOLD_STATE, "a state has too many variables");')


def _of_lane(kernel: FoldKernel, name: str, part: Part, variables: Iterable[Variable]) -> Function:
    return of_values(f"{_INLINE} {name}_{kernel.suffix}", part, (*variables, *kernel.params))


def _computed(
    kernel: FoldKernel, name: str, part: Part, given: Iterable[str], places: Iterable[str]
) -> tuple[Form, ...]:
    """Return what such a function gives for a lane."""
    return computed(f"{name}_{kernel.suffix}", part, (*given, *(each.name for each in kernel.params)), places)


def _in(kernel: FoldKernel, state: str, lane: str = "j") -> list[str]:
    """Return the variables of a lane."""
    return [f"{state}{each.name}[{lane}]" for each in kernel.state]


def _locals(kernel: FoldKernel) -> Iterator[Form]:
    yield from locals_of(kernel.params, fails=False)
    yield Line("(void)params;")


def _begin(kernel: FoldKernel) -> Function:
    elements = [f"((const {each.ctype} *)x[{index}])[j]" for index, each in enumerate(kernel.inputs)]
    state = _computed(kernel, "start", kernel.start, elements if kernel.is_scan else (), _in(kernel, "to->"))
    return function(
        kernel,
        "static void begin",
        f"char *state, char *const *x, int64_t lanes, {_PARAMS}",
        pointers(f"state_{kernel.suffix}", {"to": "state"}),
        *_locals(kernel),
        Line("(void)x, (void)lanes;"),
        *[Line("memset(to, 0, sizeof *to);")] * kernel.is_scan,
        Axis("j", "lanes" if kernel.is_scan else "OW_FOLD_LANES", state),
    )


def _lanes(kernel: FoldKernel) -> Function:
    """Return the function of a number of lanes that is known where it is called, so that their states are registers."""

    def copied(to: str, of: str) -> Axis:
        pairs = zip(_in(kernel, to), _in(kernel, of), strict=True)
        return Axis("j", "lanes", tuple(Line(f"{target} = {source};") for target, source in pairs))

    out = [(f"out_{each.name}", each.ctype) for each in kernel.results if kernel.is_scan]
    rows = [*out, *((f"in_{each.name}", f"const {each.ctype}") for each in kernel.inputs)]
    operands = (pointers(ctype, {name: f"x[{k}] + i * along[{k}]"}) for k, (name, ctype) in enumerate(rows))
    given = (*(f"in_{each.name}[j]" for each in kernel.inputs), *_in(kernel, "now."))
    step = _computed(kernel, "step", kernel.step, given, (*_in(kernel, "now."), *(f"{name}[j]" for name, _ in out)))
    state = f"state_{kernel.suffix}"
    return function(
        kernel,
        f"{_INLINE} lanes",
        f"{state} *state, char *const *x, const int64_t *along, int64_t n, const int64_t lanes, {_PARAMS}",
        *_locals(kernel),
        Line(f"{state} now;"),
        copied("now.", "state->"),
        Axis("i", "n", (*operands, Lanes("lanes", step, index="j"))),
        copied("state->", "now."),
    )


def _steps(kernel: FoldKernel) -> Function:
    def of(lanes: str) -> tuple[Form, ...]:
        return (Line(f"lanes_{kernel.suffix}(to, x, along, n, {lanes}, params);"),)

    return function(
        kernel,
        "static void steps",
        f"char *state, char *const *x, const int64_t *along, int64_t n, int64_t lanes, {_PARAMS}",
        pointers(f"state_{kernel.suffix}", {"to": "state"}),
        Case("lanes == OW_FOLD_LANES", of("OW_FOLD_LANES"), (Case("lanes == 1", of("1"), of("lanes")),)),
    )


def _merge(kernel: FoldKernel, merge: Part) -> Iterator[Function]:
    """Yield the functions that join the lanes of two states, and those of one."""
    state, join = f"state_{kernel.suffix}", f"join_lanes_{kernel.suffix}"
    joined = _computed(kernel, "join", merge, (*_in(kernel, "to->"), *_in(kernel, "from->", "at")), _in(kernel, "to->"))
    arguments = f"{state} *to, const {state} *from, int64_t shift, int64_t lanes, {_PARAMS}"
    lanes = Axis("j", "lanes", (Line("const int64_t at = j + shift;"), *joined))
    yield function(kernel, f"{_INLINE} join_lanes", arguments, *_locals(kernel), lanes)
    both = Line(f"{join}(({state} *)state, (const {state} *)other, 0, OW_FOLD_LANES, params);")
    yield function(kernel, "static void merge", f"char *state, const char *other, {_PARAMS}", both)
    halves = Line(f"{join}(to, to, half, half, params);")
    pairs = Block("for (int64_t half = OW_FOLD_LANES / 2; half; half /= 2)", (halves,))
    yield function(kernel, "static void close", f"char *state, {_PARAMS}", pointers(state, {"to": "state"}), pairs)


def _finish(kernel: FoldKernel, finish: Part) -> Function:
    places = (f"(({each.ctype} *)out[{each.index}])[j]" for each in kernel.results)
    each = _computed(kernel, "value", finish, (*_in(kernel, "from->"), "count"), places)
    return function(
        kernel,
        "static void finish",
        f"char *const *out, const char *state, int64_t lanes, int64_t count, {_PARAMS}",
        pointers(f"const state_{kernel.suffix}", {"from": "state"}),
        *_locals(kernel),
        Axis("j", "lanes", each),
    )
