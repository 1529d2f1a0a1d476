"""Are these results right? Exactly, within some ULP, or within a bound; NaN equals NaN, and zeros have signs."""

from __future__ import annotations

from typing import Any

import numpy as np
import opweave

from codegen.dtypes import DTYPES, DType

from .arrays import Array, array, dtype_of, to_bfloat16_bits
from .extremes import precision

FUNCTION_ULP = 4
"""What the functions of the mathematics library may be off by."""


def ordered_bits(values: Array, dtype: DType) -> Array:
    """Floats as integers that count the representable numbers from zero on."""
    if dtype.numpy is None:
        bits, width = to_bfloat16_bits(values).astype(np.int64), 16
    else:
        width = 8 * dtype.itemsize
        bits = np.ascontiguousarray(values).view(f"int{width}").astype(np.int64)
    magnitude = bits & ((1 << (width - 1)) - 1)
    negative = bits >> (width - 1) & 1 if width < 64 else (bits < 0).astype(np.int64)
    return np.asarray(np.where(negative == 1, -magnitude, magnitude)).reshape(values.shape)


def ulp_distance(got: Array, want: Array, dtype: DType) -> Array:
    """Numbers of `dtype` between two values; infinite where only one is NaN."""
    a, b = ordered_bits(got, dtype), ordered_bits(want, dtype)
    same_side = (a < 0) == (b < 0)
    distance = np.where(same_side, np.abs(a - b).astype(np.float64), np.abs(a.astype(np.float64) - b))
    one_is_nan, both_are_nan = np.isnan(got) != np.isnan(want), np.isnan(got) & np.isnan(want)
    return np.asarray(np.where(both_are_nan, 0.0, np.where(one_is_nan, np.inf, distance)))


def check_values(
    got: Array, want: Array, dtype: DType, ulp: float, what: str, bound: Any = None, signed_zeros: bool = True
) -> None:
    """`bound` is an absolute error that is forgiven besides; infinity forgives everything, NaN too."""
    assert got.shape == want.shape, f"{what}: shape {got.shape}, expected {want.shape}"
    if got.dtype == want.dtype and got.tobytes() == want.tobytes():
        return
    if dtype.is_complex:
        for part in ("real", "imag"):
            parts = (np.ascontiguousarray(getattr(values, part)) for values in (got, want))
            check_values(*parts, dtype.opmath.to_real, ulp, f"{what} ({part})", bound, signed_zeros)
        return
    if dtype.is_floating:
        wrong = ulp_distance(got, want, dtype) > ulp
        if bound is not None:
            with np.errstate(all="ignore"):
                error = np.abs(got.astype(np.longdouble) - want.astype(np.longdouble))
                wrong &= ~((error <= bound) | np.isposinf(bound))
        if signed_zeros:
            wrong |= (got == 0) & (want == 0) & (np.signbit(got) != np.signbit(want))
    else:
        wrong = got != want
    if np.any(wrong):
        position = tuple(int(index) for index in np.argwhere(wrong)[0])
        count = f"{int(wrong.sum())} of {got.size} are wrong"
        raise AssertionError(f"{what}: at {position} got {got[position]!r}, expected {want[position]!r}; {count}")


def check(
    result: opweave.Tensor,
    want: Array,
    dtype: str,
    ulp: float = 0,
    what: str = "",
    bound: Any = None,
    signed_zeros: bool = True,
) -> None:
    """A result has this dtype and, within `ulp` and `bound`, these values."""
    assert isinstance(result, opweave.Tensor), f"{what}: a {type(result).__name__}, not a tensor"
    assert dtype_of(result).name == dtype, f"{what}: dtype {result.dtype}, expected {dtype}"
    check_values(array(result), want, DTYPES[dtype], ulp, what, bound, signed_zeros)


def check_same(result: Any, other: Any, what: str = "") -> None:
    """Two tensors, or several results, are alike in dtype, shape and values, to the bit."""
    if isinstance(other, tuple):
        for one, each in zip(result, other, strict=True):
            check_same(one, each, what)
        return
    check(result, array(other), dtype_of(other).name, 0, what)


def rounding_bound(dtype: DType, magnitude: Any, operations: float) -> Any:
    """Error of a chain of additions and multiplications whose terms have this summed magnitude."""
    return operations * 2.0 ** (1 - precision(dtype)) * magnitude
