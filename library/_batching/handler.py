"""The level of `vmap`: calls with samples become calls with batches, outside of it."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from .._autograd.grad_mode import is_grad_enabled
from .._base.handles import tensors_in
from .._base.pytree import tree_map
from .._base.tensor_class import Tensor
from .._dispatch.levels import Level, unrecorded, viewed, within, written
from .._dispatch.op import Op
from .._dispatch.samples import BatchLevel, batch_of, sample_of
from .call import Call
from .random import drawn
from .rules import results


class Samples(BatchLevel):
    """One call of `vmap`, which answers the calls with samples."""

    __slots__ = ()

    def answer(self, outer: tuple[Level, ...], op: Op, args: Sequence[Any], out: Any, mode: int) -> Any:
        if out is None and op.rule == "view":
            return viewed(op, args, mode, lambda *view: sample_of(within(outer, _reshaped, *view), self))
        return unrecorded(partial(_answer, outer, Call(op, args, self, mode), out))

    def makes(self, op: Op) -> bool:
        return op.random

    def decomposes(self, op: Op, args: Sequence[Any]) -> bool:
        """One with a rule of its own is, too, where a graph is recorded, which consists of its parts."""
        if op.rule is None:
            return "device" not in op.names
        return is_grad_enabled() and any(each.requires_grad for each in tensors_in(args))

    def after_end(self, op: Op, tensor: Any) -> Any:
        raise RuntimeError(
            f"{op.name}(): a tensor that stood for a sample within vmap() is used after that call has ended. Return"
            " what is needed from the function"
        )


def _reshaped(sample: Any, sizes: Sequence[int]) -> Any:
    batch = batch_of(sample)
    return batch.reshape((batch.shape[0], *sizes))


def _answer(outer: tuple[Level, ...], call: Call, out: Any) -> Any:
    op, level = call.op, call.level
    if op.random:
        result = within(outer, drawn, call)
        return written(result) if call.is_inplace or op.is_inplace else result
    if out is not None:
        raise RuntimeError(f"Batching rule not implemented for aten::{op.name}.out; samples are not written to `out`")
    result = within(outer, results, call)
    if call.is_inplace or op.is_inplace:
        return written(call.target)
    if isinstance(result, Tensor):
        return sample_of(result, level)
    samples = tree_map(lambda each: sample_of(each, level) if isinstance(each, Tensor) else each, result)
    return samples if op.results is None or not isinstance(samples, tuple) else op.results(tuple(samples))
