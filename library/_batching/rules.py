"""The rule that a call with samples follows: that of the operator, or of its family."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NoReturn

from .._dispatch.op import Op
from .._dispatch.ops import ops
from .._dispatch.rules import signature
from .._ops.values import holds
from .broadcast import leading, whole
from .call import Call, NotBatchedError, Rule
from .elementwise import unify
from .indexing import at_index, at_same_places, index, put, taken
from .loop import for_each
from .moves import filled, joined, kept, made_alike, masked_fill, repeated, rolled
from .products import addmm, addmv, dot, matmul, mv
from .reductions import reduce


def _refuse_values(call: Call) -> NoReturn:
    raise NotBatchedError(
        "vmap: It looks like you're calling .item() on a Tensor, or using one in some data-dependent control flow. We "
        "don't support vmap over calling .item() on a Tensor, please try to rewrite what you're doing with other "
        "operations. Conditions on elements are written with opweave.where"
    )


def _refuse_shape(call: Call) -> NoReturn:
    raise NotBatchedError(
        "vmap: We do not support batching operators that can output dynamic shape. Attempted to vmap over "
        f"aten::{call.op.name}: the shape of its result depends on the elements, so samples may differ in it"
    )


def _refuse_memory(call: Call) -> NoReturn:
    raise NotBatchedError(f"vmap: {call.op.name}() changes the memory of a tensor, which samples of a batch share")


def _truth(call: Call) -> bool:
    """The truth of every sample, or of any."""
    condition, every = call.args
    found = call.batch(condition)
    return holds(found.all() if every else found.any(), every)


def _assert_values(call: Call) -> bool:
    """One check of all samples."""
    condition, error, message = call.args
    ops.assert_values(call.batch(condition), error, message)
    return True


_WORDS: Mapping[str, Rule] = {
    "at": at_index,
    "each": for_each,
    "flat": for_each,
    "gather": at_same_places,
    "index": index,
    "join": joined,
    "keep": kept,
    "make": for_each,
    "reduce": reduce,
    "roll": rolled,
    "unify": unify,
    "view": for_each,
}
"""The rules by the word of the declarations (codegen/model/rules.py). Views are answered before (handler.py)."""

_OPERATORS: Mapping[str, Rule] = {
    "assert_values": _assert_values,
    "addmm": addmm,
    "addmv": addmv,
    "bmm": matmul,
    "dot": dot,
    "fill_": filled,
    "masked_fill": masked_fill,
    "mm": matmul,
    "mv": mv,
    "put": put,
    "repeat": repeated,
    "take": taken,
    "truth": _truth,
}
"""Operators whose batches are a call of another one, or of other arguments than the rule says."""


def rule_of(op: Op) -> Rule:
    """Return the rule of an operator."""
    if op.name in _OPERATORS:
        return _OPERATORS[op.name]
    if signature(op.rule) is not None:
        return whole if op.family == "lapack" else leading
    if op.rule is not None:
        return _WORDS[op.rule]
    if op.is_inplace:
        return _refuse_memory
    if op.dynamic_shape:
        return _refuse_shape
    if op.data_dependent:
        return _refuse_values
    return made_alike if "device" in op.names and op.is_composite else for_each


def results(call: Call) -> Any:
    """The batches of what the call gives."""
    return rule_of(call.op)(call)
