"""The call of reductions, scans and row operators whose results are several, or positions."""

from __future__ import annotations

from functools import partial
from typing import Any

from .._base import histories
from .._base.handles import OVERFLOW
from .._base.histories import needs_grad
from .._C import ffi, lib
from .arguments import Arguments, dtype_code
from .composite import store
from .dispatcher import Op, decline, dimensions, pad3, self_handle


def call(op: Op, input: Any, dim: Any, keepdim: Any, dtype: Any, params: tuple[Any, ...], out: Any) -> Any:
    """`dim`: None for every dimension, an int, or several where the operator takes a list."""
    if needs_grad(input, out):
        run = partial(call, op, input, dim, keepdim, dtype, params, None)
        return histories.recording.call(op, (input, dim, keepdim, *params), run, out)
    arguments = Arguments()
    try:
        handle = self_handle(op, input, arguments)
        dims = dimensions(op, dim, keepdim)
        numbers = [arguments.param(op, place, value) for place, value in enumerate(params)]
        results = ffi.new("double[3]")
        code = dtype_code(op, dtype)
        try:
            count = lib.multi(op.index, handle, dims, len(dims), not dims, keepdim, code, *pad3(numbers), results)
        except OverflowError:
            raise ValueError(OVERFLOW) from None
        if not count:
            return decline(op, (handle,), input, dim, keepdim, dtype, params, out)
        found = tuple([arguments.result(results[place]) for place in range(count)])
    finally:
        arguments.release()
    result = found[0] if count == 1 else found
    if out is not None:
        return store(op, result, out)
    return result if op.results is None else op.results(found)
