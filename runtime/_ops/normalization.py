"""Layer normalization, and checks of softmax and of embedding, for the composites of `nn.functional`; messages are
torch's.
"""

from __future__ import annotations

from math import prod, sqrt
from typing import Any

from .._base.dtypes import EXPORTS
from .._base.warn import warn
from .._dispatch.ops import ops
from .values import is_meta

__all__ = ["check_rows", "chosen_dim", "layer_normalized"]


def chosen_dim(name: str, ndim: int, dim: int | None, stacklevel: int) -> int:
    """Return `dim`, or with a warning the one that torch takes if none is given."""
    if dim is not None:
        return dim
    warn(
        f"Implicit dimension choice for {name} has been deprecated. Change the call to include dim=X as an argument.",
        further=stacklevel - 3,
    )
    return 0 if ndim in (0, 1, 3) else 1


def check_rows(indices: Any, table: Any) -> None:
    dtype = indices.dtype
    if dtype not in (EXPORTS["int64"], EXPORTS["int32"]):
        raise RuntimeError(
            "Expected tensor for argument #1 'indices' to have one of the following scalar types: Long, Int; but got "
            f"opweave.{dtype.scalar_name}Tensor instead (while checking arguments for embedding)"
        )
    if (
        indices.numel()
        and not is_meta(indices)
        and not 0 <= indices.amin().item() <= indices.amax().item() < table.size(0)
    ):
        raise IndexError("index out of range in self")


def layer_normalized(tensor: Any, shape: Any, weight: Any, bias: Any, eps: float) -> Any:
    """Normalize the last dimensions, whose sizes are `shape`, to mean zero and variance one."""
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
    dtype = tensor.dtype
    if not dtype.is_floating_point:
        raise NotImplementedError(f"\"LayerNormKernelImpl\" not implemented for '{dtype.scalar_name}'")
    wide = tensor if dtype.itemsize >= 4 else tensor.to(EXPORTS["float32"])
    dims = list(range(-len(shape), 0))
    centred = wide - wide.mean(dims, keepdim=True)
    spread = centred.norm(2, dims, keepdim=True) / sqrt(prod(shape))
    if eps < 0:
        scale = (spread * spread + eps).sqrt()
    else:  # the square root of the variance plus eps, without their squares, which could overflow
        scale = spread.hypot(ops.full((), sqrt(eps), dtype=wide.dtype))
    result = centred / scale
    if weight is not None:
        result = result * weight
    if bias is not None:
        result = result + bias
    return result if result.dtype is dtype else result.to(dtype)
