"""Executes the plans of the composites `einsum` and `tensordot`.

Two operands at a time are arranged as batches of matrices, without a copy where their memory order allows it.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import TYPE_CHECKING, Any

from ..._base.shapes import distinct_dims
from ..._dispatch.autocast import computed
from ..._dispatch.levels import is_differentiated
from ..._dispatch.ops import ops
from .parse import separated

if TYPE_CHECKING:
    from .plan import Pair, Plan, Step, VectorProduct

__all__ = ["contracted", "contracted_dims"]

_MOST_COLUMNS = 8
_MOST_VECTOR_PRODUCTS = 256
"""The largest number of matrices that are multiplied by a vector one at a time, rather than reordering an operand in a
copy."""


def contracted(equation: Any, operands: Sequence[Any]) -> Any:
    """Return the result of `einsum(equation, *operands)`."""
    from .plan import plan_of

    tensors, equation = separated(equation, operands)
    result = _executed(plan_of(equation, tuple([tensor.shape for tensor in tensors])), tensors, True)
    return ops.alias(result) if result is tensors[0] else result


def _executed(what: Plan, tensors: Sequence[Any], widens: bool) -> Any:
    """Return the result of the plan. Sums of one operand that `widens` are those of `sum`, of the dtype int64 for
    integers; products keep their dtype, as in torch.
    """
    first = tensors[0].dtype
    are_alike = widens and not first.is_floating_point and all(tensor.dtype is first for tensor in tensors)
    terms = [_after(steps, tensor, widens) for steps, tensor in zip(what.operands, tensors, strict=True)]

    def arranged(left: Any, right: Any, of_left: Sequence[Step], of_right: Sequence[Step]) -> tuple[Any, Any]:
        left, right = _after(of_left, left, widens), _after(of_right, right, widens)
        if are_alike and left.dtype is not right.dtype:  # one of them is a sum
            left, right = left.long(), right.long()
        return left, right

    def product(pair: Pair, left: Any, right: Any) -> Any:
        if pair.vector is not None:
            result = _by_vector(pair.vector, *arranged(left, right, pair.summed_left, pair.summed_right))
            if result is not None:
                return result
        left, right = arranged(left, right, pair.left, pair.right)
        return _after(pair.result, getattr(left, pair.method)(right), widens)

    for pair in what.pairs:
        left, right = terms[pair.first], terms[pair.second]
        for index in sorted((pair.first, pair.second), reverse=True):
            del terms[index]
        terms.append(computed(getattr(ops, pair.method).op.autocast, product, pair, left, right))
    return _after(what.result, terms[0], widens)


def _after(steps: Sequence[Step], tensor: Any, widens: bool) -> Any:
    for method, arguments in steps:
        keywords = {"dtype": tensor.dtype} if method == "sum" and not widens else {}
        tensor = getattr(tensor, method)(*arguments, **keywords)
    return tensor


def _by_vector(product: VectorProduct, left: Any, right: Any) -> Any:
    """Multiply matrices by one vector where the memory of an operand holds such matrices.

    Return None where it does not: the general way is no slower then.
    """
    a, b = (right, left) if product.swapped else (left, right)
    if not a.is_contiguous():
        return None
    vector = b.permute(product.order).reshape(-1)
    width = len(vector)
    if product.columns == 1:
        return a.reshape(product.outer, width).mv(vector).view(product.shape)
    if product.outer > _MOST_VECTOR_PRODUCTS or a.dtype is not b.dtype or not a.dtype.is_floating_point:
        return None
    if a.itemsize < 4 or is_differentiated(a, b):
        return None
    result = a.new_empty((product.outer, product.columns))
    matrices = a.view(product.outer, width, product.columns).transpose(1, 2)
    for index in range(product.outer):
        _product_with_vector(matrices.select(0, index), vector, result.select(0, index))
    return result.view(product.shape)


def _product_with_vector(matrix: Any, vector: Any, out: Any) -> None:
    """Write `matrix @ vector` to `out`.

    Few long columns are added one after the other while the sums are in the cache, as BLAS would pack them first.
    """
    width = len(vector)
    if not 0 < width <= _MOST_COLUMNS:
        ops.mv(matrix, vector, out=out)
        return
    columns, factors = matrix.unbind(1), vector.unbind(0)
    ops.mul(columns[0], factors[0], out=out)
    for column, factor in zip(columns[1:], factors[1:], strict=True):
        out.addcmul_(column, factor)


def contracted_dims(a: Any, b: Any, dims: Any) -> Any:
    """Sum products over pairs of dimensions: the last `dims` of `a` and the first of `b`, or two lists of them."""
    from .plan import plan

    if hasattr(dims, "_h"):
        dims = dims.tolist()
    if isinstance(dims, int):
        if dims < 0:
            raise RuntimeError(f"tensordot expects dims >= 0, but got dims={dims}")
        if dims > min(a.ndim, b.ndim):
            raise RuntimeError(f"tensordot expects dims < ndim_a or ndim_b, but got dims={dims}")
        pairs: Sequence[Any] = (list(range(-dims, 0)), list(range(dims)))
    elif not isinstance(dims, (list, tuple)) or len(dims) != 2:
        raise RuntimeError(
            "tensordot expects dims to be int or tuple[list[int], list[int]] or list[list[int]] containing two lists, "
            f"but got dims={dims}"
        )
    else:
        pairs = [[each] if isinstance(each, int) else list(each) for each in dims]
    if len(pairs[0]) != len(pairs[1]):
        raise RuntimeError("both dimension lists should have same length")
    if a.dtype is not b.dtype:
        raise RuntimeError("both inputs should have same dtype")
    left, right = (distinct_dims(each, t.ndim) for t, each in zip((a, b), pairs, strict=True))
    for first, second, shown in zip(left, right, zip(*pairs, strict=True), strict=True):
        if a.size(first) != b.size(second) and 1 not in (a.size(first), b.size(second)):
            raise RuntimeError(
                f"contracted dimensions need to match, but first has size {a.size(first)} in dim {shown[0]} and second "
                f"has size {b.size(second)} in dim {shown[1]}"
            )
    labels = [chr(256 + dim) for dim in range(a.ndim)]
    others = [chr(512 + dim) for dim in range(b.ndim)]
    for first, second in zip(left, right, strict=True):
        others[second] = labels[first]
    output = [label for label in (*labels, *others) if (label in labels) != (label in others)]
    # Under autocast torch computes a single number as a sum of products, and anything else as a product of matrices.
    free = prod(size for t, dims in ((a, left), (b, right)) for dim, size in enumerate(t.shape) if dim not in dims)
    steps = plan((labels, others), output, (a.shape, b.shape))
    return computed(ops.mul.op.autocast if free == 1 else ops.mm.op.autocast, _executed, steps, (a, b), False)
