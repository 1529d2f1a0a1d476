"""Arguments of the operators over windows: sizes of results, and checks with torch's messages.

A signal is an image of one row: so there are operators for images and volumes alone.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import Any

from .._base.dtypes import EXPORTS
from .._dispatch.ops import ops
from .memory_formats import channels_back, channels_moved
from .values import is_narrow, per_dimension, wide

__all__ = [
    "by_channels",
    "check_max_pool1d",
    "fold_arguments",
    "gradient_of_chosen",
    "gradient_of_resampled",
    "max_arguments",
    "max_of_one_part",
    "max_of_one_window",
    "mean_arguments",
    "mean_of_one_window",
    "means_of_parts",
    "norms_of_windows",
    "parts_arguments",
    "quotients",
    "window_arguments",
]

_MOST = 2**31 - 1
"""The largest kernel, stride, padding and dilation, as in torch."""
_FEW = 16
"""Elements side by side that fill less than one vector."""
_WORDS = {1: "a single int", 2: "a tuple of two ints", 3: "a tuple of three ints"}


def _per_dimension(name: str, what: str, value: Any, dims: int) -> list[int]:
    return per_dimension(what, value, dims, f"{name}: {{what}} must either be a single int, or {_WORDS[dims]}")


def _check_image(name: str, input: Any, dims: int) -> None:
    """The dimensions besides that of the batch must not be empty."""
    if input.ndim not in (dims + 1, dims + 2) or 0 in input.shape[-dims - 1 :]:
        prefix = f"{name}: " if dims == 1 else ""
        raise RuntimeError(
            f"{prefix}Expected {dims + 1}D or {dims + 2}D (batch mode) tensor with optional 0 dim batch size for "
            f"input, but got:{list(input.shape)}"
        )


def _as_image(input: Any, *lists: list[int], fills: Sequence[int]) -> tuple[Any, ...]:
    """A signal as an image of one row, and the numbers for its rows in front of those for its columns."""
    if len(lists[0]) > 1:
        return (input, *lists)
    return (input.unsqueeze(-2), *([fill, *each] for each, fill in zip(lists, fills, strict=True)))


# ---- pooling ------------------------------------------------------------------------------------------------


def _pooled_size(size: int, kernel: int, stride: int, padding: int, dilation: int, ceil_mode: bool) -> int:
    """The number of windows; none begins behind the padding on the far side."""
    room = size + 2 * padding - dilation * (kernel - 1) - 1
    count = (room + (stride - 1 if ceil_mode else 0)) // stride + 1
    return count - 1 if ceil_mode and (count - 1) * stride >= size + padding else count


def _pooled(
    name: str, input: Any, dims: int, kernel: Any, stride: Any, padding: Any, dilation: Any, ceil_mode: bool
) -> tuple[list[int], list[int], list[int], list[int], list[int]]:
    """Kernel, stride, padding, dilation and size of the result, for each dimension."""
    kernel = _per_dimension(name, "kernel_size", kernel, dims)
    stride = _per_dimension(name, "stride", stride, dims) if isinstance(stride, int) or len(stride) else kernel
    padding = _per_dimension(name, "padding", padding, dims)
    dilation = _per_dimension(name, "dilation", dilation, dims)
    _check_image(name, input, dims)
    for what, values in {"kernel_size": kernel, "stride": stride, "padding": padding, "dilation": dilation}.items():
        if not -_MOST - 1 <= min(values) <= max(values) <= _MOST:
            raise RuntimeError(
                f"{name}: value cannot be converted to type int without overflow: expected numbers of 32 bits for "
                f"{what}, but got {values}"
            )
    if any(each <= 0 for each in kernel):
        raise RuntimeError(f"kernel size should be greater than zero, but got {kernel}")
    if any(each <= 0 for each in stride):
        raise RuntimeError("stride should not be zero" if 0 in stride else f"stride must be positive, but got {stride}")
    if any(each <= 0 for each in dilation):
        raise RuntimeError(f"dilation should be greater than zero, but got {dilation}")
    for extent, margin, gap in zip(kernel, padding, dilation, strict=True):
        if margin < 0:
            raise RuntimeError(f"pad must be non-negative, but got pad: {margin}")
        if margin > ((extent - 1) * gap + 1) // 2:
            raise RuntimeError(
                f"pad should be at most half of effective kernel size, but got pad={margin}, kernel_size={extent} and "
                f"dilation={gap}"
            )
    if any(margin > extent // 2 for extent, margin in zip(kernel, padding, strict=True)):
        raise RuntimeError(
            f"pad should be smaller than or equal to half of kernel size, but got {_margins(kernel, padding)}"
        )
    given = input.shape[-dims:]
    size = [
        _pooled_size(*each, ceil_mode=ceil_mode) for each in zip(given, kernel, stride, padding, dilation, strict=True)
    ]
    if any(each < 1 for each in size):
        planes = input.shape[-dims - 1]
        before, after = ("x".join(map(str, (planes, *each))) for each in (given, size))
        raise RuntimeError(f"Given input size: ({before}). Calculated output size: ({after}). Output size is too small")
    return kernel, stride, padding, dilation, size


def _margins(kernel: list[int], padding: list[int]) -> str:
    """The sizes of windows and of margins, as torch's messages list them."""
    if len(kernel) == 3:
        (t, h, w), (of_t, of_h, of_w) = kernel, padding
        return f"kT: {t} kW: {w} kH: {h} padT: {of_t} padW: {of_w} padH: {of_h}"
    (h, w), (of_h, of_w) = [1, *kernel][-2:], [0, *padding][-2:]
    return f"padW = {of_w}, padH = {of_h}, kW = {w}, kH = {h}"


def _reaching(
    input: Any, kernel: list[int], stride: list[int], padding: list[int], dilation: list[int], size: list[int]
) -> tuple[list[int], list[int]]:
    """Kernel and padding without the positions that are outside of the input in every window, so that it takes no time
    to leave them out."""
    extents, margins = list(kernel), list(padding)
    for dim, whole in enumerate(input.shape[-len(kernel) :]):
        if kernel[dim] <= whole:
            continue
        gap, furthest = dilation[dim], (size[dim] - 1) * stride[dim] - padding[dim]
        first = min(max(-(furthest // gap), 0), kernel[dim] - 1)
        stop = min((padding[dim] + whole - 1) // gap + 1, kernel[dim])
        extents[dim], margins[dim] = max(stop - first, 1), padding[dim] - first * gap
    return extents, margins


def mean_arguments(
    name: str,
    input: Any,
    kernel: Any,
    stride: Any,
    padding: Any,
    ceil_mode: bool,
    include: bool,
    divisor: int | None = None,
) -> tuple[tuple[Any, ...], Any]:
    """Arguments of the operator, and by what its result is divided besides: None, or a tensor where windows have
    different numbers of elements. Sums of halves are floats until then."""
    dims = int(name[-2])
    if divisor == 0:
        raise RuntimeError("divisor must be not zero")
    kernel, stride, padding, _, size = _pooled(name, input, dims, kernel, stride, padding, 1, ceil_mode)
    divisors = None
    number: float = prod(kernel) if divisor is None else divisor
    if number >= 2**63:
        number = float(number) if input.is_floating_point() else 2**63 - 1
    if divisor is None and (ceil_mode or (not include and any(padding))):
        number = 1
        divisors = _counts(input, kernel, stride, padding, size, include)
        input = wide(input)
    kernel, padding = _reaching(input, kernel, stride, padding, [1] * dims, size)
    return (*_as_image(input, kernel, stride, padding, size, fills=(1, 1, 0, 1)), number), divisors


def mean_of_one_window(prepared: tuple[Any, ...], divisors: Any) -> Any:
    """The mean over trailing dimensions, if one window is the whole image and has no other divisor; else None."""
    image, kernel, _, padding, size, divisor = prepared
    whole = list(image.shape[-len(size) :])
    if divisors is not None or whole != [*kernel] or divisor != prod(whole) or any(padding) or prod(size) != 1:
        return None
    if not image.is_floating_point() or image.has_names():
        return None
    return image.mean(list(range(-len(size), 0)), keepdim=True)


def quotients(sums: Any, divisors: Any, input: Any) -> Any:
    """The means of windows of the input: sums divided by a tensor, if there is one."""
    if divisors is None:
        return sums
    rounding_mode = None if sums.is_floating_point() else "trunc"
    return sums.div(divisors, rounding_mode=rounding_mode).to(input.dtype)


def norms_of_windows(means: Any, norm_type: float, kernel_size: Any, dims: int) -> Any:
    """The roots of sums over windows, whose means are given. Sums may be negative for odd norms; torch's root is of
    their magnitude then."""
    count = kernel_size**dims if isinstance(kernel_size, int) else prod(kernel_size)
    return (means.sign() * means.abs().relu() * count).pow(1.0 / norm_type)


def _counts(
    input: Any, kernel: list[int], stride: list[int], padding: list[int], size: list[int], include: bool
) -> Any:
    """The number of elements in each window, as a tensor of the result's last dimensions."""
    dims, result = len(kernel), None
    for dim in range(dims):
        first = [index * stride[dim] - padding[dim] for index in range(size[dim])]
        end = input.shape[dim - dims]
        stops = [min(start + kernel[dim], end + padding[dim]) for start in first]
        inside = [
            stop - start if include else min(stop, end) - max(start, 0)
            for start, stop in zip(first, stops, strict=True)
        ]
        counts = input.new_tensor(inside).reshape(-1, *[1] * (dims - 1 - dim))
        result = counts if result is None else result * counts
    return result


def max_arguments(
    name: str, input: Any, kernel: Any, stride: Any, padding: Any, dilation: Any, ceil_mode: bool
) -> tuple[Any, ...]:
    """Arguments of the operator, which compares integers of 64 bits alone."""
    dims = int(name[-2])
    kernel, stride, padding, dilation, size = _pooled(name, input, dims, kernel, stride, padding, dilation, ceil_mode)
    kernel, padding = _reaching(input, kernel, stride, padding, dilation, size)
    image = input.long() if is_narrow(input) else input
    return _as_image(image, kernel, stride, padding, dilation, size, fills=(1, 1, 0, 1, 1))


def check_max_pool1d(input: Any, kernel: Any, stride: Any, padding: Any, dilation: Any, ceil_mode: bool) -> None:
    """Check the numbers of `max_pool1d`, which has messages of its own in torch."""
    stride = stride if isinstance(stride, int) or len(stride) else kernel
    given = {"kernel_size": kernel, "stride": stride, "padding": padding, "dilation": dilation}
    window, step, margin, gap = (_per_dimension("max_pool1d", what, value, 1)[0] for what, value in given.items())
    for what, value in (("kernel_size", window), ("stride", step)):
        if value <= 0:
            raise RuntimeError(f"max_pool1d() {what} must be greater than zero, but got {value}")
    if margin < 0:
        raise RuntimeError(f"max_pool1d() padding must be non-negative, but got {margin}")
    if margin > window // 2:
        raise RuntimeError(
            f"max_pool1d() padding should be at most half of kernel size, but got padding={margin} and "
            f"kernel_size={window}"
        )
    if gap <= 0:
        raise RuntimeError(f"max_pool1d() dilation must be greater than zero, but got {gap}")
    _check_image("max_pool1d", input, 1)
    size = _pooled_size(input.shape[-1], window, step, margin, gap, ceil_mode)
    if size < 1:
        raise RuntimeError(f"max_pool1d() Invalid computed output size: {size}")


def max_of_one_window(prepared: tuple[Any, ...]) -> Any:
    """The largest elements of trailing dimensions and their positions, if one window is the whole image; else None."""
    image, kernel, _, padding, dilation, size = prepared
    whole = list(image.shape[-len(size) :])
    return None if whole != [*kernel] or any(padding) or {*dilation} != {1} else max_of_one_part(image, size)


def max_of_one_part(image: Any, size: Sequence[int]) -> Any:
    """The largest elements of trailing dimensions and their positions, if the image is one part; else None."""
    if any(each != 1 for each in size) or not image.is_floating_point() or image.has_names():
        return None
    if not image.is_contiguous():
        return None  # which may say in what order the result lies in memory
    found = image.flatten(-len(size)).max(-1)
    return tuple(each.reshape(*image.shape[: -len(size)], *size) for each in found)


def parts_arguments(name: str, input: Any, output_size: Any, dims: int) -> tuple[Any, list[int]]:
    """The image and the number of parts for each dimension; None is the size of the input."""
    sizes = [output_size] if isinstance(output_size, int) or output_size is None else list(output_size)
    if dims > 1 and 1 < len(sizes) >= input.ndim:
        raise ValueError(f"Input dimension should be at least {len(sizes) + 1}")
    if len(sizes) not in (1, dims):
        raise RuntimeError(f"{name}: output_size must be {dims}")
    sizes = sizes * dims if len(sizes) == 1 else sizes
    if input.ndim not in (dims + 1, dims + 2):
        raise RuntimeError(f"{name}(): Expected {dims + 1}D or {dims + 2}D tensor, but got {list(input.shape)}")
    for dim in range(-dims, 0):
        if not input.shape[dim]:
            raise RuntimeError(
                f"{name}(): Expected input to have non-zero size for non-batch dimensions, but input has sizes "
                f"{list(input.shape)} with dimension {input.ndim + dim} being empty"
            )
    size = [input.shape[index - dims] if each is None else each for index, each in enumerate(sizes)]
    if any(each < 0 for each in size):
        shown = ", ".join(map(str, size))
        raise RuntimeError(
            f"{name}: elements of output_size must be greater than or equal to 0 but received {{{shown}}}"
        )
    return (input.unsqueeze(-2), [1, *size]) if dims == 1 else (input, size)


def means_of_parts(image: Any, size: Sequence[int]) -> Any:
    """The means of the parts, of one dimension after the other; halves are rounded once. One part is the mean over
    trailing dimensions.

    The bounds of parts depend on no sample and no channel. Where too few elements lie behind a dimension to fill
    vectors, samples and channels are moved there, so that bounds are computed once for all of them.
    """
    if image.has_names():
        return means_of_parts(image.rename(None), size).rename(*image.names)
    dims, is_floating = len(size), image.is_floating_point()
    if is_floating and all(each == 1 for each in size):
        return image.mean(list(range(-dims, 0)), keepdim=True)
    means, are_last = _images(wide(image), dims)
    first = 1
    for place, count in enumerate(size):
        if not are_last and first and prod(means.shape[place + 2 :]) < _FEW:
            means, first = means.movedim(0, -1).contiguous(), 0
        dim = place + first
        if count != means.shape[dim] or not is_floating:  # which the operator refuses
            before, behind = means.shape[:dim], means.shape[dim + 1 :]
            lines = means.reshape(*means.shape[: dim + 1], prod(behind))
            means = ops.mean_of_parts(lines, count).reshape(*before, count, *behind)
    if are_last:
        return channels_back(means, True).to(image.dtype)
    means = means if first else means.movedim(-1, 0).contiguous()
    return means.view(*image.shape[:-dims], *size).to(image.dtype)


def by_channels(image: Any, dims: int, function: Callable[[Any], tuple[Any, ...]]) -> tuple[Any, ...]:
    """The results of a function of images or volumes whose last dimension are the channels, which are moved there
    together with the samples where they are not."""
    if image.has_names():
        return tuple(each.rename(*image.names) for each in by_channels(image.rename(None), dims, function))
    images, are_last = _images(image, dims)
    if are_last:
        return tuple(channels_back(each, True) for each in function(images))
    found = function(images.movedim(0, -1))
    return tuple(each.movedim(-1, 0).contiguous().unflatten(0, image.shape[:-dims]) for each in found)


def _images(image: Any, dims: int) -> tuple[Any, bool]:
    """The images with their channels last where these are last in memory, and whether they are; else as many images,
    and volumes, as there are channels of all samples. Gradients are contiguous then."""
    if dims == 2 and image.ndim == 4:
        moved, are_last = channels_moved(image)
        if are_last:
            return moved, True
    return image.reshape(-1).view(prod(image.shape[:-dims]), *image.shape[-dims:]), False


def gradient_of_chosen(grad: Any, indices: Any, shape: Sequence[int], dims: int, are_last: bool = False) -> Any:
    """The gradient of elements that were chosen from the last dimensions of a tensor of this shape, or from those
    before its channels where these are last, by their positions there: elsewhere zero."""
    first = len(shape) - dims - are_last
    flat = grad.new_zeros([*shape[:first], prod(shape[first : first + dims]), *shape[first + dims :]])
    flat.scatter_add_(first, indices.flatten(first, first + dims - 1), grad.flatten(first, first + dims - 1))
    return flat.reshape(shape)


# ---- windows as columns -------------------------------------------------------------------------------------


def _window_numbers(kernel: Any, dilation: Any, padding: Any, stride: Any) -> list[list[int]]:
    given = {"kernel_size": kernel, "dilation": dilation, "padding": padding, "stride": stride}
    numbers = {what: _per_dimension("unfold", what, value, 2) for what, value in given.items()}
    for what, values in numbers.items():
        least = 0 if what == "padding" else 1
        if any(each < least for each in values):
            bound = "greater than zero" if least else "non-negative"
            raise RuntimeError(f"{what.replace('_', ' ')} should be {bound}, but got {values}")
    return list(numbers.values())


def _counted(
    sizes: Sequence[int], kernel: list[int], dilation: list[int], padding: list[int], stride: list[int]
) -> list[int]:
    rows = zip(sizes, kernel, stride, padding, dilation, strict=True)
    return [_pooled_size(*each, ceil_mode=False) for each in rows]


def window_arguments(input: Any, kernel: Any, dilation: Any, padding: Any, stride: Any) -> tuple[Any, ...]:
    """Return the arguments of `unfold` by dimension. Raises RuntimeError for shapes that do not fit."""
    numbers = _window_numbers(kernel, dilation, padding, stride)
    if input.ndim not in (3, 4) or 0 in input.shape[-3:]:
        raise RuntimeError(
            "Expected 3D or 4D (batch mode) tensor with possibly 0 batch size and other non-zero dimensions for input, "
            f"but got: {list(input.shape)}"
        )
    count = _counted(input.shape[-2:], *numbers)
    if any(each < 1 for each in count):
        kernel, dilation, padding, _ = map(tuple, numbers)
        raise RuntimeError(
            f"Given input with spatial size {tuple(input.shape[-2:])}, kernel_size={kernel}, dilation={dilation}, "
            f"padding={padding}, calculated shape of the array of sliding blocks as {tuple(count)}, but its components "
            "must be at least one."
        )
    return input, *numbers


def fold_arguments(
    input: Any, output_size: Any, kernel: Any, dilation: Any, padding: Any, stride: Any
) -> tuple[Any, ...]:
    """Return the arguments of `fold` by dimension. Raises RuntimeError for shapes that do not fit."""
    size = _per_dimension("fold", "output_size", output_size, 2)
    numbers = _window_numbers(kernel, dilation, padding, stride)
    if input.ndim not in (2, 3) or 0 in input.shape[-2:]:
        raise RuntimeError(
            "Expected 2D or 3D (batch mode) tensor for input with possibly 0 batch size and non-zero dimensions for "
            f"input, but got: {list(input.shape)}"
        )
    kernel, area = numbers[0], prod(numbers[0])
    rows, columns = input.shape[-2:]
    at = input.ndim - 2
    if rows % area:
        raise RuntimeError(
            f"Expected size of input's dimension {at} to be divisible by the product of kernel_size, but got "
            f"input.size({at})={rows} and kernel_size={tuple(kernel)}."
        )
    count = _counted(size, *numbers)
    if prod(count) != columns or any(each < 1 for each in count):
        shown = ", ".join(
            f"{name}={tuple(each)}"
            for name, each in zip(("kernel_size", "dilation", "padding", "stride"), numbers, strict=True)
        )
        raise RuntimeError(
            f"Given output_size={tuple(size)}, {shown}, expected size of input's dimension {at + 1} to match the "
            f"calculated number of sliding blocks {count[0]} * {count[1]} = {prod(count)}, but got "
            f"input.size({at + 1})={columns}."
        )
    summed = input.float() if input.dtype is EXPORTS["bool"] else input
    windows = summed.unflatten(-1, count).unflatten(-3, [rows // area, *kernel])
    return windows, *numbers, [*windows.shape[:-4], *size]


# ---- resampling ---------------------------------------------------------------------------------------------


def gradient_of_resampled(grad: Any, index: Any, weight: Any, dim: int, shape: Sequence[int]) -> Any:
    """The gradient of sums of slices of a tensor of this shape."""
    result = grad.new_zeros(shape)
    trailing = [1] * (-1 - dim)
    for place in range(index.shape[1]):
        factors = weight[:, place].reshape(-1, *trailing)
        result = result.index_add(dim, index[:, place], grad * factors)
    return result
