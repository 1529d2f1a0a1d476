"""Operators that index by tensors."""

from __future__ import annotations

from typing import Any

from .._base.dtypes import EXPORTS
from .._dispatch.ops import ops
from .._dispatch.rules import tensors
from .._ops.assertions import assert_explained
from .call import Call, NotBatchedError
from .dims import moved
from .loop import for_each

_MASKS = (EXPORTS["bool"], EXPORTS["uint8"])


def at_same_places(call: Call) -> Any:
    """Operators of a dimension and an index of as many dimensions as the tensor: gather, scatter and its kind."""
    ndim = max(call.target.ndim, 1)
    dim = moved(call, call.argument("dim"), call.target.ndim)
    values = [call.whole(value, ndim) for value in call.args]
    values[call.op.names.index("dim")] = dim
    for name in call.op.numbers:  # a number, or a tensor without dimensions that stands for one
        place = call.op.names.index(name)
        value = call.args[place]
        if not getattr(value, "ndim", 1):
            index = values[call.op.names.index("index")]
            values[place] = call.aligned(value, ndim).expand(index.shape) if call.is_sample(value) else value
    result = call.run_new(values)
    return result if call.target.ndim else result.flatten(0)[: result.shape[0]]


def at_index(call: Call) -> Any:
    """Operators of a dimension and an index of some of its positions: index_select, index_add and its kind."""
    op, target, index = call.op, call.target, call.argument("index")
    written = [op.names[place] for place in tensors(op) if place != op.target and op.names[place] != "index"]
    is_each = call.is_sample(index) and (written or index.ndim > 1)
    if is_each or not target.ndim or any(call.is_sample(call.argument(name)) for name in op.numbers):
        return for_each(call)
    dim = moved(call, call.argument("dim"), target.ndim)
    if call.is_sample(index):
        return _selected(call.whole(target), dim, call.aligned(index, 1))
    values = [value if value is index else call.whole(value) for value in call.args]
    values[op.names.index("dim")] = dim
    for name in op.numbers:
        values[op.names.index(name)] = call.argument(name)
    return call.run_new(values)


def _selected(batch: Any, dim: int, index: Any) -> Any:
    shape = [index.shape[0], *[1] * (batch.ndim - 1)]
    shape[dim] = index.shape[1]
    return batch.gather(dim, index.reshape(shape).expand((*batch.shape[:dim], index.shape[1], *batch.shape[dim + 1 :])))


def taken(call: Call) -> Any:
    """Return the batch of `take`: elements by their indices in each flattened sample."""
    index = call.argument("index")
    if not call.is_sample(call.target):
        return call.run_new([call.target, call.batch(index)])
    return call.run_new([call.batch(call.target), _flat_places(call)])


def put(call: Call) -> Any:
    """Writes to positions in the flattened tensor."""
    source, accumulate = call.args[2:]
    return call.run_new([call.whole(call.target), _flat_places(call), call.whole(source), accumulate])


def _flat_places(call: Call) -> Any:
    """Positions in flattened samples as those in the flattened batch."""
    index = call.whole(call.argument("index"))
    count = call.target.numel()
    inside = (index >= -count) & (index < count)
    text = f"out of range: tried to access {{}} on a tensor of {count} elements."
    explained = lambda: IndexError(text.format(f"index {index[~inside][0].item()}"))  # noqa: E731
    assert_explained(inside, "IndexError", text.format("an index"), explained)
    starts = ops.arange(call.level.size).mul(count).view((-1, *[1] * (index.ndim - 1)))
    return ops.where(index < 0, index + count, index) + starts


def index(call: Call) -> Any:
    """`x[i, j]`, or an assignment to it."""
    return _put(call) if call.op.is_inplace else _taken(call)


def _taken(call: Call) -> Any:
    target, indices = call.args
    places = _Places(call, indices)
    result = ops.index(call.whole(target), places.of_batch)
    return result.permute(places.order(result.ndim)) if places.is_apart else result


def _put(call: Call) -> None:
    target, indices, values, accumulate = call.args
    places = _Places(call, indices)
    whole = call.aligned(values, places.result_ndim(target))
    if places.is_apart:
        whole = call.whole(values, places.result_ndim(target)).permute(places.inverse(target))
    ops._index_put_(call.batch(target), places.of_batch, whole, accumulate)


class _Places:
    """Indices into a batch, in place of those into samples: the first one is the sample itself."""

    def __init__(self, call: Call, indices: Any) -> None:
        self._indices = list(indices)
        if any(each is not None and each.dtype in _MASKS for each in self._indices):
            self._indices = _positions(call, self._indices)
        given = [each for each in self._indices if each is not None]
        self._ndim = max((each.ndim for each in given), default=0)
        samples = ops.arange(call.level.size).reshape((-1, *[1] * self._ndim))
        self.of_batch = [samples, *(each if each is None else call.aligned(each, self._ndim) for each in self._indices)]
        at = [place for place, each in enumerate(self._indices) if each is not None]
        self._start = at[0]
        adjacent = at == list(range(at[0], at[-1] + 1))
        self.is_apart = adjacent and at[0] > 0
        """The dimensions of the indices come first in the result of a batch, and not in that of a sample."""

    def order(self, ndim: int) -> list[int]:
        """The dimensions of the result of a batch, in the order of those of samples."""
        found = list(range(ndim))
        indexed, others = found[1 : 1 + self._ndim], found[1 + self._ndim :]
        return [0, *others[: self._start], *indexed, *others[self._start :]]

    def result_ndim(self, target: Any) -> int:
        return int(target.ndim) - sum(each is not None for each in self._indices) + self._ndim

    def inverse(self, target: Any) -> list[int]:
        order = self.order(self.result_ndim(target) + 1)
        return [order.index(dim) for dim in range(len(order))]


def _positions(call: Call, indices: list[Any]) -> list[Any]:
    """Masks as the positions of their true elements."""
    found: list[Any] = []
    for each in indices:
        if each is None or each.dtype not in _MASKS:
            found.append(each)
        elif call.is_sample(each):
            raise NotBatchedError(
                "vmap: We do not support batching operators that can support dynamic shape. Attempting to batch over "
                "indexing with a boolean mask."
            )
        else:
            found += each.nonzero(as_tuple=True)
    return found
