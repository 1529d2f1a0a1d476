"""Sums of rows of a table, and products with a tensor of three dimensions."""

from __future__ import annotations

from math import prod
from typing import Any

from ... import _operators as ops
from ..._autograd.grad_mode import is_grad_enabled
from ..._base.dtypes import EXPORTS
from ..._base.warn import warn
from ..._dispatch.autocast import autocasts
from ..._ops.normalization import check_rows, padding_row
from ..._ops.values import is_meta

__all__ = ["bilinear", "embedding_bag"]


@autocasts("bilinear")
def bilinear(input1: Any, input2: Any, weight: Any, bias: Any = None) -> Any:
    """Return `input1 @ weight[k] @ input2` for each k, plus `bias`.

    Args:
        input1 (Tensor): of shape (*, I).
        input2 (Tensor): of shape (*, J).
        weight (Tensor): of shape (K, I, J).
        bias (Tensor): of shape (K).

    Returns:
        Shape (*, K).

    Raises:
        RuntimeError: the shapes do not fit.
    """
    if input1.dim() != input2.dim():
        raise RuntimeError(f"bilinear(): input dimensions do not match: got {input1.dim()} and {input2.dim()}")
    for dim in range(input1.dim() - 1):
        if input1.size(dim) != input2.size(dim):
            raise RuntimeError(
                f"bilinear(): input batch dimensions do not match at dim {dim}: got {input1.size(dim)} and "
                f"{input2.size(dim)}"
            )
    for number, (each, dim) in enumerate(((input1, 1), (input2, 2)), 1):
        if each.size(-1) != weight.size(dim):
            raise RuntimeError(
                f"bilinear(): input{number} size does not match weight size: got {each.size(-1)} but expected "
                f"{weight.size(dim)}"
            )
    if bias is not None and bias.size(0) != weight.size(0):
        raise RuntimeError(
            f"bilinear(): bias size does not match weight size: got {bias.size(0)} but expected {weight.size(0)}"
        )
    count, first, second = weight.shape
    rows = prod(input1.shape[:-1])
    left, right = input1.reshape(rows, first), input2.reshape(rows, second)
    half = left.matmul(weight.permute(1, 0, 2).reshape(first, count * second)).view(rows, count, second)
    result = half.matmul(right.unsqueeze(2)).view(*input1.shape[:-1], count)
    return result if bias is None else result + bias


def embedding_bag(
    input: Any,
    weight: Any,
    offsets: Any = None,
    max_norm: float | None = None,
    norm_type: float = 2,
    scale_grad_by_freq: bool = False,
    mode: str = "mean",
    sparse: bool = False,
    per_sample_weights: Any = None,
    include_last_offset: bool = False,
    padding_idx: int | None = None,
) -> Any:
    """Return the sums, means or maxima of the rows of a table that bags of indices name.

    Args:
        input (Tensor): indices, of shape (B, N), each row a bag, or (N).
        weight (Tensor): the table, of shape (V, D).
        offsets (Tensor): where the bags of an input of one dimension begin, of shape (B).
        max_norm, norm_type (float): rows that are used are scaled down to that norm, in place.
        scale_grad_by_freq (bool): is the gradient of a row the mean of those of its copies?
        mode (str): `sum`, `mean` or `max`.
        sparse (bool): is the gradient of the table a sparse tensor of the rows that are used?
        per_sample_weights (Tensor): factors of the rows, of the shape of `input`; for `sum` alone.
        include_last_offset (bool): does `offsets` end with the end of the last bag?
        padding_idx (int): a row that does not count.

    Returns:
        Shape (B, D). Empty bags give zeros.

    Raises:
        ValueError: shapes do not fit, or the mode is not known.
        RuntimeError: an index is no row, or the rows have no floating-point numbers.
    """
    if weight.dtype is EXPORTS["int64"] and input.is_floating_point():
        warn(
            "Argument order of nn.functional.embedding_bag was changed. Usage `embedding_bag(weight, input, ...)` is "
            "deprecated, and should now be `embedding_bag(input, weight, ...)`."
        )
        input, weight = weight, input
    if not weight.is_floating_point():
        raise RuntimeError(
            "Expected tensor for argument #1 'weight' to have one of the following scalar types: Half, BFloat16, "
            f"Float, Double; but got {weight.type()} instead (while checking arguments for embedding_bag)"
        )
    if per_sample_weights is not None and input.size() != per_sample_weights.size():
        raise ValueError(
            f"embedding_bag: If per_sample_weights ({list(per_sample_weights.shape)}) is not None, then it must have "
            f"the same shape as the input ({list(input.shape)})"
        )
    if weight.dim() != 2:
        raise ValueError(f"weight has to be a 2D Tensor, but got Tensor of dimension {weight.dim()}")
    if mode not in ("sum", "mean", "max"):
        raise ValueError("mode has to be one of sum, mean or max")
    if mode == "max" and scale_grad_by_freq:
        raise ValueError("max mode does not support scaling the gradient by the frequency")
    if per_sample_weights is not None and mode != "sum":
        raise NotImplementedError(
            "embedding_bag: per_sample_weights was not None. per_sample_weights is only supported for mode='sum' "
            f"(got mode='{mode}'). Please open a feature request on GitHub."
        )
    int64 = EXPORTS["int64"]
    if input.dim() == 2:
        if offsets is not None:
            raise ValueError(
                "if input is 2D, then offsets has to be None, as input is treated is a mini-batch of fixed length "
                f"sequences. However, found offsets of type {type(offsets)}"
            )
        bags, length = input.shape
        owners = ops.arange(bags, dtype=int64, device=input.device).repeat_interleave(length)
    elif input.dim() == 1:
        bags, owners = _owners(input, offsets, include_last_offset)
    else:
        raise ValueError(f"input has to be 1D or 2D Tensor, but got Tensor of dimension {input.dim()}")
    places = input.reshape(-1).to(int64)
    try:
        check_rows(places, weight)
    except IndexError:
        outside = (places < 0) | (places >= weight.size(0))
        at = int(outside.nonzero()[0].item())
        raise RuntimeError(
            f"Index {at} of input takes value {places[at].item()} which is not in the valid range [0, {weight.size(0)})"
        ) from None
    factors = None if per_sample_weights is None else per_sample_weights.reshape(-1)
    if padding_idx is not None:
        padding_idx = padding_row(padding_idx, weight.size(0))
    if padding_idx is not None and not is_meta(places):
        kept = places != padding_idx
        places, owners = places.masked_select(kept), owners.masked_select(kept)
        factors = None if factors is None else factors.masked_select(kept)
    rows = ops.embedding(places, weight, None, max_norm, norm_type, scale_grad_by_freq, sparse)
    if factors is not None:
        rows = rows * factors.unsqueeze(1)
    result = rows.new_zeros((bags, weight.size(1)))
    if mode == "max":
        return _largest(rows, owners, result)
    result = result.index_add(0, owners, rows)
    if mode == "sum":
        return result
    counts = rows.new_zeros(bags).index_add_(0, owners, rows.new_ones(places.shape))
    return result / counts.clamp(min=1).unsqueeze(1)


def _largest(rows: Any, owners: Any, nothing: Any) -> Any:
    """The largest elements of each bag, whose gradient goes to the first of equal ones; for empty bags `nothing`."""
    owners = owners.unsqueeze(1).expand_as(rows)
    if not (rows.requires_grad and is_grad_enabled()) or not rows.numel():
        return nothing.scatter_reduce(0, owners, rows, "amax", include_self=False)
    count = rows.size(0)
    chosen = nothing.scatter_reduce(0, owners, rows.detach(), "amax", include_self=False).gather(0, owners)
    is_largest = (rows.detach() == chosen) | (chosen != chosen)
    places = ops.arange(count, device=rows.device).unsqueeze(1).expand_as(rows).masked_fill(~is_largest, count)
    first = owners.new_full(nothing.shape, count).scatter_reduce(0, owners, places, "amin")
    return rows.gather(0, first.clamp(max=count - 1)).masked_fill(first == count, 0)


def _owners(input: Any, offsets: Any, include_last: bool) -> tuple[int, Any]:
    """The number of bags, and to which one each index belongs."""
    if offsets is None:
        raise ValueError("offsets has to be a 1D Tensor but got None")
    if offsets.dim() != 1:
        raise ValueError("offsets has to be a 1D Tensor")
    if is_meta(offsets):
        return offsets.size(0) - include_last, offsets.new_empty(input.shape, dtype=EXPORTS["int64"])
    starts = offsets.tolist()
    if include_last and not starts:
        raise ValueError("include_last_offset: number of offsets should be at least 1")
    if starts and starts[0] != 0:
        raise RuntimeError(f"offsets[0] has to be 0, i.e., the first sequence in the mini-batch has to start from "
                           f"position 0. However, got {starts[0]}")  # fmt: skip
    if starts and starts[-1] > input.size(0):
        raise RuntimeError(
            f"offsets[-1] can not be greater than input's length ({input.size(0)}), but got offsets[-1] of {starts[-1]}"
        )
    bags = len(starts) - include_last
    ends = starts[1:] if include_last else [*starts[1:], input.size(0)]
    lengths = offsets.new_tensor(
        [end - start for start, end in zip(starts, ends, strict=False)], dtype=EXPORTS["int64"]
    )
    owners = ops.arange(bags, dtype=EXPORTS["int64"]).repeat_interleave(lengths)
    if owners.numel() < input.size(0):  # what follows the last offset belongs to the last bag
        rest = owners.new_full((input.size(0) - owners.numel(),), bags - 1)
        owners = ops.cat([owners, rest])
    return bags, owners
