"""Facts of shapes, strides and dtypes that libraries import from `torch._prims_common`."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from ._base.determinism import get_deterministic_debug_mode
from ._base.dtypes import dtype
from ._base.tensor_class import Tensor
from ._base.types import channels_last, channels_last_3d, contiguous_format, memory_format
from ._base.warn import warn

_ORDERED = {4: channels_last, 5: channels_last_3d}


def make_contiguous_strides_for(shape: Sequence[int], row_major: bool = True) -> tuple[int, ...]:
    """Return the strides of contiguous tensors of a shape.

    Args:
        shape: the sizes.
        row_major: whether matrices, the last two dimensions, are stored by rows, or else by columns.
    """
    strides = [math.prod(max(size, 1) for size in shape[place + 1 :]) for place in range(len(shape))]
    if not row_major and len(shape) >= 2:
        strides[-2:] = [1, max(shape[-2], 1)]
    return tuple(strides)


def suggest_memory_format(x: Tensor) -> memory_format:
    """Return the memory format that the strides of a tensor say."""
    order = _ORDERED.get(x.dim())
    is_ordered = order is not None and x.is_contiguous(memory_format=order) and not x.is_contiguous()
    return order if is_ordered and order is not None else contiguous_format


def is_contiguous(a: Tensor) -> bool:
    """Return whether elements lie in the order of the dimensions."""
    return bool(a.is_contiguous())


is_contiguous_or_false = is_contiguous


def alert_not_deterministic(caller: str) -> None:
    """Warn or raise, as `use_deterministic_algorithms` says, that something has no deterministic implementation.

    Raises:
        RuntimeError: deterministic algorithms are asked for.
    """
    mode = get_deterministic_debug_mode()
    text = (
        f"{caller} does not have a deterministic implementation, but you set "
        "'torch.use_deterministic_algorithms(True)'. Turn it off for this call"
    )
    if mode == 1:
        warn(text)
    elif mode == 2:
        raise RuntimeError(text)


def is_float_dtype(dtype: dtype) -> bool:
    """Return whether numbers of a dtype are floating."""
    return dtype.is_floating_point


def is_complex_dtype(dtype: dtype) -> bool:
    """Return whether numbers of a dtype are complex."""
    return dtype.is_complex


def is_integer_dtype(dtype: dtype) -> bool:
    """Return whether numbers of a dtype are integers."""
    return not (dtype.is_floating_point or dtype.is_complex or is_boolean_dtype(dtype))


def is_boolean_dtype(dtype: dtype) -> bool:
    """Return whether a dtype is that of truth."""
    return str(dtype).rpartition(".")[2] == "bool"


def canonicalize_dim(rank: int, idx: int, wrap_scalar: bool = True) -> int:
    """Return a dimension counted from the first. Raises IndexError if there is no such one."""
    count = max(rank, 1) if wrap_scalar else rank
    if not -count <= idx < count:
        raise IndexError(f"Dimension out of range (expected to be in range of [{-count}, {count - 1}], but got {idx})")
    return idx % count if count else idx


def canonicalize_dims(rank: int, indices: Any, wrap_scalar: bool = True) -> Any:
    """Return a dimension, or a tuple of several, counted from the first."""
    if isinstance(indices, int):
        return canonicalize_dim(rank, indices, wrap_scalar)
    return tuple(canonicalize_dim(rank, each, wrap_scalar) for each in indices)
