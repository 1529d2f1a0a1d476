"""Reductions of sparse tensors with masks: of the elements that both the mask and, without one, the tensor specify."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .. import _operators as ops
from .._base.dtypes import EXPORTS
from .._base.types import sparse_coo, sparse_csr, strided
from .._tensor.sparse_constructors import sparse_coo_tensor, sparse_csr_tensor

__all__ = ["canonical_mask", "check_layout", "reduced"]

_BOOL = EXPORTS["bool"]
_LAYOUTS = {
    "mean": (strided, sparse_csr),
    **dict.fromkeys(("sum", "prod", "amax", "amin"), (strided, sparse_coo, sparse_csr)),
}
"""The layouts that functions accept, if these are not strided tensors alone, by name."""


def layout_name(of: Any) -> str:
    """A layout without the name of the package."""
    return repr(of).rpartition(".")[2]


def check_layout(name: str, *tensors: Any) -> bool:
    """Whether all tensors are strided. Raises ValueError where the function does not take them."""
    given = [each.layout for each in tensors]
    taken = _LAYOUTS.get(name, (strided,))
    if all(each in taken for each in given):
        return given == [strided] * len(given)
    first, *others = map(layout_name, taken)
    expected = " or ".join([", ".join([first, *others[:-1]]), *others[-1:]])
    if len(given) == 1:
        raise ValueError(f"masked {name} expects {expected} tensor (got {given[0]} tensor)")
    raise ValueError(
        f"masked {name} expects {expected} tensors (got {given[0]} tensor for input, {given[1]} for other)"
    )


def canonical_mask(mask: Any, input: Any) -> Any:
    """The mask as a bool tensor of the size of `input`: a strided one for a strided tensor, else of layout sparse_coo.

    Raises IndexError if it has more dimensions.
    """
    if mask.dim() > input.dim():
        raise IndexError(
            "_input_mask expected broadcastable mask (got mask dimensionality higher than of the input): expected at "
            f"most {input.dim()} dimensions, but got {mask.dim()}"
        )
    if input.layout is strided or mask.shape != input.shape:
        dense = mask if mask.layout is strided else mask.to_dense()
        mask = dense.expand(input.shape)
    if input.layout is not strided:
        depth = input.sparse_dim() if input.layout is sparse_coo else 2
        mask = (mask.to_sparse(depth) if mask.layout is strided else mask.to_sparse()).coalesce()
    return mask if mask.dtype is _BOOL else mask.to(_BOOL)


def reduced(name: str, input: Any, dims: Sequence[int], keepdim: bool, dtype: Any, mask: Any, identity: Any) -> Any:
    """The reduction of this name of a sparse tensor, a tensor of its layout.

    Args:
        dims: those reduced; none are negative.
        dtype: of the elements while they are reduced and of the result.
        identity: what elements are within the dense dimensions where the mask is False.

    Raises:
        ValueError: there is no mask, and the zeros that are not specified would take part.
        RuntimeError, AssertionError: `keepdim` is False for a tensor of layout sparse_csr.
    """
    by_rows = input.layout is sparse_csr
    if mask is None and name != "sum":
        raise ValueError(f"masked {name} expects explicit mask for {layout_name(input.layout)} tensor input")
    if by_rows and not keepdim:
        error = RuntimeError if name in ("sum", "prod") else AssertionError
        raise error("reduction operations on CSR tensors with keepdim=False is unsupported")
    coordinates = input.to_sparse() if by_rows else input
    indices, values = _kept(coordinates, canonical_mask(mask, input) if mask is not None else None, identity)
    values = values if values.dtype is dtype else values.to(dtype)
    sparse = coordinates.sparse_dim()
    dense = [each + 1 - sparse for each in dims if each >= sparse]
    if dense:
        values = getattr(ops, name)(values, dense, keepdim)
    gone = [each for each in dims if each < sparse]
    size = [1 if each in dims else size for each, size in enumerate(input.shape) if keepdim or each not in dims]
    if len(gone) == sparse:
        return _of_all(name, values, keepdim, sparse, by_rows, identity)
    if keepdim:
        indices = indices.clone()
        indices[gone] = 0
    else:
        indices = indices[[each for each in range(sparse) if each not in gone]]
    indices, groups = indices.unique(dim=1, return_inverse=True)
    if values.size(0):
        places = groups.reshape(-1, *[1] * (values.dim() - 1)).expand(values.shape)
        empty = values.new_zeros((indices.size(1), *values.shape[1:]))
        values = ops.scatter_reduce(empty, 0, places, values, name, include_self=False)
    result = sparse_coo_tensor(indices, values, size, dtype=dtype)
    return result.to_sparse_csr() if by_rows else result


def _kept(input: Any, mask: Any, identity: Any) -> tuple[Any, Any]:
    """Places and elements that are specified and for which the mask is True."""
    if mask is None:
        return input._indices(), input._values()
    if mask.dense_dim() != input.dense_dim():
        raise AssertionError(
            f"mask.dense_dim() must match input.dense_dim(): {mask.dense_dim()} vs {input.dense_dim()}"
        )
    counts = mask.values()
    taking_part = counts.flatten(1).any(1) if counts.dim() > 1 else counts
    indices, counts = mask.indices()[:, taking_part], counts[taking_part]
    places = sparse_coo_tensor(indices, counts, input.shape)
    values = input.coalesce().sparse_mask(places.coalesce()).values()
    if counts.dim() > 1:
        values = ops.where(counts, values, values.new_full((), identity))
    return indices, values


def _of_all(name: str, values: Any, keepdim: bool, sparse: int, by_rows: bool, identity: Any) -> Any:
    """Return the reduction over all dimensions. A tensor of layout sparse_coo without elements stands for one that is
    zero."""
    if name in ("amax", "amin") and not values.size(0):
        result = values.new_full(values.shape[1:], identity)
    else:
        result = getattr(ops, name)(values, [0], False) if name != "prod" else ops.prod(values, 0)
    if by_rows:
        some = min(values.size(0), 1)
        return sparse_csr_tensor([0, some], [0] * some, result.reshape(1)[:some], (1, 1), dtype=values.dtype)
    result = result.to(values.dtype)
    return (result.reshape(*[1] * sparse, *result.shape) if keepdim else result).to_sparse()
