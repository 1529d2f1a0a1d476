"""Products of groups of rows with matrices of their own, and of two vectors with a matrix, for the composites
`grouped_mm` and `bilinear`; messages are torch's."""

from __future__ import annotations

from math import prod
from typing import Any

from .._dispatch.ops import ops

__all__ = ["bilinear_values", "check_bilinear", "check_groups_of_products", "products_of_groups"]


def check_groups_of_products(mat_a: Any, mat_b: Any, offs: Any) -> None:
    """Check dtypes and shapes of matrices and of the ends of groups."""
    for name, given in (("mat_a", mat_a), ("mat_b", mat_b)):
        if given.dim() not in (2, 3):
            raise RuntimeError(f"{name} has to be 2 or 3d")
        if given.dtype.scalar_name not in ("Float", "BFloat16", "Half"):
            raise RuntimeError(
                f"Expected {name} to be Float32, BFloat16 or Float16 matrix, got {given.dtype.scalar_name}"
            )
    if mat_a.dtype is not mat_b.dtype:
        raise RuntimeError(
            "expected m1 and m2 to have the same dtype, but got: "
            f"{mat_a.dtype.scalar_name} != {mat_b.dtype.scalar_name}"
        )
    if mat_a.size(-1) != mat_b.size(-2):
        raise RuntimeError("contraction dimension of mat_a and mat_b must match")
    if (offs is None) != (mat_a.dim() == 3 and mat_b.dim() == 3):
        raise RuntimeError("Have to provide offsets if there is a 2d matrix, or no offset if both matrices are 3d")
    if offs is not None and (offs.dim() != 1 or offs.dtype.scalar_name != "Int"):
        raise RuntimeError("Offsets have to be int32" if offs.dim() == 1 else "offs has to be 1D")
    groups = [each.size(0) for each in (mat_a, mat_b) if each.dim() == 3] + ([] if offs is None else [offs.numel()])
    if len(set(groups)) > 1:
        raise RuntimeError("matrix batch sizes have to match")


def products_of_groups(mat_a: Any, mat_b: Any, offs: Any) -> Any:
    """Return the products of groups that end at the positions `offs`; what is behind the last is zero.

    Raises RuntimeError where ends fall or exceed the matrices.
    """
    ends = offs.tolist()
    sizes = [end - start for start, end in zip([0, *ends], ends, strict=False)]
    limit = mat_a.size(-1) if mat_a.dim() == mat_b.dim() else mat_a.size(0) if mat_a.dim() == 2 else mat_b.size(1)
    if min(sizes, default=0) < 0 or sum(sizes) > limit:
        raise RuntimeError(f"offs must not fall, nor exceed {limit}, but got {ends}")
    rest = limit - sum(sizes)
    if mat_a.dim() == 2 and mat_b.dim() == 2:
        parts = zip(mat_a.split([*sizes, rest], 1), mat_b.split([*sizes, rest]), strict=True)
        return ops.stack([one @ other for one, other in list(parts)[:-1]])
    if mat_a.dim() == 2:
        rows = mat_a.split([*sizes, rest])
        products = [one @ other for one, other in zip(rows[:-1], mat_b.unbind(), strict=True)]
        return ops.cat([*products, rows[-1].new_zeros((rest, mat_b.size(-1)))])
    columns = mat_b.split([*sizes, rest], 1)
    products = [one @ other for one, other in zip(mat_a.unbind(), columns[:-1], strict=True)]
    return ops.cat([*products, columns[-1].new_zeros((mat_a.size(1), rest))], 1)


def check_bilinear(input1: Any, input2: Any, weight: Any) -> None:
    """Check that both inputs have the same shape but for the last size, which is that of the weight."""
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


def bilinear_values(input1: Any, input2: Any, weight: Any) -> Any:
    """Return `input1 @ weight[k] @ input2` for each k."""
    count, first, second = weight.shape
    rows = prod(input1.shape[:-1])
    left, right = input1.reshape(rows, first), input2.reshape(rows, second)
    half = left.matmul(weight.permute(1, 0, 2).reshape(first, count * second)).view(rows, count, second)
    return half.matmul(right.unsqueeze(2)).view(*input1.shape[:-1], count)
