"""Views of samples: the core takes them of the handles, which share the batch as these share memory."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .._C import lib
from .._dispatch.dispatcher import redispatch
from .._dispatch.op import INPLACE, Op
from .._dispatch.samples import KEY, Level, batch_of, sample_of, within


def is_view(op: Op) -> bool:
    return op.rule == "view"


def viewed(outer: tuple[Level, ...], level: Level, op: Op, args: Sequence[Any], mode: int) -> Any:
    """A view of a sample; of `reshape` perhaps a copy, as the batch has."""
    target = args[op.target]
    result = redispatch(op, args, None, mode, below=KEY)
    if mode == INPLACE or lib.storage_of(result._h) == lib.storage_of(target._h):
        return result
    return sample_of(within(outer, _reshaped, target, result.shape), level)


def _reshaped(sample: Any, sizes: Sequence[int]) -> Any:
    batch = batch_of(sample)
    return batch.reshape((batch.shape[0], *sizes))
