"""What operators should give, computed by NumPy.

Operators that only use correctly rounded arithmetic are computed in the dtype in which they are declared to compute,
and must agree exactly. Where functions of the mathematics library are involved the reference is computed in a wider
format and then rounded.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pytest

from codegen.dtypes import DTYPES, DType
from codegen.expr import evaluate, parse

from . import promotion
from .arrays import Array, cast, holder
from .compare import FUNCTION_ULP
from .spec import Spec

_WIDER = {"float32": np.dtype(np.float64), "float64": np.dtype(np.longdouble)}


def numpy_value(expression: str, arguments: Mapping[str, Any]) -> Any:
    """The value of a reference expression."""
    names: dict[str, Any] = {"np": np, **arguments}
    if "scipy" in expression:
        names["scipy"] = pytest.importorskip("scipy")
        pytest.importorskip("scipy.special")
    with np.errstate(all="ignore"):
        return eval(expression, names)


def common_dtype(spec: Spec, operands: Mapping[str, tuple[DType, int]]) -> DType:
    """To which the operands (given by dtype and rank) are converted."""
    return promotion.common_dtype([operands[name] for name in spec.free if name in operands])


def ulp(spec: Spec, result: DType) -> float:
    """By how much a result may differ. Halves are rounded from float32, where an error of some ULP hardly shows."""
    if result.name not in spec.inexact and result.opmath.name not in spec.inexact:
        return 0
    return FUNCTION_ULP if result.compute else 1


def elementwise(
    spec: Spec,
    operands: Mapping[str, Array],
    dtypes: Mapping[str, tuple[DType, int]],
    params: Mapping[str, float] | None = None,
) -> tuple[Array, DType]:
    """Values and dtype of the result. `operands` are NumPy holders; absent ones are optional inputs not given."""
    common = common_dtype(spec, dtypes)
    computation, result = promotion.resolve(spec, common)
    if spec.promotion == "always_bool":
        computation = common.opmath
    wide = _WIDER.get(computation.name) if computation.name in spec.inexact else None
    arguments: dict[str, Any] = {}
    for name, schema_name in spec.schema_names.items():
        if name in operands:
            arguments[schema_name] = _argument(spec, name, operands[name], dtypes[name], common, computation, wide)
        elif name in spec.inputs:
            arguments[schema_name] = None
        else:
            number = (params or {}).get(name, spec.params[name])
            arguments[schema_name] = np.asarray(number).astype(wide or holder(computation))
    value = _value(spec, arguments, computation)
    if wide is not None:
        with np.errstate(all="ignore"):
            value = np.asarray(value).astype(holder(computation))
    shape = np.broadcast_shapes(*(array.shape for array in operands.values()))
    return cast(np.broadcast_to(value, shape), result), result


def _argument(
    spec: Spec, name: str, values: Array, of: tuple[DType, int], common: DType, computation: DType, wide: Any
) -> Array:
    """Operands are rounded to the common dtype before anything is computed, Python's numbers included."""
    if name in spec.fixed:
        return cast(values, DTYPES[spec.fixed[name]])
    keeps_number = spec.keeps_number and name == spec.inputs[-1] and (of[1] or values.size == 1)
    converted = cast(values, computation if keeps_number else common)
    return cast(converted, computation).astype(wide or holder(computation))


def _value(spec: Spec, arguments: Mapping[str, Any], computation: DType) -> Any:
    if spec.reference is not None:
        return numpy_value(spec.reference, arguments)
    expression = next(text for dtypes, text in spec.expressions if computation.name in dtypes)
    given = {name: np.asarray(value) for name, value in arguments.items() if value is not None}
    return evaluate(parse(expression), given)


def numpy_axis(dim: Sequence[int] | int | None) -> Any:
    """Dimensions as NumPy takes them: a tuple, an integer, or None for all."""
    return tuple(dim) or None if isinstance(dim, (tuple, list)) else dim
