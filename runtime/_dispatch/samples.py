"""The calls of `vmap` that a thread is within, and the tensors that stand for samples of their batches."""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import partial
from typing import Any, TypeVar

from .._base.devices import device_of, number_of
from .._base.handles import shape_of, strides_of
from .._base.tensor_class import Tensor
from .._C import lib
from .._handle import describe, payload, with_keys
from .dispatcher import bit_of, new_key
from .modes import include_key

KEY = "batched"

new_key(KEY, after="autograd")
_BIT = bit_of(KEY)

_Result = TypeVar("_Result")


class Level:
    """One call of `vmap`.

    Attributes:
        size: that of its batch.
        randomness: what calls that draw random numbers do: `error`, `different` or `same`.
        is_recorded: whether its batches have a graph, which samples do not show.
    """

    __slots__ = ("is_recorded", "randomness", "size")

    def __init__(self, size: int, randomness: str, is_recorded: bool) -> None:
        self.size, self.randomness, self.is_recorded = size, randomness, is_recorded


class _Batch:
    """The payload of a tensor that stands for a sample, and of views of it.

    Attributes:
        value: the batch, whose first dimension is that of the batch.
        level: the call of `vmap`.
        sizes, strides: of the tensor that stands for a sample of the whole value.
    """

    __slots__ = ("level", "sizes", "strides", "value")

    def __init__(self, value: Any, level: Level, sizes: tuple[int, ...], strides: tuple[int, ...]) -> None:
        self.value, self.level, self.sizes, self.strides = value, level, sizes, strides


class _State(threading.local):
    def __init__(self) -> None:
        self.levels: tuple[Level, ...] = ()
        self.is_included = False


_state = _State()


def levels() -> tuple[Level, ...]:
    """The calls of this thread that are running, from the outermost on."""
    return _state.levels


def is_recorded() -> bool:
    """Return whether batches of calls that this thread is within have a graph."""
    return any(level.is_recorded for level in _state.levels)


def alias_of(tensor: Any) -> Any:
    """Another tensor without a graph, which stands for a sample of the same batch if this one does."""
    return with_keys(0, _BIT, tensor.detach)


def within(active: tuple[Level, ...], function: Callable[..., _Result], *args: Any) -> _Result:
    """The result of a function that is called within these calls, and no others."""
    before = _state.levels
    _state.levels = active
    try:
        if not active:
            return with_keys(0, _BIT, function, *args)
        return with_keys(_BIT, 0, function if _state.is_included else partial(_included, function), *args)
    finally:
        _state.levels = before


def _included(function: Callable[..., _Result], *args: Any) -> _Result:
    """The result of a function of which all calls come to the handler, also those of no samples."""
    include_key(KEY, True)
    _state.is_included = True
    try:
        return function(*args)
    finally:
        _state.is_included = False
        include_key(KEY, False)


def sample_of(batch: Any, level: Level) -> Any:
    """A tensor that stands for a sample of a batch, whose first dimension is that of the batch."""
    handle = batch._h
    sizes, strides = tuple(shape_of(handle))[1:], tuple(strides_of(handle))[1:]
    where = number_of(device_of(batch))
    return describe(Tensor, lib.dtype(handle), sizes, strides, 0, where, _BIT, _Batch(batch, level, sizes, strides))


def level_of(value: Any) -> Level | None:
    """The call of `vmap` for which a tensor stands for a sample; None: it is any other value."""
    if not isinstance(value, Tensor) or not lib.keys(value._h) & _BIT:
        return None
    level: Level = payload(value).level
    return level


def batch_of(sample: Any) -> Any:
    """The batch that a tensor stands for a sample of. Views have the geometry of samples: that of batches follows."""
    whole, handle = payload(sample), sample._h
    sizes, strides, offset = tuple(shape_of(handle)), tuple(strides_of(handle)), lib.storage_offset(handle)
    if not offset and sizes == whole.sizes and strides == whole.strides:
        return whole.value
    value = whole.value
    return value.as_strided((value.shape[0], *sizes), (value.stride(0), *strides), value.storage_offset() + offset)
