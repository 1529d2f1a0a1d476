"""Convolutions of any number of dimensions as the operators that compute them; messages are torch's."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

from .._base.types import channels_last, contiguous_format
from .._dispatch.ops import ops
from .memory_formats import channels_back, channels_moved, in_memory_format, suggested_format
from .values import is_narrow, per_dimension

_FAR = 2**62
"""The least size whose double exceeds int64."""

_LEAST_CHANNELS = 16
"""Lines of fewer channels take longer than copies in C order."""

_SHORT_LINE, _LEAST_COPIED = 8, 2**15
"""Depthwise convolutions to lines of fewer elements, with a stride to lines twice as long, take longer than those of a
copy whose channels are last, unless images have fewer elements."""

__all__ = ["check_time_first", "convolution_of", "convolution_with_padding", "transposed_convolution"]


def _per_dimension(what: str, value: Any, dims: int) -> list[int]:
    message = f"a list of {dims} values to match the convolution dimensions, but got {{what}}={{given}}"
    return per_dimension(what, value, dims, "expected {what} to be a single integer value or " + message)


def convolution_of(dims: int, transposed: bool) -> Any:
    """Return the operator for as many dimensions besides batch and channels."""
    return getattr(ops, f"conv_transpose{dims}d" if transposed else f"conv{dims}d")


def convolution_with_padding(
    name: str, input: Any, weight: Any, bias: Any, stride: Any, padding: Any, dilation: Any, groups: int
) -> Any:
    """Return the convolution of an input (N, C, *) or (C, *) with weights (O, C / groups, *)."""
    dims = _dims(name, input, weight, bias)
    stride, dilation = _per_dimension("stride", stride, dims), _per_dimension("dilation", dilation, dims)
    if isinstance(padding, str):
        input, padding = _named_padding(padding, input, weight, stride, dilation)
    padding = _per_dimension("padding", padding, dims)
    _check_numbers(stride, padding, dilation, groups)
    _check_weight(input, weight, bias, groups)
    _check_kernel(input, weight, padding, dilation)
    _check_extent(input, dims)
    if _is_product_of_pixels(input, weight, stride, padding, groups):
        return channels_back(ops.linear(channels_moved(input)[0], weight.flatten(1), bias), True)
    weights = _weights_of_channels(input, weight, groups)
    if weights is None and _has_short_lines(input, weight, stride, padding, dilation, groups):
        input = ops.with_gradient_format(input, contiguous_format) if input.requires_grad else input
        input = in_memory_format(input, channels_last)
        weights = _weights_of_channels(input, weight, groups)
    if weights is not None:
        by_channels = ops.convolve_channels2d if weights.ndim == 4 else ops.convolve_each_channel2d
        return channels_back(by_channels(input.movedim(1, -1), weights, bias, stride, padding, dilation), True)
    if dims == 1:
        stride, padding, dilation = [1, *stride], [0, *padding], [1, *dilation]
    added = None if bias is None else bias.unflatten(0, (groups, bias.shape[0] // groups))
    convolve = ops.convolve3d if dims == 3 else ops.convolve2d
    grouped, weights = _with_groups(input, weight, groups, dims)
    return _without_groups(convolve(grouped, weights, added, stride, padding, dilation), weight)


def transposed_convolution(
    name: str,
    input: Any,
    weight: Any,
    bias: Any,
    stride: Any,
    padding: Any,
    output_padding: Any,
    groups: int,
    dilation: Any,
) -> Any:
    """Return what the convolution of a result (N, O, *) or (O, *) with weights (C, O / groups, *) has as its gradient
    where that of the convolution is the input, (N, C, *) or (C, *)."""
    dims = _dims(name, input, weight, bias)
    stride, dilation = _per_dimension("stride", stride, dims), _per_dimension("dilation", dilation, dims)
    padding = _per_dimension("padding", padding, dims)
    more = _per_dimension("output_padding", output_padding, dims)
    _check_numbers(stride, padding, dilation, groups)
    _check_transposed(input, weight, bias, groups)
    _check_extent(input, dims)
    sizes = _transposed_sizes(input, weight, stride, padding, more, dilation)
    weights = _weights_of_channels(input, weight, groups)
    if weights is not None:
        by_channels = (
            ops.convolve_channels2d_backward_self if weights.ndim == 4 else ops.convolve_each_channel2d_backward_self
        )
        shape = [input.shape[0], *sizes, weights.shape[-1]]
        result = by_channels(input.movedim(1, -1), weights, stride, padding, dilation, shape)
        return channels_back(result if bias is None else result + bias, True)
    if dims == 1:
        stride, padding, dilation, sizes = [1, *stride], [0, *padding], [1, *dilation], [1, *sizes]
    grouped, weights = _with_groups(input, weight, groups, dims)
    shape = [*grouped.shape[: -len(sizes) - 1], weights.shape[2], *sizes]
    by_self = ops.convolve3d_backward_self if dims == 3 else ops.convolve2d_backward_self
    return _without_groups(by_self(grouped, weights, stride, padding, dilation, shape), weight, bias)


# ---- channels that are last -----------------------------------------------------------------------------------


def _is_product_of_pixels(input: Any, weight: Any, stride: list[int], padding: list[int], groups: int) -> bool:
    """Return True if the convolution is a product of matrices with a row for each pixel, as it lies in memory. That of
    halves is none, as their products are rounded before the bias is added."""
    if groups != 1 or input.itemsize < 4 or weight.numel() != weight.shape[0] * weight.shape[1] or input.has_names():
        return False
    return channels_moved(input)[1] and {1} == {*stride} and not any(padding)


def _weights_of_channels(input: Any, weight: Any, groups: int) -> Any:
    """Return the weights for kernels of images whose channels are last, as their own are then, if these suit the call;
    else None. Weights (K, K, C) are those of each channel."""
    dtype = input.dtype
    if suggested_format(input, weight) is not channels_last or not (dtype.is_floating_point or dtype.is_complex):
        return None
    if input.ndim != 4 or input.has_names() or weight.has_names():
        return None
    if groups == 1:
        return weight.movedim(1, -1) if min(weight.shape[:2]) >= _LEAST_CHANNELS else None
    of_each = weight.shape[1] == 1 and weight.shape[0] == groups >= _LEAST_CHANNELS
    return weight.squeeze(1).movedim(0, -1) if of_each else None


def _has_short_lines(
    input: Any, weight: Any, stride: list[int], padding: list[int], dilation: list[int], groups: int
) -> bool:
    """Return True if the convolution is depthwise and its lines are too short for vectors."""
    if groups == 1 or weight.shape[1] != 1 or (input.ndim, weight.ndim) != (4, 4) or input.numel() < _LEAST_COPIED:
        return False
    extent = input.shape[-1] + 2 * padding[1] - dilation[1] * (weight.shape[-1] - 1) - 1
    return bool(extent // stride[1] + 1 < _SHORT_LINE * min(stride[1], 2))


def check_time_first(input: Any, weight: Any, bias: Any, pad: int) -> None:
    """Check the arguments of `conv_tbc`. Raises RuntimeError for shapes that do not fit."""
    if input.ndim != 3:
        raise RuntimeError(f"Input must have 3 dims: time, batch, in_channel, but got size {list(input.shape)}")
    if weight.ndim != 3:
        raise RuntimeError(
            f"Weight tensor must have 3 dims: kernel_width, in_channels, out_channels, but got {list(weight.shape)}"
        )
    if bias.ndim != 1:
        raise RuntimeError(f"Bias must be 1-D, but got size {list(bias.shape)}")
    if input.shape[2] != weight.shape[1]:
        raise RuntimeError(
            "Input dim 2 (input channels) is not == dim 1 in the weight tensor, with sizes "
            f"{list(input.shape)} and {list(weight.shape)}"
        )
    if weight.shape[2] != bias.shape[0]:
        raise RuntimeError(
            "Bias size must equal dim 2 in the weight tensor (output channels), with sizes "
            f"{list(bias.shape)} and {list(weight.shape)}"
        )
    if input.shape[0] + 2 * pad - weight.shape[0] + 1 <= 0:
        raise RuntimeError(
            f"a kernel of {weight.shape[0]} is longer than {input.shape[0]} steps with {pad} zeros on both sides"
        )


# ---- groups -------------------------------------------------------------------------------------------------


def _with_groups(input: Any, weight: Any, groups: int, dims: int) -> tuple[Any, Any]:
    """The tensors with a dimension of groups, in front of the channels and of the outputs. A line is an image of one
    row. Kernels multiply integers of 64 bits alone; what wraps in these, wraps to the same in fewer."""
    if is_narrow(input):
        input, weight = input.long(), weight.long()
    if dims == 1:
        input, weight = input.unsqueeze(-2), weight.unsqueeze(-2)
    channels = 1 - weight.ndim
    grouped = input.unflatten(channels, (groups, input.shape[channels] // groups))
    return grouped, weight.unflatten(0, (groups, weight.shape[0] // groups))


def _without_groups(result: Any, weight: Any, bias: Any = None) -> Any:
    """The result of an operator as that of a convolution with these weights; the bias is added."""
    result = result.to(weight.dtype)
    dims = weight.ndim - 2
    channels = -max(dims, 2) - 1
    result = result.flatten(channels - 1, channels)
    result = result.squeeze(-2) if dims == 1 else result
    return result if bias is None else result + bias.reshape(-1, *[1] * dims)


# ---- padding by name ----------------------------------------------------------------------------------------


def _named_padding(
    name: str, input: Any, weight: Any, stride: Sequence[int], dilation: Sequence[int]
) -> tuple[Any, list[int]]:
    """The input and the margins that `valid` and `same` stand for. Where these are not the same before and after, the
    input gets a margin first."""
    dims = weight.ndim - 2
    if name == "valid":
        return input, [0] * dims
    if name != "same":
        raise RuntimeError(f"Invalid padding string: '{name}'")
    if any(step != 1 for step in stride):
        raise RuntimeError("padding='same' is not supported for strided convolutions")
    totals = [gap * (kernel - 1) for gap, kernel in zip(dilation, weight.shape[2:], strict=True)]
    if any(total % 2 for total in totals):
        input = ops.pad(input, [margin for total in reversed(totals) for margin in (0, total % 2)])
    return input, [total // 2 for total in totals]


# ---- checks -------------------------------------------------------------------------------------------------


def _check_numbers(stride: list[int], padding: list[int], dilation: list[int], groups: int) -> None:
    if groups <= 0:
        raise RuntimeError("non-positive groups is not supported")
    if any(margin < 0 for margin in padding):
        raise RuntimeError("negative padding is not supported")
    if any(margin >= _FAR for margin in padding):
        at = next(place for place, margin in enumerate(padding) if margin >= _FAR)
        raise RuntimeError(f"Given padding={padding[at]} at dimension {at}, expected padding to be at most {_FAR - 1}")
    if any(step <= 0 for step in stride):
        raise RuntimeError("non-positive stride is not supported")
    if any(gap <= 0 for gap in dilation):
        raise RuntimeError(f"dilation should be greater than zero, but got {dilation}")


def _dims(name: str, input: Any, weight: Any, bias: Any) -> int:
    """The dimensions that an operator of this name convolves, of which its tensors must have the right number."""
    dims = int(name[-2])
    if bias is not None and bias.dtype != input.dtype:
        raise RuntimeError(
            f"Input type ({_element(input.dtype)}) and bias type ({_element(bias.dtype)}) should be the same"
        )
    if input.ndim not in (dims + 1, dims + 2):
        raise RuntimeError(
            f"Expected {dims + 1}D (unbatched) or {dims + 2}D (batched) input to {name}, but got input of size: "
            f"{list(input.shape)}"
        )
    if weight.ndim < 3:
        raise RuntimeError("weight should have at least three dimensions")
    if weight.ndim != dims + 2:
        raise RuntimeError(
            f"Expected {weight.ndim}-dimensional input for {weight.ndim}-dimensional weight {list(weight.shape)}, but "
            f"got {input.ndim}-dimensional input of size {list(input.shape)} instead"
        )
    if weight.dtype != input.dtype:
        raise RuntimeError(f"expected scalar type {input.dtype.scalar_name} but found {weight.dtype.scalar_name}")
    return dims


def _element(dtype: Any) -> str:
    """Return the C++ name of a dtype's elements."""
    name: str = dtype.scalar_name
    if name.startswith("Complex"):
        return f"c10::complex<{name.removeprefix('Complex').lower()}>"
    return name.lower() if name in ("Float", "Double") else f"c10::{name}"


def _check_weight(input: Any, weight: Any, bias: Any, groups: int) -> None:
    size, channels = list(weight.shape), input.shape[1 - weight.ndim]
    if size[0] < 1 or prod(size[2:]) < 1:
        at = next(index for index, each in enumerate(size) if each < 1 and index != 1)
        raise RuntimeError(
            f"Given groups={groups}, expected weight to be at least 1 at dimension {at}, but got weight of size {size} "
            "instead"
        )
    if size[0] % groups:
        raise RuntimeError(
            f"Given groups={groups}, expected weight to be divisible by {groups} at dimension 0, but got weight of "
            f"size [{size}] instead"
        )
    if channels != size[1] * groups:
        raise RuntimeError(
            f"Given groups={groups}, weight of size {size}, expected input{list(input.shape)} to have "
            f"{size[1] * groups} channels, but got {channels} channels instead"
        )
    _check_bias("", size, bias, size[0])


def _check_transposed(input: Any, weight: Any, bias: Any, groups: int) -> None:
    size, channels = list(weight.shape), input.shape[1 - weight.ndim]
    if size[0] % groups:
        raise RuntimeError(
            f"Given groups={groups}, expected weight to be divisible by {groups} at dimension 0, but got weight of "
            f"size [{size}] instead"
        )
    if channels != size[0]:
        raise RuntimeError(
            f"Given transposed=1, weight of size {size}, expected input{list(input.shape)} to have {size[0]} channels, "
            f"but got {channels} channels instead"
        )
    _check_bias("transposed=1, ", size, bias, size[1] * groups)


def _check_bias(kind: str, size: list[int], bias: Any, outputs: int) -> None:
    if bias is not None and list(bias.shape) != [outputs]:
        raise RuntimeError(
            f"Given {kind}weight of size {size}, expected bias to be 1-dimensional with {outputs} elements, but got "
            f"bias of size {list(bias.shape)} instead"
        )


def _check_kernel(input: Any, weight: Any, padding: list[int], dilation: list[int]) -> None:
    padded = [size + 2 * margin for size, margin in zip(input.shape[2 - weight.ndim :], padding, strict=True)]
    kernel = [gap * (size - 1) + 1 for size, gap in zip(weight.shape[2:], dilation, strict=True)]
    if any(size < extent for size, extent in zip(padded, kernel, strict=True)):
        given, extents = (" x ".join(map(str, each)) for each in (padded, kernel))
        raise RuntimeError(
            f"Calculated padded input size per channel: ({given}). Kernel size: ({extents}). "
            "Kernel size can't be greater than actual input size"
        )


def _check_extent(input: Any, dims: int) -> None:
    if 0 in input.shape[-dims:]:
        raise RuntimeError(
            f"Only zero batch or zero channel inputs are supported, but got input shape: {list(input.shape)}"
        )


def _transposed_sizes(
    input: Any, weight: Any, stride: list[int], padding: list[int], more: list[int], dilation: list[int]
) -> list[int]:
    if any(extra < 0 for extra in more):
        raise RuntimeError("negative output_padding is not supported")
    if any(extra >= step and extra >= gap for extra, step, gap in zip(more, stride, dilation, strict=True)):
        raise RuntimeError(
            "output padding must be smaller than either stride or dilation, but got "
            f"output_padding={more}, stride={stride}, dilation={dilation}"
        )
    given = input.shape[2 - weight.ndim :]
    steps = zip(given, stride, padding, dilation, weight.shape[2:], more, strict=True)
    sizes = [
        (size - 1) * step - 2 * margin + gap * (kernel - 1) + extra + 1
        for size, step, margin, gap, kernel, extra in steps
    ]
    if any(not 1 <= size < 2**63 for size in sizes):
        before, after = (" x ".join(map(str, each)) for each in (given, sizes))
        raise RuntimeError(
            f"Given input size per channel: ({before}). Calculated output size per channel: ({after}). "
            f"Output size is too {'small' if min(sizes) < 1 else 'large'}"
        )
    return sizes
