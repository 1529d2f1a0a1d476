"""Scales and zero points: an integer `i` in memory stands for the number `(i - zero_point) * scale`.

A quantizer makes integers of numbers and numbers of integers, by the operators `_quantized_*` and `_dequantized_*`,
and is never changed. Arithmetic is that of float32, as in torch, but for numbers that integers of channels stand for.
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

from ..._base.devices import CPU, has_values
from ..._base.dtypes import EXPORTS, dtype
from ..._base.types import per_channel_affine, per_channel_affine_float_qparams, per_tensor_affine, qscheme
from ..._dispatch.ops import ops

__all__ = ["PerChannel", "PerTensor", "Quantizer", "dequantized", "per_channel", "per_tensor", "quantized"]

_FLOAT32, _FLOAT64, _INT64 = EXPORTS["float32"], EXPORTS["float64"], EXPORTS["int64"]


@dataclass(frozen=True)
class PerTensor:
    """One scale and one zero point for all elements."""

    scale: float
    zero_point: int

    scheme = per_tensor_affine

    def operands(self, elements: Any) -> Operands:
        """Return scale and zero point as operands for elements."""
        return _of_numbers(self.scale, self.zero_point)

    @property
    def arguments(self) -> tuple[Any, ...]:
        """The arguments that make the same quantizer anew."""
        return self.scale, self.zero_point


class Operands(NamedTuple):
    """Scales and zero points as tensors that are broadcast over the elements."""

    scale: Any
    inverse: Any
    zero_point: Any
    integer: Any
    """The zero point as an int32; a float32 where it is no integer."""

    @classmethod
    def of(cls, scale: Any, zero_point: Any) -> Operands:
        """Return the operands of a scale and a zero point, which are tensors."""
        scale = scale.to(_FLOAT32)
        integer = zero_point if zero_point.is_floating_point() else zero_point.to(EXPORTS["int32"])
        return cls(scale, ops.reciprocal(scale), zero_point.to(_FLOAT32), integer)


@lru_cache(maxsize=64)
def _of_numbers(scale: float, zero_point: int) -> Operands:
    made = [ops.full((), value, dtype=of, device=CPU) for value, of in ((scale, _FLOAT64), (zero_point, _INT64))]
    return Operands.of(*made)


@dataclass(frozen=True, eq=False)
class PerChannel:
    """A scale and a zero point for each position in the dimension `axis`.

    Both are float64 and int64; or float32, where the zero points are no integers.
    """

    scales: Any
    zero_points: Any
    axis: int

    @property
    def scheme(self) -> qscheme:
        """The scheme of quantization."""
        return per_channel_affine_float_qparams if self.is_floating else per_channel_affine

    @property
    def is_floating(self) -> bool:
        """True if zero points are float32."""
        return self.zero_points.dtype is _FLOAT32

    def operands(self, elements: Any) -> Operands:
        """Return scales and zero points as operands, in the shape that broadcasts to the elements."""
        return Operands.of(*(self.over(elements, each) for each in (self.scales, self.zero_points)))

    def over(self, elements: Any, numbers: Any) -> Any:
        """Numbers of the channels, broadcast over the elements."""
        sizes = [1] * elements.ndim
        sizes[self.axis] = len(numbers)
        return numbers.to(elements.device).view(sizes)

    @property
    def arguments(self) -> tuple[Any, Any, int]:
        """The arguments that make the same quantizer anew."""
        return self.scales, self.zero_points, self.axis

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, PerChannel)
            and self.axis == other.axis
            and bool(ops.equal(self.scales, other.scales) and ops.equal(self.zero_points, other.zero_points))
        )

    __hash__ = None  # type: ignore[assignment]

    def of_channels(self, index: Any, axis: int | None) -> Quantizer:
        """Return the quantizer of the channels at these positions; `axis` is None for one channel, whose dimension is
        gone."""
        scales, zero_points = self.scales[index], self.zero_points[index]
        if axis is None and not self.is_floating:
            return PerTensor(scales.item(), zero_points.item())
        return PerChannel(scales.reshape(-1), zero_points.reshape(-1), axis or 0)


Quantizer = PerTensor | PerChannel


def quantized(quantizer: Quantizer, values: Any, of: Any) -> Any:
    """Return the integers nearest to numbers, in the range of the dtype; ties go to even after the zero point is
    added."""
    given = quantizer.operands(values)
    return getattr(ops, f"_quantized_{of.memory.name}")(values, given.inverse, given.zero_point)


def dequantized(quantizer: Quantizer, integers: Any) -> Any:
    """The numbers that integers stand for."""
    given = quantizer.operands(integers)
    if given.integer.is_floating_point():
        return (integers.to(_FLOAT32) - given.zero_point) * given.scale
    if isinstance(quantizer, PerChannel):  # of which torch multiplies in the precision of its scales
        scale = quantizer.over(integers, quantizer.scales)
        return ((integers.to(EXPORTS["int32"]) - given.integer) * scale).to(_FLOAT32)
    return getattr(ops, f"_dequantized_{integers.dtype.name}")(integers, given.scale, given.integer)


# ---- what users give ----------------------------------------------------------------------------------------


def per_tensor(function: str, scale: float, zero_point: int, of: dtype) -> PerTensor:
    """Raises RuntimeError for a scale that is no finite number above zero, or a zero point beyond the dtype."""
    _check_scale(function, scale)
    _check_zero_point(function, zero_point, of)
    return PerTensor(float(scale), int(zero_point))


def per_channel(function: str, scales: Any, zero_points: Any, axis: int, shape: Sequence[int], of: dtype) -> PerChannel:
    """Raises RuntimeError where they are not vectors, do not fit the shape, or are out of range."""
    for name, each in (("scale", scales), ("zero_point", zero_points)):
        if each.ndim != 1:
            raise RuntimeError(f"{name} tensor must have dimension 1, but got {each.ndim} dimensions")
    if not scales.is_floating_point():
        raise RuntimeError(f"scale tensor must be floating point, but got {scales.dtype}")
    if zero_points.is_complex() or zero_points.dtype is EXPORTS["bool"]:
        raise RuntimeError(f"zero_point tensor must be of numbers, but got {zero_points.dtype}")
    if len(scales) != len(zero_points):
        raise RuntimeError(
            f"number of elements in scales and zero_points must match, but got {len(scales)} and {len(zero_points)}"
        )
    if not 0 <= axis < len(shape):
        raise RuntimeError(
            f"Channel axis out of range in per channel affine quantization. Got: {axis}Expected: [0, {len(shape)})"
        )
    if len(scales) != shape[axis]:
        raise RuntimeError(f"length of scales must equal to channel, expected {shape[axis]} got, {len(scales)}")
    for scale in scales.tolist() if has_values(scales) else ():
        _check_scale(function, scale)
    if zero_points.is_floating_point():
        return PerChannel(_own(scales, _FLOAT32), _own(zero_points, _FLOAT32), axis)
    for zero_point in zero_points.tolist() if has_values(zero_points) else ():
        _check_zero_point(function, zero_point, of)
    return PerChannel(_own(scales, _FLOAT64), _own(zero_points, _INT64), axis)


def _own(values: Any, of: dtype) -> Any:
    """A copy, which nobody else changes."""
    return values.detach().to(of, copy=True).contiguous()


def _check_scale(function: str, scale: float) -> None:
    in_float32 = array("f", [scale])[0]
    if not 0 < in_float32 < math.inf:
        raise RuntimeError(f"{function} scale must be a finite number above zero in float32, but got {scale}")


def _check_zero_point(function: str, zero_point: int, of: dtype) -> None:
    """Raises RuntimeError for a zero point that is none of the dtype's integers."""
    if zero_point > of.maximum:
        raise RuntimeError(f"{function} zero_point {zero_point} is above upper bound.")
    if zero_point < of.minimum:
        raise RuntimeError(f"{function} zero_point {zero_point} is below lower bound.")
