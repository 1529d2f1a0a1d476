"""Functions that make arrays, and those about dtypes and devices."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from .._base import finfo as _limits
from .._base import interchange
from .._base.devices import CPU, available
from .._base.devices import device as device_class
from .._base.dtypes import EXPORTS, get_default_dtype
from .._base.dtypes import dtype as dtype_class
from .._base.tensor_class import Tensor
from .._dispatch.ops import ops
from .._tensor import construct
from ._derive import common_dtype, standard

__all__ = [
    "arange", "asarray", "can_cast", "eye", "finfo", "from_dlpack", "iinfo", "isdtype", "linspace", "meshgrid",
    "result_type",
]  # fmt: skip

_INT64 = EXPORTS["int64"]


@standard
def asarray(obj: Any, /, *, dtype: Any = None, device: Any = None, copy: bool | None = None) -> Any:
    """Return an array of the object's values, which shares its memory where that is possible and `copy` is not true."""
    if device is None and isinstance(obj, Tensor):
        device = obj.device
    return construct.asarray(obj, dtype=dtype, device=device, copy=copy)


@standard
def from_dlpack(x: Any, /, *, device: Any = None, copy: bool | None = None) -> Any:
    """Return an array over the memory of an array of another library, with `copy` over its own."""
    return interchange.from_dlpack(x, device=device, copy=copy)


@standard
def arange(
    start: float, /, stop: float | None = None, step: float = 1, *, dtype: Any = None, device: Any = None
) -> Any:
    """Return the numbers from `start` on, `step` apart, before `stop`; none where the steps lead away from it."""
    first, last = (0, start) if stop is None else (start, stop)
    whole = all(isinstance(each, int) for each in (first, last, step))
    wanted = dtype or (_INT64 if whole else get_default_dtype())
    if step and (last - first) / step <= 0:
        return ops.empty((0,), dtype=wanted, device=device)
    return ops.arange(first, last, step, dtype=wanted, device=device)


@standard
def eye(n_rows: int, n_cols: int | None = None, /, *, k: int = 0, dtype: Any = None, device: Any = None) -> Any:
    """Return a matrix of ones on the k-th diagonal and zeros elsewhere."""
    columns = n_rows if n_cols is None else n_cols
    result = ops.zeros((n_rows, columns), dtype=dtype, device=device)
    if -n_rows < k < columns:
        ops.diagonal(result, k).fill_(1)
    return result


@standard
def linspace(
    start: Any, stop: Any, /, num: int, *, dtype: Any = None, device: Any = None, endpoint: bool = True
) -> Any:
    """Return `num` numbers at equal distances from `start` to `stop`, which is the last unless `endpoint` is false."""
    result = ops.linspace(start, stop, num if endpoint else num + 1, dtype=dtype, device=device)
    return result if endpoint else result[:num]


@standard
def meshgrid(*arrays: Any, indexing: str = "xy") -> Any:
    """Return for each array of one dimension its values at all positions of the grid that the arrays span."""
    if indexing not in ("xy", "ij"):
        raise ValueError(f"indexing must be 'xy' or 'ij', but got {indexing!r}")
    return tuple(ops.meshgrid(arrays, indexing=indexing)) if arrays else ()


# ---- dtypes -------------------------------------------------------------------------------------------------


def result_type(*arrays_and_dtypes: Any) -> dtype_class:
    """Return the dtype to which arrays, dtypes and numbers of Python promote."""
    return common_dtype(arrays_and_dtypes)


def can_cast(from_: Any, to: dtype_class, /) -> bool:
    """Return whether every value of the dtype, or of that of the array, is one of `to` by the rules of promotion."""
    return common_dtype([from_, to]) is to


@dataclass(frozen=True)
class _IntegerLimits:
    bits: int
    max: int
    min: int
    dtype: dtype_class


@dataclass(frozen=True)
class _FloatingLimits:
    bits: int
    eps: float
    max: float
    min: float
    smallest_normal: float
    dtype: dtype_class


def _dtype_of(value: Any) -> dtype_class:
    found: dtype_class = value.dtype if isinstance(value, Tensor) else value
    return found


def finfo(type: Any, /) -> _FloatingLimits:
    """Return the limits of a floating dtype, or of the parts of a complex one, or of that of an array."""
    found = _limits.finfo(_dtype_of(type))
    of = _dtype_of(type).to_real()
    return _FloatingLimits(found.bits, found.eps, found.max, found.min, found.smallest_normal, of)


def iinfo(type: Any, /) -> _IntegerLimits:
    """Return the limits of an integer dtype, or of that of an array."""
    found = _limits.iinfo(_dtype_of(type))
    return _IntegerLimits(found.bits, found.max, found.min, _dtype_of(type))


_KINDS: dict[str, Callable[[dtype_class], bool]] = {
    "bool": lambda each: each is EXPORTS["bool"],
    "signed integer": lambda each: each.is_integer and each.is_signed,
    "unsigned integer": lambda each: each.is_integer and not each.is_signed,
    "integral": lambda each: each.is_integer,
    "real floating": lambda each: each.is_floating_point,
    "complex floating": lambda each: each.is_complex,
    "numeric": lambda each: each is not EXPORTS["bool"],
}


def isdtype(dtype: dtype_class, kind: Any) -> bool:
    """Return whether the dtype is of a kind, or one of several: a dtype or its name."""
    if isinstance(kind, tuple):
        return any(isdtype(dtype, each) for each in kind)
    if isinstance(kind, str):
        if kind not in _KINDS:
            raise ValueError(f"unknown kind {kind!r} of dtypes: expected one of {', '.join(_KINDS)}")
        return _KINDS[kind](dtype)
    if not isinstance(kind, dtype_class):
        raise TypeError(f"expected a dtype, the name of a kind, or a tuple of these, but got {kind!r}")
    return dtype is kind


DTYPES = tuple(
    EXPORTS[name]
    for name in (
        "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float32", "float64",
        "complex64", "complex128",
    )
)  # fmt: skip
"""The dtypes of the standard."""


class NamespaceInfo:
    """The result of `__array_namespace_info__`."""

    def capabilities(self) -> dict[str, Any]:
        """Return what is optional in the standard: all of it is there."""
        return {"boolean indexing": True, "data-dependent shapes": True, "max dimensions": 64}

    def default_device(self) -> device_class:
        """Return the device of arrays where none is named."""
        return CPU

    def default_dtypes(self, *, device: Any = None) -> dict[str, dtype_class]:
        """Return the dtypes of arrays where none is named."""
        real = get_default_dtype()
        return {
            "real floating": real,
            "complex floating": real.to_complex(),
            "integral": _INT64,
            "indexing": _INT64,
        }

    def devices(self) -> list[device_class]:
        """Return the devices on which arrays have elements."""
        return [CPU]

    def dtypes(self, *, device: Any = None, kind: Any = None) -> dict[str, dtype_class]:
        """Return the dtypes of the standard by name, those of a kind or all."""
        if device is not None:
            available(device)
        return {each.name: each for each in DTYPES if kind is None or isdtype(each, kind)}
