"""opweave: tensors with PyTorch's interface, woven from a list of operators.

NumPy, printing and whatever else the first tensor does not need are imported when they are first used.
"""

# ruff: noqa: F401 (__all__ is computed)
from __future__ import annotations

from ._base import loader as _loader  # isort: skip  (loads OpenBLAS, which has to come before the compiled module)

import builtins as _builtins
from math import e, inf, nan, pi
from types import ModuleType as _ModuleType
from typing import Any as _Any

from . import _operators
from ._base.beside import import_beside as _import_beside
from ._base.devices import device, get_default_device, set_default_device
from ._base.dtypes import EXPORTS as _DTYPES
from ._base.dtypes import dtype, get_default_dtype, qint8, qint32, quint2x4, quint4x2, quint8, set_default_dtype
from ._base.errors import LinAlgError, OutOfMemoryError
from ._base.finfo import finfo, iinfo
from ._base.generator import Generator, default_generator
from ._base.interchange import from_dlpack, from_numpy, frombuffer
from ._base.module_names import submodule as _submodule
from ._base.promotion import can_cast, promote_types, result_type
from ._base.shapes import broadcast_shapes
from ._base.small_dtypes import (
    int1,
    int2,
    int3,
    int4,
    int5,
    int6,
    int7,
    uint1,
    uint2,
    uint3,
    uint4,
    uint5,
    uint6,
    uint7,
)
from ._base.threads import (
    get_num_interop_threads,
    get_num_threads,
    set_flush_denormal,
    set_num_interop_threads,
    set_num_threads,
)
from ._base.types import (
    Size,
    channels_last,
    channels_last_3d,
    contiguous_format,
    layout,
    memory_format,
    per_channel_affine,
    per_channel_affine_float_qparams,
    per_channel_symmetric,
    per_tensor_affine,
    per_tensor_symmetric,
    preserve_format,
    qscheme,
    strided,
)
from ._tensor.construct import as_tensor, asarray, is_tensor, tensor
from ._tensor.removed import FUNCTIONS as _REMOVED
from ._tensor.tensor import Tensor
from ._tensor.typed_tensors import TENSOR_TYPES as _TENSOR_TYPES
from ._tensor.typed_tensors import set_default_tensor_type, typename
from .random import get_rng_state, initial_seed, manual_seed, seed, set_rng_state

newaxis = None

# Loaded when first asked for: submodules, and names by the module that has them.
_LAZY_MODULES = (
    "__config__",
    "_dynamo",
    "accelerator",
    "amp",
    "ao",
    "array_api",
    "autograd",
    "backends",
    "classes",
    "compiler",
    "cpu",
    "cuda",
    "distributed",
    "distributions",
    "fft",
    "func",
    "functional",
    "futures",
    "fx",
    "hub",
    "jit",
    "library",
    "linalg",
    "masked",
    "mps",
    "multiprocessing",
    "nn",
    "onnx",
    "ops",
    "optim",
    "overrides",
    "profiler",
    "quasirandom",
    "random",
    "return_types",
    "safetensors",
    "serialization",
    "signal",
    "sparse",
    "special",
    "storage",
    "testing",
    "torch_version",
    "types",
    "utils",
    "version",
    "xpu",
)
_LAZY_NAMES = {
    "Tag": "_base.tags",
    "as_torch": "as_torch",
    "Event": "cpu",
    "Stream": "cpu",
    "SymBool": "_symbolic",
    "SymFloat": "_symbolic",
    "SymInt": "_symbolic",
    "sym_float": "_symbolic",
    "sym_int": "_symbolic",
    "sym_ite": "_symbolic",
    "sym_max": "_symbolic",
    "sym_min": "_symbolic",
    "sym_not": "_symbolic",
    "sym_sqrt": "_symbolic",
    "sym_sum": "_symbolic",
    "_assert": "_checks",
    "_assert_async": "_checks",
    "_check": "_checks",
    "_check_index": "_checks",
    "_check_is_size": "_checks",
    "_check_not_implemented": "_checks",
    "_check_tensor_all": "_checks",
    "_check_tensor_all_with": "_checks",
    "_check_type": "_checks",
    "_check_value": "_checks",
    "_check_with": "_checks",
    "compile": "compiler",
    "cond": "_branches",
    "while_loop": "_branches",
    "vmap": "_batching.vmap",
    "Future": "futures",
    "ScriptModule": "jit",
    "get_device_module": "_device_modules",
    "GradScaler": "amp.grad_scaler",
    "autocast": "amp.autocast_mode",
    "autocast_decrement_nesting": "amp.autocast_state",
    "autocast_increment_nesting": "amp.autocast_state",
    "clear_autocast_cache": "amp.autocast_state",
    "get_autocast_cpu_dtype": "amp.autocast_state",
    "get_autocast_dtype": "amp.autocast_state",
    "is_autocast_cache_enabled": "amp.autocast_state",
    "is_autocast_cpu_enabled": "amp.autocast_state",
    "is_autocast_enabled": "amp.autocast_state",
    "set_autocast_cache_enabled": "amp.autocast_state",
    "set_autocast_cpu_dtype": "amp.autocast_state",
    "set_autocast_cpu_enabled": "amp.autocast_state",
    "set_autocast_dtype": "amp.autocast_state",
    "set_autocast_enabled": "amp.autocast_state",
    "enable_grad": "_autograd.grad_mode",
    "inference_mode": "_autograd.grad_mode",
    "is_anomaly_check_nan_enabled": "_autograd.anomaly_mode",
    "is_anomaly_enabled": "_autograd.anomaly_mode",
    "is_grad_enabled": "_autograd.grad_mode",
    "is_inference_mode_enabled": "_autograd.grad_mode",
    "no_grad": "_autograd.grad_mode",
    "set_anomaly_enabled": "_autograd.anomaly_mode",
    "set_grad_enabled": "_autograd.grad_mode",
    "align_tensors": "_representations.named.methods",
    "are_deterministic_algorithms_enabled": "_base.determinism",
    "get_deterministic_debug_mode": "_base.determinism",
    "is_deterministic_algorithms_warn_only_enabled": "_base.determinism",
    "set_deterministic_debug_mode": "_base.determinism",
    "use_deterministic_algorithms": "_base.determinism",
    "get_float32_matmul_precision": "_base.unused_settings",
    "is_warn_always_enabled": "_base.unused_settings",
    "set_float32_matmul_precision": "_base.unused_settings",
    "set_warn_always": "_base.unused_settings",
    "lobpcg": "_low_rank.lobpcg",
    "pca_lowrank": "_low_rank.approximations",
    "svd_lowrank": "_low_rank.approximations",
    "alpha_dropout": "_aten.dropout",
    "alpha_dropout_": "_aten.dropout",
    "dropout_": "_aten.dropout",
    "feature_alpha_dropout": "_aten.dropout",
    "feature_alpha_dropout_": "_aten.dropout",
    "feature_dropout": "_aten.dropout",
    "feature_dropout_": "_aten.dropout",
    "gru": "_aten.recurrent",
    "gru_cell": "_aten.recurrent",
    "lstm": "_aten.recurrent",
    "lstm_cell": "_aten.recurrent",
    "rnn_relu": "_aten.recurrent",
    "rnn_relu_cell": "_aten.recurrent",
    "rnn_tanh": "_aten.recurrent",
    "rnn_tanh_cell": "_aten.recurrent",
    "batch_norm": "_aten.layers",
    "bilinear": "_aten.layers",
    "constant_pad_nd": "_aten.layers",
    "convolution": "_aten.layers",
    "embedding": "_aten.layers",
    "frobenius_norm": "_aten.layers",
    "instance_norm": "_aten.layers",
    "norm_except_dim": "_aten.layers",
    "nuclear_norm": "_aten.layers",
    "_log_softmax_backward_data": "_operators",
    "_softmax_backward_data": "_operators",
    "batch_norm_update_stats": "_aten.native_layers",
    "embedding_bag": "_aten.native_layers",
    "native_batch_norm": "_aten.native_layers",
    "native_dropout": "_aten.native_layers",
    "native_group_norm": "_aten.native_layers",
    "native_layer_norm": "_aten.native_layers",
    "PyTorchFileReader": "serialization",
    "PyTorchFileWriter": "serialization",
    "load": "serialization",
    "save": "serialization",
    "Storage": "_tensor.storage",
    "TypedStorage": "_tensor.storage",
    "UntypedStorage": "_tensor.storage",
    "is_storage": "_tensor.storage",
    "QInt32Storage": "_tensor.storage",
    "QInt8Storage": "_tensor.storage",
    "QUInt8Storage": "_tensor.storage",
    **{f"{each.scalar_name}Storage": "_tensor.storage" for each in _DTYPES.values()},
    "from_file": "_tensor.sharing",
    "get_printoptions": "_tensor.printing",
    "printoptions": "_tensor.printing",
    "set_printoptions": "_tensor.printing",
    "dsmm": "_representations.sparse.old_names",
    "hsmm": "_representations.sparse.old_names",
    "hspmm": "_representations.sparse.row_products",
    "saddmm": "_representations.sparse.old_names",
    "smm": "_representations.sparse.row_products",
    "spmm": "_representations.sparse.old_names",
    "sspaddmm": "_representations.sparse.row_products",
    "sparse_bsc": "_representations.sparse",
    "sparse_bsc_tensor": "_tensor.sparse_constructors",
    "sparse_bsr": "_representations.sparse",
    "sparse_bsr_tensor": "_tensor.sparse_constructors",
    "sparse_compressed_tensor": "_tensor.sparse_constructors",
    "sparse_coo": "_representations.sparse",
    "sparse_coo_tensor": "_tensor.sparse_constructors",
    "sparse_csc": "_representations.sparse",
    "sparse_csc_tensor": "_tensor.sparse_constructors",
    "sparse_csr": "_representations.sparse",
    "sparse_csr_tensor": "_tensor.sparse_constructors",
    "to_dlpack": "utils.dlpack",
    "dequantize": "_representations.quantized.description",
    "empty_quantized": "_representations.quantized.creation",
    "int_repr": "_representations.quantized.description",
    "q_per_channel_axis": "_representations.quantized.description",
    "q_per_channel_scales": "_representations.quantized.description",
    "q_per_channel_zero_points": "_representations.quantized.description",
    "q_scale": "_representations.quantized.description",
    "q_zero_point": "_representations.quantized.description",
    "quantize_per_channel": "_representations.quantized.creation",
    "quantize_per_tensor": "_representations.quantized.creation",
    "quantize_per_tensor_dynamic": "_representations.quantized.creation",
    "_choose_qparams_per_tensor": "_representations.quantized.creation",
    "_empty_affine_quantized": "_representations.quantized.creation",
    "_empty_per_channel_affine_quantized": "_representations.quantized.creation",
    "_make_per_channel_quantized_tensor": "_representations.quantized.creation",
    "_make_per_tensor_quantized_tensor": "_representations.quantized.creation",
    "weave_text": "_weave.text",
}

# What was imported above, without the submodules that it came from.
_WRITTEN_NAMES = [name for name, value in globals().items() if name[0] != "_" and not isinstance(value, _ModuleType)]
_ALL_NAMES = {*_WRITTEN_NAMES, *_LAZY_NAMES, *_LAZY_MODULES, *_operators.FUNCTIONS, *_TENSOR_TYPES}
__all__ = sorted(name for name in _ALL_NAMES - {"annotations"} if name[0] != "_")

globals().update(_operators.FUNCTIONS)
globals().update(_TENSOR_TYPES)
globals().update(_REMOVED)  # not in __all__: they only say what to call instead
# From here on `int`, `float` and `bool` are dtypes in this module. They are left out of __all__, where `import *` would
# take Python's own away from the user.
globals().update(_DTYPES)
__all__ += [name for name in _DTYPES if name not in vars(_builtins)]

_import_beside()


def __getattr__(name: str) -> _Any:
    from importlib import import_module

    if name == "__version__":
        from importlib.metadata import version

        value: _Any = version("opweave")
    elif name in _LAZY_MODULES:
        value = import_module("." + name, __name__)
    elif name in _LAZY_NAMES:
        value = getattr(import_module("." + _LAZY_NAMES[name], __name__), name)
    elif name.startswith("_foreach_"):
        value = import_module("._foreach", __name__).function_of(name)
    else:
        value = _submodule(__name__, name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, "__version__"})
