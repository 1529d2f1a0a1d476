"""Arithmetic of quantized tensors whose result is told its scale and zero point: sums, products, linear maps.

Products of matrices are those of the integers less their zero points, summed in 32 bits; the rest is computed of the
numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..._base.dtypes import EXPORTS, dtype, qint8, quint8
from ..._dispatch.ops import ops
from .creation import chosen_parameters
from .quantizer import PerChannel, PerTensor, per_tensor, quantized
from .tensors import dequantize, is_quantized, memory_of, own_quantizer, quantize, with_quantizer

__all__ = ["computed", "convolution", "linear", "linear_dynamic", "matmul"]

_FLOAT32, _INT32 = EXPORTS["float32"], EXPORTS["int32"]


def computed(function: Any, name: str, scale: float, zero_point: int, *args: Any) -> Any:
    """Return a function's result for the numbers of quantized tensors, quantized by this scale and zero point."""
    first = next((each for each in args if is_quantized(each)), None)
    if first is None:
        raise NotImplementedError(
            f"Could not run 'quantized::{name}' with arguments from the 'CPU' backend. {name}() is for quantized "
            "tensors, which quantize_per_tensor() makes"
        )
    quantizer = per_tensor(name, scale, zero_point, first.dtype)
    numbers = [dequantize(each) if is_quantized(each) else each for each in args]
    return quantize(function(*numbers), quantizer, first.dtype)


def matmul(x: Any, y: Any, scale: float, zero_point: int) -> Any:
    """The product of two matrices that are quantized with one scale each."""
    for each in (own_quantizer(x), own_quantizer(y)):
        if not isinstance(each, PerTensor):
            raise RuntimeError(f"matmul() of quantized tensors is for those with one scale, but got {each.scheme}")
    if x.ndim != 2 or y.ndim != 2 or x.dtype.itemsize > 1 or y.dtype.itemsize > 1:
        return computed(ops.matmul, "matmul", scale, zero_point, x, y)
    sums = _product(memory_of(x), own_quantizer(x), memory_of(y), own_quantizer(y))
    return _requantized("matmul", sums, _scale_of_sums(own_quantizer(x), own_quantizer(y)), scale, zero_point, x.dtype)


def linear(x: Any, weight: Any, bias: Any, scale: float, zero_point: int) -> Any:
    """`x @ weight.T + bias`; the weight is quantized with one scale, or one for each row, the bias not at all."""
    quantizer = own_quantizer(x)
    if not isinstance(quantizer, PerTensor):
        raise RuntimeError(f"linear() is for an input with one scale, but got {quantizer.scheme}")
    sums, of_sums = _linear(memory_of(x), quantizer, weight)
    return _requantized("linear", _with_bias(sums, bias, of_sums), of_sums, scale, zero_point, x.dtype)


def convolution(
    x: Any,
    weight: Any,
    bias: Any,
    sizes: Sequence[Sequence[int]],
    scale: float,
    zero_point: int,
) -> Any:
    """The convolution of an input (N, C, *) with weights (O, C, *), as a product of its windows with them.

    `sizes` are stride, padding and dilation of each dimension. The channels of the result are last in memory, as in
    torch. Padding is the zero point of the input.
    """
    stride, padding, dilation = sizes
    quantizer = own_quantizer(x)
    if not isinstance(quantizer, PerTensor):
        raise RuntimeError(f"convolution() is for an input with one scale, but got {quantizer.scheme}")
    around = [each for size in reversed(padding) for each in (size, size)]
    image = ops.constant_pad_nd(memory_of(x), [*around], quantizer.zero_point) if any(padding) else memory_of(x)
    image = image.movedim(1, -1).contiguous()
    kernel = weight.shape[2:]
    spans = [step * (size - 1) + 1 for size, step in zip(kernel, dilation, strict=True)]
    counts = [(n - span) // step + 1 for n, span, step in zip(image.shape[1:-1], spans, stride, strict=True)]
    first, *along, last = image.stride()
    steps = [n * step for n, step in zip(along, stride, strict=True)]
    taps = [n * step for n, step in zip(along, dilation, strict=True)]
    windows = image.as_strided([image.shape[0], *counts, *kernel, image.shape[-1]], [first, *steps, *taps, last])
    factors = memory_of(weight).movedim(1, -1).reshape(weight.shape[0], -1).t()
    sums = _product(windows.reshape(-1, factors.shape[0]), quantizer, factors, own_quantizer(weight))
    of_sums = _scale_of_sums(quantizer, own_quantizer(weight))
    sums = _with_bias(sums, bias, of_sums).view(image.shape[0], *counts, -1)
    return _requantized("convolution", sums, of_sums, scale, zero_point, x.dtype).movedim(-1, 1)


def linear_dynamic(x: Any, weight: Any, bias: Any, reduce_range: bool = True) -> Any:
    """The same of a float tensor, which is quantized by its own range; the result is float."""
    x = x.detach().to(_FLOAT32)
    low, high = (each.item() for each in ops.aminmax(x)) if x.numel() else (0.0, 0.0)
    quantizer = PerTensor(*chosen_parameters(low, high, 0, 127 if reduce_range else 255))
    sums, of_sums = _linear(quantized(quantizer, x, quint8), quantizer, weight)
    return sums * of_sums if bias is None else ops.addcmul(bias.detach(), sums, of_sums)


def _linear(integers: Any, quantizer: PerTensor, weight: Any) -> tuple[Any, Any]:
    """The sums of a linear map, and what one of them stands for."""
    if not is_quantized(weight) or weight.dtype is not qint8:
        raise RuntimeError(f"expected a weight of opweave.qint8, but got {weight.dtype}")
    rows = integers.reshape(-1, integers.shape[-1])
    sums = _product(rows, quantizer, memory_of(weight).t(), own_quantizer(weight))
    return sums.reshape(*integers.shape[:-1], weight.shape[0]), _scale_of_sums(quantizer, own_quantizer(weight))


def _with_bias(sums: Any, bias: Any, of_sums: Any) -> Any:
    return sums if bias is None else sums + ops.round(bias.detach() / of_sums).to(_INT32)


def _scale_of_sums(first: Any, second: Any) -> Any:
    """The number that 1 in a sum stands for, or one for each column."""
    scales = second.scales if isinstance(second, PerChannel) else ops.full((), second.scale)
    return ops.full((), first.scale) * scales.to(_FLOAT32)


def _requantized(name: str, sums: Any, of_sums: Any, scale: float, zero_point: int, of: dtype) -> Any:
    """Sums by another scale and zero point."""
    quantizer = per_tensor(name, scale, zero_point, of)
    steps = sums * (of_sums / ops.full((), scale))
    return with_quantizer(quantized(PerTensor(1.0, zero_point), steps, of), quantizer)


def _product(a: Any, of_a: Any, b: Any, of_b: Any) -> Any:
    """The sums of products of integers less their zero points, which those of `b` have by column or alike."""
    if isinstance(of_b, PerChannel):
        zeros = of_b.zero_points.to(_INT32)
    else:
        zeros = ops.full((b.shape[1],), of_b.zero_point, dtype=_INT32) if of_b.zero_point else None
    return ops._byte_product(a, b, zeros, of_a.zero_point)
