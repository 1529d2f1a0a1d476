"""Derivatives of operators that select elements: extrema, sorting, norms, and reductions over index tensors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..._dispatch.ops import ops
from ..numpy_bridge import dtypes
from ..rearranging import listed
from ..values import holds, is_differentiated
from .basic import dimensions, share_extremum, unreduce

__all__ = [
    "equal_backward",
    "gathered_backward",
    "index_backward",
    "index_put_backward",
    "index_reduce_backward",
    "logcumsumexp_backward",
    "masked_scatter_backward",
    "moments_backward",
    "norm_backward",
    "repeat_backward",
    "repeat_interleave_backward",
    "roll_backward",
    "scatter_reduce_backward",
    "separated",
]


def gathered_backward(grad: Any, shape: Sequence[int], dim: int, index: Any, keepdim: bool) -> Any:
    """Add the gradient to the elements along `dim` that were selected by `index`."""
    if grad is None:
        return None
    if not shape:
        return grad.reshape(shape)
    if not keepdim:
        grad, index = grad.unsqueeze(dim), index.unsqueeze(dim)
    return grad.new_zeros(shape).scatter_add(dim, index, grad)


def equal_backward(grad: Any, input: Any, value: Any) -> Any:
    """Divide the gradient equally among all elements that equal the selected value; NaN equals NaN."""
    if grad is None:
        return None
    if holds(value != value, False):
        equal = ops.where(value != value, input != input, input == value)
        return grad * equal / equal.sum()
    return share_extremum(grad, value, input, None, False)


def index_backward(grad: Any, shape: Sequence[int], indices: Sequence[Any]) -> Any:
    """Add the gradient to the elements that were selected, of those taken several times all of theirs."""
    return ops._index_put_(grad.new_zeros(shape), indices, grad, True)


def index_put_backward(grad: Any, indices: Sequence[Any]) -> Any:
    """Return the gradient with zeros in place of the elements that were overwritten."""
    return ops._index_put_(grad.clone(), indices, grad.new_zeros(()))


def separated(grad: Any, shapes: Sequence[Any], dim: int) -> Sequence[Any]:
    """Split the gradient into the parts of joined tensors; those of shape (0,), which fit everywhere, have none."""
    parts, start = [], 0
    for shape in shapes:
        if tuple(shape) == (0,) and grad.ndim > 1:
            parts.append(grad.new_zeros(0))
            continue
        parts.append(grad.narrow(dim, start, shape[dim]))
        start += shape[dim]
    return parts


# ---- norms and moments --------------------------------------------------------------------------------------


def norm_backward(grad: Any, input: Any, norm: Any, p: float, dim: Any, keepdim: bool) -> Any:
    """Gradient of the norm of order `p`.

    Where a norm is zero and has no derivative the gradient is zero, as in torch.
    """
    grad, norm = unreduce(grad, input.shape, dim, keepdim), unreduce(norm, input.shape, dim, keepdim)
    if p == 0:
        return 0 * grad
    if p == 1:
        return input.sgn() * grad
    size = input.abs()
    if p in (float("inf"), -float("inf")):
        mask = (size == norm) | (size != size)
        count = mask.sum(dimensions(dim, input.ndim), True) if input.ndim else 1
        return input.sgn() * grad * mask / count
    # Branches that are not taken are finite as well, as infinities there would become NaN in second derivatives.
    length = norm.masked_fill(norm == 0, 1)
    if p == 2:
        return grad * (input / length).masked_fill(norm == 0, 0)
    # Powers of elements overflow or underflow, where those of their quotients by the norm do not.
    if p < 2:
        powers = input.sgn() * (size.masked_fill(input == 0, 1) / length) ** (p - 1)
    else:
        powers = input / length * (size / length) ** (p - 2)
    return powers * grad.masked_fill(norm == 0, 0)


def moments_backward(
    variance: Any,
    deviation: Any,
    mean: Any,
    input: Any,
    result: Any,
    centre: Any,
    dim: Any,
    keepdim: bool,
    correction: Any,
) -> Any:
    """Gradient of the input, given those of the variance, the standard deviation and the mean, or None for each.

    `result` is the standard deviation and `centre` the mean.
    """
    shape = input.shape
    count = max(shape.numel(), 1) // max(centre.numel(), 1)
    freedom = max(count - correction, 0)
    total: Any = None
    if mean is not None:
        total = unreduce(mean / count, shape, dim, keepdim)
    slope: Any = None
    if variance is not None:
        slope = 2 * variance
    if deviation is not None:
        share = (deviation / result).masked_fill(result == 0, 0)
        slope = share if slope is None else slope + share
    if slope is not None:
        distances = input - unreduce(centre, shape, dim, keepdim)
        slope = slope / freedom if freedom else slope * float("nan")
        rest = unreduce(slope, shape, dim, keepdim) * distances
        total = rest if total is None else total + rest
    return total


# ---- scans --------------------------------------------------------------------------------------------------


def logcumsumexp_backward(grad: Any, input: Any, result: Any, dim: int) -> Any:
    """Return the sum of `grad * exp(input - result)` from each position on.

    Positive and negative gradients are added separately, by their logarithms.
    """
    if not input.ndim or not input.numel():
        return grad
    if input.is_complex() or is_differentiated(grad, input, result):
        # Complex gradients have no sign, and derivatives of their logarithms are infinite where a gradient is zero:
        # compute every pair of positions separately.
        lines, sums = input.movedim(dim, -1), result.movedim(dim, -1)
        before = lines.new_ones(lines.shape[-1:] * 2, dtype=dtypes.bool).tril(-1)
        ratios = (lines.unsqueeze(-1) - sums.unsqueeze(-2)).masked_fill(before, -float("inf")).exp()
        return (ratios * grad.movedim(dim, -1).unsqueeze(-2)).sum(-1).movedim(-1, dim)
    size = grad.abs().log()

    def part(where: Any) -> Any:
        logarithms = size.masked_fill(~where, -float("inf")) - result
        return (logarithms.flip(dim).logcumsumexp(dim).flip(dim) + input).exp()

    return part(grad > 0) - part(grad < 0)


# ---- reductions over index tensors --------------------------------------------------------------------------


def _spread(tensor: Any, dim: int, index: Any) -> Any:
    return tensor.gather(dim, index) if tensor.ndim else tensor


def scatter_reduce_backward(
    grad: Any, input: Any, dim: int, index: Any, source: Any, reduce: str, include_self: bool, result: Any
) -> tuple[Any, Any]:
    """Gradients of the input and of the source."""
    if reduce == "sum":
        to_self, to_source = grad, _spread(grad, dim, index)
    elif reduce == "mean":
        ones = getattr(ops, "ones_like" if include_self else "zeros_like")(grad)
        count = ones.scatter_add(dim, index, ops.ones_like(source)).clamp(min=1)
        to_self, to_source = grad / count, _spread(grad / count, dim, index)
    elif reduce == "prod":
        masked = input.masked_fill(input == 0, 1)
        self_product = masked.scatter_reduce(dim, index, source, reduce="prod", include_self=include_self)
        to_self = grad * self_product / masked
        zeros = source == 0
        count = ops.zeros_like(grad).scatter_add(dim, index, zeros.to(grad.dtype))
        alone = zeros & (_spread(count, dim, index) == 1)
        replaced = source.masked_fill(alone, 1)
        others = input.scatter_reduce(dim, index, replaced, reduce="prod", include_self=include_self)
        ordinary = _spread(grad * result, dim, index) / source.masked_fill(zeros, 1)
        to_source = ops.where(alone, _spread(grad * others, dim, index), ordinary)
    else:
        value = _spread(result, dim, index)
        own, theirs = input == result, source == value
        count = ops.zeros_like(grad).scatter_add(dim, index, theirs.to(grad.dtype))
        count = count + own if include_self else count
        share = grad / count.clamp(min=1) if not include_self else grad / count
        to_self, to_source = own * share, theirs * _spread(share, dim, index)
    if not include_self:
        to_self = to_self.scatter(dim, index, 0)
    return to_self, to_source


def index_reduce_backward(
    grad: Any, input: Any, dim: int, index: Any, source: Any, reduce: str, include_self: bool, result: Any
) -> tuple[Any, Any]:
    """Gradients of the input and of the source: those of scatter_reduce with an index for each element."""
    if not source.ndim:
        indices = index.reshape(())
    else:
        indices = index.reshape([-1 if d == dim % source.ndim else 1 for d in range(source.ndim)]).expand(source.shape)
    return scatter_reduce_backward(grad, input, dim, indices, source, reduce, include_self, result)


def masked_scatter_backward(grad: Any, mask: Any, shape: Sequence[int]) -> Any:
    """Gradient of the source: the gradients where the mask is true, in order, and zeros for elements that were not
    used.
    """
    taken = grad.masked_select(mask)
    missing = shape.numel() - taken.numel()  # type: ignore[attr-defined]
    return ops.cat([taken, taken.new_zeros(missing)]).reshape(shape) if missing else taken.reshape(shape)


# ---- repetitions --------------------------------------------------------------------------------------------


def roll_backward(grad: Any, shifts: Any, dims: Any) -> Any:
    """Roll the gradient back."""
    return grad.roll([-shift for shift in listed("roll", "shifts", shifts)], dims)


def repeat_backward(grad: Any, shape: Sequence[int], repeats: Sequence[int]) -> Any:
    """Sum the gradient over all copies."""
    if 0 in repeats:
        return grad.new_zeros(shape)
    extra = len(repeats) - len(shape)
    grid: list[int] = []
    for count, size in zip(repeats, (1,) * extra + tuple(shape), strict=True):
        grid += [count, size]
    return grad.reshape(grid).sum(list(range(0, len(grid), 2))).reshape(shape) if grid else grad.reshape(shape)


def repeat_interleave_backward(grad: Any, shape: Sequence[int], repeats: Any, dim: int | None) -> Any:
    """Sum the gradient over the repetitions of each position."""
    flat = dim is None or not shape
    sizes = (grad.new_empty(shape).numel(),) if flat else tuple(shape)
    along = 0 if dim is None or flat else dim % len(shape)
    counts = repeats if hasattr(repeats, "_h") else grad.new_full((sizes[along],), repeats, dtype=dtypes.int64)
    counts = counts.expand(sizes[along]) if counts.numel() == 1 else counts
    parts = grad.reshape(-1) if flat else grad
    positions = ops.arange(sizes[along], device=grad.device).repeat_interleave(counts, output_size=parts.size(along))
    return grad.new_zeros(sizes).index_add(along, positions, parts).reshape(shape)
