"""Random numbers: the same ones for all samples, or others for each, as the call of `vmap` says."""

from __future__ import annotations

from typing import Any

from .._base.tensor_class import Tensor
from .._dispatch.dispatcher import call as dispatch
from .._dispatch.op import INPLACE
from .._dispatch.rules import signature
from .._dispatch.samples import sample_of
from .call import Call, NotBatchedError
from .loop import each_sample


def drawn(call: Call) -> Any:
    """Return the result of a call that draws random numbers, as a sample or for all."""
    if call.level.randomness == "error":
        raise NotBatchedError(
            "vmap: called random operation while in randomness error mode. Please either use the 'same' or 'different' "
            "randomness flags on vmap or perform the randomness operation out of vmap"
        )
    if call.is_inplace or call.op.is_inplace:
        return _filled(call)
    if not any(call.is_sample(each) for each in call.tensors):
        return _made(call)
    return sample_of(_of_samples(call), call.level)


def _filled(call: Call) -> Any:
    if call.level.randomness == "same":
        return _filled_alike(call)
    if not call.is_sample(call.target):
        raise NotBatchedError(
            "vmap: Cannot ask for different inplace randomness on an unbatched tensor. This will appear like same "
            "randomness. Make the tensor within the function, of a batched one (x.new_empty(size))"
        )
    if signature(call.op.rule) is not None:  # it draws for a vector as a whole
        each_sample(call)
    else:
        ndim = call.target.ndim
        values = [call.aligned(value, ndim) if isinstance(value, Tensor) else value for value in call.args]
        dispatch(call.op, values, None, INPLACE)
    return call.target


def _filled_alike(call: Call) -> Any:
    if any(call.is_sample(each) for each in call.tensors if each is not call.target):
        raise NotBatchedError(
            f"vmap: {call.op.name} with randomness='same' takes parameters that all samples share. Use "
            "randomness='different', or draw numbers of a standard distribution and scale these"
        )
    if not call.is_sample(call.target):
        dispatch(call.op, call.args, None, INPLACE)
        return call.target
    batch = call.batch(call.target)
    one = batch.new_empty(call.target.shape)
    dispatch(call.op, [one if value is call.target else value for value in call.args], None, INPLACE)
    batch.copy_(one)
    return call.target


def _made(call: Call) -> Any:
    """A new tensor of random numbers."""
    if call.level.randomness == "same":
        return dispatch(call.op, call.args)
    if "size" not in call.op.names:
        return sample_of(each_sample(call), call.level)
    values = list(call.args)
    place = call.op.names.index("size")
    values[place] = [call.level.size, *values[place]]
    return sample_of(dispatch(call.op, values), call.level)


def _of_samples(call: Call) -> Any:
    """A new tensor of random numbers like another one."""
    if call.level.randomness == "different":
        return call.run_new([call.batch(value) for value in call.args])
    one = call.run_new([call.batch(value).select(0, 0) if call.is_sample(value) else value for value in call.args])
    return one.expand((call.level.size, *one.shape))
