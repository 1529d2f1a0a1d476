"""The three discrete Fourier transforms that all others are composed of, computed by ducc0 in the memory of tensors.

Several threads share one transform (docs/fft.md).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

from ..._base.dtypes import dtype
from ..._base.handles import wrap
from ..._base.lazy_imports import load
from ..._base.shapes import packed_strides
from ..._C import lib
from ..numpy_bridge import array_of
from ..values import has_values
from .thread_affinity import keep_off_this_core

__all__ = ["complex_transform", "hermitian_transform", "real_transform"]

_ELEMENTS_TO_SHARE = 1 << 14
"""The number of elements from which threads save more time than they cost."""


@cache
def _library() -> Any:
    """Return `ducc0.fft`, which is imported for the first transform."""
    return load("ducc0").fft


def _threads(tensor: Any) -> int:
    count = lib.get_num_threads() if tensor.numel() >= _ELEMENTS_TO_SHARE else 1
    if count > 1:
        keep_off_this_core()
    return count


def complex_transform(tensor: Any, dims: Sequence[int], normalization: int, forward: bool) -> Any:
    """Complex FFT over `dims`. normalization: 0 none, 1 divide by sqrt(n), 2 divide by n."""
    if not dims:
        return tensor.clone()
    dims = _slowest_first(tensor, dims)
    result = _allocated(tensor, tensor.shape, dims, tensor.dtype)
    if result.numel() and has_values(result):
        _library().c2c(
            array_of(tensor),
            axes=dims,
            forward=forward,
            inorm=normalization,
            out=array_of(result),
            nthreads=_threads(tensor),
        )
    return result


def real_transform(tensor: Any, dims: Sequence[int], normalization: int, onesided: bool) -> Any:
    """FFT of real numbers over `dims`; if `onesided`, only the frequencies of the last dimension that determine the
    others.
    """
    *others, last = dims
    others = _slowest_first(tensor, others)
    shape = list(tensor.shape)
    count = shape[last] // 2 + 1
    if onesided:
        shape[last] = count
    result = _allocated(tensor, shape, [*others, last], tensor.dtype.to_complex())
    if not result.numel() or not has_values(result):
        return result
    library, threads, source, target = _library(), _threads(tensor), array_of(tensor), array_of(result)
    if onesided:
        library.r2c(source, axes=[*others, last], inorm=normalization, out=target, nthreads=threads)
        return result
    half = array_of(result.narrow(last, 0, count))
    library.r2c(source, axes=[last], inorm=normalization, out=half, nthreads=threads)
    _mirror(target.swapaxes(last, -1), count)
    if others:
        library.c2c(target, axes=others, inorm=normalization, out=target, nthreads=threads)
    return result


def hermitian_transform(tensor: Any, dims: Sequence[int], normalization: int, size: int) -> Any:
    """Inverse of the onesided `real_transform`, with a real result of `size` elements along the last of `dims`."""
    *others, last = dims
    if others:
        tensor = complex_transform(tensor, others, normalization, False)
    shape = list(tensor.shape)
    shape[last] = size
    result = _allocated(tensor, shape, [last], tensor.dtype.to_real())
    if result.numel() and has_values(result):
        _library().c2r(
            array_of(tensor),
            axes=[last],
            lastsize=size,
            forward=False,
            inorm=normalization,
            out=array_of(result),
            nthreads=_threads(result),
        )
    return result


def _mirror(lines: Any, count: int) -> None:
    """Fill in the rest of each spectrum of real numbers, whose first `count` elements are given."""
    np = load("numpy")
    missing = lines.shape[-1] - count
    np.conjugate(lines[..., missing:0:-1], out=lines[..., count:])


def _slowest_first(tensor: Any, dims: Sequence[int]) -> list[int]:
    if len(dims) < 2:
        return [*dims]
    strides = tensor.stride()
    return sorted(dims, key=lambda dim: -strides[dim])


def _allocated(tensor: Any, shape: Sequence[int], dims: Sequence[int], dtype: dtype) -> Any:
    """Allocate a result in torch's memory order: signals contiguous, the other dimensions ordered as in the input."""
    others = _slowest_first(tensor, [dim for dim in range(len(shape)) if dim not in dims])
    return wrap(lib.empty_strided(shape, packed_strides(shape, [*others, *dims]), len(shape), dtype.code))
