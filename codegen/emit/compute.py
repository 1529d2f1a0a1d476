"""C kernels of expressions over indices, in each dtype of computation.

A kernel takes positions of all variables of the results but the last; that one runs along a *line*, so many elements
of which are computed at a time that their accumulators stay in registers: the *lanes*. Where all indices lie inside,
elements are read without tests; the ends of the lines, where they may not, are computed by the same text with tests.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from math import prod

from ..dtypes import FLOAT64, DType
from ..expr.kernel_text import variable
from ..expr.targets import c_number
from ..model.computation import own_computed_dtype
from ..model.compute import Border, Compute
from ..model.contraction import contraction
from ..model.margins import Margin, margins
from ..model.operator import End, Operator
from ..model.recurrence import order
from ..model.stretches import Stretches, stretches
from ..model.unrolled import by_position
from ..nest import c
from ..nest.by_name import ByName
from ..nest.forms import Function, Text
from ..nest.indices import of_part
from ..nest.of import identity
from . import compute_geometry, contraction_sizes
from .expressions import enum
from .indexed.kernel import Loops
from .indexed.nodes import Kernel, Shared, Tensor, Threshold
from .schedules import compute


def context(operator: Operator, body: Compute) -> dict[str, object]:
    """Return the functions of an operator as C, and what the core is told of it."""
    own = [own_computed_dtype(operator, body, index) for index in range(len(body.results))]
    outputs = [[each or dtype for each in own] for dtype in operator.compute_dtypes]
    made = contraction(body)
    body = by_position(body)
    groups = [_group(operator, body, operator.compute_dtypes, outputs)]
    continuous = [dtype for dtype in operator.compute_dtypes if dtype.is_floating or dtype.is_complex]
    if made is not None and continuous:
        parts = {"gather": made.gather, "rest": made.rest}
        groups += [
            _group(operator, each, continuous, [[dtype] for dtype in continuous], field)
            for field, each in parts.items()
            if each is not None
        ]
    common = groups[0].shared
    functions: list[Function | Text] = [compute_geometry.function(operator, body, common)]
    for group in groups:
        for kernel in group.kernels:
            functions += compute.functions(kernel, group.shared)
    table = None
    if made is not None and continuous:
        table = contraction_sizes.table(operator, made)
        functions.append(contraction_sizes.function(operator, body, made, common))
    return {
        "groups": groups,
        "printed": c.text(functions, operator.file),
        "inputs": [each for each in common.tensors if each.result is None],
        "variables": len(body.variables) + len(body.small),
        "m": table,
        "splits": all(each.splits for each in groups[0].kernels) and groups[0].shared.inner is not None,
        "margins": [_margin(operator, name, margin) for name, margin in margins(body).items()],
        "cuts_ranges": all(each.cuts_ranges for each in groups[0].kernels),
        "over_batch": body.over_batch,
        "small": len(body.small),
        "dtypes": ["OW_PROMOTED" if each is None else enum(each) for each in own],
    }


def shared(operator: Operator, body: Compute, inner: str | None) -> Shared:
    """Return the parts that the kernels of all dtypes have in common. `inner` is the variable that runs along lines."""
    outer = [(variable(name), index) for index, name in enumerate(body.names) if name != inner]
    found = order(body)
    own = [
        (place, each.name, None if each.dtype is None else each.dtype.c_type)
        for place, each in enumerate(body.results)
        if each.name in body.own
    ]
    rank = len(body.names)
    return Shared(
        tensors=(
            *_inputs(operator, body),
            *(
                Tensor(name, place, rank, True, ctype, False, body.batched, False, (None,) * rank, place)
                for place, name, ctype in own
            ),
        ),
        outer=tuple(outer),
        inner=None if inner is None else variable(inner),
        inner_index=len(body.names) - 1,
        uniforms=tuple(body.uniforms),
        tables=tuple((name, table.sizes) for name, table in body.tables.items()),
        small=prod(body.small),
        sequence=0 if found is None else len(outer) - found.independent,
        descending=found is not None and found.descending,
    )


def _inputs(operator: Operator, body: Compute) -> Iterator[Tensor]:
    for index, each in enumerate(operator.inputs):
        yield Tensor(
            each.name,
            index,
            body.tensors.get(each.name, 0),
            each.name in body.tensors,
            body.fixed[each.name].c_type if each.name in body.fixed else None,
            each.is_optional,
            body.is_batched(each.name),
            each.name in body.flat,
            _known(body, each.name),
        )


def _margin(operator: Operator, tensor: str, margin: Margin) -> tuple[int, str, str, list[int]]:
    """The place of the tensor among the inputs, the rule of its margins, the number that they have, and the places of
    tensors that must be finite."""
    places = {each.name: place for place, each in enumerate(operator.inputs)}
    finite = sorted(places[each] for each in margin.finite if each in places)
    if isinstance(margin.value, Border):
        return places[tensor], f"OW_MARGIN_{margin.value.name}", "0", finite
    number = identity(margin.value, FLOAT64) if isinstance(margin.value, End) else c_number(margin.value, FLOAT64)
    return places[tensor], "OW_MARGIN_NUMBER", number, finite


def _known(body: Compute, tensor: str) -> tuple[int | None, ...]:
    rank = body.tensors.get(tensor, 0)
    return tuple(body.exact.get((tensor, dim - rank)) for dim in range(rank))


@dataclass(frozen=True)
class Group:
    """The kernels of one body in all dtypes, and the field of the contraction that has them."""

    shared: Shared
    kernels: tuple[Kernel, ...]
    field: str | None = None


def _group(
    operator: Operator,
    body: Compute,
    dtypes: Sequence[DType],
    outputs: Sequence[Sequence[DType]],
    field: str | None = None,
) -> Group:
    """`outputs` has the dtypes of results in each dtype of computation."""
    name = operator.name if field is None else f"{operator.name}_{field}"
    loops = [_loops(operator, *each, body, name) for each in zip(dtypes, outputs, strict=True)]
    line = loops[0].inner
    found = None if line is None else stretches(body, line)
    made = tuple(_kernel(each, found) for each in loops)
    bases = () if found is None else tuple(each.base for each in found.remainders)
    around = replace(shared(operator, body, line), bases=bases)
    # Tensors are read in the dtype of computation, but for integers.
    reads = any(each.is_read and each.ctype is None for each in around.tensors)
    return Group(around, made if reads else tuple(_without_twins(made)), field)


def _loops(operator: Operator, dtype: DType, outputs: Sequence[DType], body: Compute, name: str) -> Loops:
    nest = ByName(tuple(of_part(operator, body, dtype, outputs)))
    return Loops(operator, nest, dtype, name, contraction(body) is not None, bool(body.flat))


def _kernel(loops: Loops, found: Stretches | None) -> Kernel:
    """Return the kernel of loops, with those of the stretches of their lines."""
    kernel = loops.kernel()
    if found is None or kernel.phases:
        return kernel
    given = loops.operator, loops.dtype, loops.outputs
    parts = tuple(
        replace(_loops(*given, body, f"{loops.name}_{number}").kernel(), is_part=True)
        for number, body in enumerate(found.bodies)
    )
    bases = tuple((each.base, loops.integer(each.divisor)) for each in found.remainders)
    thresholds = tuple(
        Threshold(f"{'' if each.negated else '-'}({loops.along(each.rest)}) + {each.after}", each.is_before)
        for each in found.conditions
    )
    return replace(kernel, parts=parts, thresholds=thresholds, bases=bases)


def _without_twins(kernels: Sequence[Kernel]) -> Iterator[Kernel]:
    """The kernels, one of those that do the same: places made of integers are computed alike in all dtypes."""
    alike: dict[Kernel, list[Kernel]] = {}
    for each in kernels:
        alike.setdefault(replace(each, name="", enums=(), ctype="", lanes=""), []).append(each)
    for twins in alike.values():
        yield replace(twins[-1], enums=tuple(enum for each in twins for enum in each.enums))
