"""Norms, and tables of rows, for the composites of `nn.functional`; messages are those of torch."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from .arrays import array_of, tensor_of
from .dtypes import EXPORTS

__all__ = ["check_rows", "layer_normalized", "taken", "vector_norms"]


def vector_norms(tensor: Any, p: float, dims: Sequence[int]) -> Any:
    """p-norms along dimensions, which stay with size one."""
    sizes = tensor.abs()
    if math.isinf(p):
        return sizes.amax(dims, keepdim=True)
    if p == 0:
        return (sizes != 0).sum(dims, keepdim=True).to(tensor.dtype)
    if p == 1:
        return sizes.sum(dims, keepdim=True)
    if p == 2:
        return (tensor * tensor).sum(dims, keepdim=True).sqrt_()
    return (sizes**p).sum(dims, keepdim=True) ** (1 / p)


def taken(tensor: Any, places: Any) -> Any:
    """The rows of `tensor` at `places`, a tensor or a list."""
    rows = array_of(places) if hasattr(places, "_h") else places
    import numpy

    array = array_of(tensor.contiguous())
    return tensor_of(array.take(numpy.asarray(rows, numpy.int64), axis=0), tensor.dtype)


def check_rows(places: Any, table: Any) -> None:
    of = places.dtype
    if of not in (EXPORTS["int64"], EXPORTS["int32"]):
        raise RuntimeError(
            "Expected tensor for argument #1 'indices' to have one of the following scalar types: Long, Int; but got "
            f"opweave.{of.scalar_name}Tensor instead (while checking arguments for embedding)"
        )
    if places.numel() and not 0 <= places.amin().item() <= places.amax().item() < table.size(0):
        raise IndexError("index out of range in self")


def layer_normalized(tensor: Any, shape: Any, weight: Any, bias: Any, eps: float) -> Any:
    """Mean zero and variance one over the last dimensions, which `shape` repeats."""
    shape = list(shape)
    if not shape:
        raise RuntimeError(
            "Expected normalized_shape to be at least 1-dimensional, i.e., containing at least one element, but got "
            "normalized_shape = []"
        )
    for name, each in (("weight", weight), ("bias", bias)):
        if each is not None and list(each.shape) != shape:
            raise RuntimeError(
                f"Expected {name} to be of same shape as normalized_shape, but got {name} of shape "
                f"{list(each.shape)} and normalized_shape = {shape}"
            )
    if list(tensor.shape[-len(shape) :]) != shape:
        raise RuntimeError(
            f"Given normalized_shape={shape}, expected input with shape [*, {', '.join(map(str, shape))}], but got "
            f"input of size{list(tensor.shape)}"
        )
    of = tensor.dtype
    if not of.is_floating_point:
        raise NotImplementedError(f"\"LayerNormKernelImpl\" not implemented for '{of.scalar_name}'")
    wide = tensor if of.itemsize >= 4 else tensor.to(EXPORTS["float32"])
    dims = list(range(-len(shape), 0))
    centred = wide - wide.mean(dims, keepdim=True)
    result = centred.mul_(((centred * centred).mean(dims, keepdim=True) + eps).rsqrt_())
    if weight is not None:
        result = result * weight
    if bias is not None:
        result = result + bias
    return result if result.dtype is of else result.to(of)
