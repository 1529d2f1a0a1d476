"""Operators along dimensions: reductions, scans, rows, and others that keep the rest as it is."""

from __future__ import annotations

from typing import Any

from .._base.tensor_class import Tensor
from .._ops.derivatives.basic import dimensions
from .._ops.rows import rows_by_operators
from .._ops.values import wide
from .call import Call
from .dims import with_moved
from .loop import for_each


def along(call: Call) -> Any:
    """Operators along dimensions that they name."""
    ndim = max(call.ndim, 1)
    values = [
        call.aligned(value, ndim) if isinstance(value, Tensor) else value for value in with_moved(call, call.ndim)
    ]
    result = call.run_new(values)
    if call.ndim:
        return result
    return _each(result, lambda batch: batch.select(1, 0) if batch.ndim > 1 else batch)


def reduce(call: Call) -> Any:
    """Reductions, rows and folds."""
    return _reductions(call) if call.op.family == "reduce" else _rows(call)


def _reductions(call: Call) -> Any:
    """Operators that reduce dimensions, or all."""
    place = call.op.names.index("dim")
    if not _means_all(call.args[place]):
        return along(call)
    ndim, keepdim = call.ndim, call.argument("keepdim")
    values = [call.aligned(value, ndim) for value in call.args]
    values[call.op.target] = values[call.op.target].flatten(1) if ndim else values[call.op.target].unsqueeze(1)
    values[place] = 1 if call.op.types[place].startswith("int?") else [1]
    values[call.op.names.index("keepdim")] = False
    result = call.run_new(values)
    if keepdim:
        result = _each(result, lambda batch: batch.reshape((batch.shape[0], *[1] * ndim)))
    return result[0] if call.op.gives_first_alone(call.args) else result


def _rows(call: Call) -> Any:
    """Rows of several tensors, which are broadcast together."""
    if call.op.sums_rows or any(call.is_sample(call.argument(name)) for name in call.op.shared):
        return for_each(call) if call.op.by_operators is None else _rows_by_operators(call)
    place = call.op.names.index("dim")
    if _means_all(call.args[place]):
        every = list(range(max(call.ndim, 1)))
        return along(Call(call.op, [*call.args[:place], every, *call.args[place + 1 :]], call.level, call.mode))
    return along(call)


def _rows_by_operators(call: Call) -> Any:
    """Rows whose samples have places of their own: weights, or sums over the rows of each sample."""
    ndim = max(call.ndim, 1)
    tensors = [wide(call.aligned(value, ndim)) for value in call.args if isinstance(value, Tensor)]
    numbers = [
        value
        for name, value in zip(call.op.names, call.args, strict=True)
        if name not in ("dim", "keepdim") and not isinstance(value, Tensor)
    ]
    inferred = call.inferred()
    expected = inferred if isinstance(inferred, tuple) else (inferred,)
    found = rows_by_operators(call.op, ndim, tensors, numbers, dimensions(call.argument("dim"), ndim))
    results = tuple(
        result.reshape((call.level.size, *like.shape)).to(like.dtype)
        for result, like in zip(found, expected, strict=True)
    )
    return results if isinstance(inferred, tuple) else results[0]


def _means_all(dims: Any) -> bool:
    """True if dimensions that are reduced are left out."""
    return dims is None or (isinstance(dims, (list, tuple)) and not dims)


def _each(result: Any, change: Any) -> Any:
    return tuple(map(change, result)) if isinstance(result, (tuple, list)) else change(result)
