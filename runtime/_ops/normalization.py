"""Layer normalization, and checks of softmax and of embedding, for the composites of `nn.functional`; messages are
torch's.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import takewhile
from math import prod
from typing import Any

from .._base.dtypes import EXPORTS
from .._base.finfo import finfo
from .._base.warn import warn
from .._dispatch.ops import ops
from .values import wide

__all__ = [
    "all_but_channels",
    "beside",
    "by_running_statistics",
    "check_channels",
    "check_groups",
    "check_normalized",
    "check_rows",
    "check_sizes_normalized",
    "chosen_dim",
    "dimensions_of_channels",
    "grouped",
    "move_statistics",
    "normalization_arguments",
    "of_no_elements",
    "padding_row",
    "rounding_of",
    "rows_of_channels",
    "statistics_of",
    "sums_of_channels",
]

_LEAST_ROW = 16
"""The number of elements from which a row is worth a step of its own."""


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
    """Check the indices of rows of a table. Raises RuntimeError for another dtype than int64 and int32, IndexError
    where one is outside."""
    dtype = indices.dtype
    if dtype not in (EXPORTS["int64"], EXPORTS["int32"]):
        raise RuntimeError(
            "Expected tensor for argument #1 'indices' to have one of the following scalar types: Long, Int; but got "
            f"opweave.{dtype.scalar_name}Tensor instead (while checking arguments for embedding)"
        )
    ops.assert_values(ops.is_between(indices, 0, table.size(0)), "IndexError", "index out of range in self")


def check_normalized(tensor: Any, shape: Any, weight: Any, bias: Any) -> None:
    """Check what is normalized to mean zero."""
    check_sizes_normalized(tensor, shape, weight, bias)
    if not tensor.dtype.is_floating_point:
        raise NotImplementedError(f"\"LayerNormKernelImpl\" not implemented for '{tensor.dtype.scalar_name}'")


def check_sizes_normalized(tensor: Any, shape: Any, weight: Any, bias: Any) -> None:
    """Check the last dimensions, whose sizes are to be `shape`, as those of weight and bias."""
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


def check_groups(input: Any, groups: int, weight: Any, bias: Any, given: list[int] | None = None) -> None:
    """Check the input, which had the shape `given` where it was another one."""
    shape = list(input.shape) if given is None else given
    if input.ndim < 2:
        raise RuntimeError(f"Expected at least 2 dimensions for input tensor but received {input.ndim}")
    channels = input.size(1)
    if groups <= 0:
        raise RuntimeError("Expected num groups to be greater than 0, got " + str(groups))
    if channels % groups:
        raise RuntimeError(
            "Expected number of channels in input to be divisible by num_groups, but got input of shape "
            f"{shape} and num_groups={groups}"
        )
    for name, each in (("weight", weight), ("bias", bias)):
        if each is not None and (each.ndim != 1 or each.numel() != channels):
            raise RuntimeError(
                f"Expected {name} to be a vector of size equal to the number of channels in input, but got {name} of "
                f"shape {list(each.shape)} and input of shape {shape}"
            )


def check_channels(
    input: Any, mean: Any, var: Any, weight: Any, bias: Any, training: bool, several: bool = True
) -> None:
    """Check sizes, and when training that channels have `several` values."""
    if training and several:
        size = input.numel() // input.size(1) if input.ndim > 1 and input.size(1) else 0
        if size == 1:
            raise ValueError(f"Expected more than 1 value per channel when training, got input size {input.shape}")
    elif not training and (mean is None or var is None):
        missing = "running_mean" if mean is None else "running_var"
        raise RuntimeError(f"{missing} must be defined in evaluation mode")
    if input.ndim < 2:
        raise RuntimeError(f"batch_norm() takes an input of at least 2 dimensions, but got one of {input.ndim}")
    for name, each in (("running_mean", mean), ("running_var", var), ("weight", weight), ("bias", bias)):
        if each is not None and each.numel() != input.size(1):
            raise RuntimeError(f"{name} should contain {input.size(1)} elements not {each.numel()}")


def grouped(input: Any, groups: int) -> Any:
    """Return the input with dimensions of batch, groups, channels of a group, and elements of a channel."""
    batch, channels, *rest = input.shape
    # Rows that consist of pieces are read more slowly than they are copied together.
    return input.contiguous().reshape(batch, groups, channels // groups, prod(rest))


def beside(vector: Any, tensor: Any) -> Any:
    """Return a vector over channels, in the second of the dimensions that the tensor has."""
    return None if vector is None else vector.reshape(-1, *(1,) * (tensor.ndim - 2))


def normalization_arguments(input: Any, weight: Any, bias: Any) -> tuple[Any, Any, Any]:
    """Return the three tensors, with one and zero for a weight and a bias that are not there."""
    numbers = wide(input)
    weight = numbers.new_ones(()) if weight is None else weight
    return numbers, weight, numbers.new_zeros(()) if bias is None else bias


def rounding_of(tensor: Any) -> float:
    """Return the distance from 1 to the next number of the dtype."""
    return float(finfo(tensor.dtype).eps)


def all_but_channels(input: Any) -> list[int]:
    """Return the dimensions over which channels, the second one, are normalized."""
    return [dim for dim in range(input.ndim) if dim != 1]


def by_running_statistics(input: Any, mean: Any, var: Any, weight: Any, bias: Any, eps: float) -> Any:
    """Return each channel less its mean, divided by its deviation, times its weight, plus its bias: in one pass."""
    factor = (var + eps).rsqrt()
    if weight is not None:
        factor = factor * weight
    offset = -mean * factor if bias is None else bias - mean * factor
    return ops.addcmul(beside(offset, input), input, beside(factor, input)).to(input.dtype)


def statistics_of(input: Any, of: Sequence[Any], *values: Any) -> tuple[Any, ...]:
    """Return statistics as results without gradients, in float32 where one of the tensors `of` that come with a half
    input has it."""
    is_mixed = any(each is not None and each.dtype is not input.dtype for each in of)
    return tuple(each.detach().to(EXPORTS["float32"] if is_mixed else input.dtype) for each in values)


def of_no_elements(input: Any, weight: Any, bias: Any) -> Any:
    """Return the input, which has no statistics, with a history: the gradients of the weight and the bias are zeros."""
    centre = wide(input).new_zeros(input.size(1))
    return by_running_statistics(input, centre, ops.ones_like(centre), weight, bias, 0.0)


def dimensions_of_channels(input: Any, dims: Sequence[int], *shapes: Sequence[int]) -> list[int]:
    """Return the dimensions of normalized rows, counted from the end, along which tensors of the other shapes stay the
    same."""
    rows = (dim % input.ndim - input.ndim for dim in dims)
    return [dim for dim in rows if all(-dim > len(shape) or shape[dim] == 1 for shape in shapes)]


def sums_of_channels(slope: Any, input: Any, centre: Any, dims: list[int]) -> Any:
    """Return the sums of `slope` times the distance of the input from the centre, and of `slope`, over dimensions."""
    if prod(input.shape[dim] for dim in dims) == 1:
        return slope * (input - centre), slope
    return ops.centred_sums(slope, input, centre, dims, True)


def rows_of_channels(input: Any, factor: Any) -> list[int]:
    """Return the last dimensions of the input, counted from the end, along which factors of channels stay the same;
    none where they are too short to be rows, or do not follow each other in memory."""
    dims = list(takewhile(lambda dim: -dim > factor.ndim or factor.size(dim) == 1, range(-1, -input.ndim - 1, -1)))
    is_row = input.is_contiguous() and prod(input.shape[dim] for dim in dims) >= _LEAST_ROW
    return dims if is_row else []


def move_statistics(mean: Any, var: Any, centre: Any, variance: Any, input: Any, momentum: float) -> None:
    """Move running statistics towards those of a batch, whose variance is that of a sample."""
    count = input.numel() // max(input.size(1), 1)
    scale = count / (count - 1) if count > 1 else 1.0
    for running, value, factor in ((mean, centre, 1.0), (var, variance, scale)):
        if running is not None:
            moved = value.detach().reshape(-1).to(running.dtype)
            running.mul_(1 - momentum).add_(moved, alpha=momentum * factor)


def padding_row(padding: int, rows: int) -> int:
    """Return the place of the row that has no gradient, counted from the front."""
    if not -rows <= padding < rows:
        raise AssertionError("Padding_idx must be within num_embeddings")
    return padding % rows
