"""Answers calls with tensors that have names."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from ..._base.tensor_class import Tensor
from ..._dispatch import overloads
from ..._dispatch.dispatcher import redispatch
from ..._dispatch.op import INPLACE, NEW, Op
from ..._dispatch.store import store
from ..._handle import with_keys
from .dimensions import resolved
from .names import NAMED, check_same, names_of, set_names
from .rules import fitting, rule_of
from .shapes import UNNAMED_SIZES
from .special import ANSWERS

_REFUSED = " is not yet supported with named tensors. "
"""A part of the error of operators that have no rule."""
_REFUSED_PARTS = (_REFUSED, UNNAMED_SIZES)
"""Parts of errors of operators that others are made of, which have no rule then either."""


def handle(op: Op, args: Sequence[Any], out: Any, mode: int) -> Any:
    """Answer a call with named tensors: compute with unnamed ones, and name the results by the operator's rule."""
    if op in ANSWERS:
        return ANSWERS[op](op, args, out, mode)
    args = resolved(op, args)
    rule = rule_of(op)
    if rule is None:
        return _decomposed(op, args, out, mode)
    candidates = rule(op, args)
    overwritten = args[op.target] if mode == INPLACE and not op.view else out
    for target in _tensors(overwritten):
        check_same(target, *candidates)
    result = with_keys(0, NAMED, partial(redispatch, op, args, out, mode, below="named"))
    for each in _tensors(result):
        set_names(each, fitting(candidates, each))
    return result


def _decomposed(op: Op, args: Sequence[Any], out: Any, mode: int) -> Any:
    """Return the result of an operator that is made of others, which have rules."""
    if not op.is_decomposable or op.naming is not None:
        raise _refusal(op, out, mode)
    try:
        result = redispatch(op, args, None, NEW if out is not None else mode, below="named")
    except RuntimeError as error:
        if not any(text in str(error) for text in _REFUSED_PARTS):
            raise
        raise _refusal(op, out, mode) from None  # of what was called, not of a part of it
    if out is None:
        return result
    each = list(zip(_tensors(out), map(names_of, _tensors(result)), strict=False))
    for target, names in each:
        check_same(target, names)
    stored = with_keys(0, NAMED, store, op, result, out)
    for target, names in each:
        set_names(target, names)
    return stored


def _refusal(op: Op, out: Any, mode: int) -> RuntimeError:
    return RuntimeError(
        f"{overloads.of_call(op, mode, out).name()}{_REFUSED}Please drop names via `tensor = tensor.rename(None)`, "
        "call the op with an unnamed tensor, and set names on the result of the operation."
    )


def _tensors(value: Any) -> list[Any]:
    """A result, or several."""
    return [each for each in (value if isinstance(value, (tuple, list)) else (value,)) if isinstance(each, Tensor)]
