"""Reads dtypes, dimensions and lengths of signals, for the composites of `fft`; messages are torch's."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, TypeAlias

from ..._base.allocation import dtype_or_default
from ..._base.dtypes import EXPORTS, get_default_dtype
from ..._base.shapes import wrap_dim

__all__ = [
    "frequency_dtype", "frequency_step", "half_signal", "half_signals", "signal",
    "signal_dims", "signal_scaling", "signals",
]  # fmt: skip

Dims: TypeAlias = int | Sequence[int] | None

_SCALINGS = {"backward": (0, 2), "ortho": (1, 1), "forward": (2, 0)}
"""The divisors of forward and backward transforms: 0 for 1, 1 for the square root of the number of elements, 2 for that
number."""


def signal_scaling(norm: str | None, forward: bool) -> int:
    """Return the number by which the operators know a normalization."""
    if norm is None:
        norm = "backward"
    if norm not in _SCALINGS:
        raise RuntimeError(f'Invalid normalization mode: "{norm}"')
    return _SCALINGS[norm][0 if forward else 1]


def spectral_input(tensor: Any, to_complex: bool = False) -> Any:
    """Convert to a dtype that can be transformed; integers become the default dtype."""
    dtype = tensor.dtype
    if not dtype.is_floating_point and not dtype.is_complex:
        dtype = get_default_dtype()
    if dtype.to_real() not in (EXPORTS["float32"], EXPORTS["float64"]):
        raise RuntimeError(f"Unsupported dtype {dtype.scalar_name}")
    return tensor.to(dtype.to_complex() if to_complex else dtype)


# ---- one dimension ------------------------------------------------------------------------------------------


def signal(tensor: Any, n: int | None, dim: int, to_complex: bool = False) -> tuple[Any, list[int]]:
    """Return the tensor with `n` elements along `dim`, and `[dim]`."""
    tensor = spectral_input(tensor, to_complex)
    dim = _wrapped(dim, tensor.ndim)
    _check_length(tensor.size(dim) if n is None else n)
    return tensor if n is None else _resized(tensor, [dim], [n]), [dim]


def half_signal(tensor: Any, n: int | None, dim: int) -> tuple[Any, list[int], int]:
    """Return the tensor with the `n // 2 + 1` frequencies of `n` real numbers along `dim`, then `[dim]` and `n`."""
    tensor = spectral_input(tensor, to_complex=True)
    dim = _wrapped(dim, tensor.ndim)
    size = 2 * (tensor.size(dim) - 1) if n is None else n
    _check_length(size)
    return tensor if n is None else _resized(tensor, [dim], [size // 2 + 1]), [dim], size


def _wrapped(dim: int, ndim: int) -> int:
    if not ndim:
        raise IndexError(f"Dimension specified as {dim} but tensor has no dimensions")
    return wrap_dim(dim, ndim)


def _check_length(size: int) -> None:
    if size < 1:
        raise RuntimeError(f"Invalid number of data points ({size}) specified")


# ---- several dimensions -------------------------------------------------------------------------------------


def signal_dims(tensor: Any, dim: Dims) -> list[int]:
    """Return dimensions counted from the front; all of them when none is given."""
    if dim is None:
        return list(range(tensor.ndim))
    return [_wrapped(each, tensor.ndim) for each in ([dim] if isinstance(dim, int) else dim)]


def signals(function: str, tensor: Any, s: Dims, dim: Dims, to_complex: bool = True) -> tuple[Any, list[int]]:
    """Return the tensor with the sizes `s` along several dimensions, and these dimensions."""
    tensor = spectral_input(tensor, to_complex)
    dims, sizes = _dims_and_sizes(tensor, s, dim)
    if not dims and function != "fftn":
        raise RuntimeError(f"{function} must transform at least one axis")
    return _resized(tensor, dims, sizes), dims


def half_signals(function: str, tensor: Any, s: Dims, dim: Dims) -> tuple[Any, list[int], int]:
    """Return the tensor with the frequencies of real numbers of sizes `s`, the dimensions, and the last size."""
    tensor = spectral_input(tensor, to_complex=True)
    dims, sizes = _dims_and_sizes(tensor, s, dim)
    if not dims:
        raise RuntimeError(f"{function} must transform at least one axis")
    size = sizes[-1]
    if s is None or (s if isinstance(s, int) else s[-1]) == -1:
        size = 2 * (tensor.size(dims[-1]) - 1)
        _check_length(size)
    return _resized(tensor, dims, [*sizes[:-1], size // 2 + 1]), dims, size


def _dims_and_sizes(tensor: Any, s: Dims, dim: Dims) -> tuple[list[int], list[int]]:
    ndim = tensor.ndim
    s = [s] if isinstance(s, int) else s
    if dim is not None:
        dims = signal_dims(tensor, dim)
        if len(set(dims)) < len(dims):
            raise RuntimeError("FFT dims must be unique")
        if s is not None and len(s) != len(dims):
            raise RuntimeError("When given, dim and shape arguments must have the same length")
    else:
        count = ndim if s is None else len(s)
        if count > ndim:
            raise RuntimeError(f"Got shape with {count} values but input tensor only has {ndim} dimensions.")
        dims = list(range(ndim - count, ndim))
    given = [-1] * len(dims) if s is None else s
    sizes = [tensor.size(dim) if size == -1 else size for dim, size in zip(dims, given, strict=True)]
    for size in sizes:
        _check_length(size)
    return dims, sizes


def _resized(tensor: Any, dims: Sequence[int], sizes: Sequence[int]) -> Any:
    """Truncate or zero-pad the tensor to the given sizes."""
    shape = list(tensor.shape)
    for dim, size in zip(dims, sizes, strict=True):
        if size < shape[dim]:
            tensor = tensor.narrow(dim, 0, size)
        shape[dim] = size
    if list(tensor.shape) == shape:
        return tensor
    result = tensor.new_zeros(shape)
    target = result
    for dim in dims:
        target = target.narrow(dim, 0, tensor.size(dim))
    target.copy_(tensor)
    return result


# ---- frequencies --------------------------------------------------------------------------------------------


def frequency_dtype(function: str, dtype: Any) -> Any:
    """Return the dtype of a factory of frequencies: the given or the default one, which must be inexact."""
    chosen = dtype_or_default(dtype)
    if not chosen.is_floating_point and not chosen.is_complex:
        raise RuntimeError(f"{function} requires a floating point or complex dtype")
    return chosen


def frequency_step(n: int, d: float) -> float:
    """Return the distance of adjacent frequencies, `1 / (n * d)`; infinite for a `d` of zero, as in C."""
    return 1 / (n * d) if n * d else math.copysign(math.inf, d)
