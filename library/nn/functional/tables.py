"""Sums of rows of a table, and products with a tensor of three dimensions."""

from __future__ import annotations

from math import prod
from typing import Any

from ..._base.dtypes import EXPORTS
from ..._base.warn import warn
from ..._dispatch.autocast import autocasts
from .bags import bags

__all__ = ["bilinear", "embedding_bag"]


@autocasts("as_is")
def bilinear(input1: Any, input2: Any, weight: Any, bias: Any = None) -> Any:
    """Return the bilinear map `input1 @ weight[k] @ input2` for each k, plus `bias`.

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
    """Return the sums, means or maxima of the rows of an embedding table that bags of indices select.

    Args:
        input (Tensor): indices, of shape (B, N), each row a bag, or (N).
        weight (Tensor): the table, of shape (V, D).
        offsets (Tensor): where the bags of an input of one dimension begin, of shape (B).
        max_norm, norm_type (float): rows that are used are scaled down to that norm, in place.
        scale_grad_by_freq (bool): whether the gradient of a row is the mean of those of its copies.
        mode (str): `sum`, `mean` or `max`.
        sparse (bool): whether the gradient of the table is a sparse tensor of the rows that are used.
        per_sample_weights (Tensor): factors of the rows, of the shape of `input`; for `sum` alone.
        include_last_offset (bool): whether `offsets` ends with the end of the last bag.
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
    return bags(
        input, weight, offsets, max_norm, norm_type, scale_grad_by_freq, mode, sparse, per_sample_weights,
        include_last_offset, padding_idx,
    ).result()  # fmt: skip
