"""Pairs of observers for the results and the weights of a module: QConfig, and the usual ones."""

from __future__ import annotations

from typing import Any, NamedTuple

from ...nn.modules.linear import Identity
from ...nn.modules.module import Module
from .defaults import (
    default_debug_observer,
    default_dynamic_fake_quant,
    default_dynamic_quant_observer,
    default_fake_quant,
    default_float_qparams_observer,
    default_histogram_observer,
    default_observer,
    default_per_channel_weight_observer,
    default_placeholder_observer,
    default_weight_fake_quant,
    default_weight_observer,
)

__all__ = [
    "QConfig",
    "default_activation_only_qconfig",
    "default_debug_qconfig",
    "default_dynamic_qat_qconfig",
    "default_dynamic_qconfig",
    "default_per_channel_qconfig",
    "default_qat_qconfig",
    "default_qconfig",
    "default_weight_only_qconfig",
    "float_qparams_weight_only_qconfig",
    "get_default_qconfig",
    "per_channel_dynamic_qconfig",
]


class _Pair(NamedTuple):
    activation: Any
    weight: Any


class QConfig(_Pair):
    """A pair of factories: of the observer of a module's results, and of that of its weight."""

    def __new__(cls, activation: Any, weight: Any) -> QConfig:
        if isinstance(activation, Module) or isinstance(weight, Module):
            raise ValueError(
                "QConfig received observer instance, please pass observer class instead. Use "
                "MyObserver.with_args(x=1) to override arguments to constructor if needed"
            )
        return super().__new__(cls, activation, weight)


default_qconfig = QConfig(default_observer, default_weight_observer)
default_debug_qconfig = QConfig(default_debug_observer, default_weight_observer)
default_per_channel_qconfig = QConfig(default_observer, default_per_channel_weight_observer)
default_dynamic_qconfig = QConfig(default_dynamic_quant_observer, default_weight_observer)
per_channel_dynamic_qconfig = QConfig(default_dynamic_quant_observer, default_per_channel_weight_observer)
float_qparams_weight_only_qconfig = QConfig(default_placeholder_observer, default_float_qparams_observer)
default_qat_qconfig = QConfig(default_fake_quant, default_weight_fake_quant)
default_dynamic_qat_qconfig = QConfig(default_dynamic_fake_quant, default_weight_fake_quant)
default_weight_only_qconfig = QConfig(Identity, default_weight_fake_quant)
default_activation_only_qconfig = QConfig(default_fake_quant, Identity)


def get_default_qconfig(backend: str = "x86", version: int = 0) -> QConfig:
    """Return the QConfig of static quantization for a kind of processor: `x86` or `fbgemm`."""
    if backend not in ("x86", "fbgemm", "onednn") or version != 0:
        raise AssertionError(
            f"backend: {backend}, version {version} not supported; expected one of x86, fbgemm, onednn"
        )
    return QConfig(
        default_histogram_observer.with_args(reduce_range=backend != "onednn"), default_per_channel_weight_observer
    )
