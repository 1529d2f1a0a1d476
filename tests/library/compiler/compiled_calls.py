"""Calls of functions beside those of their compiled forms."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import opweave
from opweave._base.pytree import flatten


def facts(value: Any) -> Any:
    """All that can be told about a result, or an argument."""
    leaves, structure = flatten(value)
    return structure, [_fact(each) for each in leaves]


def _fact(value: Any) -> Any:
    if not isinstance(value, opweave.Tensor):
        return value
    plain = value.detach()
    content = plain.contiguous().clone().view(-1)
    raw = bytes(content.view(opweave.uint8).tolist()) if content.numel() else b""
    return value.dtype, tuple(value.shape), value.stride(), value.requires_grad, raw


def copied(value: Any) -> Any:
    """Arguments with memory of their own."""
    leaves, structure = flatten(value)
    return structure.unflatten(_copy(each) for each in leaves)


def _copy(value: Any) -> Any:
    if not isinstance(value, opweave.Tensor):
        return value
    result = opweave.empty_strided(value.shape, value.stride(), dtype=value.dtype)
    with opweave.no_grad():
        result.copy_(value)
    return result.requires_grad_(value.requires_grad)


def check(function: Callable[..., Any], *args: Any, is_recorded: bool = True, calls: int = 3, **kwargs: Any) -> Any:
    """Compare results, and what is written to arguments, of some calls. Returns what is known of the function."""
    expected = copied((args, kwargs))
    opweave.manual_seed(1)
    want = facts(function(*expected[0], **expected[1]))
    compiled: Any = opweave.compile(function)
    for _ in range(calls):
        given = copied((args, kwargs))
        opweave.manual_seed(1)
        assert facts(compiled(*given[0], **given[1])) == want
        assert facts(given) == facts(expected)
    known = compiled.compiled
    if is_recorded:
        assert len(known.entries) == 1, known.refusals
    return known
