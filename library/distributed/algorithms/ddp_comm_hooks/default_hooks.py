"""Communication hooks of DistributedDataParallel: averages of gradients, also in a shorter dtype."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .... import bfloat16, float16
from ....futures import Future
from ...collectives import all_reduce
from ...process_group import given_group
from ...reducer import GradBucket

__all__ = [
    "allreduce_hook",
    "bf16_compress_hook",
    "bf16_compress_wrapper",
    "fp16_compress_hook",
    "fp16_compress_wrapper",
]

_Hook = Callable[[Any, GradBucket], Future[Any]]


def _average(process_group: Any, tensor: Any) -> Future[Any]:
    """The average over all ranks, which is computed in place: what is divided first does not overflow."""
    group = given_group(process_group)
    work: Any = all_reduce(tensor.div_(group.size()), group=group, async_op=True)
    average: Future[Any] = work.get_future().then(lambda future: future.value()[0])
    return average


def allreduce_hook(process_group: Any, bucket: GradBucket) -> Future[Any]:
    """Return a future of the averages of a bucket's gradients, as without a hook.

    Args:
        process_group (ProcessGroup): whose ranks are averaged; None: all.
    """
    return _average(process_group, bucket.buffer())


def _compressed(dtype: Any, hook: _Hook) -> _Hook:
    """The hook that sends gradients of one dtype, and returns them in that of the bucket."""

    def call(state: Any, bucket: GradBucket) -> Future[Any]:
        buffer = bucket.buffer()
        bucket.set_buffer(buffer.to(dtype))
        return hook(state, bucket).then(lambda future: buffer.copy_(future.value()))

    return call


def fp16_compress_hook(process_group: Any, bucket: GradBucket) -> Future[Any]:
    """Return a future of the averages of a bucket's gradients, which are sent as float16."""
    return _compressed(float16, allreduce_hook)(process_group, bucket)


def bf16_compress_hook(process_group: Any, bucket: GradBucket) -> Future[Any]:
    """Return a future of the averages of a bucket's gradients, which are sent as bfloat16."""
    return _compressed(bfloat16, allreduce_hook)(process_group, bucket)


def fp16_compress_wrapper(hook: _Hook) -> _Hook:
    """Return a communication hook that gives gradients to `hook` as float16, and returns its result in their dtype."""
    return _compressed(float16, hook)


def bf16_compress_wrapper(hook: _Hook) -> _Hook:
    """Return a communication hook that gives gradients to `hook` as bfloat16, and returns its result in their dtype."""
    return _compressed(bfloat16, hook)
