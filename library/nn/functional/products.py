"""Products of groups of rows with matrices of their own, and of numbers of eight bits, of which there are none."""

from __future__ import annotations

from enum import Enum
from typing import Any

from ... import _operators as ops
from ..._base.dtypes import EXPORTS

__all__ = ["ScalingType", "SwizzleType", "grouped_mm", "scaled_grouped_mm", "scaled_mm"]

_DTYPES = ("float32", "bfloat16", "float16")


def grouped_mm(mat_a: Any, mat_b: Any, *, offs: Any = None, bias: Any = None, out_dtype: Any = None) -> Any:
    """Return the products of groups, as of the experts of a mixture.

    Args:
        mat_a (Tensor): matrices (G, M, K), or one (M, K) whose rows belong to the groups one after the other, or, if
            `mat_b` has two dimensions as well, its columns.
        mat_b (Tensor): matrices (G, K, N), or one (K, N) whose columns, or rows, belong to the groups.
        offs (Tensor): where each group ends, int32; rows behind the last are not computed and are zero.
        bias: must be None.
        out_dtype (dtype): must be the dtype of `mat_a`.

    Raises:
        RuntimeError: shapes, dtypes or ends do not fit.
    """
    _check_groups(mat_a, mat_b, offs, bias, out_dtype)
    if offs is None:
        return mat_a @ mat_b
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


def _check_groups(mat_a: Any, mat_b: Any, offs: Any, bias: Any, out_dtype: Any) -> None:
    for name, given in (("mat_a", mat_a), ("mat_b", mat_b)):
        if given.dim() not in (2, 3):
            raise RuntimeError(f"{name} has to be 2 or 3d")
        if given.dtype not in [EXPORTS[each] for each in _DTYPES]:
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
    if offs is not None and (offs.dim() != 1 or offs.dtype is not EXPORTS["int32"]):
        raise RuntimeError("Offsets have to be int32" if offs.dim() == 1 else "offs has to be 1D")
    groups = [each.size(0) for each in (mat_a, mat_b) if each.dim() == 3] + ([] if offs is None else [offs.numel()])
    if len(set(groups)) > 1:
        raise RuntimeError("matrix batch sizes have to match")
    if bias is not None:
        raise RuntimeError("Bias not supported yet")
    if out_dtype not in (None, mat_a.dtype):
        raise RuntimeError("Grouped gemm output dtype must match `mat_a` dtype")


class ScalingType(Enum):
    """The part of a matrix of few bits that has a scale of its own."""

    TensorWise = 0
    RowWise = 1
    BlockWise1x16 = 2
    BlockWise1x32 = 3
    BlockWise1x128 = 4
    BlockWise128x128 = 5


class SwizzleType(Enum):
    """The order of scales in memory."""

    NO_SWIZZLE = 0
    SWIZZLE_32_4_4 = 1


def scaled_mm(*args: Any, **kwargs: Any) -> Any:
    """Raise NotImplementedError: numbers of eight bits are stored and converted, not multiplied."""
    raise NotImplementedError(
        "scaled_mm() multiplies matrices of float8, which opweave only stores: convert to bfloat16 and use `mm`"
    )


def scaled_grouped_mm(*args: Any, **kwargs: Any) -> Any:
    """Raise NotImplementedError: numbers of eight bits are stored and converted, not multiplied."""
    raise NotImplementedError(
        "scaled_grouped_mm() multiplies matrices of float8, which opweave only stores: convert to bfloat16 and use "
        "`grouped_mm`"
    )
