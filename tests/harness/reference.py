"""What operators should give: NumPy's values, and the declared expression computed with NumPy.

Operators that only use correctly rounded arithmetic are computed in the dtype in which they are declared to compute,
and must agree exactly. Where functions of the mathematics library are involved the reference is computed in a wider
format and then rounded.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any

import numpy as np
import pytest

from codegen.check import numpy_names
from codegen.dtypes import DTYPES, DType
from codegen.expr import lower, parse
from codegen.expr.evaluate import compute
from codegen.expr.typed import Node

from . import promotion
from .arrays import Array, cast, holder
from .compare import FUNCTION_ULP, rounding_bound
from .extremes import largest, smallest_normal
from .spec import Spec

_WIDER = {"float32": np.dtype(np.float64), "float64": np.dtype(np.longdouble)}
_SCIPY_HAS_NO_LONG_DOUBLE = np.dtype(np.float64)


def numpy_value(expression: str, arguments: Mapping[str, Any]) -> Any:
    """The value of a reference expression, of which only what `reference` may have is evaluated."""
    if "scipy" in expression:
        pytest.importorskip("scipy")
    with np.errstate(all="ignore"):
        return numpy_names.value(expression, arguments)


@cache
def _typed(expression: str, dtypes: tuple[tuple[str, DType], ...]) -> Node:
    return lower(parse(expression, tuple(name for name, _ in dtypes)), dict(dtypes))


@dataclass(frozen=True)
class Elementwise:
    """One call of an elementwise operator, for NumPy: holders of the operands, by the names of the function, and the
    dtype and rank of each. Optional inputs that are not given are left out."""

    spec: Spec
    operands: Mapping[str, Array]
    dtypes: Mapping[str, tuple[DType, int]]
    params: Mapping[str, float]

    @cached_property
    def common(self) -> DType:
        """The dtype to which the operands are converted."""
        if self.spec.promotion == "to_double":
            return DTYPES["float64"]
        return common_dtype(self.spec, self.dtypes)

    @cached_property
    def computation(self) -> DType:
        if self.spec.promotion == "always_bool":
            return self.common.opmath
        return promotion.resolve(self.spec, self.common)[0]

    @property
    def taken(self) -> DType:
        """The dtype to which the operands are rounded."""
        return self.common if self.spec.promotion == "always_bool" else self.result

    @cached_property
    def result(self) -> DType:
        return promotion.resolve(self.spec, self.common)[1]

    @property
    def exact(self) -> bool:
        return self.computation.name not in self.spec.inexact

    @property
    def ulp(self) -> float:
        """By how much a result may differ. Halves are rounded from float32, where some ULP hardly show."""
        return 0 if self.exact else FUNCTION_ULP if self.result.compute else 1

    def numpy(self) -> Array | None:
        """The value of the reference; None where there is none, or NumPy refuses the operands."""
        if self.spec.reference is None:
            return None
        wide = None if self.exact else _WIDER[self.computation.name]
        if wide == np.longdouble and "scipy" in self.spec.reference:
            wide = _SCIPY_HAS_NO_LONG_DOUBLE
        arguments = {name: self._argument(name, wide) for name in self.spec.schema_names}
        try:
            value = numpy_value(self.spec.reference, {self.spec.schema_names[n]: v for n, v in arguments.items()})
        except ValueError:
            return None
        with np.errstate(all="ignore"):
            return self._finish(np.asarray(value).astype(holder(self.computation)) if wide else value)

    @property
    def bound(self) -> Array | None:
        """The rounding errors of intermediate values that are larger than the result."""
        if self.spec.magnitude is None or not self.computation.is_floating:
            return None
        wide = np.dtype(np.float64)
        arguments = {self.spec.schema_names[n]: self._argument(n, wide) for n in self.spec.schema_names}
        arguments["tiny"] = smallest_normal(self.computation)
        size = np.nan_to_num(np.abs(numpy_value(self.spec.magnitude, arguments)), posinf=np.inf)
        return np.asarray(rounding_bound(self.computation, size, 4))

    def declared(self) -> Array:
        """The value of the declared expression in the dtype of the computation."""
        text = next(text for dtypes, text in self.spec.expressions if self.computation.name in dtypes)
        schema_names = self.spec.schema_names
        arguments = {schema_names[n]: np.asarray(self._argument(n, None)) for n in schema_names}
        dtypes = tuple((name, DTYPES[values.dtype.name]) for name, values in arguments.items())
        return self._finish(compute(_typed(text, dtypes), arguments))

    @cached_property
    def numbers(self) -> dict[str, Any]:
        """What the call says besides tensors."""
        return {**self.spec.keywords_for(self.result.name), **self.params}

    @cached_property
    def shape(self) -> tuple[int, ...]:
        return np.broadcast_shapes(*(array.shape for array in self.operands.values()))

    def _finish(self, value: Any) -> Array:
        return cast(np.broadcast_to(value, self.shape), self.result)

    def _argument(self, name: str, wide: np.dtype[Any] | None) -> Array | None:
        """Operands are rounded to the dtype that the operator takes before anything is computed; numbers beside halves
        are not, unless they are compared."""
        spec, computation = self.spec, self.computation
        if name in spec.params:
            number = self.numbers.get(name, spec.params[name])
            if isinstance(number, str) and not computation.is_floating:
                number = 0  # integers have no infinities to replace
            elif isinstance(number, str):
                number = largest(self.result) if number == "highest" else -largest(self.result)
            return np.asarray(number).astype(wide or holder(computation))
        if name not in self.operands:
            return None
        values = self.operands[name]
        if name in spec.fixed:
            return cast(values, DTYPES[spec.fixed[name]])
        keeps_number = self.dtypes[name][1] == 2 and self.taken.is_floating and spec.promotion != "always_bool"
        keeps_number |= spec.opmath_number and name == spec.inputs[-1] and not values.ndim
        converted = cast(values, computation if keeps_number else self.taken)
        # Copied in full: NumPy takes the power of one number 0.5 as a square root, whose zeros and infinities differ.
        return np.array(np.broadcast_to(cast(converted, computation).astype(wide or holder(computation)), self.shape))


def common_dtype(spec: Spec, operands: Mapping[str, tuple[DType, int]]) -> DType:
    """To which the operands (given by dtype and rank) are converted."""
    return promotion.common_dtype([operands[name] for name in spec.free if name in operands])


def numpy_axis(dim: Any) -> Any:
    """Dimensions as NumPy takes them: a tuple, an integer, or None for all."""
    return tuple(dim) or None if isinstance(dim, (tuple, list)) else dim
