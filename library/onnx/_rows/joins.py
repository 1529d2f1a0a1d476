"""Tensors that are joined."""

from __future__ import annotations

from typing import Any

from .._builder import Builder
from .._calls import Call, row


@row("cat")
def _cat(b: Builder, call: Call) -> Any:
    given = [each for each in call["tensors"] if each.sizes != (0,)]  # which torch leaves out
    rank = len(call.sizes)
    return b.node("Concat", *(b.cast(each, call.dtype).name for each in given), axis=call["dim"] % rank)


@row("stack")
def _stack(b: Builder, call: Call) -> Any:
    dim = call["dim"] % len(call.sizes)
    parts = [b.node("Unsqueeze", b.cast(each, call.dtype).name, b.integers([dim])) for each in call["tensors"]]
    return b.node("Concat", *parts, axis=dim)
