"""Which rule a call with samples follows: that of the operator, or of its family."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NoReturn

from .._dispatch.op import Op
from .._ops.values import holds
from .broadcast import leading, whole
from .call import Call, NotBatchedError, Rule
from .elementwise import pointwise, unify
from .indexing import at_same_places, index, index_put, selected, taken, written_along
from .loop import for_each
from .moves import copied, filled, joined, made_alike, masked_fill, repeated, rolled
from .products import addmm, addmv, bmm, dot, mm, mv
from .reductions import along, reduce, rows


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


_FAMILIES: Mapping[str, Rule] = {
    "elementwise": unify,
    "extern": for_each,
    "lapack": whole,
    "reduce": reduce,
    "rows": rows,
    "scan": along,
}

_OPERATORS: Mapping[str, Rule] = {
    "_index_put_": index_put,
    "_to_copy": copied,
    "_view_dtype": pointwise,
    "addmm": addmm,
    "addmv": addmv,
    "argsort": along,
    "argwhere": _refuse_shape,
    "bmm": bmm,
    "cat": joined,
    "clone": copied,
    "conj": pointwise,
    "copy_": unify,
    "detach": pointwise,
    "dot": dot,
    "fft_c2c": along,
    "fft_c2r": along,
    "fft_r2c": along,
    "fill_": filled,
    "flip": along,
    "gather": at_same_places,
    "index": index,
    "index_add": written_along,
    "index_copy": written_along,
    "index_fill": written_along,
    "index_reduce": written_along,
    "index_select": selected,
    "item": _refuse_values,
    "masked_fill": masked_fill,
    "masked_select": _refuse_shape,
    "mm": mm,
    "mv": mv,
    "repeat": repeated,
    "resize_": _refuse_memory,
    "roll": rolled,
    "scatter": at_same_places,
    "scatter_add": at_same_places,
    "scatter_reduce": at_same_places,
    "set_": _refuse_memory,
    "sort": along,
    "stack": joined,
    "take": taken,
    "topk": along,
    "tril": pointwise,
    "triu": pointwise,
    "truth": _truth,
    "view_as_complex": pointwise,
    "view_as_real": pointwise,
    "zero_": pointwise,
}

COMPOSITES: Mapping[str, Rule] = {
    "block_diag": for_each,
    "cosine_similarity": along,
    "linalg_matrix_exp": pointwise,
    "linspace": for_each,
    "logspace": for_each,
    "normalize": along,
}
"""Composites that choose by elements what they compute, or write to memory of their own."""


def rule_of(op: Op) -> Rule:
    named = _OPERATORS.get(op.name) or COMPOSITES.get(op.name)
    if named is not None:
        return named
    if "device" in op.names and op.is_composite:
        return made_alike
    if op.family == "compute" and op.naming is not None:
        return leading
    return _FAMILIES.get(op.family, for_each)


def results(call: Call) -> Any:
    """The batches of what the call gives."""
    return rule_of(call.op)(call)
