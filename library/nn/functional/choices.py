"""Pooling whose windows are drawn, and what puts chosen elements back to where they were."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import TYPE_CHECKING, Any

from ... import _nn_functional
from ..._dispatch.autocast import autocasts
from ..._dispatch.ops import ops
from ..._ops.assertions import assert_explained
from ..._ops.memory_formats import keeps_memory_format
from ..._ops.values import per_dimension

if TYPE_CHECKING:
    from ..._tensor.tensor import Tensor

Sizes = int | Sequence[int]

_COUNTS = {2: "two elements (height, width)", 3: "three elements (depth, height, width)"}


def _each(value: Any, dims: int) -> list[Any]:
    return list(value) if isinstance(value, (tuple, list)) else [value] * dims


# ---- unpooling ----------------------------------------------------------------------------------------------


def _max_unpool(dims: int) -> Callable[..., Tensor]:
    def max_unpool(
        input: Tensor,
        indices: Tensor,
        kernel_size: Sizes,
        stride: Sizes | None = None,
        padding: Sizes = 0,
        output_size: Sequence[int] | None = None,
    ) -> Tensor:
        kernel = _each(kernel_size, dims)
        steps = kernel if stride is None else _each(stride, dims)
        size = _unpooled_size(input, kernel, steps, _each(padding, dims), output_size)
        if dims == 1:  # a line is an image of one column
            return _put_back(input.unsqueeze(-1), indices.unsqueeze(-1), [*size, 1]).squeeze(-1)
        if any(step <= 0 for step in steps) and dims == 3:
            raise RuntimeError(f"strides should be greater than zero, but got stride: {steps}")
        return _put_back(input, indices, size) if dims == 3 else _laid_out(input, indices, size)

    max_unpool.__doc__ = f"""Return the partial inverse of `max_pool{dims}d`: its values at `indices`, among zeros.

    `kernel_size`, `stride` and `padding` are those of the pooling, from which the size of the result follows unless
    `output_size` names one that is less than a stride away. The result has the dtype of `input`. Raises ValueError for
    another size, RuntimeError for an index outside.
    """
    max_unpool.__name__ = max_unpool.__qualname__ = f"max_unpool{dims}d"
    return max_unpool


def _unpooled_size(
    input: Tensor, kernel: list[int], stride: list[int], padding: list[int], output_size: Sequence[int] | None
) -> list[int]:
    dims = len(kernel)
    given = input.shape[-dims:]
    size = [
        (count - 1) * step + extent - 2 * margin
        for count, step, extent, margin in zip(given, stride, kernel, padding, strict=True)
    ]
    if output_size is not None:
        named = output_size[2:] if len(output_size) == dims + 2 else output_size
        if len(named) != dims:
            raise ValueError(
                f"output_size should be a sequence containing {dims} or {dims + 2} elements, but it has a length of "
                f"'{len(named)}'"
            )
        for dim, (each, usual, step) in enumerate(zip(named, size, stride, strict=True)):
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
    return size


@autocasts("float32")
def _put_back(input: Tensor, indices: Tensor, size: list[int]) -> Tensor:
    dims = len(size)
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
    flat = indices.flatten(-dims)
    inside = ops.is_between(flat, 0, prod(size))
    found, shown = "Found an invalid max index", f"(output volumes are of size {'x'.join(map(str, size))})"
    explained = lambda: RuntimeError(f"{found}: {flat[~inside][0].item()} {shown}")  # noqa: E731
    assert_explained(inside, "RuntimeError", f"{found} {shown}", explained)
    result: Tensor = input.new_zeros([*flat.shape[:-1], prod(size)]).scatter(-1, flat, input.flatten(-dims))
    return result.unflatten(-1, size)


_laid_out = keeps_memory_format(1)(_put_back)


# ---- fractional pooling -------------------------------------------------------------------------------------


def _fractional_max_pool(dims: int, with_indices: bool = False) -> Callable[..., Any]:
    name = f"fractional_max_pool{dims}d"

    def pool(
        input: Tensor,
        kernel_size: Sizes,
        output_size: Sizes | None = None,
        output_ratio: float | Sequence[float] | None = None,
        return_indices: bool = False,
        _random_samples: Tensor | None = None,
    ) -> Any:
        if output_size is None and output_ratio is None:
            raise ValueError(f"{name} requires specifying either an output_size or an output_ratio")
        if output_size is None:
            ratios = _each(output_ratio, dims)
            output_size = [int(size * ratio) for size, ratio in zip(input.shape[-dims:], ratios, strict=True)]
        if _random_samples is None:
            batch = 1 if input.ndim == dims + 1 else input.shape[0]
            _random_samples = ops.rand(batch, input.shape[-dims - 1], dims, dtype=input.dtype, device=input.device)
        refused = f"{name}: {{what}} must either be a single Int or tuple of Ints"
        kernel = per_dimension("kernel_size", kernel_size, dims, refused)
        size = per_dimension("output_size", output_size, dims, refused)
        _check_fractional(name, input, kernel, size, _random_samples)
        result = _in_windows(input, kernel, size, _random_samples)
        return result if with_indices or return_indices else result[0]

    what = f"""Return the maxima of windows whose distances are drawn (fractional max pooling), `output_size` of them.

    The number of windows is named, or is `output_ratio` times the size of the input. `_random_samples` (N, C, {dims})
    are the numbers drawn from 0 to 1. With `return_indices` the result has also where each element stands in the
    flattened input. The dtype is that of `input`. Raises ValueError if there is no size, RuntimeError if the windows
    do not fit.
    """
    both = f"""Return what `{name}` does with `return_indices=True`, and raise the same errors."""
    pool.__name__ = pool.__qualname__ = f"{name}_with_indices" if with_indices else name
    pool.__doc__ = both if with_indices else what
    return pool


def _check_fractional(name: str, input: Tensor, kernel: list[int], size: list[int], samples: Tensor) -> None:
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


@autocasts("float32")
def _in_windows(input: Tensor, kernel: list[int], size: list[int], samples: Tensor) -> tuple[Tensor, Tensor]:
    """An image is a volume of depth 1, whose first number is for its columns."""
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
    pool: Any = _nn_functional.max_pool_at
    values, indices = pool(batched, *starts, kernel)
    shape = (*input.shape[:-dims], *size)
    return values.reshape(shape), indices.reshape(shape)


def _starts(sample: Tensor, extent: int, kernel: int, count: int) -> Tensor:
    """Return the first positions (N, C, count) of windows, by the numbers (N, C) that were drawn; the last one ends
    with the input."""
    if count <= 1:
        return sample.new_full((*sample.shape, count), extent - kernel).long()
    step = sample.new_tensor(extent - kernel) / sample.new_tensor(count - 1)
    places = ops.arange(count - 1, dtype=sample.dtype, device=sample.device)
    first = ((places + sample.unsqueeze(-1)) * step).long() - (sample * step).long().unsqueeze(-1)
    last = ops.full_like(first[..., :1], extent - kernel)
    result: Tensor = ops.cat([first, last], -1)
    return result


max_unpool1d, max_unpool2d, max_unpool3d = map(_max_unpool, (1, 2, 3))
fractional_max_pool2d, fractional_max_pool3d = map(_fractional_max_pool, (2, 3))
fractional_max_pool2d_with_indices, fractional_max_pool3d_with_indices = (
    _fractional_max_pool(dims, with_indices=True) for dims in (2, 3)
)

__all__ = [
    "fractional_max_pool2d", "fractional_max_pool2d_with_indices", "fractional_max_pool3d",
    "fractional_max_pool3d_with_indices", "max_unpool1d", "max_unpool2d", "max_unpool3d",
]  # fmt: skip
