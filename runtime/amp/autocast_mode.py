"""Blocks in which products of matrices are computed in a half format, and what needs the range of float32 in it."""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable
from typing import Any

from .._base.dtypes import EXPORTS, dtype
from .._base.pytree import flatten
from .._base.tensor_class import Tensor
from .._base.warn import warn
from .._dispatch.modes import TorchFunctionMode

__all__ = ["autocast", "custom_bwd", "custom_fwd", "is_autocast_available"]

_HALVES = ("bfloat16", "float16")
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


class _State(threading.local):
    def __init__(self) -> None:
        self.modes: tuple[Any, ...] = ()
        self.default = EXPORTS["bfloat16"]
        self.cache = True
        self.busy = False
        """Is a call being answered? What it calls itself, and blocks around this one, leave it as it is."""


_state = _State()


def is_autocast_available(device_type: str) -> bool:
    """Return whether there is autocast for a kind of device: for the CPU alone.

    Raises:
        TypeError: it is no text.
    """
    if not isinstance(device_type, str):
        raise TypeError(f"device_type must be a str, but got {type(device_type).__name__}")
    return device_type == "cpu"


def is_autocast_enabled(device_type: str = "cpu") -> bool:
    """Return whether calls of this thread are within an autocast block for a kind of device."""
    return device_type == "cpu" and bool(_state.modes) and _state.modes[-1].enabled


def get_autocast_dtype(device_type: str = "cpu") -> dtype:
    """Return the half format in which products are computed."""
    lower: dtype = _state.modes[-1].dtype if _state.modes else _state.default
    return lower


def is_autocast_cache_enabled() -> bool:
    """Return whether copies of parameters are kept until the block ends: without effect, as none are."""
    return _state.cache


def set_autocast_cache_enabled(enabled: bool) -> None:
    """Set what `is_autocast_cache_enabled` returns."""
    _state.cache = bool(enabled)


class _Casts(TorchFunctionMode):
    """The mode of an enabled block."""

    def __init__(self, lower: Any) -> None:
        self.lower = lower

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        if _state.busy:
            return func(*args, **kwargs)
        name = getattr(func, "__name__", "").removeprefix("__").removesuffix("__")
        wanted = None if self.lower is None else _wanted(name, (args, kwargs), self.lower)
        if wanted is not None and kwargs.get("out") is None:
            args, kwargs = _cast((args, kwargs), wanted)
        _state.busy = True
        try:
            return func(*args, **kwargs)
        finally:
            _state.busy = False


def _wanted(name: str, values: Any, lower: Any) -> Any:
    """The dtype in which a function is computed; None: that of its tensors."""
    if name in _LOWER or name == "rmatmul":
        return lower
    if name in _FLOAT32 or name.startswith(("fft_", "linalg_")):
        return EXPORTS["float32"]
    return _widest(values, lower) if name in _WIDEST else None


def _is_cast(value: Any) -> bool:
    return isinstance(value, Tensor) and value.is_floating_point() and value.dtype is not EXPORTS["float64"]


def _widest(values: Any, lower: Any) -> Any:
    found = {each.dtype for each in flatten(values)[0] if _is_cast(each)}
    if len(found) < 2:
        return None
    return EXPORTS["float32"] if EXPORTS["float32"] in found else lower


def _cast(values: Any, wanted: Any) -> Any:
    if _is_cast(values):
        return values.to(wanted)
    if isinstance(values, (tuple, list)):
        return type(values)([_cast(each, wanted) for each in values])
    if isinstance(values, dict):
        return {name: _cast(each, wanted) for name, each in values.items()}
    return values


class autocast:  # noqa: N801 (PyTorch's name)
    """A block, or a decorator of functions, in which products of matrices are computed in a half format.

    Args:
        device_type (str): `cpu`. For other devices nothing happens, as there are none.
        dtype: bfloat16, which None means, or float16.
        enabled (bool): False undoes a block around this one.
        cache_enabled (bool): without effect.

    Raises:
        ValueError: the kind of device is no text.
    """

    def __init__(
        self, device_type: str, dtype: Any = None, enabled: bool = True, cache_enabled: bool | None = None
    ) -> None:
        if not isinstance(device_type, str):
            raise ValueError(f"Expected `device_type` of type `str`, got: `{type(device_type)}`")
        self.device = device_type
        self.fast_dtype = self.dtype = get_autocast_dtype(device_type) if dtype is None else dtype
        if str(self.dtype).rpartition(".")[2] not in _HALVES:
            if enabled and device_type == "cpu":
                warn(
                    f"In CPU autocast, but the target dtype is not supported. Disabling autocast. CPU Autocast only "
                    f"supports dtype of opweave.bfloat16 and opweave.float16 currently, but got {self.dtype}."
                )
            enabled = False
        self.enabled = self._enabled = enabled and device_type == "cpu"

    def __enter__(self) -> autocast:
        _state.modes = (*_state.modes, self)
        # A block within another one takes its place, which one that is not enabled ends.
        self._casts = _Casts(self.dtype if self.enabled else None)
        self._casts.__enter__()
        return self

    def __exit__(self, *exception: object) -> None:
        self._casts.__exit__(*exception)
        _state.modes = _state.modes[:-1]

    def __call__(self, func: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(func)
        def decorated(*args: Any, **kwargs: Any) -> Any:
            with self:
                return func(*args, **kwargs)

        return decorated


def custom_fwd(fwd: Any = None, *, device_type: str = "cpu", cast_inputs: dtype | None = None) -> Any:
    """Decorate `forward` of a Function: it runs under the autocast of its call, or outside with inputs
    of the dtype `cast_inputs`.
    """
    if fwd is None:
        return functools.partial(custom_fwd, device_type=device_type, cast_inputs=cast_inputs)

    @functools.wraps(fwd)
    def decorated(ctx: Any, *args: Any, **kwargs: Any) -> Any:
        ctx._dtype, ctx._fwd_used_autocast = get_autocast_dtype(device_type), is_autocast_enabled(device_type)
        if cast_inputs is None or not ctx._fwd_used_autocast:
            return fwd(ctx, *args, **kwargs)
        ctx._fwd_used_autocast = False
        with autocast(device_type, enabled=False):
            return fwd(ctx, *_cast(args, cast_inputs), **_cast(kwargs, cast_inputs))

    return decorated


def custom_bwd(bwd: Any = None, *, device_type: str = "cpu") -> Any:
    """Decorate `backward` of a Function whose `forward` has `custom_fwd`: it runs under the same autocast."""
    if bwd is None:
        return functools.partial(custom_bwd, device_type=device_type)

    @functools.wraps(bwd)
    def decorated(ctx: Any, *args: Any, **kwargs: Any) -> Any:
        with autocast(device_type, dtype=ctx._dtype, enabled=ctx._fwd_used_autocast):
            return bwd(ctx, *args, **kwargs)

    return decorated
