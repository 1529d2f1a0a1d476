"""Observers: modules that pass tensors on, remember their ranges, and say which scales and zero points suit them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from ..._base.dtypes import EXPORTS, dtype, qint8, qint32, quint8
from ..._base.finfo import finfo
from ..._base.types import (
    per_channel_affine,
    per_channel_affine_float_qparams,
    per_channel_symmetric,
    per_tensor_affine,
    per_tensor_symmetric,
    qscheme,
)
from ..._base.warn import warn
from ..._dispatch.ops import ops
from ..._tensor.construct import tensor
from ...nn import Module

__all__ = [
    "MinMaxObserver",
    "MovingAverageMinMaxObserver",
    "MovingAveragePerChannelMinMaxObserver",
    "ObserverBase",
    "PerChannelMinMaxObserver",
    "UniformQuantizationObserverBase",
]

EPS: float = finfo(EXPORTS["float32"]).eps
SYMMETRIC = (per_tensor_symmetric, per_channel_symmetric)
PER_TENSOR = (per_tensor_affine, per_tensor_symmetric)
PER_CHANNEL = (per_channel_affine, per_channel_symmetric, per_channel_affine_float_qparams)

_DTYPES = (quint8, qint8, qint32, *(EXPORTS[name] for name in ("int8", "uint8", "int16", "uint16", "int32")))


class Partial:
    """A class or a function with some arguments fixed: what `with_args` returns."""

    def __init__(self, made: Callable[..., Any], callables: Mapping[str, Callable[[], Any]] | None = None) -> None:
        self.p: Any = made if isinstance(made, partial) else partial(made)
        self.callable_args: dict[str, Callable[[], Any]] = dict(callables or {})

    def __call__(self, *args: Any, **keywords: Any) -> Any:
        given = {name: make() for name, make in self.callable_args.items() if name not in keywords}
        return self.p(*args, **given, **keywords)

    def __repr__(self) -> str:
        return f"{self.p!r}{self.callable_args!r}"

    def with_args(self, **kwargs: Any) -> Partial:
        """The same with more arguments fixed."""
        return Partial(partial(self.p, **kwargs), self.callable_args)

    def with_callable_args(self, **kwargs: Callable[[], Any]) -> Partial:
        """The same with arguments that functions give anew for each object."""
        return Partial(self.p, self.callable_args | kwargs)


class WithArguments:
    """Methods of classes of observers that make objects with some arguments fixed."""

    @classmethod
    def with_args(cls, **kwargs: Any) -> Partial:
        """A factory of objects of this class with these arguments."""
        return Partial(cls).with_args(**kwargs)

    @classmethod
    def with_callable_args(cls, **kwargs: Callable[[], Any]) -> Partial:
        """A factory of objects of this class with arguments that functions give anew for each of them."""
        return Partial(cls).with_callable_args(**kwargs)


class ObserverBase(WithArguments, Module):
    """The base of observers. `forward` takes notice of a tensor and returns it."""

    def __init__(self, dtype: dtype, is_dynamic: bool = False) -> None:
        super().__init__()
        self.dtype = dtype
        self.is_dynamic = is_dynamic

    def forward(self, x: Any) -> Any:
        """Observe a tensor and return it; derived classes define it. Raises NotImplementedError."""
        raise NotImplementedError(f"{type(self).__name__} has no forward()")

    def calculate_qparams(self, **kwargs: Any) -> Any:
        """Return scales and zero points."""
        raise NotImplementedError(f"{type(self).__name__} has no calculate_qparams()")


def quant_range(dtype: dtype, low: int | None, high: int | None, reduce_range: bool) -> tuple[int, int]:
    """The integers that are used: those that were asked for, else all of the dtype."""
    if low is not None and high is not None:
        if not low <= 0 <= high:
            raise AssertionError(f"Used-specified quantization range must include 0, but got {low} to {high}.")
        if low >= high:
            raise AssertionError(
                f"qmin must be strictly less than qmax for user-specified quantization range, but got {low} and {high}."
            )
        if dtype.itemsize == 1 and dtype.minimum < 0 and high - low >= 256:
            raise AssertionError(
                "quantization range should be positive and not exceed the maximum bit range (=256), but got "
                f"{high - low + 1}."
            )
        return (low // 2, high // 2) if reduce_range else (low, high)
    if dtype.itemsize > 1:
        return dtype.minimum, dtype.maximum
    return (dtype.minimum // 2, dtype.maximum // 2) if reduce_range else (dtype.minimum, dtype.maximum)


class UniformQuantizationObserverBase(ObserverBase):
    """The base of observers of ranges.

    Args:
        dtype: `quint8`, `qint8`, `qint32`, or a dtype of integers.
        qscheme: `per_tensor_affine` or another scheme.
        reduce_range: use one bit less.
        quant_min, quant_max (int): the integers that are used; None: all of the dtype.
        eps (float): the least scale.
    """

    _version = 3

    def __init__(
        self,
        dtype: dtype = quint8,
        qscheme: qscheme = per_tensor_affine,
        reduce_range: bool = False,
        quant_min: int | None = None,
        quant_max: int | None = None,
        factory_kwargs: Mapping[str, Any] | None = None,
        eps: float = EPS,
        is_dynamic: bool = False,
        **kwargs: Any,
    ) -> None:
        super().__init__(dtype=dtype, is_dynamic=is_dynamic, **kwargs)
        if qscheme not in (*PER_TENSOR, *PER_CHANNEL):
            raise AssertionError(f"{type(self).__name__}: unknown quantization scheme {qscheme!r}")
        if dtype not in _DTYPES:
            raise AssertionError(f"Default Observer only works for {_DTYPES} data type, but got {dtype}")
        self.qscheme = qscheme
        self.reduce_range = reduce_range
        self.register_buffer("eps", tensor([eps], **(factory_kwargs or {})))
        self.has_customized_qrange = quant_min is not None and quant_max is not None
        self.quant_min, self.quant_max = quant_range(dtype, quant_min, quant_max, reduce_range)

    def _calculate_qparams(self, min_val: Any, max_val: Any) -> tuple[Any, Any]:
        """Scales and zero points for ranges, one for each channel or one alone."""
        if not _is_valid(min_val, max_val):
            return tensor([1.0]), tensor([0])
        steps = float(self.quant_max - self.quant_min)
        low, high = min_val.clamp(max=0), max_val.clamp(min=0)
        if self.qscheme in SYMMETRIC:
            scale = ops.maximum(ops.maximum(-low, high) / (steps / 2), self.eps)
            zero_point = ops.full_like(scale, self._middle, dtype=EXPORTS["int64"])
        elif self.qscheme is per_channel_affine_float_qparams:
            scale = (max_val - min_val) / steps
            scale = ops.where(scale > self.eps, scale, ops.ones_like(scale))
            zero_point = -1 * min_val / scale
        else:
            scale = ops.maximum((high - low) / steps, self.eps)
            zero_point = self.quant_min - ops.round(low / scale).to(EXPORTS["int32"])
            zero_point = zero_point.clamp(self.quant_min, self.quant_max)
        return scale.reshape(-1), zero_point.reshape(-1)

    @property
    def _middle(self) -> int:
        """The zero point of symmetric schemes."""
        if self.dtype is EXPORTS["uint16"]:
            return 1 << 15
        if self.dtype.minimum < 0:
            return 0
        return (self.quant_min + self.quant_max) // 2 if self.has_customized_qrange else 128

    def reset_min_max_vals(self) -> None:
        """Forget what was observed."""
        raise NotImplementedError("Cannot reset min/max values in the given observer.")


def _is_valid(min_val: Any, max_val: Any) -> bool:
    """False, with a warning, before anything was observed. Raises AssertionError for a range that is none."""
    if min_val.numel() == 0 or max_val.numel() == 0:
        warn("must run observer before calling calculate_qparams. Returning default values.")
        return False
    if min_val.ndim == 0:
        if min_val.item() == float("inf") and max_val.item() == float("-inf"):
            warn("must run observer before calling calculate_qparams. Returning default values.")
            return False
        if min_val > max_val:
            raise AssertionError(f"min {min_val} should be less than max {max_val}")
    elif (min_val > max_val).any():
        raise AssertionError(f"min {min_val} should be less than max {max_val}")
    return True


class _RangeObserver(UniformQuantizationObserverBase):
    """The base of observers that have the least and the greatest elements as buffers."""

    def calculate_qparams(self) -> tuple[Any, Any]:  # type: ignore[override]
        """Return scales and zero points, one of each for every channel, or one alone."""
        return self._calculate_qparams(self.min_val, self.max_val)

    def extra_repr(self) -> str:
        return f"min_val={self.min_val}, max_val={self.max_val}"

    def reset_min_max_vals(self) -> None:
        self._ow_begin()

    def _ow_begin(self) -> None:
        """Makes the buffers, as they are before anything was observed."""
        raise NotImplementedError("Cannot reset min/max values in the given observer.")

    def _ow_update(self, low: Any, high: Any) -> None:
        """Takes notice of the least and the greatest elements of a tensor."""
        self.min_val.copy_(ops.minimum(low, self.min_val))
        self.max_val.copy_(ops.maximum(high, self.max_val))

    def _approach(self, low: Any, high: Any, share: float) -> None:
        self.min_val.add_(share * (low - self.min_val))
        self.max_val.add_(share * (high - self.max_val))


class MinMaxObserver(_RangeObserver):
    """Remembers the least and the greatest element of all tensors."""

    _axes: tuple[Any, ...] = PER_TENSOR

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if self.qscheme not in self._axes:
            raise NotImplementedError(
                f"{type(self).__name__}'s qscheme only support opweave.per_tensor_symmetric and "
                f"opweave.per_tensor_affine, but got {self.qscheme}"
            )
        if self.qscheme in SYMMETRIC and self.reduce_range and self.dtype is quint8:
            raise NotImplementedError("Cannot reduce range for symmetric quantization for quint8")
        self._ow_begin()

    def _ow_begin(self) -> None:
        self.register_buffer("min_val", tensor(float("inf")))
        self.register_buffer("max_val", tensor(float("-inf")))

    def forward(self, x_orig: Any) -> Any:
        """Update the least and the greatest element by those of a tensor, and return the tensor."""
        if x_orig.numel():
            x = x_orig.detach().to(self.min_val.dtype)
            self._ow_update(*ops.aminmax(x))
        return x_orig


class MovingAverageMinMaxObserver(MinMaxObserver):
    """Remembers moving averages of the least and the greatest element of tensors.

    Args:
        averaging_constant (float): the share of the last tensor.
    """

    def __init__(self, averaging_constant: float = 0.01, *args: Any, **kwargs: Any) -> None:
        self.averaging_constant = averaging_constant
        super().__init__(*args, **kwargs)

    def _ow_update(self, low: Any, high: Any) -> None:
        if self.min_val.item() == float("inf") and self.max_val.item() == float("-inf"):
            super()._ow_update(low, high)
            return
        self._approach(low, high, self.averaging_constant)


class PerChannelMinMaxObserver(_RangeObserver):
    """Remembers the least and the greatest element of each channel.

    Args:
        ch_axis (int): the dimension of the channels.
    """

    def __init__(
        self, ch_axis: int = 0, dtype: dtype = quint8, qscheme: qscheme = per_channel_affine, *args: Any, **kwargs: Any
    ) -> None:
        if qscheme not in PER_CHANNEL:
            raise NotImplementedError(
                f"{type(self).__name__}'s qscheme only support opweave.per_channel_symmetric, "
                f"opweave.per_channel_affine and opweave.per_channel_affine_float_qparams, but got {qscheme}"
            )
        if kwargs.get("is_dynamic"):
            raise NotImplementedError("PerChannelMinMaxObserver doesn't support dynamic quantization")
        super().__init__(dtype, qscheme, *args, **kwargs)
        self.ch_axis = ch_axis
        self._ow_begin()
        if qscheme is per_channel_symmetric and self.reduce_range and dtype is quint8:
            raise NotImplementedError("Cannot reduce range for symmetric quantization for quint8")

    def _ow_begin(self) -> None:
        self.register_buffer("min_val", tensor([]))
        self.register_buffer("max_val", tensor([]))

    def forward(self, x_orig: Any) -> Any:
        """Update the least and the greatest element of each channel by those of a tensor, and return the tensor."""
        if x_orig.numel():
            x = x_orig.detach().to(self.min_val.dtype).transpose(0, self.ch_axis).flatten(1)
            low, high = ops.aminmax(x, dim=1)
            if self.min_val.numel() == 0:
                self.min_val.resize_(low.shape).copy_(low)
                self.max_val.resize_(high.shape).copy_(high)
            else:
                self._ow_update(low, high)
        return x_orig

    def _load_from_state_dict(self, state_dict: Any, prefix: str, *rest: Any) -> None:
        for name in ("min_val", "max_val"):  # which have as many elements as there were channels
            if prefix + name in state_dict:
                getattr(self, name).resize_(state_dict[prefix + name].shape)
        super()._load_from_state_dict(state_dict, prefix, *rest)


class MovingAveragePerChannelMinMaxObserver(PerChannelMinMaxObserver):
    """Remembers moving averages of the least and the greatest element of each channel."""

    def __init__(self, averaging_constant: float = 0.01, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.averaging_constant = averaging_constant

    def _ow_update(self, low: Any, high: Any) -> None:
        self._approach(low, high, self.averaging_constant)
