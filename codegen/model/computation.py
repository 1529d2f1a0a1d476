"""The dtypes in which an operator's expressions are computed, for the checks and for the emitters."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from functools import cache
from types import MappingProxyType

import numpy as np

from ..dtypes import BOOL, COMPLEX128, FLOAT32, FLOAT64, INT32, INT64, DType, Promotion, promote
from ..expr import Expr, ExpressionError, Name, evaluate, names, type_of
from ..expr.lower import Env, Type
from ..schema import Argument
from .compute import Compute
from .folding import OTHER, Folding
from .loop import Loop
from .operator import Declaration, Elementwise, Expression, Factory, Operator, Reduce, Requirement, Rows, Scan
from .ordered_rows import PLACE, RANK, OrderedFolding


def argument_dtypes(operator: Declaration, body: Elementwise, dtype: DType) -> dict[str, DType]:
    """Dtypes of the variables of an elementwise expression computed in `dtype`."""
    env = {argument.name: body.fixed.get(argument.name, dtype) for argument in operator.inputs}
    return env | {param.name: parameter_dtype(param, dtype) for param in operator.params}


def parameter_dtype(param: Argument, dtype: DType) -> DType:
    """The dtype of a parameter of expressions that are computed in `dtype`."""
    if not param.is_integral:
        return dtype
    return BOOL if str(param.type) == "bool" else INT64


def requirement_dtypes(operator: Operator) -> Env:
    """Dtypes of the variables of a condition on the parameters, and on sizes that a signature names."""
    sizes = operator.body.names if isinstance(operator.body, Loop) else ()
    return dict.fromkeys([*(param.name for param in operator.params), *sizes], FLOAT64)


def default_numbers(operator: Operator) -> dict[str, bool | int | float]:
    """Default values of the parameters, without those that are required or default to an end of the dtype's range."""
    numbers: dict[str, bool | int | float] = {}
    absent = operator.body.absent if isinstance(operator.body, Elementwise) else {}
    for param in operator.params:
        declared = None if param.default is None else param.default.value
        value: object = absent.get(param.name) if param.is_optional else declared
        if isinstance(value, (bool, int, float)):
            numbers[param.name] = value
    return numbers


def defaults_keep(
    operator: Operator, requirement: Requirement[Expression, Argument] | Requirement[Expression, Name]
) -> bool:
    """True if the condition holds for the defaults, or uses a parameter without a default."""
    numbers = default_numbers(operator)
    used = names(requirement.check.tree)
    if used <= numbers.keys():
        env = {name: np.asarray(numbers[name], np.float64) for name in used}
        with suppress(ExpressionError):  # a wrong type is reported separately
            return bool(evaluate(requirement.check.tree, env, BOOL))
    return True


def takes_defaults(operator: Operator, dtype: DType) -> bool:
    """False if a requirement for some dtypes, including this one, refuses the defaults, so that numbers must be
    given."""
    body = operator.body
    return not isinstance(body, Elementwise) or all(
        defaults_keep(operator, each) for each in body.require if each.dtypes is not None and dtype in each.dtypes
    )


def result_dtype(operator: Operator, dtype: DType) -> DType:
    """Dtype of the first result of an elementwise expression computed in `dtype`."""
    return result_dtypes(operator, dtype)[0]


def result_dtypes(operator: Operator, dtype: DType) -> tuple[DType, ...]:
    """Dtypes of the results of elementwise expressions computed in `dtype`."""
    return tuple(_promoted(operator, dtype) if own is None else own for own in own_dtypes(operator))


def _promoted(operator: Operator, dtype: DType) -> DType:
    if operator.promotion is Promotion.ALWAYS_BOOL:
        return BOOL
    if turns_real(operator):
        return dtype.to_real
    return dtype.to_complex if turns_complex(operator) else dtype


def own_dtypes(operator: Declaration) -> tuple[DType | None, ...]:
    """The dtypes of results that do not follow from promotion: declared ones, and bool among several results."""
    body = operator.body if isinstance(operator, Operator) else None
    if isinstance(body, (Loop, Rows)):
        return body.own
    return _own(operator, body) if isinstance(body, (Elementwise, Folding)) else (None,)


def _own(operator: Declaration, body: Elementwise | Folding) -> tuple[DType | None, ...]:
    if len(body.own) == 1 and isinstance(body, Elementwise):
        return body.own
    types = [types for dtype in (FLOAT64, INT64) if (types := value_dtypes(operator, body, dtype))]
    truths = [bool(types) and all(each[index].is_bool for each in types) for index in range(len(body.own))]
    return tuple(BOOL if truth and own is None else own for own, truth in zip(body.own, truths, strict=True))


def value_dtypes(operator: Declaration, body: Elementwise | Folding, dtype: DType) -> tuple[DType, ...]:
    """The dtypes of the expressions computed in `dtype` themselves; none where one of them is not defined for it."""
    try:
        if isinstance(body, Folding):
            results, env = body.results, fold_dtypes(operator, body, dtype)
        else:
            results, env = body.expressions(dtype), variable_dtypes(operator, body, dtype)
        return tuple(type_of(each.tree, env).dtype for each in results)
    except ExpressionError:
        return ()


def variable_dtypes(operator: Declaration, body: Elementwise, dtype: DType) -> dict[str, DType]:
    """Dtypes of the variables of results: the arguments, and the state of a loop."""
    env = argument_dtypes(operator, body, dtype)
    if body.iterate is None:
        return env
    starts = {name: start.tree for name, start in body.iterate.state}
    following = dict(zip(starts, (each.tree for each in body.iterate.following), strict=True))
    return env | state_dtypes(starts, following, env, dtype)


def fold_dtypes(operator: Declaration, body: Folding, dtype: DType) -> dict[str, DType]:
    """Dtypes of the variables of a reduction or a scan with a state."""
    env: dict[str, DType] = {}
    if isinstance(body, OrderedFolding):
        env |= {RANK: INT64, PLACE: INT64, **{step.name: dtype for step in body.steps}}
    env |= {argument.name: body.fixed.get(argument.name, dtype) for argument in operator.inputs}
    env |= {param.name: parameter_dtype(param, dtype) for param in operator.params}
    starts = {name: start.tree for name, start in body.state}
    following = dict(zip(starts, (each.tree for each in body.following), strict=True))
    elements = dict(zip(starts, (each.tree for each in body.element), strict=True)) if body.element else {}
    states = state_dtypes(starts, following, env, dtype, elements, INT64)
    return {**env, **states, **dict(zip(body.others, states.values(), strict=False)), "count": INT64}


def state_dtypes(
    starts: Mapping[str, Expr],
    following: Mapping[str, Expr],
    env: Mapping[str, DType],
    dtype: DType,
    elements: Mapping[str, Expr] = MappingProxyType({}),
    whole: DType = INT32,
) -> dict[str, DType]:
    """Dtypes of the variables of a loop that is computed in `dtype`: those that hold what they start with and what
    follows, and what `elements` make of them. Integers alone are of the dtype `whole`, floating numbers alone of the
    one of computation."""
    types = {name: _held(start, env, dtype, whole) for name, start in starts.items()}
    types |= {name: promote(types[name], _held(each, env, dtype, whole)) for name, each in elements.items()}
    while True:
        known = {**env, **types, **{f"{OTHER}{name}": each for name, each in types.items()}}
        wider = {name: promote(types[name], _held(each, known, dtype, whole)) for name, each in following.items()}
        if wider == types:
            return types
        types = wider


def _held(tree: Expr, env: Mapping[str, DType], dtype: DType, whole: DType) -> DType:
    try:
        found = type_of(tree, env)
    except ExpressionError:
        return dtype  # which is reported when the expression is printed
    if found.weak and found.dtype.is_floating and (dtype.is_floating or dtype.is_complex):
        return dtype.to_real
    return whole if found.weak and found.dtype.is_integer else found.dtype


def turns_real(operator: Operator) -> bool:
    """True if complex inputs give a real result."""
    value = _value(operator, COMPLEX128)
    return value is not None and value.is_floating


def turns_complex(operator: Operator) -> bool:
    """True if floating inputs give a complex result."""
    value = _value(operator, FLOAT64)
    return value is not None and value.is_complex


def _value(operator: Operator, dtype: DType) -> DType | None:
    body = operator.body
    expression = body.expression(dtype) if isinstance(body, Elementwise) and body.is_single else None
    return None if expression is None else value_of(expression.tree, dtype)


@cache
def value_of(tree: Expr, dtype: DType) -> DType | None:
    """The dtype of an expression whose arguments have one dtype; None if a function is not defined for it."""
    try:
        return type_of(tree, dict.fromkeys(names(tree), dtype)).dtype
    except ExpressionError:
        return None


def position_dtype(dtype: DType) -> DType:
    """The dtype in which a factory computes its elements: positions exactly, floating sequences in double precision, as
    torch does."""
    return COMPLEX128 if dtype.is_complex else FLOAT64 if dtype.is_floating else INT64


def row_dtypes(operator: Operator, body: Rows, dtype: DType) -> dict[str, DType]:
    """Dtypes of the variables of a row operator computed in `dtype`."""
    env = {argument.name: body.fixed.get(argument.name, dtype) for argument in operator.inputs}
    env |= {param.name: parameter_dtype(param, dtype) for param in operator.params}
    return env | dict.fromkeys(("count", *(let.name for let in body.lets)), dtype)


def typed(operator: Operator) -> Iterator[tuple[Expression, Env, DType]]:
    """Every expression of the body with the dtypes of its variables and of its value, for each computation dtype."""
    body = operator.body
    if isinstance(body, (Elementwise, Loop)):
        for requirement in body.require:
            yield requirement.check, requirement_dtypes(operator), BOOL
    for dtype in operator.compute_dtypes:
        if isinstance(body, Elementwise):
            yield from of_element(operator, body, dtype)
        elif isinstance(body, Factory) and body.value is not None:
            work = position_dtype(dtype)
            yield body.value, dict.fromkeys(names(body.value.tree), work), work
        elif isinstance(body, Rows):
            env = row_dtypes(operator, body, dtype)
            for expression in body.expressions:
                yield expression, env, dtype
        elif isinstance(body, Folding):
            yield from _of_folding(operator, body, dtype)
        elif isinstance(body, Compute):
            yield from _computed(operator, body, dtype)
        elif isinstance(body, (Reduce, Scan)):
            yield body.combine, {"acc": dtype, "self": dtype}, dtype
            if isinstance(body.identity, Expression):
                yield body.identity, {}, dtype
            if isinstance(body, Reduce) and body.map is not None:
                yield body.map, {"self": dtype}, dtype
            if isinstance(body, Reduce) and body.finalize is not None:
                yield body.finalize, {"acc": dtype, "count": dtype}, dtype


def _computed(operator: Operator, body: Compute, dtype: DType) -> Iterator[tuple[Expression, Env, DType]]:
    env = body.env({each.name: dtype for each in operator.params}, dtype)
    for index, each in enumerate(body.results):
        yield each, env, computed_dtype(operator, body, index, dtype)
    source = body.results[0].source
    for read in body.reads.values():
        for place in read.indices:
            yield Expression(place, source), env, INT64
    for fold in body.folds.values():
        yield Expression(fold.value, source), env, body.value_dtype(fold, env)
        if fold.condition is not None:
            yield Expression(fold.condition, source), env, BOOL
        for bound in (bound for bounds in fold.ranges for bound in (bounds.first, bounds.stop)):
            yield Expression(bound, source), env, INT64


def computed_dtype(operator: Operator, body: Compute, index: int, dtype: DType) -> DType:
    """The dtype in which a result is computed: the one that the entry tells, that of the tensors, or what positions
    and conditions are."""
    return own_computed_dtype(operator, body, index) or dtype


def own_computed_dtype(operator: Operator, body: Compute, index: int) -> DType | None:
    """Return the dtype of a result that does not depend on the dtype of computation, or None."""
    told = body.results[index].dtype
    if body.rounds is not None:
        return body.rounds.loop.own[index]
    if told is not None:
        return told
    value, other = (_computed_type(operator, body, index, dtype) for dtype in (FLOAT64, FLOAT32))
    if value is None or value.dtype in (INT64, BOOL):
        return None if value is None else value.dtype
    return value.dtype if body.given and not body.promotes and not value.weak and value == other else None


def _computed_type(operator: Operator, body: Compute, index: int, dtype: DType) -> Type | None:
    try:
        return type_of(body.results[index].tree, body.env({each.name: dtype for each in operator.params}, dtype))
    except ExpressionError:
        return None


def _of_folding(operator: Operator, body: Folding, dtype: DType) -> Iterator[tuple[Expression, Env, DType]]:
    env = fold_dtypes(operator, body, dtype)
    for name, start in body.state:
        yield start, env, env[name]
    for part in (body.element, body.following):
        for name, each in zip(body.names, part, strict=False):
            yield each, env, env[name]
    for each, result in zip(body.results, result_dtypes(operator, dtype), strict=True):
        yield each, env, result


def of_element(operator: Operator, body: Elementwise, dtype: DType) -> Iterator[tuple[Expression, Env, DType]]:
    """The expressions of an elementwise body that are computed in `dtype`, with the dtypes of variables and value."""
    expressions = body.expressions(dtype)
    if not expressions:
        return
    arguments, loop = argument_dtypes(operator, body, dtype), body.iterate
    if loop is not None:
        env = variable_dtypes(operator, body, dtype)
        for name, start in loop.state:
            yield start, arguments, env[name]
        yield loop.times, arguments, FLOAT64
        if loop.proceeds is not None:
            yield loop.proceeds, env, BOOL
        for name, each in zip(loop.names, loop.following, strict=True):
            yield each, env, env[name]
    else:
        env = arguments
    for each, result in zip(expressions, result_dtypes(operator, dtype), strict=True):
        yield each, env, result
