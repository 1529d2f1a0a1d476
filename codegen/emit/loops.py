"""The loops of an operator as people write them, for `opweave show`: what is computed, in which order, in one dtype.

The kernels are these loops in as many forms as memory layouts ask for (kernels.py); here are the names of the entry,
one loop for each line of elements, and the expressions as the kernels have them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from ..dtypes import BOOL, FLOAT32, INT64, DType
from ..expr import Apply, Emitted, Expr
from ..expr.functions import FUNCTIONS
from ..expr.kernel_text import emit_expression, emit_expressions, variable
from ..expr.lower import Env
from ..model.computation import (
    argument_dtypes,
    parameter_dtype,
    position_dtype,
    result_dtypes,
    row_dtypes,
    variable_dtypes,
)
from ..model.compute import Compute
from ..model.folding import Folding
from ..model.operator import Elementwise, Extent, Factory, Family, Found, Operator, Reduce, Rows, Scan
from .expressions import identity
from .indexed import shown

_DECLARED = re.compile(rf"\b{variable('')}(\w+)\b")
_EACH = "for (int64_t i = 0; i < count; i++) {"
_LINES = "for (int64_t line = 0; line < lines; line++) {"
_SHARED = "threads share the"


def dtype_of(operator: Operator) -> DType | None:
    """The dtype that is shown: float32 where there is one."""
    dtypes = operator.compute_dtypes
    return FLOAT32 if FLOAT32 in dtypes else next(iter(dtypes), None)


def nest(operator: Operator) -> str | None:
    """The loops in that dtype; None where the operator is no loop over an expression, or is not computed by one."""
    dtype, body = dtype_of(operator), operator.body
    loops = body.loops
    if isinstance(loops, Compute) and (loops.places or loops.last):
        body = loops
    lines = LOOPS[body.family](operator, body, dtype) if dtype is not None and body.family in LOOPS else []
    return _text(lines) if lines else None


def _text(lines: Iterable[str]) -> str:
    depth, result = 0, []
    for line in lines:
        depth -= line.startswith("}")
        result.append("    " * depth + line)
        depth += line.endswith("{")
    return "\n".join(result)


# ---- families -----------------------------------------------------------------------------------------------


def _elementwise(operator: Operator, body: Elementwise, dtype: DType) -> list[str]:
    if not body.expressions(dtype):
        return []
    env, results = variable_dtypes(operator, body, dtype), result_dtypes(operator, dtype)
    elements = {argument.name: f"{argument.name}[i]" for argument in operator.inputs}
    computed = emit_expressions(tuple(each.tree for each in body.expressions(dtype)), env, results)
    labels = _labels(operator)
    return [
        f"/* all elements of the broadcast inputs; {_SHARED} elements */",
        _EACH,
        *_rounds(operator, body, env, dtype, elements),
        *_assigned(computed, [f"{label}[i]" for label in labels], elements),
        "}",
    ]


def _rounds(operator: Operator, body: Elementwise, env: Env, dtype: DType, elements: Mapping[str, str]) -> list[str]:
    """The loop for each element."""
    loop = body.iterate
    if loop is None:
        return []
    outside = argument_dtypes(operator, body, dtype)
    lines = [line for name, start in loop.state for line in _declared(name, start.tree, outside, env[name], elements)]
    times = _renamed(emit_expression(loop.times.tree, outside, INT64), elements)
    lines.append(f"for (int64_t round = 0; round < {times.value}; round++) {{")
    if loop.proceeds is not None:
        proceeds = _renamed(emit_expression(loop.proceeds.tree, env, BOOL), elements)
        lines += [*proceeds.statements, f"if (!({proceeds.value})) break;"]
    return [*lines, *_advanced(loop.names, [each.tree for each in loop.following], env, elements), "}"]


def _reduce(operator: Operator, body: Reduce, dtype: DType) -> list[str]:
    element = "self[i]"
    lines = [
        f"/* the lines along `dim`; {_SHARED} lines, or the parts of a long one, whose results are combined */",
        _LINES,
        f"{dtype.c_type} acc = {identity(body.identity, dtype)};",
        _EACH,
    ]
    if body.map is not None:
        each = _renamed(emit_expression(body.map.tree, {"self": dtype}, dtype), {"self": element})
        element, lines = "element", [*lines, *each.statements, f"const {dtype.c_type} element = {each.value};"]
    combined = emit_expression(body.combine.tree, {"acc": dtype, "self": dtype}, dtype)
    lines += [*_assigned(combined, ["acc"], {"self": element}), "}"]
    if Found.POSITION in body.found:
        lines.append("/* the result is the position of the element that acc is */")
    if body.finalize is None:
        return [*lines, "result[line] = acc;", "}"]
    final = emit_expression(body.finalize.tree, {"acc": dtype, "count": dtype}, dtype)
    return [*lines, *_assigned(final, ["result[line]"], {}), "}"]


def _scan(operator: Operator, body: Scan, dtype: DType) -> list[str]:
    combined = emit_expression(body.combine.tree, {"acc": dtype, "self": dtype}, dtype)
    return [
        f"/* the lines along `dim`; {_SHARED} lines */",
        _LINES,
        f"{dtype.c_type} acc = {identity(body.identity, dtype)};",
        _EACH,
        *_assigned(combined, ["acc"], {"self": "self[i]"}),
        "result[i] = acc;",
        "}",
        "}",
    ]


def _fold(operator: Operator, body: Folding, dtype: DType) -> list[str]:
    env = body.variable_dtypes(operator, dtype)
    elements = {argument.name: f"{argument.name}[i]" for argument in operator.inputs}
    first = {argument.name: f"{argument.name}[0]" for argument in operator.inputs}
    labels = _labels(operator)
    lines = [f"/* the lines along `dim`; {_SHARED} lines */", _LINES]
    lines += [line for name, start in body.state for line in _declared(name, start.tree, env, env[name], first)]
    lines.append(_EACH)
    for name, each in zip(body.others, body.element, strict=False):
        lines += _declared(name, each.tree, env, env[name], elements, const=True)
    trees, following = [each.tree for each in body.results], [each.tree for each in body.following]
    dtypes = result_dtypes(operator, dtype)
    if body.is_scan:
        computed = _assigned(emit_expressions(tuple(trees), env, dtypes), [f"{each}[i]" for each in labels], elements)
        # Both parts have variables of their own, of the same names.
        return [*lines, "{", *_advanced(body.names, following, env, elements), "}", "{", *computed, "}", "}", "}"]
    lines += [*_advanced(body.names, following, env, elements), "}"]
    targets = [f"{each}[line]" for each in labels]
    return [*lines, *_assigned(emit_expressions(tuple(trees), env, dtypes), targets, {}), "}"]


def _rows(operator: Operator, body: Rows, dtype: DType) -> list[str]:
    env = row_dtypes(operator, body, dtype)
    names = {each.name: f"{each.name}[{'line' if each.name in body.per_row else 'i'}]" for each in operator.inputs}
    lines = [f"/* the rows along `dim`, each of which stays in the cache; {_SHARED} rows */", _LINES]
    for let in body.lets:
        each = _renamed(emit_expression(let.expression.tree, env, dtype), names)
        if let.combine is None:
            lines += [*each.statements, f"const {dtype.c_type} {let.name} = {each.value};"]
            continue
        lines += [f"{dtype.c_type} {let.name} = {_START[let.combine]};", _EACH, *each.statements]
        tree = let.expression.tree
        is_operation = isinstance(tree, Apply) and (
            tree.function == "where" or FUNCTIONS[tree.function].symbol is not None
        )
        element = f"({each.value})" if is_operation and let.combine == "sum" else each.value
        lines += [f"{let.name} = {_JOINED[let.combine].format(let.name, element)};", "}"]
    elements, of_row = [], []
    for label, (extent, result) in zip(_labels(operator), body.outputs, strict=True):
        computed = emit_expression(result.tree, env, dtype)
        if extent is Extent.ROW:
            of_row += _assigned(computed, [f"{label}[line]"], names)
        elif extent is Extent.ELEMENT:
            elements += _assigned(computed, [f"{label}[i]"], names)
        else:
            shown = _renamed(computed, names)
            elements += [*shown.statements, f"{label}[i] += {shown.value};"]
    return [*lines, *([_EACH, *elements, "}"] if elements else []), *of_row, "}"]


_START = {"sum": "0", "max": "-INFINITY", "min": "INFINITY"}
_JOINED = {"sum": "{} + {}", "max": "maximum({}, {})", "min": "minimum({}, {})"}


def _factory(operator: Operator, body: Factory, dtype: DType) -> list[str]:
    if body.value is None:
        return []
    work = position_dtype(dtype)
    env = {param.name: parameter_dtype(param, work) for param in operator.params} | {"i": work}
    value = emit_expression(body.value.tree, env, work)
    return [f"/* the elements of a new tensor; {_SHARED} elements */", _EACH, *_assigned(value, ["result[i]"], {}), "}"]


LOOPS: dict[Family, Callable[[Operator, Any, DType], Iterable[str]]] = {
    Family.ELEMENTWISE: _elementwise,
    Family.REDUCE: _reduce,
    Family.SCAN: _scan,
    Family.FOLD: _fold,
    Family.ROWS: _rows,
    Family.COMPUTE: shown.nest,
    Family.FACTORY: _factory,
}
"""The lines of the loops of each family that has some; none where an operator has none."""


def _labels(operator: Operator) -> list[str]:
    """Return the names of the results in the generated code; a label that is a number gets a prefix."""
    return [f"result_{label}" if label.isdigit() else label or "result" for label in operator.labels]


# ---- statements ---------------------------------------------------------------------------------------------


def _renamed(emitted: Emitted, names: Mapping[str, str]) -> Emitted:
    """The text with the entry's names in place of C's, or with what `names` has for them."""

    def text(written: str) -> str:
        return _DECLARED.sub(lambda name: names.get(name[1], name[1]), written)

    statements, values = (tuple(map(text, texts)) for texts in (emitted.statements, emitted.values))
    return replace(emitted, statements=statements, values=values)


def _assigned(emitted: Emitted, targets: Sequence[str], names: Mapping[str, str]) -> list[str]:
    shown = _renamed(emitted, names)
    pairs = zip(targets, shown.values, strict=True)
    return [*shown.statements, *(f"{target} = {value};" for target, value in pairs)]


def _declared(
    name: str, tree: Expr, env: Env, dtype: DType, names: Mapping[str, str], const: bool = False
) -> list[str]:
    shown = _renamed(emit_expression(tree, env, dtype), names)
    return [*shown.statements, f"{'const ' * const}{dtype.c_type} {name} = {shown.value};"]


def _advanced(state: Sequence[str], following: Sequence[Expr], env: Env, names: Mapping[str, str]) -> list[str]:
    """The next state: all of it follows from the one before."""
    computed = emit_expressions(tuple(following), env, tuple(env[name] for name in state))
    if len(state) == 1:
        return _assigned(computed, state, names)
    shown = _renamed(computed, names)
    pairs = list(zip(state, shown.values, strict=True))
    lines = [*shown.statements, *(f"const {env[name].c_type} next_{name} = {value};" for name, value in pairs)]
    return [*lines, *(f"{name} = next_{name};" for name in state)]
