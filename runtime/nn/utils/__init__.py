"""opweave.nn.utils: tools around modules, as in torch.nn.utils."""

from __future__ import annotations

from importlib import import_module as _import_module
from typing import Any as _Any

from . import rnn
from .clip import clip_grad_norm, clip_grad_norm_, clip_grad_value_, clip_grads_with_norm_, get_total_norm
from .vectors import parameters_to_vector, vector_to_parameters

# Imported when first asked for: they are written in terms of modules.
_LAZY_MODULES = ("parametrizations", "parametrize", "prune", "stateless")
_LAZY_NAMES = {
    "remove_spectral_norm": "old_norms",
    "remove_weight_norm": "old_norms",
    "skip_init": "making",
    "spectral_norm": "old_norms",
    "weight_norm": "old_norms",
}

__all__ = [
    "clip_grad_norm",
    "clip_grad_norm_",
    "clip_grad_value_",
    "clip_grads_with_norm_",
    "get_total_norm",
    "parameters_to_vector",
    "parametrizations",
    "parametrize",
    "prune",
    "remove_spectral_norm",
    "remove_weight_norm",
    "rnn",
    "skip_init",
    "spectral_norm",
    "stateless",
    "vector_to_parameters",
    "weight_norm",
]


def __getattr__(name: str) -> _Any:
    if name in _LAZY_MODULES:
        return _import_module(f".{name}", __name__)
    if name in _LAZY_NAMES:
        return getattr(_import_module(f".{_LAZY_NAMES[name]}", __name__), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
