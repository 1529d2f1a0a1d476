"""Functions of quantized tensors: results that have a scale of their own are told it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ...._base.dtypes import dtype, qint8, quint8
from ...._dispatch.ops import ops
from ...._representations.quantized import products
from ....nn import functional as F  # noqa: N812 (as everywhere)

__all__ = [
    "adaptive_avg_pool2d",
    "adaptive_avg_pool3d",
    "add",
    "add_relu",
    "avg_pool2d",
    "avg_pool3d",
    "celu",
    "clamp",
    "conv1d",
    "conv2d",
    "conv3d",
    "elu",
    "hardsigmoid",
    "hardswish",
    "hardtanh",
    "interpolate",
    "leaky_relu",
    "linear",
    "matmul",
    "max_pool1d",
    "max_pool2d",
    "mul",
    "relu",
    "threshold",
    "upsample",
    "upsample_bilinear",
    "upsample_nearest",
]


def add(x: Any, y: Any, scale: float, zero_point: int) -> Any:
    """Return the sum of two quantized tensors, quantized by this scale and zero point."""
    return products.computed(ops.add, "add", scale, zero_point, x, y)


def add_relu(x: Any, y: Any, scale: float, zero_point: int) -> Any:
    """Return the positive part of the sum of two quantized tensors, quantized by this scale and zero point."""
    return products.computed(lambda a, b: ops.relu(a + b), "add_relu", scale, zero_point, x, y)


def mul(x: Any, y: Any, scale: float, zero_point: int) -> Any:
    """Return the product of two quantized tensors, element by element, quantized by this scale and zero point."""
    return products.computed(ops.mul, "mul", scale, zero_point, x, y)


def matmul(x: Any, y: Any, scale: float, zero_point: int) -> Any:
    """Return the product of two quantized matrices, quantized by this scale and zero point."""
    return products.matmul(_checked("matmul", x), _checked("matmul", y), scale, zero_point)


def linear(input: Any, weight: Any, bias: Any = None, scale: float | None = None, zero_point: int | None = None) -> Any:
    """Return `input @ weight.T + bias`, quantized by this scale and zero point, or by those of the input.

    Args:
        input (Tensor): quantized with one scale.
        weight (Tensor): of `qint8`, quantized with one scale or with one for each row.
        bias (Tensor): of float32.
    """
    scale, zero_point = _like(_checked("linear", input), scale, zero_point)
    return products.linear(input, _checked("linear", weight), bias, scale, zero_point)


def _named(function: Callable[..., Any], name: str, rest: str = "") -> Callable[..., Any]:
    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"Return `{name}` of a quantized input{rest}."
    return function


def _is_product(x: Any, weight: Any, dims: int, sizes: Sequence[Sequence[int]], groups: int) -> bool:
    """Whether a convolution of a batch is a product of matrices of bytes, and its arguments need no error."""
    if groups != 1 or not x.ndim == weight.ndim == dims + 2 or not all(len(each) == dims for each in sizes):
        return False
    stride, padding, dilation = sizes
    whole = [n + 2 * side for n, side in zip(x.shape[2:], padding, strict=True)]
    spans = [step * (n - 1) + 1 for n, step in zip(weight.shape[2:], dilation, strict=True)]
    return (
        x.numel() > 0
        and weight.numel() > 0
        and x.shape[1] == weight.shape[1]
        and min(*stride, *dilation) > 0 <= min(padding)
        and all(span <= n for span, n in zip(spans, whole, strict=True))
        and x.dtype.itemsize == 1
        and weight.dtype is qint8
    )


def _convolution(name: str) -> Callable[..., Any]:
    dims = int(name[4])

    def convolution(
        input: Any,
        weight: Any,
        bias: Any,
        stride: Any = 1,
        padding: Any = 0,
        dilation: Any = 1,
        groups: int = 1,
        padding_mode: str = "zeros",
        scale: float = 1.0,
        zero_point: int = 0,
        dtype: dtype = quint8,
    ) -> Any:
        if padding_mode != "zeros":
            raise NotImplementedError(f"Only zero-padding is supported, but got {padding_mode!r}")
        _checked(name, input)
        _checked(name, weight)
        sizes = [[each] * dims if isinstance(each, int) else list(each) for each in (stride, padding, dilation)]
        if _is_product(input, weight, dims, sizes, groups) and (bias is None or bias.shape == weight.shape[:1]):
            return products.convolution(input, weight, bias, sizes, scale, zero_point)
        return products.computed(
            lambda x, w, b: getattr(F, name)(x, w, b, stride, padding, dilation, groups),
            name,
            scale,
            zero_point,
            input,
            weight,
            bias,
        )

    return _named(convolution, name, " and weight, quantized by this scale and zero point")


conv1d, conv2d, conv3d = map(_convolution, ("conv1d", "conv2d", "conv3d"))


def elu(input: Any, scale: float, zero_point: int, alpha: float = 1.0) -> Any:
    """Return `elu` of a quantized tensor, quantized by this scale and zero point."""
    return products.computed(lambda x: F.elu(x, alpha), "elu", scale, zero_point, input)


def celu(input: Any, scale: float, zero_point: int, alpha: float = 1.0) -> Any:
    """Return `celu` of a quantized tensor, quantized by this scale and zero point."""
    return products.computed(lambda x: F.celu(x, alpha), "celu", scale, zero_point, input)


def hardswish(input: Any, scale: float, zero_point: int) -> Any:
    """Return `hardswish` of a quantized tensor, quantized by this scale and zero point."""
    return products.computed(F.hardswish, "hardswish", scale, zero_point, input)


def leaky_relu(
    input: Any,
    negative_slope: float = 0.01,
    inplace: bool = False,
    scale: float | None = None,
    zero_point: int | None = None,
) -> Any:
    """Return `leaky_relu` of a quantized tensor, quantized by this scale and zero point, or by those of the input."""
    if scale is None or zero_point is None:
        return F.leaky_relu(_checked("leaky_relu", input), negative_slope, inplace)
    return products.computed(lambda x: F.leaky_relu(x, negative_slope), "leaky_relu", scale, zero_point, input)


def relu(input: Any, inplace: bool = False) -> Any:
    """Return `relu` of a quantized tensor."""
    return F.relu(_checked("relu", input), inplace)


def hardtanh(input: Any, min_val: float = -1.0, max_val: float = 1.0, inplace: bool = False) -> Any:
    """Return `hardtanh` of a quantized tensor."""
    return F.hardtanh(_checked("hardtanh", input), min_val, max_val, inplace)


def hardsigmoid(input: Any, inplace: bool = False) -> Any:
    """Return `hardsigmoid` of a quantized tensor, with the scale and the zero point of its range."""
    return F.hardsigmoid(_checked("hardsigmoid", input), inplace)


def threshold(input: Any, threshold: float, value: float) -> Any:
    """Return `threshold` of a quantized tensor."""
    return F.threshold(_checked("threshold", input), threshold, value)


def clamp(input: Any, min_: float, max_: float) -> Any:
    """Return a quantized tensor with elements limited to a range."""
    return ops.clamp(_checked("clamp", input), min_, max_)


def _average_pool(name: str) -> Callable[..., Any]:
    def pool(
        input: Any,
        kernel_size: Any,
        stride: Any = None,
        padding: Any = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
        divisor_override: int | None = None,
    ) -> Any:
        rest = padding, ceil_mode, count_include_pad, divisor_override
        return getattr(F, name)(_checked(name, input), kernel_size, stride, *rest)

    return _named(pool, name)


avg_pool2d, avg_pool3d = _average_pool("avg_pool2d"), _average_pool("avg_pool3d")


def _adaptive_average_pool(name: str) -> Callable[..., Any]:
    def pool(input: Any, output_size: Any) -> Any:
        return getattr(F, name)(_checked(name, input), output_size)

    return _named(pool, name)


adaptive_avg_pool2d = _adaptive_average_pool("adaptive_avg_pool2d")
adaptive_avg_pool3d = _adaptive_average_pool("adaptive_avg_pool3d")


def _max_pool(name: str) -> Callable[..., Any]:
    def pool(
        input: Any,
        kernel_size: Any,
        stride: Any = None,
        padding: Any = 0,
        dilation: Any = 1,
        ceil_mode: bool = False,
        return_indices: bool = False,
    ) -> Any:
        if return_indices:
            raise NotImplementedError("return_indices is not yet implemented!")
        return getattr(F, name)(_checked(name, input), kernel_size, stride, padding, dilation, ceil_mode)

    return _named(pool, name)


max_pool1d, max_pool2d = _max_pool("max_pool1d"), _max_pool("max_pool2d")


def interpolate(
    input: Any, size: Any = None, scale_factor: Any = None, mode: str = "nearest", align_corners: bool | None = None
) -> Any:
    """Return `interpolate` of a quantized tensor."""
    return F.interpolate(_checked("interpolate", input), size, scale_factor, mode, align_corners)


upsample = interpolate


def upsample_nearest(input: Any, size: Any = None, scale_factor: Any = None) -> Any:
    """Return `interpolate` of a quantized tensor with the mode `nearest`."""
    return interpolate(input, size, scale_factor)


def upsample_bilinear(input: Any, size: Any = None, scale_factor: Any = None) -> Any:
    """Return `interpolate` of a quantized tensor with the mode `bilinear` and aligned corners."""
    return interpolate(input, size, scale_factor, "bilinear", align_corners=True)


def _checked(name: str, value: Any) -> Any:
    if not getattr(value, "is_quantized", False):
        raise ValueError(f"Input to 'quantized.{name}' must be quantized!")
    return value


def _like(input: Any, scale: float | None, zero_point: int | None) -> tuple[float, int]:
    return (
        input.q_scale() if scale is None else scale,
        input.q_zero_point() if zero_point is None else zero_point,
    )
