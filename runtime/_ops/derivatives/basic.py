"""Python functions that the formulas of derivatives in ops.yaml call.

They consist of operators, so that their results are differentiable again.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NoReturn

from ..._base.finfo import finfo
from ..._base.shapes import broadcast_shapes as broadcast_shapes
from ..._dispatch.ops import ops
from ..values import elements_of_storage, holds

__all__ = [
    "add_at",
    "as_strided_backward",
    "as_tensor_like",
    "broadcast_shapes",
    "chosen",
    "cumprod_backward",
    "diagonal_backward",
    "geometry",
    "inverse_permutation",
    "leading",
    "mean_backward",
    "narrow_backward",
    "prod_backward",
    "scaled",
    "select_backward",
    "share_extremum",
    "slice_backward",
    "total",
    "undefined",
    "unfold_backward",
    "unreduce",
]


class NoDerivativeError(RuntimeError):
    """An operator has no derivative by an argument."""


def not_implemented(operator: str, argument: str) -> NoReturn:
    """Raise the error for an argument whose derivative the entry declines."""
    raise NoDerivativeError(f"derivative for {operator} by '{argument}' is not implemented")


def undefined(grad: Any) -> None:
    """Return the gradient of a function that is piecewise constant: torch returns None rather than zeros."""


def scaled(grad: Any, factor: Any) -> Any:
    """Return `grad * factor`, and `grad` itself where the factor is 1."""
    return grad if type(factor) is int and factor == 1 else grad * factor


def chosen(condition: Any, then: Any, other: Any, grad: Any) -> Any:
    """Return `where(condition, then, other)`; the branches may be numbers and the condition a bool."""
    if not hasattr(then, "_h") and not hasattr(other, "_h"):
        if isinstance(condition, bool):
            return then if condition else other
        other = as_tensor_like(other, grad)
    return ops.where(as_tensor_like(condition, grad), then, other)


def total(*terms: Any) -> Any:
    """Return the sum of the terms that there are; None where there is none."""
    given = [term for term in terms if term is not None]
    return sum(given[1:], given[0]) if given else None


def add_at(grad: Any, shape: Any, places: Any, terms: Any, rank: int = 0, inner: int = 0) -> Any:
    """Return zeros of a shape with the terms added at their places, which count through all elements.

    With `rank` they count through the last `rank` dimensions; of the terms the last `inner` belong to these, and the
    dimensions in front are the same.
    """
    places = places.expand(terms.shape)
    if not rank:
        return grad.new_zeros(shape).put(places, terms, True)
    front, within = terms.shape[: terms.ndim - inner], shape[len(shape) - rank :]
    zeros = grad.new_zeros((*front, within.numel()))
    added = zeros.scatter_add(-1, places.reshape(*front, -1), terms.reshape(*front, -1))
    return added.reshape(*front, *within).sum_to_size(shape)


def leading(tensor: Any, shape: Any, rank: int) -> Any:
    """Return the first elements of the last `rank` dimensions, no more of them than a shape has."""
    for dim in range(-rank, 0):
        tensor = tensor.narrow(dim, 0, shape[dim]) if tensor.shape[dim] > shape[dim] else tensor
    return tensor


def as_tensor_like(value: Any, grad: Any) -> Any:
    """Return a tensor as it is, a number as a tensor like `grad`, a bool as a bool tensor."""
    if hasattr(value, "_h"):
        return value
    number = grad.new_full((), value)
    return number.bool() if isinstance(value, bool) else number


# ---- reductions ----------------------------------------------------------------------------------------------


def _is_of_all(dim: Any) -> bool:
    """Return True if a reduction goes over all dimensions. Integers of NumPy are not compared: with a tuple they are
    arrays."""
    return dim is None or (isinstance(dim, (tuple, list)) and not dim)


def dimensions(dim: Any, ndim: int) -> list[int]:
    """Return the dimensions that a reduction over `dim` reduced, in order and counted from the front."""
    if _is_of_all(dim):
        return list(range(ndim))
    listed = dim if isinstance(dim, (tuple, list)) else [dim]
    return sorted(d % ndim if ndim else 0 for d in listed)


def unreduce(grad: Any, shape: Sequence[int], dim: Any, keepdim: bool) -> Any:
    """Broadcast the gradient of a reduction's result, as a view, to the shape of its input."""
    if not keepdim and shape and not _is_of_all(dim):
        for d in dimensions(dim, len(shape)):
            grad = grad.unsqueeze(d)
    return grad.expand(shape)


def mean_backward(grad: Any, shape: Any, dim: Any, keepdim: bool) -> Any:
    """Return `grad / count`, broadcast to the shape of the input."""
    return unreduce(grad * (grad.numel() / max(shape.numel(), 1)), shape, dim, keepdim)


def share_extremum(grad: Any, result: Any, input: Any, dim: Any, keepdim: bool) -> Any:
    """Divide the gradient equally among the elements that equal the extremum."""
    mask = input == unreduce(result, input.shape, dim, keepdim)
    count = mask.sum(dimensions(dim, input.ndim), True) if input.ndim else mask.sum()
    return unreduce(grad, input.shape, dim, keepdim) * mask / count


def prod_backward(grad: Any, input: Any, result: Any, dim: Any, keepdim: bool) -> Any:
    """Multiply the gradient by the product of the other factors: the quotient `result / input` where the result is
    neither zero nor infinite.
    """
    size = result.abs()
    if holds(((size >= finfo(result.dtype).tiny) & (size < float("inf"))).all(), True):
        return unreduce(grad * result, input.shape, dim, keepdim) / input
    if _is_of_all(dim):
        return (grad * product_of_others(input.reshape(-1), 0)).reshape(input.shape)
    (along,) = dimensions(dim, input.ndim)
    return unreduce(grad, input.shape, dim, keepdim) * (product_of_others(input, along) if input.ndim else 1)


def product_of_others(input: Any, dim: int) -> Any:
    """Return for each element the product of the others along `dim`.

    It is the product of a running product from the left and one from the right, so that no factor of zero is divided
    by. Factors are scaled to be near one and their powers of two are added up separately, so that neither product
    overflows or underflows.
    """
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
    """Return `input * 2 ** exponents`, by two factors that are both in the range of the dtype."""
    limit = 2 * math.floor(math.log2(finfo(input.dtype).max))
    exponents = exponents.clamp(-limit, limit)
    half = (exponents / 2).floor()
    return input * half.exp2() * (exponents - half).exp2()


def cumprod_backward(grad: Any, input: Any, result: Any, dim: int) -> Any:
    """Return for each factor the sum of gradients over the products that contain it."""
    if not input.ndim or not input.numel():
        return grad
    if not holds((input == 0).any(), False):
        return (grad * result).flip(dim).cumsum(dim).flip(dim) / input
    # If a factor is zero: s[k] = grad[k] + input[k + 1] * s[k + 1], times the product of the factors before.
    grads, factors = grad.unbind(dim), input.unbind(dim)
    sums = [grads[-1]]
    for position in range(len(factors) - 2, -1, -1):
        sums.append(grads[position] + factors[position + 1] * sums[-1])
    total = ops.stack(sums[::-1], dim)
    one = ops.ones_like(input.narrow(dim, 0, 1))
    before = ops.cat([one, input.narrow(dim, 0, input.shape[dim] - 1).cumprod(dim)], dim)
    return total * before


# ---- views ---------------------------------------------------------------------------------------------------


def inverse_permutation(dims: Sequence[int]) -> list[int]:
    """Return the inverse of a permutation of dimensions."""
    count = len(dims)
    inverse = [0] * count
    for position, dim in enumerate(dims):
        inverse[dim % count] = position
    return inverse


def _placed(grad: Any, shape: Sequence[int], view: Any) -> Any:
    """Return zeros of the given shape with `grad` written to the view that `view` takes."""
    whole = grad.new_zeros(shape)
    view(whole).copy_(grad)
    return whole


def select_backward(grad: Any, shape: Sequence[int], dim: int, index: int) -> Any:
    """Return the gradient of `select`: zeros of this shape with the gradient in its place."""
    return _placed(grad, shape, lambda whole: whole.select(dim, index))


def slice_backward(grad: Any, shape: Sequence[int], dim: int, start: Any, end: Any, step: int) -> Any:
    """Return the gradient of a slice: zeros of this shape with the gradient in its place."""
    index = (*[slice(None)] * (dim % len(shape)), slice(start, end, step))
    return _placed(grad, shape, lambda whole: whole[index])


def narrow_backward(grad: Any, shape: Sequence[int], dim: int, start: int, length: int) -> Any:
    """Return the gradient of `narrow`: zeros of this shape with the gradient in its place."""
    return _placed(grad, shape, lambda whole: whole.narrow(dim, start, length))


def diagonal_backward(grad: Any, shape: Sequence[int], offset: int, dim1: int, dim2: int) -> Any:
    """Return the gradient of `diagonal`: zeros of this shape with the gradient in its place."""
    return _placed(grad, shape, lambda whole: whole.diagonal(offset, dim1, dim2))


def unfold_backward(grad: Any, shape: Sequence[int], dimension: int, size: int, step: int) -> Any:
    """Add up the gradients of overlapping windows."""
    if not shape:
        return grad.reshape(shape)
    along = dimension % len(shape)
    positions = ops.arange(shape[along], device=grad.device).unfold(0, size, step).reshape(-1)
    windows = grad.movedim(-1, along + 1).flatten(along, along + 1)
    return grad.new_zeros(shape).index_add(along, positions, windows)


def geometry(tensor: Any) -> tuple[Any, Any, int, Any]:
    """Return the shape, strides, offset and element count that `as_strided_backward` needs of the base tensor."""
    return tensor.shape, tensor.stride(), tensor.storage_offset(), elements_of_storage(tensor)


def as_strided_backward(grad: Any, input_geometry: Any, size: Any, stride: Any, storage_offset: Any) -> Any:
    """Return the gradient of the base of a strided view: elements that the view shows several times get the sum."""
    shape, strides, offset, count = input_geometry
    positions = ops.arange(count, device=grad.device)
    view = positions.as_strided(size, stride, offset if storage_offset is None else storage_offset)
    memory = grad.new_zeros(count).index_add(0, view.reshape(-1), grad.reshape(-1))
    return memory.as_strided(shape, strides, offset)
