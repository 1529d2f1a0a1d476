"""Functions that answer calls of operators in place of the rules of sharding."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..._dispatch.dispatcher import register
from ..._dispatch.op import NEW, Op
from ._handler import all_distributed, handle, mesh_of, written
from ._parts import KEY

__all__ = ["answer"]


def answer(function: Callable[[Op, Sequence[Any], int], Any], *operators: Any) -> None:
    """Let a function answer calls of operators. It is given the operator, the arguments, whose tensors are all
    distributed, and the mode; where it returns NotImplemented, the rules answer."""

    def handler(op: Op, args: Sequence[Any], out: Any, mode: int) -> Any:
        if out is not None:
            return written(out, handler(op, args, None, NEW))
        given = all_distributed(op, args, mesh_of(op, args))
        found = function(op, given, mode)
        return handle(op, args, None, mode) if found is NotImplemented else found

    for operator in operators:
        register(KEY, handler, operator.op)
