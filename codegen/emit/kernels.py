"""C kernels of elementwise, reduce, scan and factory operators, and the descriptor of every operator: one file each.

A kernel is one expression in one compute dtype. Decisions are made here (elementwise.py: those of elementwise loops);
templates/ holds the loops.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from ..dtypes import FLOAT32, FLOAT64, INT64, DType
from ..expr import Apply, Emitted, applications
from ..expr.functions import FUNCTIONS, Function
from ..expr.kernel_text import emit_expression, variable
from ..expr.typed import applied
from ..model.accumulation import Accumulation
from ..model.computation import typed
from ..model.folding import Folding
from ..model.loop import Loop
from ..model.operator import MAX_ROW_VALUES, Elementwise, Factory, Family, Found, Operator, Rows, View
from ..nest import c, forms
from ..nest.of import identity
from . import c_loops, compute, descriptors, elementwise, factories, folds, requirements, rows, views
from .expressions import Variable, enum
from .schedules import row_kernels, scan, scheduled
from .text import render

Context = dict[str, object]
"""The names that a template may use."""
File = Callable[[Operator, Any, str, Context], str]
"""Prints the C file of an operator and its body, of this path; the context has what all of them tell."""


@dataclass(frozen=True)
class AccumulatorKernel:
    """A reduction or a scan, in one dtype."""

    suffix: str
    enum: str
    ctype: str
    line: int
    identity: str
    combine: Emitted
    map: Emitted | None
    finalize: Emitted | None
    positions: bool
    any_order: bool
    """True if a scan gives the same bits in any order, so that each level may choose its own."""
    fours: bool
    """True if a scan is plain arithmetic, which C also writes for vectors of four elements."""
    single: str | None
    """The C type of half the precision that scans also read and write."""


def emit(operator: Operator) -> str | None:
    """The C file of one operator; None for composites, which have no C."""
    if operator.family is Family.COMPOSITE:
        return None
    output = f"{operator.name}.c"
    context: Context = {
        "symbol": operator.name,
        "op": operator.name,
        "d": descriptors.descriptor(operator),
        "special": any(function.is_special for function, _ in _applied(operator)),
    }
    return FILES.get(operator.family, _WITHOUT_KERNELS)(operator, operator.body, output, context)


def _with_kernels(kernels: Iterable[object], **facts: object) -> Context:
    """`blocks` and `complex_blocks`: whether a loop calls a function of vector_math.h, or of complex_math.h."""
    every = tuple(kernels)
    return {
        "kernels": every,
        "blocks": any(getattr(kernel, "has_blocks", False) for kernel in every),
        "complex_blocks": any(getattr(kernel, "has_complex_blocks", False) for kernel in every),
        **facts,
    }


def level_dependent(operator: Operator) -> frozenset[DType]:
    """The dtypes of computation in which the last bits of results depend on the instruction-set level."""
    dtypes = frozenset[DType]()
    for expression, env, result in typed(operator):
        functions = applied(emit_expression(expression.tree, env, result).root)
        if any(function.depends_on_level(dtype) for function, dtype in functions):
            dtypes |= {result, *env.values()}
    return dtypes.intersection(operator.compute_dtypes)


def _applied(operator: Operator) -> Iterator[tuple[Function, DType]]:
    """The primitives that any expression of the operator applies."""
    for expression, env, result in typed(operator):
        yield from applied(emit_expression(expression.tree, env, result).root)


# ---- reductions and scans -----------------------------------------------------------------------------------


def _accumulators(operator: Operator, body: Accumulation) -> Iterator[AccumulatorKernel]:
    """`acc`, `self` and `count` have the accumulator's dtype; inputs were cast to it."""
    each, finalize = body.map, body.finalize
    for dtype in operator.compute_dtypes:
        combine = emit_expression(body.combine.tree, {"acc": dtype, "self": dtype}, dtype)
        is_light = not dtype.is_complex and operator.cost == 1
        functions = {FUNCTIONS[each.function] for each in applications(body.combine.tree) if isinstance(each, Apply)}
        joins = is_light and all(function.associative for function in functions)
        any_order = is_light and (dtype.is_integer or (joins and not any(function.rounds for function in functions)))
        fours = joins and dtype.is_floating and all(function.symbol for function in functions)
        yield AccumulatorKernel(
            suffix=dtype.suffix,
            enum=enum(dtype),
            ctype=dtype.c_type,
            line=body.combine.line,
            identity=identity(body.identity, dtype),
            positions=Found.POSITION in body.found,
            any_order=any_order,
            fours=fours,
            single=FLOAT32.c_type if (any_order or fours) and dtype is FLOAT64 else None,
            combine=combine,
            map=None if each is None else emit_expression(each.tree, {"self": dtype}, dtype),
            finalize=None
            if finalize is None
            else emit_expression(finalize.tree, {"acc": dtype, "count": dtype}, dtype),
        )


# ---- the files of families ----------------------------------------------------------------------------------


def _of_elements(operator: Operator, body: Elementwise) -> Context:
    halves = tuple(elementwise.half_kernels(operator, body))
    kernels = tuple(elementwise.kernels(operator, body))
    return _with_kernels(
        kernels, half_kernels=halves, printed=_printed(operator, kernels, halves), **_conditions(operator)
    )


def _printed(operator: Operator, *kernels: Iterable[Any]) -> dict[str, str]:
    """Return the C of kernels whose loops are forms, by their names."""
    return {each.name: c.text(scheduled(each), operator.file) for some in kernels for each in some}


def _by_suffix(
    operator: Operator, kernels: Iterable[Any], functions: Callable[[Any], Iterator[forms.Function | forms.Text]]
) -> dict[str, str]:
    """Return the C of kernels by the suffixes of their dtypes."""
    return {each.suffix: c.text(functions(each), operator.file) for each in kernels}


def _of_scan(operator: Operator, body: Accumulation) -> Context:
    kernels = tuple(_accumulators(operator, body))
    return _with_kernels(kernels, printed=_by_suffix(operator, kernels, scan.functions))


def _conditions(operator: Operator) -> Context:
    return {"requirements": c.text(requirements.forms(operator), operator.file)}


def _of_accumulation(operator: Operator, body: Accumulation) -> Context:
    return _with_kernels(_accumulators(operator, body))


def _of_rows(operator: Operator, body: Rows) -> Context:
    kernels = tuple(rows.kernels(operator, body))
    return _with_kernels(
        kernels,
        printed=_by_suffix(operator, kernels, row_kernels.functions),
        kinds=rows.kinds(body),
        per_row=rows.bits(operator, body.per_row),
        per_place=rows.bits(operator, body.per_place),
        most=MAX_ROW_VALUES,
    )


def _of_loop(operator: Operator, body: Loop) -> Context:
    kernels = tuple(c_loops.kernels(operator, body))
    return {
        "kernels": kernels,
        "names": c_loops.names(operator, body),
        "printed": _by_suffix(operator, kernels, c_loops.functions),
        **_conditions(operator),
    }


def _of_fold(operator: Operator, body: Folding) -> Context:
    return _with_kernels(folds.kernels(operator, body), count=Variable(variable("count"), INT64.c_type))


def _of_factory(operator: Operator, body: Factory) -> Context:
    kernels = tuple(factories.kernels(operator, body))
    return _with_kernels(kernels, printed=_printed(operator, kernels))


def _of_view(operator: Operator, body: View) -> Context:
    return {"geometry": c.text([views.function(operator, body)], operator.file)}


def of_template(template: str, facts: Callable[[Operator, Any], Context]) -> File:
    """Return the printer of a template, which is given these facts besides."""

    def printed(operator: Operator, body: Any, output: str, context: Context) -> str:
        return render(template, operator.file, output, **context, **facts(operator, body))

    return printed


FILES: dict[Family, File] = {
    Family.ELEMENTWISE: of_template("elementwise.c.j2", _of_elements),
    Family.FACTORY: of_template("factory.c.j2", _of_factory),
    Family.REDUCE: of_template("reduce.c.j2", _of_accumulation),
    Family.SCAN: of_template("scan.c.j2", _of_scan),
    Family.ROWS: of_template("rows.c.j2", _of_rows),
    Family.LOOP: of_template("loop.c.j2", _of_loop),
    Family.FOLD: of_template("fold.c.j2", _of_fold),
    Family.COMPUTE: of_template("compute.c.j2", compute.context),
    Family.VIEW: of_template("view.c.j2", _of_view),
}
_WITHOUT_KERNELS = of_template("view.c.j2", lambda operator, body: {"geometry": ""})
"""A descriptor alone, of what the core computes."""
