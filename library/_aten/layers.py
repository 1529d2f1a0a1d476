"""Layers with another order of arguments than in `nn.functional`, and norms of tensors."""

# mypy: disable-error-code="no-any-return"

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .. import _linalg as linalg
from .. import _operators as ops
from .._ops.padding import padded
from .._tensor.tensor import Tensor
from ..nn import functional

_PACKAGE_NAMES = [
    "batch_norm",
    "bilinear",
    "constant_pad_nd",
    "convolution",
    "embedding",
    "frobenius_norm",
    "instance_norm",
    "norm_except_dim",
    "nuclear_norm",
]


def embedding(
    weight: Tensor, indices: Tensor, padding_idx: int = -1, scale_grad_by_freq: bool = False, sparse: bool = False
) -> Tensor:
    """The rows of `weight`, shape (n, k), that `indices` name: shape (*, k) for indices (*); dtype of `weight`.

    Args:
        padding_idx (int): the row whose gradient is zero; -1 for none.
        scale_grad_by_freq (bool): whether gradients are divided by the number of times that a row is used.
        sparse (bool): whether they are sparse.

    Raises:
        RuntimeError: `weight` is no matrix.
        IndexError: there is no such row.
    """
    row = None if padding_idx < 0 else padding_idx
    return ops.embedding(indices, weight, row, None, 2.0, scale_grad_by_freq, sparse)


def batch_norm(
    input: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    training: bool,
    momentum: float,
    eps: float,
    cudnn_enabled: bool,
) -> Tensor:
    """`nn.functional.batch_norm` with the weights first, and no defaults; `cudnn_enabled` has no effect."""
    return ops.batch_norm(input, running_mean, running_var, weight, bias, training, momentum, eps)


def instance_norm(
    input: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    use_input_stats: bool,
    momentum: float,
    eps: float,
    cudnn_enabled: bool,
) -> Tensor:
    """`nn.functional.instance_norm` with the weights first, and no defaults; `cudnn_enabled` has no effect."""
    return functional.instance_norm(input, running_mean, running_var, weight, bias, use_input_stats, momentum, eps)


def bilinear(input1: Tensor, input2: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """`nn.functional.bilinear`, which is the same: shape (*, n) for inputs (*, k) and (*, m), weight (n, k, m)."""
    return functional.bilinear(input1, input2, weight, bias)


def constant_pad_nd(input: Tensor, pad: Sequence[int], value: complex = 0) -> Tensor:
    """`nn.functional.pad` with a constant: two margins for each of the last dimensions, beginning with the last one.

    Raises RuntimeError where there are too many margins, or negative ones take more than there is.
    """
    return padded(input, pad, "constant", value)


def convolution(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    transposed: bool,
    output_padding: Sequence[int],
    groups: int,
) -> Tensor:
    """`conv1d`, `conv2d` or `conv3d`, by the number of dimensions, or where `transposed` one of `conv_transpose1d` and
    its like, of a batch. Shapes, dtypes and errors are theirs; RuntimeError for other numbers of dimensions.
    """
    ndim = weight.ndim - 2
    if ndim not in (1, 2, 3) or input.ndim != weight.ndim:
        raise RuntimeError(
            f"convolution(): expected input and weight of 3, 4 or 5 dimensions, but got {input.ndim} and {weight.ndim}"
        )
    if transposed:
        function: Any = (ops.conv_transpose1d, ops.conv_transpose2d, ops.conv_transpose3d)[ndim - 1]
        return function(input, weight, bias, stride, padding, output_padding, groups, dilation)
    function = (ops.conv1d, ops.conv2d, ops.conv3d)[ndim - 1]
    return function(input, weight, bias, stride, padding, dilation, groups)


def norm_except_dim(v: Tensor, pow: int = 2, dim: int = 0) -> Tensor:
    """The norm over all dimensions but `dim`, which keep the size 1; for -1 that of all elements, without dimensions.

    Raises IndexError where there is no such dimension.
    """
    if dim == -1:
        return v.norm(pow)
    first = v.transpose(0, dim)
    norms = first.reshape(first.size(0), -1).norm(pow, 1)
    return norms.view(-1, *(1,) * (v.ndim - 1)).transpose(0, dim)


def frobenius_norm(input: Tensor, dim: int | Sequence[int], keepdim: bool = False) -> Tensor:
    """The root of the sum of squares over one dimension or two; over all for an empty `dim`.

    Returns the input's shape without `dim`, or with size 1 there; dtype of the input, real for complex numbers. Raises
    RuntimeError for more than two dimensions and for integers.
    """
    dims = [dim] if isinstance(dim, int) else list(dim)
    if len(dims) > 2:
        raise RuntimeError(f"Expected at most 2 dimensions, but got {len(dims)} dimensions instead.")
    return ops.norm(input, 2, dims or None, keepdim)


def nuclear_norm(input: Tensor, dim: Any = None, keepdim: bool = False) -> Tensor:
    """The sum of the singular values of matrices in the two dimensions `dim`; without it, in the last two.

    Returns the input's shape without `dim`, or with size 1 there; dtype of the input, real for complex numbers. Raises
    RuntimeError where there are fewer dimensions or `dim` does not name two, and for integers.
    """
    if isinstance(dim, bool):
        dim, keepdim = None, dim
    return linalg.matrix_norm(input, "nuc", (-2, -1) if dim is None else dim, keepdim)
