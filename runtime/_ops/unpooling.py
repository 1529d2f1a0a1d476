"""Values at the positions from which max pooling took them, for the composites `max_unpool2d` and their like."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

from .._dispatch.ops import ops
from .assertions import assert_explained

__all__ = ["check_unpooling", "put_back", "unpooled_size"]


def _each(value: Any, dims: int) -> list[Any]:
    return list(value) if isinstance(value, (tuple, list)) else [value] * dims


def unpooled_size(
    input: Any, kernel_size: Any, stride: Any, padding: Any, output_size: Sequence[int] | None, dims: int
) -> list[int]:
    """Return the size of what was pooled: `output_size`, or the least one.

    Raises ValueError where `output_size` is a stride or more away from that one, or a size is negative; RuntimeError
    for volumes where a stride is not positive.
    """
    kernel = _each(kernel_size, dims)
    steps = _each(stride, dims) if stride is not None else kernel
    given = input.shape[-dims:]
    size = [
        (count - 1) * step + extent - 2 * margin
        for count, step, extent, margin in zip(given, steps, kernel, _each(padding, dims), strict=True)
    ]
    if output_size is not None:
        named = output_size[2:] if len(output_size) == dims + 2 else output_size
        if len(named) != dims:
            raise ValueError(
                f"output_size should be a sequence containing {dims} or {dims + 2} elements, but it has a length of "
                f"'{len(named)}'"
            )
        for dim, (each, usual, step) in enumerate(zip(named, size, steps, strict=True)):
            if not usual - step < each < usual + step:
                raise ValueError(
                    f'invalid output_size "{named}" (dim {dim} must be between {usual - step} and {usual + step})'
                )
        size = list(named)
    for dim, each in enumerate(size):
        if each < 0:
            raise ValueError(
                "max_unpooling: output_size must contain non-negative spatial dimensions, but got "
                f"output_size[{dim}]={each}"
            )
    if dims == 3 and min(steps) <= 0:
        raise RuntimeError(f"strides should be greater than zero, but got stride: {steps}")
    return size


def check_unpooling(input: Any, indices: Any, dims: int) -> None:
    """Check values and their positions, of which there are as many."""
    if indices.dtype.scalar_name != "Long":
        raise RuntimeError(f"elements in indices should be type int64 but got: {indices.dtype.scalar_name}")
    if input.ndim not in (dims + 1, dims + 2):
        raise RuntimeError(
            f"Input to max_unpooling{dims}d should be a {dims + 1}d or {dims + 2}d Tensor, but got a tensor with "
            f"{input.ndim} dimensions."
        )
    if input.shape != indices.shape:
        raise RuntimeError(
            f"Expected shape of indices to be same as that of the input tensor ({list(input.shape)}) but got indices "
            f"tensor with shape: {list(indices.shape)}"
        )
    for dim in range(input.ndim - dims - 1, input.ndim):
        if not input.shape[dim]:
            raise RuntimeError(
                f"max_unpooling{dims}d_forward_out_cpu(): Expected input to have non-zero size for non-batch "
                f"dimensions, but got {list(input.shape)} with dimension {dim} being empty."
            )


def put_back(input: Any, indices: Any, size: Sequence[int]) -> Any:
    """Return tensors of the size with the input's elements at the positions and zeros elsewhere.

    Raises RuntimeError where a position is outside.
    """
    dims = len(size)
    flat = indices.flatten(-dims)
    inside = ops.is_between(flat, 0, prod(size))
    found, shown = "Found an invalid max index", f"(output volumes are of size {'x'.join(map(str, size))})"

    def explained() -> RuntimeError:
        return RuntimeError(f"{found}: {flat[~inside][0].item()} {shown}")

    assert_explained(inside, "RuntimeError", f"{found} {shown}", explained)
    zeros = input.new_zeros([*flat.shape[:-1], prod(size)])
    return zeros.scatter(-1, flat, input.flatten(-dims)).unflatten(-1, size)
