"""Quantized tensors from others: `quantize_per_tensor` and its relatives."""

# mypy: disable-error-code="no-any-return"
# (the layers below class Tensor know none of its methods)

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, overload

from ..._base.dtypes import EXPORTS, dtype
from ..._base.tensor_class import Tensor
from ..._base.type_names import type_name
from ..._base.types import channels_last, channels_last_3d, strided
from ..._dispatch.ops import ops
from .description import check_quantized, check_tensor
from .quantizer import PerChannel, per_channel, per_tensor
from .tensors import dtype_of_memory, is_quantized, own_quantizer, quantize, quantized_dtype, with_quantizer

if TYPE_CHECKING:
    from ..._tensor.tensor import Tensor as TensorType

__all__ = ["quantize_per_channel", "quantize_per_tensor", "quantize_per_tensor_dynamic"]
_PACKAGE_NAMES = [
    "_choose_qparams_per_tensor",
    "_empty_affine_quantized",
    "_empty_per_channel_affine_quantized",
    "_make_per_channel_quantized_tensor",
    "_make_per_tensor_quantized_tensor",
    "empty_quantized",
    "quantize_per_channel",
    "quantize_per_tensor",
    "quantize_per_tensor_dynamic",
]

_FLOAT32, _FLOAT16 = EXPORTS["float32"], EXPORTS["float16"]


# ---- quantizing ---------------------------------------------------------------------------------------------


@overload
def quantize_per_tensor(
    input: TensorType, scale: float | TensorType, zero_point: int | TensorType, dtype: dtype
) -> TensorType: ...
@overload
def quantize_per_tensor(
    input: Sequence[TensorType], scale: TensorType, zero_point: TensorType, dtype: dtype
) -> tuple[TensorType, ...]: ...
def quantize_per_tensor(input: Any, scale: Any, zero_point: Any, dtype: dtype) -> Any:
    """Quantize a float tensor with one scale and one zero point, which may be tensors with one element.

    `input` may be a list of tensors, with vectors of as many scales and zero points; the result is a tuple then.

    Args:
        input (Tensor): tensor of float32.
        scale (float): the distance of two neighbouring numbers.
        zero_point (int): the integer that stands for zero.
        dtype: `quint8`, `qint8` or `qint32`.
    """
    if isinstance(input, (list, tuple)):
        return tuple(
            quantize_per_tensor(each, scale[place], zero_point[place], dtype) for place, each in enumerate(input)
        )
    of = quantized_dtype("quantize_per_tensor", dtype)
    _check_float("quantize_per_tensor", input, f"Quantize only works on Float Tensor, got {_scalar_name(input)}")
    number = _number("scale", 2, scale, float)
    quantizer = per_tensor("quantize_tensor_per_tensor_affine", number, _number("zero_point", 3, zero_point, int), of)
    return quantize(_in_order(input), quantizer, of)


def quantize_per_channel(
    input: TensorType, scales: TensorType, zero_points: TensorType, axis: int, dtype: dtype
) -> TensorType:
    """Quantize a float tensor with a scale and a zero point for each position in the dimension `axis`.

    Args:
        input (Tensor): tensor of float32.
        scales (Tensor): floating numbers.
        zero_points (Tensor): integers; with floating numbers the scheme is `per_channel_affine_float_qparams`.
        axis (int): the dimension of the channels.
        dtype: `quint8`, `qint8` or `qint32`.
    """
    function = "quantize_per_channel"
    for place, (name, value) in enumerate((("scales", scales), ("zero_points", zero_points)), 2):
        check_tensor(function, name, place, value)
    of = quantized_dtype(function, dtype)
    _check_float(
        function, input, f"quantize_tensor_per_channel_affine expects a Float Tensor, got {_scalar_name(input)}"
    )
    quantizer = per_channel("quantize_tensor_per_channel_affine", scales, zero_points, axis, input.shape, of)
    return quantize(_in_order(input), quantizer, of)


def quantize_per_tensor_dynamic(input: TensorType, dtype: dtype, reduce_range: bool) -> TensorType:
    """Quantize a float tensor with the scale and the zero point that its range asks for.

    With `reduce_range` one bit of the dtype is left unused. `float16` as dtype rounds to that instead.
    """
    function = "quantize_per_tensor_dynamic"
    if dtype is _FLOAT16:
        return input.to(_FLOAT16)
    of = quantized_dtype(function, dtype)
    if of.itemsize != 1:
        raise RuntimeError(f"dtype {of.scalar_name} not supported: expected quint8 or qint8")
    _check_float(function, input, f"Quantize only works on Float Tensor, got {_scalar_name(input)}")
    low, high = (of.minimum, of.maximum) if not reduce_range else (of.minimum // 2, of.maximum // 2)
    scale, zero_point = chosen_parameters(input.min().item(), input.max().item(), low, high)
    return quantize_per_tensor(input, scale, zero_point, of)


def _choose_qparams_per_tensor(input: Any, reduce_range: bool = False) -> tuple[float, int]:
    """The scale and the zero point of `quint8` that the range of a tensor asks for."""
    return chosen_parameters(input.min().item(), input.max().item(), 0, 127 if reduce_range else 255)


def chosen_parameters(lowest: float, highest: float, low: int, high: int) -> tuple[float, int]:
    """The scale and the zero point of integers from `low` to `high` that hold the numbers from `lowest` to `highest`.

    Zero is one of the numbers, and stands for itself exactly.
    """
    if not lowest <= highest:
        raise RuntimeError(f"In ChooseQuantizationParams, min should be less than or equal to max: {lowest}, {highest}")
    lowest, highest = min(lowest, 0.0), max(highest, 0.0)
    scale = (highest - lowest) / (high - low)
    if scale < 2.0**-128:  # so small that one divided by it is no float32
        scale = 0.1
    if scale < _LEAST_SCALE:
        lowest, highest = lowest * (_LEAST_SCALE / scale), highest * (_LEAST_SCALE / scale)
        scale = _LEAST_SCALE
    # Of both ends that one decides in whose zero point there is less rounding.
    from_low, from_high = low - lowest / scale, high - highest / scale
    is_lower = abs(low) + abs(lowest / scale) < abs(high) + abs(highest / scale)
    zero_point = from_low if is_lower else from_high
    return scale, round(min(max(zero_point, low), high)) if zero_point == zero_point else low


_LEAST_SCALE = 6.0999998822808266e-05  # a float32


# ---- of integers, and without values ------------------------------------------------------------------------


def _make_per_tensor_quantized_tensor(input: Any, scale: float, zero_point: int) -> Any:
    """The quantized tensor that has these integers."""
    of = _dtype_of_integers("_make_per_tensor_quantized_tensor", input)
    return with_quantizer(input.clone(), per_tensor("_make_per_tensor_quantized_tensor", scale, zero_point, of))


def _make_per_channel_quantized_tensor(input: Any, scale: Any, zero_point: Any, axis: int) -> Any:
    """The same by channel."""
    function = "_make_per_channel_quantized_tensor"
    of = _dtype_of_integers(function, input)
    return with_quantizer(input.clone(), per_channel(function, scale, zero_point, axis, input.shape, of))


def _empty_affine_quantized(
    size: Sequence[int], *, scale: float = 1.0, zero_point: int = 0, dtype: Any = None, **placement: Any
) -> Any:
    """A quantized tensor whose integers are not set. `placement`: the arguments of `empty` by name."""
    of = _asked_dtype(dtype)
    quantizer = per_tensor("_empty_affine_quantized", scale, zero_point, of)
    return with_quantizer(ops.empty(size, dtype=of.memory, **placement), quantizer)


def _empty_per_channel_affine_quantized(
    size: Sequence[int], *, scales: Any, zero_points: Any, axis: int, dtype: Any = None, **placement: Any
) -> Any:
    """The same by channel."""
    of = _asked_dtype(dtype)
    quantizer = per_channel("_empty_per_channel_affine_quantized", scales, zero_points, axis, size, of)
    return with_quantizer(ops.empty(size, dtype=of.memory, **placement), quantizer)


def empty_quantized(
    size: Sequence[int], qtensor: TensorType, *, dtype: dtype | None = None, **placement: Any
) -> TensorType:
    """A tensor of another size that is quantized as `qtensor`, and whose integers are not set."""
    quantizer = own_quantizer(check_quantized("empty_quantized", qtensor))
    of: Any = qtensor.dtype if dtype is None else _asked_dtype(dtype)
    if isinstance(quantizer, PerChannel):
        quantizer = per_channel("empty_quantized", *quantizer.arguments, size, of)
    placement.setdefault("device", qtensor.device)
    return with_quantizer(ops.empty(size, dtype=of.memory, **placement), quantizer)


_NEEDS_QUANTIZED = "Creation of quantized tensor requires quantized dtype like opweave.quint8"


def _asked_dtype(of: Any) -> Any:
    if of is None or not hasattr(of, "memory"):
        raise RuntimeError(f"{_NEEDS_QUANTIZED}, but got {of}")
    return quantized_dtype("empty", of)


def _dtype_of_integers(function: str, input: Any) -> Any:
    check_tensor(function, "input", 1, input)
    of = dtype_of_memory(input.dtype)
    if of is None:
        raise RuntimeError(f"{_NEEDS_QUANTIZED}: integers of uint8, int8 or int32, but got {input.dtype}")
    return of


# ---- arguments ----------------------------------------------------------------------------------------------


def _in_order(tensor: Any) -> Any:
    """The tensor in the order of images if it has that, else in the usual one: those of quantized tensors."""
    if tensor.is_contiguous():
        return tensor
    if tensor.ndim in (4, 5) and tensor.is_contiguous(memory_format=(channels_last, channels_last_3d)[tensor.ndim - 4]):
        return tensor
    return tensor.contiguous()


def _check_float(function: str, input: Any, message: str) -> None:
    check_tensor(function, "input", 1, input)
    if is_quantized(input):
        raise NotImplementedError(
            f"Could not run 'aten::{function}' with arguments from the 'QuantizedCPU' backend. {function}() is for "
            "float tensors: call it of dequantize()"
        )
    if input.layout is not strided:
        raise NotImplementedError(f"{function}() takes dense tensors, but got one of {input.layout}; use to_dense()")
    if input.dtype is not _FLOAT32:
        raise RuntimeError(message)


def _scalar_name(input: Any) -> str:
    return input.dtype.scalar_name if isinstance(input, Tensor) else ""


def _number(name: str, place: int, value: Any, kind: type) -> Any:
    """A number, or the one of a tensor."""
    if isinstance(value, Tensor):
        value = value.item()
    is_number = isinstance(value, (int, float) if kind is float else int) and not isinstance(value, bool)
    if not is_number:
        raise TypeError(
            f"quantize_per_tensor(): argument '{name}' (position {place}) must be {kind.__name__} or Tensor, not "
            f"{type_name(value)}"
        )
    return kind(value)
