"""The numbers and the quantizer of a quantized tensor: `dequantize`, `int_repr`, `q_scale` and the like."""

# mypy: disable-error-code="no-any-return"
# (the layers below class Tensor know none of its methods)

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, overload

from ..._base.dtypes import EXPORTS
from ..._base.tensor_class import Tensor
from ..._base.type_names import type_name
from ..._base.types import qscheme
from .quantizer import PerChannel, PerTensor
from .tensors import dequantize as _dequantized
from .tensors import is_quantized, memory_of, own_quantizer

if TYPE_CHECKING:
    from ..._tensor.tensor import Tensor as TensorType

__all__ = [
    "dequantize",
    "int_repr",
    "q_per_channel_axis",
    "q_per_channel_scales",
    "q_per_channel_zero_points",
    "q_scale",
    "q_zero_point",
]
_PACKAGE_NAMES = __all__

_FLOAT32 = EXPORTS["float32"]


@overload
def dequantize(input: TensorType) -> TensorType: ...
@overload
def dequantize(input: Sequence[TensorType]) -> tuple[TensorType, ...]: ...
def dequantize(input: Any) -> Any:
    """Return the numbers that a quantized tensor stands for as float32; of a list of tensors, a tuple of them.

    The elements of another tensor are converted to float32.
    """
    if isinstance(input, (list, tuple)):
        return tuple(_dequantized(check_quantized("dequantize", each)) for each in input)
    check_tensor("dequantize", "input", 1, input)
    return _dequantized(input) if is_quantized(input) else input.to(_FLOAT32)


def int_repr(input: TensorType) -> TensorType:
    """Return a copy of the integers in the memory of a quantized tensor."""
    return memory_of(check_quantized("int_repr", input)).clone()


def q_scale(input: TensorType) -> float:
    """Return the scale of a tensor that is quantized with one."""
    return _per_tensor("q_scale", input).scale


def q_zero_point(input: TensorType) -> int:
    """Return the zero point of a tensor that is quantized with one."""
    return _per_tensor("q_zero_point", input).zero_point


def q_per_channel_scales(input: TensorType) -> TensorType:
    """Return the scales of a tensor that is quantized by channel."""
    return _per_channel("q_per_channel_scales", input).scales.clone()


def q_per_channel_zero_points(input: TensorType) -> TensorType:
    """Return the zero points of a tensor that is quantized by channel."""
    return _per_channel("q_per_channel_zero_points", input).zero_points.clone()


def q_per_channel_axis(input: TensorType) -> int:
    """Return the dimension of the channels of a tensor that is quantized by channel."""
    return _per_channel("q_per_channel_axis", input).axis


def scheme_of(input: Any) -> qscheme:
    """Return the scheme by which a quantized tensor is quantized."""
    return own_quantizer(check_quantized("qscheme", input)).scheme


# ---- checks --------------------------------------------------------------------------------------------------


def check_tensor(function: str, name: str, place: int, value: Any) -> None:
    """Raise TypeError unless the argument is a tensor."""
    if not isinstance(value, Tensor):
        raise TypeError(f"{function}(): argument '{name}' (position {place}) must be Tensor, not {type_name(value)}")


def check_quantized(function: str, input: Any) -> Any:
    """Return the tensor. Raises NotImplementedError if it is not quantized."""
    check_tensor(function, "input", 1, input)
    if not is_quantized(input):
        raise NotImplementedError(
            f"Could not run 'aten::{function}' with arguments from the 'CPU' backend. {function}() is for quantized "
            "tensors, which quantize_per_tensor() makes"
        )
    return input


def _per_tensor(function: str, input: Any) -> PerTensor:
    quantizer = own_quantizer(check_quantized(function, input))
    if not isinstance(quantizer, PerTensor):
        raise RuntimeError(
            f"Expected quantizer->qscheme() == kPerTensorAffine to be true, but got false.  {function}() is for "
            f"tensors that are quantized with one scale, but this one has {quantizer.scheme}"
        )
    return quantizer


def _per_channel(function: str, input: Any) -> PerChannel:
    quantizer = own_quantizer(check_quantized(function, input))
    if not isinstance(quantizer, PerChannel):
        raise RuntimeError(
            "Expected quantizer->qscheme() == kPerChannelAffine || quantizer->qscheme() == "
            f"kPerChannelAffineFloatQParams to be true, but got false.  {function}() is for tensors that are "
            f"quantized by channel, but this one has {quantizer.scheme}"
        )
    return quantizer
