"""Windows at distances that are drawn, for the composites of fractional max pooling; messages are torch's."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .._dispatch.ops import ops
from .values import per_dimension

__all__ = ["check_drawn_windows", "drawn_windows", "max_of_drawn_windows"]


def drawn_windows(
    name: str, input: Any, kernel_size: Any, output_size: Any, output_ratio: Any, samples: Any, dims: int
) -> tuple[list[int], list[int], Any]:
    """Return the sizes of windows, their number, and the random numbers (N, C, dims), which are drawn if not given."""
    if output_size is None:
        ratios = output_ratio if isinstance(output_ratio, (tuple, list)) else [output_ratio] * dims
        output_size = [int(size * ratio) for size, ratio in zip(input.shape[-dims:], ratios, strict=True)]
    if samples is None:
        batch = 1 if input.ndim == dims + 1 else input.shape[0]
        samples = ops.rand(batch, input.shape[-dims - 1], dims, dtype=input.dtype)
    refused = f"{name}: {{what}} must either be a single Int or tuple of Ints"
    kernel = per_dimension("kernel_size", kernel_size, dims, refused)
    return kernel, per_dimension("output_size", output_size, dims, refused), samples


def check_drawn_windows(name: str, input: Any, kernel: Sequence[int], size: Sequence[int], samples: Any) -> None:
    """Check windows of the size `kernel`, `size` of them, which are to fit into the input, and the random numbers."""
    dims = len(size)
    shown = name if dims == 2 else f"{name}_out"
    if input.ndim not in (dims + 1, dims + 2):
        raise RuntimeError(f"{shown}(): Expected {dims + 1}D or {dims + 2}D tensor, but got: {list(input.shape)}")
    for dim in range(input.ndim - dims, input.ndim):
        if not input.shape[dim]:
            raise RuntimeError(
                f"{shown}(): Expected input to have non-zero size for non-batch dimensions, but got{list(input.shape)} "
                f"with dimension {dim} being empty."
            )
    if any(extent <= 0 for extent in kernel):
        raise RuntimeError(f"{shown}(): kernel_size should be greater than zero, but got {kernel}")
    for what, count, extent, given in zip(
        ("time", "height", "width")[-dims:], size, kernel, input.shape[-dims:], strict=True
    ):
        if count < 0:
            raise RuntimeError(f"{shown}(): output_size should not be negative, but got {size}")
        if count + extent - 1 > given - (dims == 3):  # torch wants room in volumes
            raise RuntimeError(f"{shown}(): pool {what} {extent} too large relative to input {what} {given}")
    if samples.dtype != input.dtype:
        raise RuntimeError("Expect _random_samples to have the same dtype as input")
    if samples.ndim != 3:
        raise RuntimeError(f"Expect _random_samples to have 3 dimensions, got {samples.ndim}")
    batch = input.shape[0] if input.ndim == dims + 2 else 1
    if samples.shape[0] < batch:
        raise RuntimeError("Expect _random_samples.size(0) no less then input batch size.")
    if samples.shape[1] != input.shape[-dims - 1]:
        raise RuntimeError("Expect _random_samples.size(1) equals to input channel size.")
    if samples.shape[2] != dims:
        raise RuntimeError(f"Expect _random_samples.size(2) equals to {dims}; got {samples.shape[2]}.")


def max_of_drawn_windows(input: Any, kernel: Sequence[int], size: Sequence[int], samples: Any) -> tuple[Any, Any]:
    """Return the largest elements and their positions. An image is a volume of depth 1, whose first random number is
    for its columns."""
    dims = len(size)
    batched = input if input.ndim == dims + 2 else input.unsqueeze(0)
    samples = samples[: batched.shape[0]]
    starts = [
        _starts(samples[..., dim if dims == 3 else 1 - dim], batched.shape[2 + dim], kernel[dim], size[dim])
        for dim in range(dims)
    ]
    if dims == 2:
        batched, kernel = batched.unsqueeze(2), [1, *kernel]
        starts.insert(0, starts[0].new_zeros((*samples.shape[:2], 1)))
    values, indices = ops.max_pool_at(batched, *starts, kernel)
    shape = (*input.shape[:-dims], *size)
    return values.reshape(shape), indices.reshape(shape)


def _starts(sample: Any, extent: int, kernel: int, count: int) -> Any:
    """Return the first positions (N, C, count) of windows, by the numbers (N, C) that were drawn; the last one ends
    with the input."""
    if count <= 1:
        return sample.new_full((*sample.shape, count), extent - kernel).long()
    step = sample.new_tensor(extent - kernel) / sample.new_tensor(count - 1)
    places = ops.arange(count - 1, dtype=sample.dtype)
    first = ((places + sample.unsqueeze(-1)) * step).long() - (sample * step).long().unsqueeze(-1)
    last = ops.full_like(first[..., :1], extent - kernel)
    return ops.cat([first, last], -1)
