"""opweave: tensors with PyTorch's interface, woven from a list of operators.

NumPy, printing and whatever else the first tensor does not need are imported when they are first used.
"""

# ruff: noqa: F401 (__all__ is computed)
from __future__ import annotations

from . import _loader as _loader  # isort: skip  (loads OpenBLAS, which has to come before the compiled module)

import builtins as _builtins
from math import e, inf, nan, pi
from types import ModuleType as _ModuleType
from typing import Any as _Any

from . import _operators

from .tensor import Tensor  # isort: skip  (the module's name is to become that of the function)
from .allocation import empty_permuted, empty_strided
from .construct import as_tensor, asarray, is_tensor, scalar_tensor, tensor
from .dtypes import EXPORTS as _DTYPES
from .dtypes import dtype, get_default_dtype, set_default_dtype
from .errors import LinAlgError, OutOfMemoryError
from .functions import *  # noqa: F403
from .generators import Generator, default_generator
from .interchange import from_dlpack, from_numpy, frombuffer
from .legacy import TENSOR_TYPES as _TENSOR_TYPES
from .limits import finfo, iinfo
from .promotion import can_cast, promote_types, result_type
from .random import get_rng_state, initial_seed, manual_seed, seed, set_rng_state
from .removed import FUNCTIONS as _REMOVED
from .sequences import inclusive_range as _inclusive_range
from .sequences import tril_indices, triu_indices
from .shapes import broadcast_shapes
from .threads import (
    get_num_interop_threads,
    get_num_threads,
    set_flush_denormal,
    set_num_interop_threads,
    set_num_threads,
)
from .types import (
    Size,
    channels_last,
    channels_last_3d,
    contiguous_format,
    device,
    get_default_device,
    layout,
    memory_format,
    preserve_format,
    strided,
)

newaxis = None

# Loaded when first asked for: submodules, and names by the module that has them.
_LAZY_MODULES = (
    "accelerator",
    "autograd",
    "backends",
    "cpu",
    "cuda",
    "fft",
    "func",
    "linalg",
    "mps",
    "nn",
    "optim",
    "random",
    "return_types",
    "signal",
    "special",
    "utils",
    "version",
    "xpu",
)
_LAZY_NAMES = {
    "enable_grad": "autograd.modes",
    "inference_mode": "autograd.modes",
    "is_anomaly_enabled": "autograd.anomaly",
    "is_grad_enabled": "autograd.modes",
    "is_inference_mode_enabled": "autograd.modes",
    "no_grad": "autograd.modes",
    "set_grad_enabled": "autograd.modes",
    "Storage": "storage",
    "TypedStorage": "storage",
    "UntypedStorage": "storage",
    "is_storage": "storage",
    **{f"{of.scalar_name}Storage": "storage" for of in _DTYPES.values()},
    "get_printoptions": "printing",
    "printoptions": "printing",
    "set_printoptions": "printing",
}

# What was imported above, without the submodules that it came from.
_WRITTEN_NAMES = [name for name, value in globals().items() if name[0] != "_" and not isinstance(value, _ModuleType)]
_ALL_NAMES = {*_WRITTEN_NAMES, *_LAZY_NAMES, *_LAZY_MODULES, *_operators.FUNCTIONS, *_TENSOR_TYPES}
__all__ = sorted(_ALL_NAMES - {"annotations"})

globals().update(_operators.FUNCTIONS)
globals().update(_TENSOR_TYPES)
globals().update(_REMOVED)  # not in __all__: they only say what to call instead
# From here on `int`, `float` and `bool` are dtypes in this module, and `range` is torch's. They are left out of
# __all__, where `import *` would take Python's own away from the user.
globals().update(_DTYPES, range=_inclusive_range)
__all__ += [name for name in _DTYPES if name not in vars(_builtins)]


def __getattr__(name: str) -> _Any:
    from importlib import import_module

    if name == "__version__":
        from importlib.metadata import version

        value: _Any = version("opweave")
    elif name in _LAZY_MODULES:
        value = import_module("." + name, __name__)
    elif name in _LAZY_NAMES:
        value = getattr(import_module("." + _LAZY_NAMES[name], __name__), name)
    else:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, "__version__"})
