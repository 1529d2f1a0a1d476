"""Operators about names that no rule describes."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from ..._base.handles import shape_of
from ..._dispatch.check import check
from ..._dispatch.dispatcher import redispatch
from ..._dispatch.op import Op
from ..._dispatch.ops import ops
from ..._handle import with_keys
from .names import NAMED, described, names_of


def _equal(op: Op, args: Sequence[Any], out: Any, mode: int) -> Any:
    """Tensors of different names are not equal."""
    left, right = check(op, args)
    same = names_of(left) == names_of(right)
    return same and with_keys(0, NAMED, partial(redispatch, op, args, out, mode, below="named"))


def _resize(op: Op, args: Sequence[Any], out: Any, mode: int) -> Any:
    """The shape of a tensor that has names stays."""
    shape, wanted = list(shape_of(args[0]._h)), list(check(op, args)[1])
    if shape != wanted:
        raise RuntimeError(
            f"Cannot resize named tensor with resize_ or resize_as_ (tried to resize {described(names_of(args[0]))} "
            f"with size {shape} to {wanted}). This may be caused by passing a named tensor as an `out=` argument; "
            "please ensure that the sizes are the same. "
        )
    return args[0]


ANSWERS = {ops.equal.op: _equal, ops.resize_.op: _resize}
"""The functions that answer calls of some operators, by operator."""
