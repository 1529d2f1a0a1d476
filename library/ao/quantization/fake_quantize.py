"""Modules for training: they round as quantization will, and let gradients pass."""

from __future__ import annotations

from typing import Any

from ..._base.dtypes import EXPORTS, quint8
from ..._base.types import per_channel_affine_float_qparams
from ..._dispatch.ops import ops
from ..._tensor.construct import tensor
from ...nn import Module
from .observer import PER_CHANNEL, MovingAverageMinMaxObserver, Partial, WithArguments
from .placeholders import FixedQParamsObserver

__all__ = [
    "FakeQuantize",
    "FakeQuantizeBase",
    "FixedQParamsFakeQuantize",
    "FusedMovingAvgObsFakeQuantize",
    "disable_fake_quant",
    "disable_observer",
    "enable_fake_quant",
    "enable_observer",
]


class FakeQuantizeBase(WithArguments, Module):
    """The base of such modules: what switches their parts on and off."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("fake_quant_enabled", tensor([1], dtype=EXPORTS["uint8"]))
        self.register_buffer("observer_enabled", tensor([1], dtype=EXPORTS["uint8"]))

    def forward(self, x: Any) -> Any:
        """Return the tensor after rounding; derived classes define it. Raises NotImplementedError."""
        raise NotImplementedError(f"{type(self).__name__} has no forward()")

    def calculate_qparams(self, **kwargs: Any) -> Any:
        """Return scales and zero points."""
        raise NotImplementedError(f"{type(self).__name__} has no calculate_qparams()")

    def enable_fake_quant(self, enabled: bool = True) -> None:
        """Round from now on, or not."""
        self.fake_quant_enabled.fill_(int(enabled))

    def disable_fake_quant(self) -> None:
        """Stop rounding."""
        self.enable_fake_quant(False)

    def enable_observer(self, enabled: bool = True) -> None:
        """Observe ranges from now on, or not."""
        self.observer_enabled.fill_(int(enabled))

    def disable_observer(self) -> None:
        """Stop observing ranges."""
        self.enable_observer(False)


class FakeQuantize(FakeQuantizeBase):
    """Rounds by the scale and the zero point that an observer finds.

    Args:
        observer: the class of the observer, or what makes one.
        quant_min, quant_max (int): the integers that are used.
    """

    def __init__(
        self,
        observer: Any = MovingAverageMinMaxObserver,
        quant_min: int | None = None,
        quant_max: int | None = None,
        is_dynamic: bool = False,
        **observer_kwargs: Any,
    ) -> None:
        super().__init__()
        if quant_min is not None and quant_max is not None:
            if quant_min > quant_max:
                raise AssertionError(
                    f"quant_min must be less than or equal to quant_max, but got {quant_min} and {quant_max}"
                )
            fixed = observer.p.keywords if isinstance(observer, Partial) else {}
            dtype = fixed.get("dtype", observer_kwargs.get("dtype", quint8))
            if quant_min < dtype.minimum:
                raise AssertionError(f"quant_min out of bound: {quant_min} is less than {dtype.minimum}")
            if quant_max > dtype.maximum:
                raise AssertionError(f"quant_max out of bound: {quant_max} is greater than {dtype.maximum}")
            observer_kwargs.update(quant_min=quant_min, quant_max=quant_max)
        self.activation_post_process = observer(**observer_kwargs, is_dynamic=is_dynamic)
        observed = self.activation_post_process
        self.quant_min, self.quant_max, self.is_dynamic = observed.quant_min, observed.quant_max, observed.is_dynamic
        self.dtype, self.qscheme = observed.dtype, observed.qscheme
        of_zero_point = EXPORTS["float32" if self.qscheme is per_channel_affine_float_qparams else "int32"]
        self.register_buffer("scale", tensor([1.0], dtype=EXPORTS["float32"]))
        self.register_buffer("zero_point", tensor([0], dtype=of_zero_point))
        self.ch_axis: int = getattr(observed, "ch_axis", -1)
        self.is_per_channel = self.qscheme in PER_CHANNEL

    def calculate_qparams(self) -> Any:  # type: ignore[override]
        """Return scales and zero points."""
        return self.activation_post_process.calculate_qparams()

    def forward(self, X: Any) -> Any:  # noqa: N803 (torch's name)
        """Observe the range of a tensor and return it rounded to the quantized numbers, as far as both are enabled."""
        if self.observer_enabled.item():
            self.activation_post_process(X.detach())
            for buffer, found in zip((self.scale, self.zero_point), self.calculate_qparams(), strict=True):
                if buffer.shape != found.shape:
                    buffer.resize_(found.shape)
                buffer.copy_(found)
        if not self.fake_quant_enabled.item():
            return X
        limits = self.activation_post_process.quant_min, self.activation_post_process.quant_max
        if self.is_per_channel:
            return ops.fake_quantize_per_channel_affine(X, self.scale, self.zero_point, self.ch_axis, *limits)
        return ops.fake_quantize_per_tensor_affine(X, self.scale, self.zero_point, *limits)

    def extra_repr(self) -> str:
        """Return the switches, the range of integers, the dtype and scheme, scale and zero point."""
        return (
            f"fake_quant_enabled={self.fake_quant_enabled}, observer_enabled={self.observer_enabled}, "
            f"quant_min={self.activation_post_process.quant_min}, quant_max={self.activation_post_process.quant_max}, "
            f"dtype={self.dtype}, qscheme={self.qscheme}, ch_axis={self.ch_axis}, "
            f"scale={self.scale}, zero_point={self.zero_point}"
        )

    def _load_from_state_dict(self, state_dict: Any, prefix: str, *rest: Any) -> None:
        for name in ("scale", "zero_point"):  # which have as many elements as there were channels
            if prefix + name in state_dict:
                getattr(self, name).resize_(state_dict[prefix + name].shape)
        super()._load_from_state_dict(state_dict, prefix, *rest)


class FixedQParamsFakeQuantize(FakeQuantize):
    """Rounds by a scale and a zero point that are known."""

    def __init__(self, observer: Any) -> None:
        super().__init__(observer=observer)
        if not isinstance(self.activation_post_process, FixedQParamsObserver):
            kind = type(self.activation_post_process).__name__
            raise AssertionError(f"FixedQParamsFakeQuantize must be used with FixedQParamsObserver, but got {kind}")
        self.scale = self.activation_post_process.scale
        self.zero_point = self.activation_post_process.zero_point

    def calculate_qparams(self) -> Any:  # type: ignore[override]
        """Return scale and zero point."""
        return self.scale, self.zero_point


class FusedMovingAvgObsFakeQuantize(FakeQuantize):
    """The same as FakeQuantize with an observer of moving averages, which torch has for the sake of speed."""


def disable_fake_quant(mod: Any) -> None:
    """Make a module stop rounding; for `Module.apply`."""
    if isinstance(mod, FakeQuantizeBase):
        mod.disable_fake_quant()


def enable_fake_quant(mod: Any) -> None:
    """Make a module round; for `Module.apply`."""
    if isinstance(mod, FakeQuantizeBase):
        mod.enable_fake_quant()


def disable_observer(mod: Any) -> None:
    """Make a module stop observing ranges; for `Module.apply`."""
    if isinstance(mod, FakeQuantizeBase):
        mod.disable_observer()


def enable_observer(mod: Any) -> None:
    """Make a module observe ranges; for `Module.apply`."""
    if isinstance(mod, FakeQuantizeBase):
        mod.enable_observer()
