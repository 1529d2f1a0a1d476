"""Gradients of losses over classes and of tables."""

from __future__ import annotations

from typing import Any

from ..._dispatch.ops import ops

__all__ = [
    "class_entropy_backward",
    "class_loss_backward",
    "counted_shares",
    "embedding_backward",
    "given_or_zeros",
    "mean_class_entropy_backward",
    "zeros_for",
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


def counted_shares(grad: Any, number: Any, ignored: Any) -> Any:
    """The gradient of each element, given that of the mean of the `number` elements that are not ignored."""
    return None if grad is None else (grad / number).expand(ignored.shape).masked_fill(ignored, 0)


def mean_class_entropy_backward(
    grad: Any, grad_total: Any, input: Any, target: Any, ignored: Any, number: Any, top: Any, total: Any, dim: int
) -> Any:
    """The gradient of the mean of losses, `number` of which are not ignored."""
    shares = counted_shares(grad, number, ignored)
    return class_entropy_backward(shares, grad_total, input, target, top, total, dim)


def class_loss_backward(grad: Any, input: Any, target: Any, dim: int) -> Any:
    """The gradient of negative elements at the positions that `target` names, each of which is named once."""
    return None if grad is None else ops.zeros_like(input).scatter_add(dim, target.unsqueeze(dim), -grad.unsqueeze(dim))


def given_or_zeros(grad: Any, like: Any) -> Any:
    """Return the gradient of a result, or zeros where it has none but another result has one."""
    return ops.zeros_like(like) if grad is None else grad


def zeros_for(like: Any, *grads: Any) -> list[Any]:
    """Return gradients, with one zero in place of those that there are not."""
    zero = like.new_zeros(())
    return [zero if grad is None else grad for grad in grads]


def embedding_backward(
    grad: Any, indices: Any, shape: Any, padding: int | None, by_frequency: bool, is_sparse: bool
) -> Any:
    """Gradient of a table: each row has the sum of those of its copies, or their mean; that of `padding` has zeros. A
    sparse one has the copies themselves."""
    flat = indices.flatten()
    grad = grad.reshape(flat.numel(), shape[-1])
    if is_sparse:
        if by_frequency:
            raise RuntimeError("embedding_backward: scale_grad_by_freq not supported with sparse gradients")
        if padding is not None:
            kept = (flat != padding).nonzero().flatten()
            flat, grad = flat.index_select(0, kept), grad.index_select(0, kept)
        return ops.sparse_rows(flat, grad, shape)
    if by_frequency:
        counts = ops.zeros(shape[0], dtype=grad.dtype).index_add_(0, flat, grad.new_ones(flat.shape))
        grad = grad / counts.index_select(0, flat).unsqueeze(-1)
    if padding is not None:
        grad = grad.masked_fill((flat == padding).unsqueeze(1), 0)
    return ops.sums_of_rows(grad, flat, shape[0])
