"""What the formulas of derivatives in ops.yaml call besides operators. All of it is made of operators, and so
differentiable again."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NoReturn

from ..._base.finfo import finfo
from ..._base.shapes import broadcast_shapes as broadcast_shapes
from ..._dispatch.ops import ops

__all__ = [
    "as_strided_backward",
    "as_tensor_like",
    "broadcast_shapes",
    "chosen",
    "cumprod_backward",
    "diagonal_backward",
    "geometry",
    "inverse_permutation",
    "mean_backward",
    "narrow_backward",
    "prod_backward",
    "scaled",
    "select_backward",
    "share_extremum",
    "slice_backward",
    "undefined",
    "unfold_backward",
    "unreduce",
]


def not_implemented(operator: str, argument: str) -> NoReturn:
    """Of an argument whose derivative the entry declines."""
    raise RuntimeError(f"derivative for {operator} by '{argument}' is not implemented")


def undefined(grad: Any) -> None:
    """Of a function that is constant but for steps: torch has no gradient there rather than zeros."""


def scaled(grad: Any, factor: Any) -> Any:
    """`grad * factor`, without a copy for the factor that most calls have."""
    return grad if type(factor) is int and factor == 1 else grad * factor


def chosen(condition: Any, then: Any, other: Any, grad: Any) -> Any:
    """Elements of one or the other; numbers may stand in the place of tensors, and a truth in that of a condition."""
    if not hasattr(then, "_h") and not hasattr(other, "_h"):
        if isinstance(condition, bool):
            return then if condition else other
        other = as_tensor_like(other, grad)
    return ops.where(condition, then, other)


def as_tensor_like(value: Any, grad: Any) -> Any:
    """A number as a tensor, a truth as one of bool; a tensor as it is."""
    if hasattr(value, "_h"):
        return value
    number = grad.new_full((), value)
    return number.bool() if isinstance(value, bool) else number


# ---- reductions ----------------------------------------------------------------------------------------------


def dimensions(dim: Any, ndim: int) -> list[int]:
    """Those that a reduction went over, in order."""
    if dim is None or dim == () or dim == []:
        return list(range(ndim))
    listed = [dim] if isinstance(dim, int) else dim
    return sorted(d % ndim if ndim else 0 for d in listed)


def unreduce(grad: Any, shape: Sequence[int], dim: Any, keepdim: bool) -> Any:
    """A value for each row of a reduction, as a view that has it for each element."""
    if not keepdim and shape and dim is not None and dim != () and dim != []:
        for d in dimensions(dim, len(shape)):
            grad = grad.unsqueeze(d)
    return grad.expand(shape)


def mean_backward(grad: Any, shape: Any, dim: Any, keepdim: bool) -> Any:
    """To each element its share."""
    return unreduce(grad * (grad.numel() / max(shape.numel(), 1)), shape, dim, keepdim)


def share_extremum(grad: Any, result: Any, input: Any, dim: Any, keepdim: bool) -> Any:
    """In equal parts to the elements that are the extremum."""
    mask = input == unreduce(result, input.shape, dim, keepdim)
    count = mask.sum(dimensions(dim, input.ndim), True) if input.ndim else mask.sum()
    return unreduce(grad, input.shape, dim, keepdim) * mask / count


def prod_backward(grad: Any, input: Any, result: Any, dim: Any, keepdim: bool) -> Any:
    """To each factor the product of the others, a quotient where the product itself is neither zero nor infinite."""
    size = result.abs()
    if bool(((size >= finfo(result.dtype).tiny) & (size < float("inf"))).all()):
        return unreduce(grad * result, input.shape, dim, keepdim) / input
    if dim is None or dim == () or dim == []:
        return (grad * product_of_others(input.reshape(-1), 0)).reshape(input.shape)
    (along,) = dimensions(dim, input.ndim)
    return unreduce(grad, input.shape, dim, keepdim) * (product_of_others(input, along) if input.ndim else 1)


def product_of_others(input: Any, dim: int) -> Any:
    """By running products from both ends: there is nothing to divide by where a factor is zero. Their factors are near
    one, and the powers of two that these lack are added up beside them, so that neither end overflows or is lost."""
    if not input.numel():
        return input
    exponents = input.detach().abs().log2().round()
    exponents = exponents.masked_fill(~exponents.isfinite(), 0)
    factors = times_power(input, -exponents)
    before = factors.narrow(dim, 0, input.shape[dim] - 1).cumprod(dim)
    after = factors.narrow(dim, 1, input.shape[dim] - 1).flip(dim).cumprod(dim).flip(dim)
    one = ops.ones_like(input.narrow(dim, 0, 1))
    others = ops.cat([one, before], dim) * ops.cat([after, one], dim)
    return times_power(others, exponents.sum(dim, True) - exponents)


def times_power(input: Any, exponents: Any) -> Any:
    """Times powers of two, by two factors that are both in the range of the dtype."""
    limit = 2 * math.floor(math.log2(finfo(input.dtype).max))
    exponents = exponents.clamp(-limit, limit)
    half = (exponents / 2).floor()
    return input * half.exp2() * (exponents - half).exp2()


def cumprod_backward(grad: Any, input: Any, result: Any, dim: int) -> Any:
    """For each factor, the sum over the products that it is part of."""
    if not input.ndim or not input.numel():
        return grad
    if not bool((input == 0).any()):
        return (grad * result).flip(dim).cumsum(dim).flip(dim) / input
    # Where a factor is zero: s[k] = grad[k] + input[k + 1] * s[k + 1], times the product of the factors before.
    grads, factors = grad.unbind(dim), input.unbind(dim)
    sums = [grads[-1]]
    for place in range(len(factors) - 2, -1, -1):
        sums.append(grads[place] + factors[place + 1] * sums[-1])
    total = ops.stack(sums[::-1], dim)
    one = ops.ones_like(input.narrow(dim, 0, 1))
    before = ops.cat([one, input.narrow(dim, 0, input.shape[dim] - 1).cumprod(dim)], dim)
    return total * before


# ---- views ---------------------------------------------------------------------------------------------------


def inverse_permutation(dims: Sequence[int]) -> list[int]:
    """The permutation that undoes another."""
    count = len(dims)
    inverse = [0] * count
    for place, dim in enumerate(dims):
        inverse[dim % count] = place
    return inverse


def _placed(grad: Any, shape: Sequence[int], view: Any) -> Any:
    """Zeros, but the gradient in the place of a view of them."""
    whole = grad.new_zeros(shape)
    view(whole).copy_(grad)
    return whole


def select_backward(grad: Any, shape: Sequence[int], dim: int, index: int) -> Any:
    return _placed(grad, shape, lambda whole: whole.select(dim, index))


def slice_backward(grad: Any, shape: Sequence[int], dim: int, start: Any, end: Any, step: int) -> Any:
    index = (*[slice(None)] * (dim % len(shape)), slice(start, end, step))
    return _placed(grad, shape, lambda whole: whole[index])


def narrow_backward(grad: Any, shape: Sequence[int], dim: int, start: int, length: int) -> Any:
    return _placed(grad, shape, lambda whole: whole.narrow(dim, start, length))


def diagonal_backward(grad: Any, shape: Sequence[int], offset: int, dim1: int, dim2: int) -> Any:
    return _placed(grad, shape, lambda whole: whole.diagonal(offset, dim1, dim2))


def unfold_backward(grad: Any, shape: Sequence[int], dimension: int, size: int, step: int) -> Any:
    """Windows overlap: each adds its part."""
    if not shape:
        return grad.reshape(shape)
    along = dimension % len(shape)
    places = ops.arange(shape[along]).unfold(0, size, step).reshape(-1)
    windows = grad.movedim(-1, along + 1).flatten(along, along + 1)
    return grad.new_zeros(shape).index_add(along, places, windows)


def geometry(tensor: Any) -> tuple[Any, Any, int, Any]:
    """What `as_strided_backward` needs of the tensor that a view was taken of."""
    return tensor.shape, tensor.stride(), tensor.storage_offset(), tensor.untyped_storage().nbytes() // tensor.itemsize


def as_strided_backward(grad: Any, of: Any, size: Any, stride: Any, storage_offset: Any) -> Any:
    """Adds up over all elements that the view shows more than once."""
    shape, strides, offset, count = of
    places = ops.arange(count)
    view = places.as_strided(size, stride, offset if storage_offset is None else storage_offset)
    memory = grad.new_zeros(count).index_add(0, view.reshape(-1), grad.reshape(-1))
    return memory.as_strided(shape, strides, offset)
