"""Methods of Tensor about layouts. What computes with sparse tensors is imported when one is first made."""

# mypy: disable-error-code="no-any-return"
# (in a mixin `self` is an instance of the class that it is mixed into, which mypy calls Any)

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .._base.types import layout as layout_class
from .._base.types import sparse_bsc, sparse_bsr, sparse_coo, sparse_csc, sparse_csr, strided
from .._dispatch.ops import ops

if TYPE_CHECKING:
    from .tensor import Tensor as TensorType


__all__ = ["SparseMethods"]


class SparseMethods:
    """Mixed into Tensor."""

    __slots__ = ()

    # ---- conversions ----

    def to_dense(self: Any, dtype: Any = None, *, masked_grad: bool | None = None) -> TensorType:
        """Return the tensor with all elements in memory; a dense tensor itself.

        Args:
            dtype (dtype): of the result.
            masked_grad (bool): whether the gradient is that of the elements in memory alone. It is.
        """
        return _methods().to_dense(self, dtype)

    def to_sparse(
        self: Any,
        sparse_dim: int | None = None,
        *,
        layout: layout_class | None = None,
        blocksize: Any = None,
        dense_dim: int | None = None,
    ) -> TensorType:
        """Return the tensor in a sparse layout, with the elements that are not zero.

        Args:
            sparse_dim (int): of `sparse_coo`: the first so many dimensions are sparse, all others dense.
            layout (layout): `sparse_coo`, unless named; `strided` gives a dense tensor.
            blocksize (tuple of ints): of blocks, for `sparse_bsr` and `sparse_bsc`.
            dense_dim (int): of compressed layouts: the last so many dimensions are dense.
        """
        if layout is None:
            layout = sparse_coo
        if layout is strided:
            return self.to_dense()
        return _methods().converted(self, "to_sparse", layout, sparse_dim, blocksize, dense_dim)

    def to_sparse_coo(self: Any) -> TensorType:
        """Return the tensor in the layout `sparse_coo`."""
        return self.to_sparse()

    def to_sparse_csr(self: Any, dense_dim: int | None = None) -> TensorType:
        """Return matrices, or batches of them, in the layout `sparse_csr`."""
        return _methods().converted(self, "to_sparse_csr", sparse_csr, None, None, dense_dim)

    def to_sparse_csc(self: Any, dense_dim: int | None = None) -> TensorType:
        """Return matrices, or batches of them, in the layout `sparse_csc`."""
        return _methods().converted(self, "to_sparse_csc", sparse_csc, None, None, dense_dim)

    def to_sparse_bsr(self: Any, blocksize: Any, dense_dim: int | None = None) -> TensorType:
        """Return matrices, or batches of them, in the layout `sparse_bsr`, with blocks of this size."""
        return _methods().converted(self, "to_sparse_bsr", sparse_bsr, None, blocksize, dense_dim)

    def to_sparse_bsc(self: Any, blocksize: Any, dense_dim: int | None = None) -> TensorType:
        """Return matrices, or batches of them, in the layout `sparse_bsc`, with blocks of this size."""
        return _methods().converted(self, "to_sparse_bsc", sparse_bsc, None, blocksize, dense_dim)

    def sparse_mask(self: Any, mask: TensorType) -> TensorType:
        """Return the elements at the places of a sparse tensor, in its layout."""
        return _methods().sparse_mask(self, mask)

    def smm(self: Any, mat2: TensorType) -> TensorType:
        """Return `opweave.smm(self, mat2)`, a sparse product with a dense matrix."""
        return _row_products().smm(self, mat2)

    def sspaddmm(self: Any, mat1: TensorType, mat2: TensorType, *, beta: complex = 1, alpha: complex = 1) -> TensorType:
        """Return `opweave.sspaddmm(self, mat1, mat2)`, beta * self + alpha * (mat1 @ mat2) of sparse matrices."""
        return _row_products().sspaddmm(self, mat1, mat2, beta=beta, alpha=alpha)

    # ---- what a sparse tensor consists of ----

    def indices(self: Any) -> TensorType:
        """Return the coordinates of a coalesced tensor, one column for each element."""
        return _methods().indices(self)

    def values(self: Any) -> TensorType:
        """Return the elements in memory, of a coalesced tensor or a compressed one, in the same memory."""
        return _methods().values(self)

    def _indices(self: Any) -> TensorType:
        return _methods().raw(self, "_indices", "indices")

    def _values(self: Any) -> TensorType:
        return _methods().raw(self, "_values", "values")

    def _nnz(self: Any) -> int:
        return _methods().nnz(self)

    def crow_indices(self: Any) -> TensorType:
        """Return where each row of a compressed tensor starts, and the number of elements."""
        return _methods().part(self, "crow_indices")

    def col_indices(self: Any) -> TensorType:
        """Return the columns of a compressed tensor's elements, row by row."""
        return _methods().part(self, "col_indices")

    def ccol_indices(self: Any) -> TensorType:
        """Return where each column of a compressed tensor starts, and the number of elements."""
        return _methods().part(self, "ccol_indices")

    def row_indices(self: Any) -> TensorType:
        """Return the rows of a compressed tensor's elements, column by column."""
        return _methods().part(self, "row_indices")

    def sparse_dim(self: Any) -> int:
        """Return the number of sparse dimensions: 0 of a dense tensor."""
        return 0 if self.layout is strided else self._sparse.sparse_dim

    def dense_dim(self: Any) -> int:
        """Return the number of dense dimensions: all of a dense tensor."""
        return self.ndim if self.layout is strided else self._sparse.dense_dim

    def coalesce(self: Any) -> TensorType:
        """Return the tensor with sorted places, each of which occurs once; itself if it is so."""
        return _methods().coalesce(self)

    def is_coalesced(self: Any) -> bool:
        """Return whether the places are sorted, and each occurs once."""
        return _methods().is_coalesced(self)

    def _coalesced_(self: Any, coalesced: bool) -> TensorType:
        return _methods().set_coalesced(self, coalesced)

    def sparse_resize_(self: Any, size: Any, sparse_dim: int, dense_dim: int) -> TensorType:
        """Give a tensor of layout `sparse_coo` another shape, and return it. The elements stay where they are."""
        return _methods().resize(self, size, sparse_dim, dense_dim)

    def sparse_resize_and_clear_(self: Any, size: Any, sparse_dim: int, dense_dim: int) -> TensorType:
        """Give a tensor of layout `sparse_coo` another shape and no elements, and return it."""
        return _methods().resize(self, size, sparse_dim, dense_dim, clear=True)


def _rows(places: Any, values: Any, shape: Any) -> Any:
    """The sparse tensor of rows of a table, for gradients."""
    return _methods().rows(places, values, shape)


ops.sparse_rows = _rows


def _methods() -> Any:
    from .._representations.sparse import methods

    return methods


def _row_products() -> Any:
    from .._representations.sparse import row_products

    return row_products
