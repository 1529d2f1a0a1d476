"""Gradients of losses over classes, of normalized rows, and of tables."""

from __future__ import annotations

from typing import Any

from ..._dispatch.ops import ops
from ..normalization import inverse_scale

__all__ = [
    "class_entropy_backward",
    "embedding_backward",
    "normalized_bias_backward",
    "normalized_rows_backward",
    "normalized_weight_backward",
]


def class_entropy_backward(grad: Any, grad_total: Any, input: Any, target: Any, top: Any, total: Any, dim: int) -> Any:
    """Softmax less a one at each target, times the gradient of the loss."""
    factor = None if grad is None else grad / total
    if grad_total is not None:
        factor = grad_total if factor is None else factor + grad_total
    if factor is None:
        return None
    result = ops.shifted_exponential(input, top.unsqueeze(dim), factor.unsqueeze(dim))
    return result if grad is None else result.scatter_add_(dim, target.unsqueeze(dim), -grad.unsqueeze(dim))


def normalized_rows_backward(
    grad: Any,
    grad_centre: Any,
    grad_spread: Any,
    input: Any,
    centre: Any,
    spread: Any,
    weight: Any,
    dim: Any,
    eps: float,
) -> Any:
    """Gradient of the input: without the parts that the mean and the variance take away."""
    count = max(input.numel(), 1) // max(centre.numel(), 1)
    result = None
    if grad is not None:
        scale = inverse_scale(spread, eps)
        rows = ops.centred_scaled(input, centre, scale)
        if weight is not None:
            grad = grad * weight
        # scale * (grad - mean(grad) - rows * mean(grad * rows)), in two passes
        offset = -scale * grad.mean(dim, keepdim=True)
        slope = -scale * (grad * rows).mean(dim, keepdim=True)
        result = ops.addcmul(offset, rows, slope).addcmul_(grad, scale)
    if grad_centre is not None:
        part = grad_centre / count
        result = part.expand(input.shape) if result is None else result + part
    if grad_spread is not None:
        share = (grad_spread / (spread * count)).masked_fill(spread == 0, 0)
        part = ops.centred_scaled(input, centre, share)
        result = part if result is None else result + part
    return result


def normalized_weight_backward(grad: Any, input: Any, centre: Any, spread: Any, weight: Any, eps: float) -> Any:
    """Gradient of the weight: the sum over all rows of the gradient times what was normalized."""
    if grad is None:
        return None
    return (grad * ops.centred_scaled(input, centre, inverse_scale(spread, eps))).sum_to_size(weight.shape)


def normalized_bias_backward(grad: Any, bias: Any) -> Any:
    """Gradient of the bias: the sum over all rows."""
    return None if grad is None else grad.sum_to_size(bias.shape)


def embedding_backward(grad: Any, indices: Any, shape: Any, padding: int | None, by_frequency: bool) -> Any:
    """Gradient of a table: each row has the sum of those of its copies, or their mean; that of `padding` has zeros."""
    flat = indices.flatten()
    grad = grad.reshape(flat.numel(), shape[-1])
    if by_frequency:
        counts = ops.zeros(shape[0], dtype=grad.dtype).index_add_(0, flat, grad.new_ones(flat.shape))
        grad = grad / counts.index_select(0, flat).unsqueeze(-1)
    result = grad.new_zeros(shape).index_add_(0, flat, grad)
    if padding is not None:
        result.select(0, padding).zero_()
    return result
