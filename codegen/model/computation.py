"""The dtypes in which an operator's expressions are computed, for the checks and for the emitters."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cache
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from ..dtypes import BOOL, COMPLEX128, FLOAT32, FLOAT64, INT32, INT64, DType, Promotion, promote
from ..expr import Expr, ExpressionError, evaluate, names, type_of
from ..expr.lower import Env, Type
from ..schema import Argument
from .parts import OTHER, Expression, Requirement

if TYPE_CHECKING:
    from .body import Body
    from .compute import Compute
    from .elementwise import Elementwise
    from .operator import Declaration, Operator
    from .rows import Rows


def argument_dtypes(operator: Declaration, body: Body, dtype: DType) -> dict[str, DType]:
    """Dtypes of the arguments in expressions computed in `dtype`."""
    env = {argument.name: body.fixed.get(argument.name, dtype) for argument in operator.inputs}
    return env | {param.name: parameter_dtype(param, dtype) for param in operator.params}


def parameter_dtype(param: Argument, dtype: DType) -> DType:
    """The dtype of a parameter of expressions that are computed in `dtype`."""
    if not param.is_integral:
        return dtype
    return BOOL if str(param.type) == "bool" else INT64


def requirement_dtypes(operator: Operator) -> Env:
    """Dtypes of the variables of a condition on the parameters, and on sizes that a signature names."""
    return dict.fromkeys([*(param.name for param in operator.params), *operator.body.named_sizes], FLOAT64)


def default_numbers(operator: Operator) -> dict[str, bool | int | float]:
    """Default values of the parameters, without those that are required or default to an end of the dtype's range."""
    numbers: dict[str, bool | int | float] = {}
    for param in operator.params:
        declared = None if param.default is None else param.default.value
        value: object = operator.body.absent.get(param.name) if param.is_optional else declared
        if isinstance(value, (bool, int, float)):
            numbers[param.name] = value
    return numbers


def defaults_keep(operator: Operator, requirement: Requirement[Expression, Any]) -> bool:
    """True if the condition holds for the defaults, or uses a parameter without a default."""
    import numpy as np

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
    narrowed = (each for each in operator.body.conditions if each.dtypes is not None and dtype in each.dtypes)
    return all(defaults_keep(operator, each) for each in narrowed)


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


def own_dtypes(operator: Operator) -> tuple[DType | None, ...]:
    """The dtypes of results that do not follow from promotion: declared ones, and bool among several results."""
    return operator.body.own_dtypes(operator)


def with_truths(operator: Declaration, body: Body, own: Sequence[DType | None]) -> tuple[DType | None, ...]:
    """Return declared dtypes of results, and bool for those that are conditions."""
    types = [types for dtype in (FLOAT64, INT64) if (types := value_dtypes(operator, body, dtype))]
    truths = [bool(types) and all(each[index].is_bool for each in types) for index in range(len(own))]
    return tuple(BOOL if truth and each is None else each for each, truth in zip(own, truths, strict=True))


def value_dtypes(operator: Declaration, body: Body, dtype: DType) -> tuple[DType, ...]:
    """The dtypes of the expressions computed in `dtype` themselves; none where one of them is not defined for it."""
    try:
        env = body.variable_dtypes(operator, dtype)
        return tuple(type_of(each.tree, env).dtype for each in body.values(dtype))
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
    tree = operator.body.single
    expressions = () if tree is None else operator.body.values(dtype)
    return value_of(expressions[0].tree, dtype) if expressions else None


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


def row_dtypes(operator: Declaration, body: Rows, dtype: DType) -> dict[str, DType]:
    """Dtypes of the variables of a row operator computed in `dtype`."""
    return argument_dtypes(operator, body, dtype) | dict.fromkeys(("count", *(let.name for let in body.lets)), dtype)


def typed(operator: Operator) -> Iterator[tuple[Expression, Env, DType]]:
    """Every expression of the body with the dtypes of its variables and of its value, for each computation dtype."""
    for requirement in operator.body.conditions:
        yield requirement.check, requirement_dtypes(operator), BOOL
    for dtype in operator.compute_dtypes:
        yield from operator.body.typed(operator, dtype)


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
