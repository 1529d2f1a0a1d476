"""Products of matrices."""

from __future__ import annotations

import math
from typing import Any

from ..._operators import ones
from .._builder import Builder, Value
from .._calls import Call, row


@row("matmul", "mm", "bmm", "mv", "dot")
def _product(b: Builder, call: Call) -> Any:
    return b.node("MatMul", call.input.name, call[call.op.names[1]].name)


@row("linear")
def _linear(b: Builder, call: Call) -> Any:
    weight, bias = call["weight"], call["bias"]
    if len(call.input.sizes) == 2 and len(weight.sizes) == 2:
        rest = [] if bias is None else [bias.name]
        return b.node("Gemm", call.input.name, weight.name, *rest, transB=1)
    turned = b.node("Transpose", weight.name, perm=[1, 0]) if len(weight.sizes) == 2 else weight.name
    product = b.node("MatMul", call.input.name, turned)
    return product if bias is None else b.node("Add", product, bias.name)


def _scaled(b: Builder, name: str, factor: Any, dtype: str) -> str:
    return name if factor == 1 else str(b.node("Mul", name, b.number(factor, dtype)))


@row("addmm", "addmv", "baddbmm")
def _added(b: Builder, call: Call) -> Any:
    product = b.node("MatMul", call[call.op.names[1]].name, call[call.op.names[2]].name)
    product = _scaled(b, product, call["alpha"], call.dtype)
    if call["beta"] == 0:  # then NaN in the tensor that is added has no effect
        return product
    return b.node("Add", _scaled(b, call.input.name, call["beta"], call.dtype), product)


@row("scaled_dot_product_attention")
def _attention(b: Builder, call: Call) -> Any:
    query, key, value = call["query"], call["key"], call["value"]
    call.require(not call["dropout_p"], "it draws random numbers")
    call.require(not call["enable_gqa"], "heads in groups are not mapped")
    scale = call["scale"]
    if scale is None:
        scale = 1 / math.sqrt(query.size(-1))
    order = [*range(len(key.sizes))]
    order[-1], order[-2] = order[-2], order[-1]
    scores = b.node("MatMul", query.name, b.node("Transpose", key.name, perm=order))
    scores = _scaled(b, scores, scale, call.dtype)
    mask = call["attn_mask"]
    if call["is_causal"]:
        kept = ones(query.size(-2), key.size(-2)).tril().bool()
        mask = Value(b.tensor(kept), "bool", tuple(kept.shape))
    if mask is not None and mask.dtype == "bool":
        scores = b.node("Where", mask.name, scores, b.number(-math.inf, call.dtype))
    elif mask is not None:
        scores = b.node("Add", scores, b.cast(mask, call.dtype).name)
    weights = b.node("Softmax", scores, axis=-1)
    if mask is not None:  # rows of which all is masked are NaN, and zero in the result
        weights = b.node("Where", b.node("IsNaN", weights), b.number(0, call.dtype), weights)
    return b.node("MatMul", weights, value.name)


@row("einsum")
def _einsum(b: Builder, call: Call) -> Any:
    operands = call["operands"]
    call.require(isinstance(call["equation"], str), "its equation is no text")
    given = operands if isinstance(operands[0], Value) else operands[0]
    return b.node("Einsum", *(each.name for each in given), equation=call["equation"].replace(" ", ""))
