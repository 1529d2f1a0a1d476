"""The handler of the key `batched`: calls with samples become calls with batches, outside the innermost level."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from .._autograd.grad_mode import AUTOGRAD, is_grad_enabled
from .._base.keys import KEY_BITS
from .._base.pytree import tree_map
from .._base.tensor_class import Tensor
from .._dispatch.dispatcher import redispatch, register
from .._dispatch.op import INPLACE, Op
from .._dispatch.ops import ops
from .._dispatch.samples import KEY, Level, level_of, levels, sample_of, within
from .._handle import Function, excluded, make_results, with_keys
from .call import Call, tensors_in
from .random import drawn
from .rules import results
from .views import is_view, viewed

_RECORDING = KEY_BITS["recording"]
_ZERO: Any = Tensor.zero_


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
    if not op.random and level not in found:
        return within(tuple(outer), partial(redispatch, op, args, out, mode, below="autograd"))
    if out is None and is_view(op):
        return viewed(tuple(outer), level, op, args, mode)
    go_on = partial(_answer, tuple(outer), Call(op, args, level, mode), out)
    # Where the call of samples is recorded further up, that of their batches is another one.
    return with_keys(AUTOGRAD, 0, go_on) if excluded() & (AUTOGRAD | _RECORDING) == AUTOGRAD else go_on()


def _answer(outer: tuple[Level, ...], call: Call, out: Any) -> Any:
    op, level = call.op, call.level
    if op.random:
        result = within(outer, drawn, call)
        return _written(result) if call.is_inplace or op.is_inplace else result
    if out is not None:
        raise RuntimeError(f"Batching rule not implemented for aten::{op.name}.out; samples are not written to `out`")
    result = within(outer, results, call)
    if call.is_inplace or op.is_inplace:
        return _written(call.target)
    if isinstance(result, Tensor):
        return sample_of(result, level)
    samples = tree_map(lambda each: sample_of(each, level) if isinstance(each, Tensor) else each, result)
    return samples if op.results is None or not isinstance(samples, tuple) else op.results(tuple(samples))


def _written(target: Any) -> Any:
    """The target of a call, which counts as written to: the graph of samples compares that with what it saved."""
    if level_of(target) is not None:
        make_results(_ZERO, (target,), None, INPLACE, True)
    return target


def _handle_composite(op: Op, args: Sequence[Any], out: Any, mode: int) -> Any:
    """Composites with a rule of their own are decomposed where a graph is recorded, which consists of their parts."""
    if is_grad_enabled() and any(each.requires_grad for each in tensors_in(args)):
        return redispatch(op, args, out, mode, below=KEY)
    return handle(op, args, out, mode)


register(KEY, handle, composites=False)
for _each in {function.op for function in vars(ops).values() if isinstance(function, Function)}:
    if _each.is_decomposable and _each.rule is not None:
        register(KEY, _handle_composite, _each)
register(KEY, handle, ops.truth.op)
