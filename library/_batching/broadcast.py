"""Operators whose tensors have dimensions of their own, and before these any dimensions of batches."""

from __future__ import annotations

from typing import Any

from .._dispatch.rules import BATCH, Letters, signature, tensors
from .call import Call
from .loop import for_each


def leading(call: Call) -> Any:
    """Expressions over indices: a tensor whose signature has three dots may have any dimensions before its own. Where
    others are samples, the batch becomes a part of a dimension that all tensors and the result have."""
    rule = signature(call.op.rule)
    assert rule is not None
    letters = dict(zip(tensors(call.op), rule.inputs, strict=True))
    samples = [own for place, own in letters.items() if call.is_sample(call.args[place])]
    if BATCH in rule.results[0] and all(BATCH in own for own in samples):
        return _broadcast(call, letters)
    return _within_a_dimension(call, {k: v for k, v in letters.items() if call.args[k] is not None}, rule.results[0])


def _broadcast(call: Call, letters: dict[int, Letters]) -> Any:
    leading = {place: call.args[place].ndim - len(own) + 1 for place, own in letters.items() if BATCH in own}
    most = max(leading.values())
    values = list(call.args)
    for place, count in leading.items():
        values[place] = call.aligned(values[place], values[place].ndim + most - count)
    return call.run_new(values)


def _within_a_dimension(call: Call, letters: dict[int, Letters], result: Letters) -> Any:
    common = [each for each in result if each.islower() and all(each in own for own in letters.values())]
    inferred = call.inferred() if common else ()
    if isinstance(inferred, tuple):
        return for_each(call)
    values, of_result = list(call.args), result.index(common[0]) - len(result)
    for place, name in enumerate(call.op.names):
        if name.endswith("_shape"):  # of the tensor that gradients are by
            if list(values[place]) != list(inferred.shape):
                return for_each(call)
            values[place] = list(values[place])
            values[place][of_result] *= call.level.size
    for place, own in letters.items():
        dim = values[place].ndim + own.index(common[0]) - len(own)
        values[place] = call.whole(values[place]).movedim(0, dim).flatten(dim, dim + 1)
    computed = call.run_new(values)
    size = computed.size(of_result) // max(call.level.size, 1)
    return computed.unflatten(of_result, (call.level.size, size)).movedim(of_result - 1, 0)


def whole(call: Call) -> Any:
    """Operators whose tensors have the same dimensions of batches."""
    return call.run_new([call.whole(value) for value in call.args])
