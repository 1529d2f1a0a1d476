"""C kernels of the operators of all families, and their descriptors: one file each.

A kernel is what an operator computes in one dtype. Modules for families make them, `schedules/` their loops, or else
templates, which have the descriptors.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from ..dtypes import DType
from ..expr.functions import Function
from ..expr.kernel_text import emit_expression
from ..expr.typed import applied
from ..model.accumulation import Accumulation
from ..model.computation import typed
from ..model.folding import Folding
from ..model.loop import Loop
from ..model.operator import MAX_ROW_VALUES, Elementwise, Factory, Family, Operator, Rows, View
from ..nest import c, forms
from . import accumulators, c_loops, compute, descriptors, elementwise, factories, folds, requirements, rows, views
from .schedules import fold, reduce, row_kernels, scan, scheduled
from .text import render

Context = dict[str, object]
"""The names that a template may use."""
File = Callable[[Operator, Any, str, Context], str]
"""Prints the C file of an operator and its body, of this path; the context has what all of them tell."""
Schedule = Callable[[Any], Iterator[forms.Function | forms.Text]]
"""Returns the functions of a kernel."""


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


def _of_dtypes(operator: Operator, kernels: Iterable[Any], schedule: Schedule, **facts: object) -> Context:
    """Return kernels of which each dtype has one, and their C by its suffix."""
    every = tuple(kernels)
    return _with_kernels(every, printed={each.suffix: c.text(schedule(each), operator.file) for each in every}, **facts)


def _of_accumulation(operator: Operator, body: Accumulation) -> Context:
    schedule = scan.functions if body.is_scan else reduce.functions
    return _of_dtypes(operator, accumulators.kernels(operator, body), schedule)


def _conditions(operator: Operator) -> Context:
    return {"requirements": c.text(requirements.forms(operator), operator.file)}


def _of_rows(operator: Operator, body: Rows) -> Context:
    return _of_dtypes(
        operator,
        rows.kernels(operator, body),
        row_kernels.functions,
        kinds=rows.kinds(body),
        per_row=rows.bits(operator, body.per_row),
        per_place=rows.bits(operator, body.per_place),
        per_piece=rows.bits(operator, body.per_piece),
        most=MAX_ROW_VALUES,
    )


def _of_loop(operator: Operator, body: Loop) -> Context:
    kernels, names = c_loops.kernels(operator, body), c_loops.names(operator, body)
    return _of_dtypes(operator, kernels, c_loops.functions, names=names, **_conditions(operator))


def _of_fold(operator: Operator, body: Folding) -> Context:
    return _of_dtypes(operator, folds.kernels(operator, body), fold.functions)


def _of_factory(operator: Operator, body: Factory) -> Context:
    kernels = tuple(factories.kernels(operator))
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
    Family.SCAN: of_template("scan.c.j2", _of_accumulation),
    Family.ROWS: of_template("rows.c.j2", _of_rows),
    Family.LOOP: of_template("loop.c.j2", _of_loop),
    Family.FOLD: of_template("fold.c.j2", _of_fold),
    Family.COMPUTE: of_template("compute.c.j2", compute.context),
    Family.VIEW: of_template("view.c.j2", _of_view),
}
_WITHOUT_KERNELS = of_template("view.c.j2", lambda operator, body: {"geometry": ""})
"""A descriptor alone, of what the core computes."""
