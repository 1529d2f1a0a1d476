"""Which functions autocast computes in the half format, in float32 or in the widest dtype, and the mode that does."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .._base.dtypes import EXPORTS, dtype
from .._base.pytree import flatten
from .._base.tensor_class import Tensor
from .._dispatch.modes import TorchFunctionMode

_LOWER = frozenset(
    ("addbmm", "addmm", "baddbmm", "bmm", "conv1d", "conv2d", "conv3d", "conv_tbc", "conv_transpose1d",
     "conv_transpose2d", "conv_transpose3d", "linalg_vecdot", "linear", "matmul", "mm", "prelu")
)  # fmt: skip
"""What is computed in the half format, by the names of functions as torch lists them for the CPU."""
_FLOAT32 = frozenset(
    ("avg_pool3d", "binary_cross_entropy", "binary_cross_entropy_with_logits", "cdist", "cholesky", "cholesky_inverse",
     "cholesky_solve", "cosine_embedding_loss", "cross_entropy", "grid_sampler", "huber_loss", "inverse", "l1_loss",
     "lu_solve", "max_pool3d", "mse_loss", "nanquantile", "nll_loss", "ormqr", "pinverse", "polar", "prod", "quantile",
     "smooth_l1_loss", "stft", "trace")
)  # fmt: skip
"""What is computed in float32; and all of `fft` and `linalg`."""
_WIDEST = frozenset(("cat", "index_copy", "stack"))
"""What is computed in the widest dtype of its tensors."""


class Casts(TorchFunctionMode):
    """Calls functions with tensors of the dtype that they are computed in. What they call themselves is left as it
    is, as a mode does not see the calls that it makes."""

    def __init__(self, lower: Callable[[], dtype]) -> None:
        self.lower = lower
        """The half format of this thread."""

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        name = getattr(func, "__name__", "").removeprefix("__").removesuffix("__")
        wanted = _wanted(name, (args, kwargs), self.lower())
        if wanted is not None and kwargs.get("out") is None:
            args, kwargs = cast((args, kwargs), wanted)
        return func(*args, **kwargs)


def _wanted(name: str, values: Any, lower: dtype) -> dtype | None:
    """The dtype in which a function is computed; None: that of its tensors."""
    if name in _LOWER or name == "rmatmul":
        return lower
    if name in _FLOAT32 or name.startswith(("fft_", "linalg_")):
        return EXPORTS["float32"]
    return _widest(values, lower) if name in _WIDEST else None


def _is_cast(value: Any) -> bool:
    return isinstance(value, Tensor) and value.is_floating_point() and value.dtype is not EXPORTS["float64"]


def _widest(values: Any, lower: dtype) -> dtype | None:
    found = {each.dtype for each in flatten(values)[0] if _is_cast(each)}
    if len(found) < 2:
        return None
    return EXPORTS["float32"] if EXPORTS["float32"] in found else lower


def cast(values: Any, wanted: dtype) -> Any:
    """Nested values with their tensors in another dtype."""
    if _is_cast(values):
        return values.to(wanted)
    if isinstance(values, (tuple, list)):
        return type(values)([cast(each, wanted) for each in values])
    if isinstance(values, dict):
        return {name: cast(each, wanted) for name, each in values.items()}
    return values
