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
from ._base.devices import device, get_default_device, set_default_device
from ._base.dtypes import EXPORTS as _DTYPES
from ._base.dtypes import dtype, get_default_dtype, qint8, qint32, quint2x4, quint4x2, quint8, set_default_dtype
from ._base.errors import LinAlgError, OutOfMemoryError
from ._base.finfo import finfo, iinfo
from ._base.generator import Generator, default_generator
from ._base.interchange import from_dlpack, from_numpy, frombuffer
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
from ._exports import NAMES as _NAMES
from ._exports import SUBMODULES as _SUBMODULES
from ._names.import_hooks import install as _install_import_hooks
from ._names.module_names import submodule as _submodule
from ._tensor.construct import as_tensor, asarray, is_tensor, tensor
from ._tensor.removed import FUNCTIONS as _REMOVED
from ._tensor.tensor import Tensor
from ._tensor.typed_tensors import TENSOR_TYPES as _TENSOR_TYPES
from ._tensor.typed_tensors import set_default_tensor_type, typename
from .random import get_rng_state, initial_seed, manual_seed, seed, set_rng_state

newaxis = None

# Loaded when first asked for: submodules, and names by the module that has them.
_LAZY_NAMES = {
    **_NAMES,
    "_log_softmax_backward_data": "_operators",
    "_softmax_backward_data": "_operators",
    **{f"{each.scalar_name}Storage": "_tensor.storage" for each in _DTYPES.values()},
}

# What was imported above, without the submodules that it came from.
_WRITTEN_NAMES = [name for name, value in globals().items() if name[0] != "_" and not isinstance(value, _ModuleType)]
_ALL_NAMES = {*_WRITTEN_NAMES, *_LAZY_NAMES, *_SUBMODULES, *_operators.FUNCTIONS, *_TENSOR_TYPES}
__all__ = sorted(name for name in _ALL_NAMES - {"annotations"} if name[0] != "_")

globals().update(_operators.FUNCTIONS)
globals().update(_TENSOR_TYPES)
globals().update(_REMOVED)  # not in __all__: they only say what to call instead
# From here on `int`, `float` and `bool` are dtypes in this module. They are left out of __all__, where `import *` would
# take Python's own away from the user.
globals().update(_DTYPES)
__all__ += [name for name in _DTYPES if name not in vars(_builtins)]

_install_import_hooks()


def __getattr__(name: str) -> _Any:
    from importlib import import_module

    if name == "__version__":
        from importlib.metadata import version

        value: _Any = version("opweave")
    elif name in _SUBMODULES:
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
