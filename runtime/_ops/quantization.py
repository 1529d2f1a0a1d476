"""Checks of what rounding by scales and zero points is given."""

from __future__ import annotations

import math
from typing import Any

from .._base.dtypes import EXPORTS
from .assertions import assert_explained

__all__ = ["check_fake_quantization"]

_OF_SCALES = tuple(EXPORTS[name] for name in ("float32", "bfloat16"))
_OF_ZERO_POINTS = tuple(EXPORTS[name] for name in ("int32", "float32", "float16"))


def check_fake_quantization(
    function: str, tensor: Any, scale: Any, zero_point: Any, axis: int, quant_min: int, quant_max: int
) -> None:
    """Raise RuntimeError for scales and zero points that do not fit the tensor, or are out of range."""
    if scale.dtype not in _OF_SCALES:
        raise RuntimeError(f"Scale must be Float or BFloat16, found {scale.dtype.scalar_name}")
    if zero_point.dtype not in _OF_ZERO_POINTS:
        raise RuntimeError(f"Zero-point must be Int32, Float or Half, found {zero_point.dtype.scalar_name}")
    for name, each in (("scale", scale), ("zero point", zero_point)):
        if each.ndim != 1:
            raise RuntimeError(f"{name} should be a 1-D tensor, but got {each.ndim} dimensions")
    if scale.numel() != zero_point.numel():
        raise RuntimeError(
            f"scale and zero-point need to have the same dimensions, but got {scale.numel()} and {zero_point.numel()}"
        )
    if axis >= tensor.ndim:
        raise IndexError(
            f"Dimension out of range (expected to be in range of [{-tensor.ndim}, {tensor.ndim - 1}], but got {axis})"
        )
    if axis < 0:
        raise RuntimeError(f"`axis` must be between 0 and number of dimensions of input, but got {axis}")
    if scale.numel() != tensor.shape[axis]:
        raise RuntimeError(
            "dimensions of scale and zero-point are not consistent with input tensor: expected "
            f"{tensor.shape[axis]}, but got {scale.numel()}"
        )
    if quant_min > quant_max:
        raise RuntimeError(
            f"`quant_min` should be less than or equal to `quant_max`, but got {quant_min} and {quant_max}"
        )
    if not zero_point.is_floating_point():
        inside = (zero_point >= quant_min) & (zero_point <= quant_max)
        text = "`zero_point` must be between `quant_min` and `quant_max`"
        _assert_each(inside, text, zero_point, f", {quant_min} and {quant_max}")
    _assert_each((scale > 0) & (scale < math.inf), f"{function}: `scale` must have finite numbers above zero", scale)


def _assert_each(condition: Any, text: str, values: Any, others: str = "") -> None:
    """Raise RuntimeError unless the condition holds for each of the values, which the message shows."""
    explained = lambda: RuntimeError(f"{text}, but got {values.tolist()}{others}")  # noqa: E731
    assert_explained(condition, "RuntimeError", text, explained)
