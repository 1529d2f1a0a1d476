"""Reductions and normalizations of the elements for which a mask is True."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from .. import _operators as ops
from .._base.dtypes import EXPORTS
from .sparse import canonical_mask, check_layout, reduced

REDUCTIONS = ("amax", "amin", "argmax", "argmin", "logsumexp", "mean", "norm", "prod", "std", "sum", "var")
"""Functions of the names of operators whose result has an element for each row,"""
SCANS = ("cumprod", "cumsum", "log_softmax", "softmax")
"""and those whose result has one for each element."""

__all__ = [*REDUCTIONS, *SCANS, "logaddexp", "median", "normalize", "softmin"]


def _dims(input: Any, dim: Any) -> list[int]:
    if dim is None or dim == ():
        return list(range(input.dim()))
    return [dim] if isinstance(dim, int) else list(dim)


def _kept(input: Any, mask: Any) -> Any:
    return ops.ones_like(input.detach(), dtype=EXPORTS["bool"]) if mask is None else canonical_mask(mask, input)


def _filled(input: Any, mask: Any, value: Any) -> Any:
    return input if mask is None else ops.where(_kept(input, mask), input, input.new_full((), value))


def _strided(name: str, input: Any, dtype: Any) -> Any:
    """A tensor in another dtype. Raises ValueError if it is sparse."""
    check_layout(name, input)
    return input if dtype is None else input.to(dtype)


def _sparse(name: str, input: Any, dim: Any, keepdim: bool, dtype: Any, mask: Any, identity: Any) -> Any:
    dims: list[int] = []
    for each in _dims(input, dim):
        if not -input.dim() <= each < input.dim():
            expected = f"[{-input.dim()}, {input.dim() - 1}]"
            raise IndexError(f"Dimension out of range (expected to be in range of {expected}, but got {each})")
        if each % input.dim() in dims:
            raise RuntimeError(f"dim={each} appears multiple times in the list of dims")
        dims.append(each % input.dim())
    return reduced(name, input, sorted(dims), bool(keepdim), dtype or input.dtype, mask, identity)


def _summed_dtype(input: Any, dtype: Any) -> Any:
    """Sums and products of integers are of int64."""
    return dtype or (input.dtype if input.is_floating_point() or input.is_complex() else EXPORTS["int64"])


def _lowest(input: Any, sign: int) -> Any:
    if input.dtype.is_floating_point or input.dtype.is_complex:
        return sign * math.inf
    if input.dtype is EXPORTS["bool"]:
        return sign > 0
    from .._base.finfo import iinfo

    return iinfo(input.dtype).max if sign > 0 else iinfo(input.dtype).min


def _converted(input: Any, dtype: Any) -> Any:
    return input if dtype is None else input.to(dtype)


def sum(input: Any, dim: Any = None, *, keepdim: bool = False, dtype: Any = None, mask: Any = None) -> Any:
    """Return sums of the elements that count; zeros where none does."""
    if not check_layout("sum", input):
        return _sparse("sum", input, dim, keepdim, _summed_dtype(input, dtype), mask, 0)
    return ops.sum(_filled(input, mask, 0), _dims(input, dim), keepdim, dtype=dtype)


def prod(input: Any, dim: Any = None, *, keepdim: bool = False, dtype: Any = None, mask: Any = None) -> Any:
    """Return products of the elements that count; ones where none does."""
    if not check_layout("prod", input):
        return _sparse("prod", input, dim, keepdim, _summed_dtype(input, dtype), mask, 1)
    result = _filled(_converted(input, dtype), mask, 1)
    # The product has the format of the elements also under autocast, which computes it in float32.
    kept = result.dtype if result.is_floating_point() else None
    if not input.dim():
        return ops.prod(result, dtype=kept)
    for each in sorted((each % input.dim() for each in _dims(input, dim)), reverse=True):
        result = ops.prod(result, each, keepdim, dtype=kept)
    return result


def amax(input: Any, dim: Any = None, *, keepdim: bool = False, dtype: Any = None, mask: Any = None) -> Any:
    """Return the largest of the elements that count; the least number where none does."""
    if not check_layout("amax", input):
        return _sparse("amax", input, dim, keepdim, dtype, mask, _lowest(input, -1))
    input = _converted(input, dtype)
    return ops.amax(_filled(input, mask, _lowest(input, -1)), _dims(input, dim), keepdim)


def amin(input: Any, dim: Any = None, *, keepdim: bool = False, dtype: Any = None, mask: Any = None) -> Any:
    """Return the least of the elements that count; the largest number where none does."""
    if not check_layout("amin", input):
        return _sparse("amin", input, dim, keepdim, dtype, mask, _lowest(input, 1))
    input = _converted(input, dtype)
    return ops.amin(_filled(input, mask, _lowest(input, 1)), _dims(input, dim), keepdim)


def argmax(input: Any, dim: int | None = None, *, keepdim: bool = False, dtype: Any = None, mask: Any = None) -> Any:
    """Return where the largest of the elements that count stands, as a number of the dtype of the elements."""
    input = _strided("argmax", input, dtype)
    return ops.argmax(_filled(input, mask, _lowest(input, -1)), dim, keepdim).to(input.dtype)


def argmin(input: Any, dim: int | None = None, *, keepdim: bool = False, dtype: Any = None, mask: Any = None) -> Any:
    """Return where the least of the elements that count stands, as a number of the dtype of the elements."""
    input = _strided("argmin", input, dtype)
    return ops.argmin(_filled(input, mask, _lowest(input, 1)), dim, keepdim).to(input.dtype)


def _count(input: Any, dim: Any, keepdim: bool, mask: Any) -> Any:
    return ops.sum(_kept(input, mask), _dims(input, dim), keepdim)


def mean(input: Any, dim: Any = None, *, keepdim: bool = False, dtype: Any = None, mask: Any = None) -> Any:
    """Return the means of the elements that count; NaN where none does. Raises ValueError for integers."""
    input = _converted(input, dtype)
    if not (input.is_floating_point() or input.is_complex()):
        raise ValueError(
            "mean(): Could not infer output dtype. Input dtype must be either a floating point or complex dtype. Got: "
            f"{input.dtype}"
        )
    if not check_layout("mean", input):
        return _sparse("mean", input, dim, keepdim, dtype, mask, 0)
    return sum(input, dim, keepdim=keepdim, mask=mask) / _count(input, dim, keepdim, mask)


def median(input: Any, dim: int = -1, *, keepdim: bool = False, dtype: Any = None, mask: Any = None) -> Any:
    """Return the medians of the elements that count; NaN where none does. Raises ValueError where none of a row of
    integers does."""
    input = _strided("median", input, dtype)
    numbers = input if input.is_floating_point() else input.to(EXPORTS["float32"])
    result = ops.nanmedian(_filled(numbers, mask, math.nan), dim, keepdim)[0]
    if not input.is_floating_point() and result.isnan().any():
        raise ValueError("masked median expects no fully masked out rows if dtype is not floating point")
    return result.to(input.dtype)


def var(
    input: Any,
    dim: Any = None,
    unbiased: bool = True,
    *,
    correction: float | None = None,
    keepdim: bool = False,
    dtype: Any = None,
    mask: Any = None,
) -> Any:
    """Return the variances of the elements that count."""
    input = _strided("std/var", input, dtype)
    if not (input.dtype.is_floating_point or input.dtype.is_complex):
        input = input.to(EXPORTS["float32"])
    less = (1 if unbiased else 0) if correction is None else correction
    apart = input - mean(input, dim, keepdim=True, mask=mask)
    total = sum(apart.abs().square(), dim, keepdim=keepdim, mask=mask)
    count = _count(input, dim, keepdim, mask).to(total.dtype)  # as a correction need not be a whole number
    return (total / (count - less).clamp(min=0)).to(input.dtype)


def std(
    input: Any,
    dim: Any = None,
    unbiased: bool = True,
    *,
    correction: float | None = None,
    keepdim: bool = False,
    dtype: Any = None,
    mask: Any = None,
) -> Any:
    """Return the standard deviations of the elements that count."""
    return var(input, dim, unbiased, correction=correction, keepdim=keepdim, dtype=dtype, mask=mask).sqrt()


def norm(
    input: Any, ord: float = 2.0, dim: Any = None, *, keepdim: bool = False, dtype: Any = None, mask: Any = None
) -> Any:
    """Return the norms of the elements that count."""
    input = _strided("norm", input, dtype)
    filler = math.inf if ord == -math.inf else 0
    return ops.linalg_vector_norm(_filled(input, mask, filler), ord, _dims(input, dim), keepdim)


def logsumexp(input: Any, dim: Any = None, *, keepdim: bool = False, dtype: Any = None, mask: Any = None) -> Any:
    """Return the logarithms of the sums of exponentials of the elements that count."""
    input = _strided("logsumexp", input, dtype)
    result = ops.logsumexp(_filled(input, mask, _lowest(input, -1)), _dims(input, dim), keepdim)
    return result.to(input.dtype)


def logaddexp(input: Any, other: Any, *, dtype: Any = None, input_mask: Any = None, other_mask: Any = None) -> Any:
    """Return `log(exp(input) + exp(other))`, of the elements that count."""
    check_layout("logaddexp", input, other)
    left, right = _filled(input, input_mask, -math.inf), _filled(other, other_mask, -math.inf)
    return ops.logaddexp(_converted(left, dtype), _converted(right, dtype))


def _scan(name: str, neutral: int, what: str) -> Callable[..., Any]:
    def function(input: Any, dim: int, *, dtype: Any = None, mask: Any = None) -> Any:
        input = _strided(name, input, dtype)
        own = None if input.dtype is EXPORTS["bool"] else input.dtype
        return getattr(ops, name)(_filled(input, mask, neutral), dim, dtype=own)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"Return {what} of the elements that count, along a dimension."
    return function


cumsum = _scan("cumsum", 0, "running sums")
cumprod = _scan("cumprod", 1, "running products")


def softmax(input: Any, dim: int, *, dtype: Any = None, mask: Any = None) -> Any:
    """Return softmax of the elements that count; zeros elsewhere, NaN where none does."""
    input = _strided("softmax", input, dtype)
    return ops.softmax(_filled(input, mask, _lowest(input, -1)), dim)


def log_softmax(input: Any, dim: int, *, dtype: Any = None, mask: Any = None) -> Any:
    """Return logarithms of softmax of the elements that count; minus infinity elsewhere."""
    input = _strided("log_softmax", input, dtype)
    return ops.log_softmax(_filled(input, mask, _lowest(input, -1)), dim)


def softmin(input: Any, dim: int, *, dtype: Any = None, mask: Any = None) -> Any:
    """Return softmax of the elements that count with the opposite sign."""
    input = _strided("softmin", input, dtype)
    return ops.softmax(-_filled(input, mask, _lowest(input, 1)), dim)


def normalize(input: Any, ord: float, dim: int, *, eps: float = 1e-12, dtype: Any = None, mask: Any = None) -> Any:
    """Return elements divided by the norm of those that count, or by `eps` where that is larger."""
    input = _strided("normalize", input, dtype)
    length = norm(input, ord, dim, keepdim=True, mask=mask)
    return _filled(input, mask, 0) / length.clamp(min=eps)
