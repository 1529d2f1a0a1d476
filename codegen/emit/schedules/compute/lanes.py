"""The function of a kernel that computes some positions of a line together, its lanes, and the loops within it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from ....nest.forms import Axis, Block, Case, Form, Function, Line, Sourced
from ...indexed.nodes import Copy, Loop, Node, Step, Strips
from ..rows import NEVER_INLINE, unused
from .parts import SPECIAL, any_lanes, integer, integers, on_line, outer, signature

if TYPE_CHECKING:
    from ...indexed.nodes import Kernel, Shared, Tensor

_PARAMETERS = f"int64_t position, int64_t n, const int inside, {SPECIAL}"


def functions(kernel: Kernel, shared: Shared) -> Iterator[Function]:
    """Yield the function of lanes, and the one that has a single text of it."""
    head = f"{NEVER_INLINE if kernel.inlined == 'nowhere' else 'OW_INLINE'} int {kernel.name}_lanes"
    comment = f"n positions of a line from `start` on{', each `phases` after the other' if kernel.phases else ''}."
    yield Function(f"{head}({signature(shared, _PARAMETERS)})", tuple(_lanes(kernel, shared)), comment)
    if kernel.inlined == "lines":
        same = on_line(f"{kernel.name}_lanes", shared, "position, n, inside, step, phase, rows")
        yield Function(
            f"{NEVER_INLINE} int {any_lanes(kernel)}({signature(shared, _PARAMETERS)})",
            (Line(f"return {same};"),),
            "The same for all positions but those of long lines that are inside, with one text, as it is long.",
        )


def _lanes(kernel: Kernel, shared: Shared) -> Iterator[Form]:
    yield from integers(shared)
    yield from pointers(kernel, shared)
    for table in kernel.tables:
        yield from _strides(table.name, len(table.sizes))
        yield Line(f"static const {table.ctype} in_{table.name}[] = {{ {', '.join(table.texts)} }};")
        yield Line(f"(void)in_{table.name};")
    for each in kernel.params:
        yield from unused(f"const {each.ctype}", each.name, f"({each.ctype})c->params[{each.index}].{each.field}")
    if kernel.phases:
        yield Line("const int64_t phases = step, start = phase + phases * position;")
    else:
        yield Line("const int64_t start = position;")
    if kernel.rows > 1:
        yield Line(f"const int64_t first_row = {kernel.row};")
    yield Line("int status = 0, failed = 0, *err = &failed;")
    parameters = ("rows", "batch", "start", "step", "phase", "inside", "err", *outer(shared)[1:])
    yield Line(f"{', '.join(f'(void){name}' for name in parameters)};")
    place = f"at * c->range[{shared.inner_index}] + start" if shared.inner else "at"
    if shared.small != 1:
        place = f"({place}) * {shared.small}"
    for index, ctype in enumerate(kernel.outputs):
        name = f"{'first_' * (kernel.rows > 1)}to{index}"
        yield Line(f"{ctype} *const {name} = ({ctype} *)c->out[{index}] + {place};")
    yield Sourced(kernel.line, tuple(_body(kernel, kernel.body)))
    yield Line("return status ? OW_INDEX_ERROR : failed ? OW_ZERO_DIVISION : OW_OK;")


def pointers(kernel: Kernel, shared: Shared) -> Iterator[Form]:
    """Yield the strides of tensors, and their elements at this position of the dimensions in front."""
    for tensor in shared.tensors:
        if tensor.is_read:
            yield from _strides(tensor.name, tensor.indices)
            yield from _elements(kernel, tensor)


def _strides(name: str, rank: int) -> Iterator[Form]:
    """Yield the numbers of elements from one to the next along each dimension."""
    for dim in reversed(range(rank)):
        behind = [f"stride_{name}_{dim + 1}"] if dim < rank - 2 else []
        sizes = [f"size_{name}_{dim + 1}"] if dim < rank - 1 else []
        yield from integer(f"stride_{name}_{dim}", " * ".join((*behind, *sizes)) or 1)


def _elements(kernel: Kernel, tensor: Tensor) -> Iterator[Form]:
    ctype = tensor.ctype or kernel.ctype
    if tensor.result is not None:
        own = "".join(f" * size_{tensor.name}_{dim}" for dim in range(tensor.indices))
        first = f"c->out[{tensor.result}] + batch{own}"
    else:
        first = f"c->in[{tensor.index}]{f' + batch * c->batch[{tensor.index}]' * tensor.batched}"
    yield from unused(f"const {ctype} *const", f"in_{tensor.name}", f"(const {ctype} *){first}")


# ---- loops ------------------------------------------------------------------------------------------------------


def _body(kernel: Kernel, nodes: Iterable[Node]) -> Iterator[Form]:
    for node in nodes:
        match node:
            case Loop(in_halves=True):
                yield _halves(kernel, node)
            case Loop(variable, first, stop, body, before):
                loop = Axis(variable, stop, tuple(_body(kernel, body)), first, once=True)
                yield Block("", (*map(Line, before), loop)) if before else loop
            case Strips():
                yield from _strips(kernel, node)
            case Line():
                yield node
            case Copy():
                yield from _copy(node)
            case Step(before, inside, clips, None):
                yield _step(kernel, clips, before, inside)
            case Step(before, inside, clips, checked_before, checked):
                assert checked_before is not None
                yield Case(
                    "inside",
                    (_step(kernel, (), before, inside),),
                    (_step(kernel, clips, checked_before, checked),),
                )


def _halves(kernel: Kernel, node: Loop) -> Block:
    """Return the loop whose steps belong to the two halves of sums in turn."""
    name, stop = node.variable, f"stop_{node.variable}"
    body = tuple(_body(kernel, node.body))
    first, second = (Block("", (Line(f"const int64_t half = {half};"), *body)) for half in (0, 1))
    return Block(
        "",
        (
            *map(Line, node.before),
            Line(f"int64_t {name} = {node.first};"),
            Line(f"const int64_t {stop} = {node.stop};"),
            Block(f"for (; {name} + 1 < {stop}; {name}++)", (first, Line(f"{name}++;"), second)),
            Case(f"{name} < {stop}", (first,)),
        ),
    )


def _strips(kernel: Kernel, node: Strips) -> Iterator[Form]:
    name, stop = node.variable, f"stop_{node.variable}"
    body = tuple(_body(kernel, node.body))
    yield Line(f"const int64_t {stop} = {node.stop};")
    yield Line(f"int64_t {name} = {node.first};")
    yield Block(f"for (; {name} + LANES <= {stop}; {name} += LANES)", (Line("const int64_t n = LANES;"), *body))
    yield Block(f"for (; {name} < {stop}; {name} = {stop})", (Line(f"const int64_t n = {stop} - {name};"), *body))


def _copy(node: Copy) -> Iterator[Form]:
    yield Line("int64_t from = 0, to = n;")
    yield from map(Line, node.clips)
    yield Line("if (from >= to) from = to = n;")
    yield from map(Line, node.before)
    for ends, value in (("0, from", node.outside), ("from, to", node.value), ("to, n", node.outside)):
        yield Line(f"OW_FOR_LANES_IN({ends}) to0[lane{node.times}] = {value};")


def _step(kernel: Kernel, clips: Iterable[str], before: Iterable[str], statements: Iterable[str]) -> Block:
    """Return what is done in all lanes, or in those that `clips` leave of a line that may be outside."""
    forms: list[Form] = [*integer(kernel.row, "first_row + row")] if kernel.rows > 1 else []
    forms += (Line("int64_t from = 0, to = n;"), Line("(void)from, (void)to;"))
    cut = tuple(map(Line, clips))
    if cut:
        forms.append(Case("!inside", (*cut, Line("if (from >= to) continue;"))))
    forms += map(Line, before)
    forms.append(Block("OW_FOR_LANES_IN(from, to)" if cut else "OW_FOR_LANES", tuple(map(Line, statements))))
    return Block("OW_FOR_ROWS" if kernel.rows > 1 else "", tuple(forms))
