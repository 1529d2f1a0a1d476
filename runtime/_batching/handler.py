"""The handler of the key `batched`: calls with samples become calls with batches, outside the innermost level."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from .. import _operators
from .._autograd.grad_mode import AUTOGRAD
from .._base.keys import KEY_BITS
from .._base.pytree import tree_map
from .._base.tensor_class import Tensor
from .._dispatch.dispatcher import redispatch, register
from .._dispatch.op import INPLACE, Op
from .._dispatch.samples import KEY, Level, level_of, levels, sample_of, within
from .._handle import excluded, with_keys
from .call import Call, tensors_in
from .random import drawn
from .rules import COMPOSITES, results

_RECORDING = KEY_BITS["recording"]


def handle(op: Op, args: Sequence[Any], out: Any, mode: int) -> Any:
    active = levels()
    tensors = tensors_in([*args, out])
    found = {*map(level_of, tensors)} - {None}
    if not found.issubset(active):
        raise RuntimeError(
            f"{op.name}(): a tensor that stood for a sample within vmap() is used after that call has ended. Return"
            " what is needed from the function"
        )
    *outer, level = active
    draws = op.family == "random" or "generator" in op.names
    if not draws and level not in found:
        return within(tuple(outer), partial(redispatch, op, args, out, mode, below="autograd"))
    go_on = partial(_answer, tuple(outer), Call(op, args, level, mode), draws, out)
    # Where the call of samples is recorded further up, that of their batches is another one.
    return with_keys(AUTOGRAD, 0, go_on) if excluded() & (AUTOGRAD | _RECORDING) == AUTOGRAD else go_on()


def _answer(outer: tuple[Level, ...], call: Call, draws: bool, out: Any) -> Any:
    op, level = call.op, call.level
    if draws:
        return within(outer, drawn, call)
    if out is not None:
        raise RuntimeError(f"Batching rule not implemented for aten::{op.name}.out; samples are not written to `out`")
    result = within(outer, results, call)
    if call.mode == INPLACE or op.is_inplace:
        return call.target
    if isinstance(result, Tensor):
        return sample_of(result, level)
    samples = tree_map(lambda each: sample_of(each, level) if isinstance(each, Tensor) else each, result)
    return samples if op.results is None or not isinstance(samples, tuple) else op.results(tuple(samples))


register(KEY, handle, composites=False)
for _name in COMPOSITES:
    register(KEY, handle, getattr(_operators, _name).op)
