"""Rules of torch for quantized tensors: which operators compute, and how their results are quantized. They follow from
no declaration.

Views, comparisons, and what averages or resamples one tensor (the family `compute`) need no entry.
"""

from __future__ import annotations

from ..._base.dtypes import dtype
from .quantizer import PerTensor

MOVED = frozenset(
    [
        "clone",
        "index",
        "index_select",
        "gather",
        "take",
        "masked_select",
        "cat",
        "stack",
        "flip",
        "roll",
        "repeat",
        "sort",
        "sort_values",
        "argsort",
        "topk",
        "max",
        "min",
        "argmax",
        "argmin",
        "amax",
        "amin",
        "cummax",
        "cummin",
        "fill_",
        "_index_put_",
        "masked_fill",
        "masked_scatter",
        "index_fill",
        "index_copy",
        "scatter",
        "tril",
        "triu",
    ]
)
"""The operators that treat integers as the numbers that they stand for: results are elements of the arguments, which
scales above zero leave in their order. What is written among them is quantized in the same way before."""

KEPT = frozenset(
    [
        "relu",
        "relu6",
        "leaky_relu",
        "hardtanh",
        "threshold",
        "gelu",
        "clamp",
        "clamp_min",
        "clamp_max",
        "prelu",
        "std",
        "nanmean",
        "pad",
        "ones_like",
        "zeros_like",
        "full_like",
        "rand_like",
        "randn_like",
    ]
)
"""Computed of the numbers; results are quantized as the first tensor is."""

AVERAGES = frozenset(["mean", *(f"{kind}_pool{dims}d" for kind in ("adaptive_avg", "avg") for dims in (1, 2, 3))])
"""Computed, as the family `compute`, of the distances of integers from the zero point."""


def bounded(name: str, of: dtype) -> PerTensor | None:
    """The quantizer of results whose range is known: all integers of the dtype for it. None: there is no such
    operator."""
    steps = 2.0 ** (8 * of.itemsize)
    if name in ("sigmoid", "hardsigmoid"):
        return PerTensor(1 / steps, of.minimum if of.itemsize == 1 else 0)
    if name == "tanh":
        return PerTensor(2 / steps, (of.minimum + of.maximum + 1) // 2)
    return None
