"""Elementwise functions whose values are other ones than those of torch's operator, or that have other operands."""

from __future__ import annotations

from typing import Any

from .._base.tensor_class import Tensor
from .._dispatch.ops import ops
from ._derive import promoted, standard

__all__ = [
    "clip", "expm1", "floor_divide", "imag", "positive", "real", "remainder", "round", "sign", "where",
]  # fmt: skip


@standard
def floor_divide(x1: Any, x2: Any, /) -> Any:
    """Return the quotient rounded down; an infinite dividend has an infinite one, where torch gives NaN."""
    x1, x2 = promoted(x1, x2)
    quotient = ops.floor_divide(x1, x2)
    return ops.where(ops.isinf(x1), ops.divide(x1, x2), quotient) if x1.is_floating_point() else quotient


@standard
def remainder(x1: Any, x2: Any, /) -> Any:
    """Return the remainder, which has the sign of the divisor; torch's zeros have that of the dividend."""
    x1, x2 = promoted(x1, x2)
    rest = ops.remainder(x1, x2)
    return ops.where(ops.eq(rest, 0), ops.copysign(rest, x2), rest) if x1.is_floating_point() else rest


@standard
def expm1(x: Any, /) -> Any:
    """Return exp(x) - 1, of complex numbers that are not finite by C's rules for exp, which torch's does not follow."""
    result = ops.expm1(x)
    return ops.where(ops.isfinite(x), result, ops.sub(ops.exp(x), 1)) if x.is_complex() else result


@standard
def round(x: Any, /) -> Any:
    """Return the nearest integers, of halves the even ones; of complex numbers for each part."""
    return ops.complex(ops.round(ops.real(x)), ops.round(ops.imag(x))) if x.is_complex() else ops.round(x)


@standard
def sign(x: Any, /) -> Any:
    """Return -1, 0 or 1, of complex numbers those of absolute value one; NaN of NaN, where torch gives zero."""
    return ops.where(ops.isnan(x), ops.mul(x, float("nan")), ops.sgn(x)) if not x.dtype.is_integer else ops.sgn(x)


@standard
def real(x: Any, /) -> Any:
    """Return the real parts."""
    return ops.real(x)


@standard
def imag(x: Any, /) -> Any:
    """Return the imaginary parts."""
    return ops.imag(x) if x.is_complex() else ops.zeros_like(x)


@standard
def positive(x: Any, /) -> Any:
    """Return a copy."""
    return ops.clone(x)


@standard
def where(condition: Any, x1: Any, x2: Any, /) -> Any:
    """Return the elements of x1 where the condition is true, and those of x2 elsewhere."""
    x1, x2 = promoted(x1, x2)
    return ops.where(condition, x1, x2)


@standard
def clip(x: Any, /, min: Any = None, max: Any = None) -> Any:
    """Return the elements, none below `min` or above `max`, as the dtype of x. NaN among the bounds gives NaN."""
    lower, upper = (_bound(x, value) for value in (min, max))
    result = ops.clone(x)
    if lower is not None:
        result = ops.maximum(result, lower)
    return result if upper is None else ops.minimum(result, upper)


def _bound(x: Any, value: Any) -> Any:
    """A bound of the dtype of x; an integer beyond those of the dtype is the last of them."""
    if value is None or isinstance(value, Tensor):
        return value if value is None else value.to(x.dtype)
    if x.dtype.is_integer and isinstance(value, int):
        value = max(x.dtype.minimum, min(value, x.dtype.maximum))
    return ops.full((), value, dtype=x.dtype, device=x.device)
