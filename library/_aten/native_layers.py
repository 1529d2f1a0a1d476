"""Normalizations, dropout and sums of rows that return beside their result what a backward pass uses of them.

That is no part of the graph: gradients go through the first result alone. Half formats are computed in float32, which
statistics keep where weights have it.
"""

# mypy: disable-error-code="no-any-return"

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .. import _operators as ops
from .._base.dtypes import EXPORTS
from .._dispatch.ops import ops as all_ops
from .._ops.node_outputs import outputs
from .._ops.normalization import (
    beside,
    by_running_statistics,
    check_channels,
    check_groups,
    check_normalized,
    grouped,
    move_statistics,
    normalization_arguments,
)
from .._tensor.tensor import Tensor
from ..nn.functional.bags import MODES, bags

_PACKAGE_NAMES = [
    "batch_norm_update_stats",
    "embedding_bag",
    "native_batch_norm",
    "native_dropout",
    "native_group_norm",
    "native_layer_norm",
]


def _statistics(input: Any, of: Sequence[Any], *values: Any) -> tuple[Any, ...]:
    """The values as results, in float32 where one of the tensors `of` that come with a half input has it."""
    is_mixed = any(each is not None and each.dtype is not input.dtype for each in of)
    return tuple(each.detach().to(EXPORTS["float32"] if is_mixed else input.dtype) for each in values)


def native_layer_norm(
    input: Tensor, normalized_shape: Sequence[int], weight: Tensor | None, bias: Tensor | None, eps: float
) -> tuple[Tensor, Tensor, Tensor]:
    """`layer_norm`, the means, and the inverses of the deviations, whose normalized dimensions have the size 1.

    Raises RuntimeError where sizes do not fit, NotImplementedError for integers.
    """
    shape = [normalized_shape] if isinstance(normalized_shape, int) else list(normalized_shape)
    check_normalized(input, shape, weight, bias)
    given = normalization_arguments(input, weight, bias)
    found = all_ops.normalized_rows(*given, list(range(-len(shape), 0)), True, eps)
    _, centre, _, root, shrink = found
    return outputs(found, 0).to(input.dtype).contiguous(), *_statistics(input, (weight, bias), centre, shrink / root)


def native_group_norm(
    input: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    N: int,  # noqa: N803
    C: int,  # noqa: N803
    HxW: int,  # noqa: N803
    group: int,
    eps: float,
) -> tuple[Tensor, Tensor, Tensor]:
    """`group_norm` of `N` samples of `C` channels of `HxW` elements, the means, and the inverses of the deviations, of
    shape (N, group).

    Raises RuntimeError where sizes do not fit.
    """
    if input.numel() != N * C * HxW:
        raise RuntimeError(
            f"native_group_norm(): expected an input of N * C * HxW = {N} * {C} * {HxW} elements, but got one of shape "
            f"{list(input.shape)}"
        )
    samples = input.contiguous().view(N, C, HxW)
    check_groups(samples, group, weight, bias, list(input.shape))
    by_channel = [None if each is None else each.reshape(group, -1, 1) for each in (weight, bias)]
    given = normalization_arguments(grouped(samples, group), *by_channel)
    found = all_ops.normalized_groups(*given, [2, 3], True, eps)
    _, centre, _, root, shrink = found
    statistics = (each.reshape(N, group) for each in (centre, shrink / root))
    return outputs(found, 0).to(input.dtype).reshape(input.shape), *_statistics(input, (weight, bias), *statistics)


def native_batch_norm(
    input: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    training: bool,
    momentum: float,
    eps: float,
) -> tuple[Tensor, Tensor, Tensor]:
    """`batch_norm`, the means of the channels, and the inverses of their deviations; no elements of these without
    `training`. Channels of one value are allowed.

    Raises RuntimeError where sizes do not fit, without running statistics unless `training`, and for no elements.
    """
    check_channels(input, running_mean, running_var, weight, bias, training, several=False)
    of = weight, bias, running_mean, running_var
    if not training:
        nothing = input.new_empty(0)
        result = by_running_statistics(input, running_mean, running_var, weight, bias, eps)
        return result, *_statistics(input, of, nothing, nothing.clone())
    if not input.numel():
        raise RuntimeError(f"input tensor must have at least one element, but got input_sizes = {list(input.shape)}")
    given = normalization_arguments(input, beside(weight, input), beside(bias, input))
    found = all_ops.normalized_channels(*given, _but_channels(input), True, eps)
    _, centre, variance, root, shrink = found
    move_statistics(running_mean, running_var, centre, variance / shrink / shrink, input, momentum)
    statistics = (each.reshape(-1) for each in (centre, shrink / root))
    return outputs(found, 0).to(input.dtype), *_statistics(input, of, *statistics)


def batch_norm_update_stats(
    input: Tensor, running_mean: Tensor | None, running_var: Tensor | None, momentum: float
) -> tuple[Tensor, Tensor]:
    """The means and the variances of the channels, the second dimension, towards which running ones are moved.

    Returns two tensors of shape (C) for input (N, C, *); dtype of the input. The variances have the number of elements
    as divisor; those that running ones move to one less. Raises RuntimeError where sizes do not fit.
    """
    check_channels(input, running_mean, running_var, None, None, True, several=False)
    variance, mean = ops.var_mean(input, _but_channels(input), correction=0)
    move_statistics(running_mean, running_var, mean, variance, input, momentum)
    return mean, variance


def _but_channels(input: Any) -> list[int]:
    return [dim for dim in range(input.ndim) if dim != 1]


def native_dropout(input: Tensor, p: float, train: bool | None) -> tuple[Tensor, Tensor]:
    """`dropout`, and a bool tensor that says which elements remain; all do where `train` is False. None means True.

    Raises RuntimeError where the probability is not between 0 and 1, or the input has integers.
    """
    if not 0 <= p <= 1:
        raise RuntimeError(f"bernoulli_ expects p to be in [0, 1], but got p={1 - p:g}")
    if not (input.is_floating_point() or input.is_complex()):
        raise RuntimeError(f"result type Float can't be cast to the desired output type {input.dtype.scalar_name}")
    kept = EXPORTS["bool"]
    if train is False:
        return input.clone(), ops.ones_like(input, dtype=kept)
    factors = ops.empty_like(input.detach()).bernoulli_(1 - p)
    mask = factors.to(kept)
    return input * (factors if p == 1 else factors.div_(1 - p)), mask


def embedding_bag(
    weight: Tensor,
    indices: Tensor,
    offsets: Tensor,
    scale_grad_by_freq: bool = False,
    mode: int = 0,
    sparse: bool = False,
    per_sample_weights: Tensor | None = None,
    include_last_offset: bool = False,
    padding_idx: int | None = None,
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """`nn.functional.embedding_bag` with the table first, and for `mode` 0, which means sums, 1, means, or 2, maxima.

    Returns the result, of shape (B, D); the bag of each index; how many rows of each bag count, zeros for sums; and of
    maxima the row of the table that each is from, (B, D), else what stands before. Raises ValueError where shapes do
    not fit or there is no such mode, RuntimeError for an index that is no row.
    """
    if isinstance(mode, bool) or mode not in range(len(MODES)):
        raise ValueError(f"mode has to be 0 (sum), 1 (mean) or 2 (max), but got {mode!r}")
    if indices.dim() != 1:
        raise ValueError(f"input has to be a 1D Tensor, but got Tensor of dimension {indices.dim()}")
    word = MODES[mode]
    found = bags(
        indices, weight, offsets, None, 2.0, scale_grad_by_freq, word, sparse, per_sample_weights,
        include_last_offset, padding_idx,
    )  # fmt: skip
    integers = indices.dtype
    counts = found.counts().to(integers) if word != "sum" else indices.new_zeros(found.number)
    rows = found.largest_rows().to(integers) if word == "max" else counts.clone()
    return found.result(), found.all_owners.to(integers), counts, rows
