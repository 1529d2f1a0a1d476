"""opweave.nn.utils: tools around modules, as in torch.nn.utils."""

from __future__ import annotations

from importlib import import_module as _import_module
from typing import Any as _Any

from ..._names.module_names import submodule as _submodule
from . import clip_grad, convert_parameters, rnn
from .clip_grad import clip_grad_norm, clip_grad_norm_, clip_grad_value_, clip_grads_with_norm_, get_total_norm
from .convert_parameters import parameters_to_vector, vector_to_parameters

# Imported when first asked for: they are written in terms of modules.
_LAZY_MODULES = ("fusion", "init", "memory_format", "parametrizations", "parametrize", "prune", "stateless")
_LAZY_NAMES = {
    "convert_conv2d_weight_memory_format": "memory_format",
    "convert_conv3d_weight_memory_format": "memory_format",
    "fuse_conv_bn_eval": "fusion",
    "fuse_conv_bn_weights": "fusion",
    "fuse_linear_bn_eval": "fusion",
    "fuse_linear_bn_weights": "fusion",
    "remove_spectral_norm": "old_norms",
    "remove_weight_norm": "old_norms",
    "skip_init": "init",
    "spectral_norm": "old_norms",
    "weight_norm": "old_norms",
}

__all__ = [
    "clip_grad", "clip_grad_norm", "clip_grad_norm_", "clip_grad_value_", "clip_grads_with_norm_",
    "convert_conv2d_weight_memory_format", "convert_conv3d_weight_memory_format", "convert_parameters",
    "fuse_conv_bn_eval", "fuse_conv_bn_weights", "fuse_linear_bn_eval", "fuse_linear_bn_weights", "fusion",
    "get_total_norm", "init", "memory_format", "parameters_to_vector", "parametrizations", "parametrize", "prune",
    "remove_spectral_norm", "remove_weight_norm", "rnn", "skip_init", "spectral_norm", "stateless",
    "vector_to_parameters", "weight_norm",
]  # fmt: skip


def __getattr__(name: str) -> _Any:
    if name in _LAZY_MODULES:
        return _import_module(f".{name}", __name__)
    if name in _LAZY_NAMES:
        return getattr(_import_module(f".{_LAZY_NAMES[name]}", __name__), name)
    return _submodule(__name__, name)
