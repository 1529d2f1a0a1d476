"""The loop nest of what an operator of each family computes in one dtype."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from ..dtypes import BOOL, INT64, DType
from ..expr import Apply, Expr, Name
from ..expr.functions import FUNCTIONS
from ..expr.kernel_text import emit_expression, emit_expressions
from ..expr.lower import Env
from ..expr.targets import c_number
from ..model.computation import (
    argument_dtypes,
    position_dtype,
    result_dtypes,
    row_dtypes,
    variable_dtypes,
)
from ..model.folding import Folding
from ..model.operator import (
    Elementwise,
    End,
    Expression,
    Extent,
    Factory,
    Family,
    Found,
    Operator,
    Reduce,
    Rows,
    Scan,
)
from .indices import compute
from .nodes import NEUTRAL, Accumulate, Axis, Comment, Guard, Identity, Join, Load, Map, Node, Scope, Store

_SHARED = "threads share the"


def of(operator: Operator, dtype: DType) -> tuple[Node, ...]:
    """Return the loops of an operator in this dtype; none where it has none, or none that are known here."""
    family = NESTS.get(operator.body.family)
    return () if family is None else tuple(family(operator, operator.body, dtype))


# ---- each element by itself -------------------------------------------------------------------------------------


def elementwise(operator: Operator, body: Elementwise, dtype: DType) -> Iterator[Node]:
    expressions = body.expressions(dtype)
    if not expressions:
        return
    env, dtypes = variable_dtypes(operator, body, dtype), result_dtypes(operator, dtype)
    value = emit_expressions(tuple(each.tree for each in expressions), env, dtypes)
    store = Store(_elements(operator, "i"), value, line=expressions[0].line)
    yield Comment(f"all elements of the broadcast inputs; {_SHARED} elements")
    yield _each(*_loads(operator, "i"), *_rounds(operator, body, env, dtype), store)


def _rounds(operator: Operator, body: Elementwise, env: Env, dtype: DType) -> Iterator[Node]:
    """Yield the loop for each element."""
    loop = body.iterate
    if loop is None:
        return
    outside = argument_dtypes(operator, body, dtype)
    for name, start in loop.state:
        yield _declared(name, start, outside, env[name])
    times = emit_expression(loop.times.tree, outside, INT64).value
    ends = () if loop.proceeds is None else (Guard(emit_expression(loop.proceeds.tree, env, BOOL)),)
    yield Axis("round", times, (*ends, _advanced(loop.names, loop.following, env)))


def factory(operator: Operator, body: Factory, dtype: DType) -> Iterator[Node]:
    if body.value is None:
        return
    work = position_dtype(dtype)
    env = dict.fromkeys(("i", *(param.name for param in operator.params)), work)
    yield Comment(f"the elements of a new tensor; {_SHARED} elements")
    yield _each(Store(("result[i]",), emit_expression(body.value.tree, env, work), line=body.value.line))


# ---- lines ------------------------------------------------------------------------------------------------------


def reduce(operator: Operator, body: Reduce, dtype: DType) -> Iterator[Node]:
    each: list[Node] = [Load("self", "self[i]")]
    if body.map is not None:
        mapped = _declared("element", body.map, {"self": dtype}, dtype, constant=True)
        each += [mapped, Load("self", "element")]
    final = body.finalize.tree if body.finalize is not None else Name("acc")
    stored = Store(("result[line]",), emit_expression(final, {"acc": dtype, "count": dtype}, dtype))
    positions = Comment("the result is the position of the element that acc is")
    yield Comment(f"the lines along `dim`; {_SHARED} lines, or the parts of a long one, whose results are combined")
    yield _lines(
        Identity("acc", dtype.c_type, identity(body.identity, dtype)),
        _each(*each, _combined(body.combine, dtype)),
        *([positions] if Found.POSITION in body.found else []),
        stored,
    )


def scan(operator: Operator, body: Scan, dtype: DType) -> Iterator[Node]:
    stored = Store(("result[i]",), emit_expression(Name("acc"), {"acc": dtype}, dtype))
    yield Comment(f"the lines along `dim`; {_SHARED} lines")
    yield _lines(
        Identity("acc", dtype.c_type, identity(body.identity, dtype)),
        _each(Load("self", "self[i]"), _combined(body.combine, dtype), stored),
    )


def fold(operator: Operator, body: Folding, dtype: DType) -> Iterator[Node]:
    env, dtypes = body.variable_dtypes(operator, dtype), result_dtypes(operator, dtype)
    starts = [_declared(name, start, env, env[name]) for name, start in body.state]
    prepared = [
        _declared(name, each, env, env[name], constant=True)
        for name, each in zip(body.others, body.element, strict=False)
    ]
    advanced = _advanced(body.names, body.following, env)
    value = emit_expressions(tuple(each.tree for each in body.results), env, dtypes)
    stored = Store(_elements(operator, "i" if body.is_scan else "line"), value, line=body.results[0].line)
    elements: tuple[Node, ...] = (*_loads(operator, "i"), *prepared)
    yield Comment(f"the lines along `dim`; {_SHARED} lines")
    if body.is_scan:
        each = _each(*elements, Scope((advanced,)), Scope((stored,)))
        yield _lines(*_loads(operator, "0"), *starts, each)
    else:
        yield _lines(*_loads(operator, "0"), *starts, _each(*elements, advanced), stored)


def rows(operator: Operator, body: Rows, dtype: DType) -> Iterator[Node]:
    env = row_dtypes(operator, body, dtype)
    nodes: list[Node] = [
        Load(each.name, f"{each.name}[{'line' if each.name in body.per_row else 'i'}]") for each in operator.inputs
    ]
    for let in body.lets:
        tree, line = let.expression.tree, let.expression.line
        if let.combine is None:
            nodes.append(_declared(let.name, let.expression, env, dtype, constant=True))
            continue
        join = Join(let.name, let.combine, emit_expression(tree, env, dtype), _is_operation(tree), line)
        nodes += [Identity(let.name, dtype.c_type, NEUTRAL[let.combine]), _each(join)]
    elements: list[Node] = []
    of_row: list[Node] = []
    for label, (extent, result) in zip(labels(operator), body.outputs, strict=True):
        value = emit_expression(result.tree, env, dtype)
        if extent is Extent.ROW:
            of_row.append(Store((f"{label}[line]",), value, line=result.line))
        else:
            elements.append(Store((f"{label}[i]",), value, adds=extent is Extent.PLACE, line=result.line))
    yield Comment(f"the rows along `dim`, each of which stays in the cache; {_SHARED} rows")
    yield _lines(*nodes, *([_each(*elements)] if elements else []), *of_row)


NESTS: dict[Family, Callable[[Operator, Any, DType], Iterator[Node]]] = {
    Family.ELEMENTWISE: elementwise,
    Family.FACTORY: factory,
    Family.REDUCE: reduce,
    Family.SCAN: scan,
    Family.FOLD: fold,
    Family.ROWS: rows,
    Family.COMPUTE: compute,
}


# ---- parts ------------------------------------------------------------------------------------------------------


def identity(identity: Expression | End, dtype: DType) -> str:
    """Return the identity of a reduction as a C expression."""
    if isinstance(identity, Expression):
        return emit_expression(identity.tree, {}, dtype).value
    if dtype.is_floating:
        return "-INFINITY" if identity is End.LOWEST else "INFINITY"
    return c_number(dtype.lowest if identity is End.LOWEST else dtype.highest, dtype)


def labels(operator: Operator) -> list[str]:
    """Return the names of the results in generated code; a label that is a number gets a prefix."""
    return [f"result_{label}" if label.isdigit() else label or "result" for label in operator.labels]


def _elements(operator: Operator, index: str) -> tuple[str, ...]:
    return tuple(f"{label}[{index}]" for label in labels(operator))


def _loads(operator: Operator, index: str) -> tuple[Load, ...]:
    return tuple(Load(each.name, f"{each.name}[{index}]") for each in operator.inputs)


def _each(*body: Node) -> Axis:
    return Axis("i", "count", body)


def _lines(*body: Node) -> Axis:
    return Axis("line", "lines", body)


def _declared(name: str, value: Expression, env: Env, dtype: DType, constant: bool = False) -> Map:
    return Map(name, dtype.c_type, emit_expression(value.tree, env, dtype), constant, value.line)


def _combined(combine: Expression, dtype: DType) -> Accumulate:
    return _advanced(("acc",), (combine,), {"acc": dtype, "self": dtype})


def _advanced(names: Sequence[str], following: Sequence[Expression], env: Mapping[str, DType]) -> Accumulate:
    """Return the step from a state to the next one."""
    dtypes = tuple(env[name] for name in names)
    value = emit_expressions(tuple(each.tree for each in following), env, dtypes)
    return Accumulate(tuple(names), tuple(each.c_type for each in dtypes), value, following[0].line)


def _is_operation(tree: Expr) -> bool:
    return isinstance(tree, Apply) and (tree.function == "where" or FUNCTIONS[tree.function].symbol is not None)
