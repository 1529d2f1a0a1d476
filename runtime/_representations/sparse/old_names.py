"""Older names of products of sparse matrices and dense ones, which torch has as well."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..._dispatch.ops import ops
from .row_products import hspmm, sspaddmm

if TYPE_CHECKING:
    from ..._tensor.tensor import Tensor as TensorType

__all__ = ["dsmm", "hsmm", "saddmm", "spmm"]
_PACKAGE_NAMES = __all__


def spmm(input: TensorType, mat2: TensorType, *, out: TensorType | None = None) -> TensorType:
    """Return `mm(input, mat2)`, the product of two matrices of which one or both may be sparse."""
    return ops.mm(input, mat2, out=out)  # type: ignore[no-any-return]


dsmm = spmm
hsmm = hspmm
saddmm = sspaddmm
