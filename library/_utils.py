"""Helpers of torch's own that libraries import from `torch._utils`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from . import _operators as ops
from ._base.devices import accelerator
from ._base.dtypes import dtype
from ._device_modules import get_device_module
from .serialization.rebuild import FUNCTIONS
from .utils.data.worker import ExceptionWrapper

__all__ = ["ExceptionWrapper"]

globals().update(
    {name.rpartition(".")[2]: made for name, made in FUNCTIONS.items() if name.startswith("torch._utils.")}
)


def _element_size(dtype: dtype) -> int:
    """Return the bytes of one element of a dtype."""
    return dtype.itemsize


def _get_available_device_type() -> str | None:
    """Return the kind of accelerator that there is; None where there is none."""
    row = accelerator()
    return row.name if row else None


def _get_device_module(device_type: str) -> Any:
    """Return the namespace of a kind of device. Raises RuntimeError if there is no such kind."""
    return get_device_module(device_type)


def _flatten_dense_tensors(tensors: Sequence[Any]) -> Any:
    """Return the elements of tensors one after the other, as one dimension."""
    return ops.cat([each.reshape(-1) for each in tensors])


def _unflatten_dense_tensors(flat: Any, tensors: Sequence[Any]) -> tuple[Any, ...]:
    """Return views of what `_flatten_dense_tensors` made, in the shapes of the tensors."""
    parts = ops.split(flat, [each.numel() for each in tensors])
    return tuple(part.view(each.shape) for part, each in zip(parts, tensors, strict=True))
