"""The parts of a sparse tensor: tensors of indices and of values, and the shape that they are the elements of.

Payloads are frozen: a sparse tensor that is overwritten gets another one. The values have the history of the tensor, so
that gradients are those of values, by the graph of dense tensors.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar, TypeAlias

from ..._base.types import layout, sparse_bsc, sparse_bsr, sparse_coo, sparse_csc, sparse_csr

__all__ = ["BLOCKED", "BY_ROWS", "COMPRESSED", "Compressed", "Coordinates", "Payload", "scalar_name"]

COMPRESSED = (sparse_csr, sparse_csc, sparse_bsr, sparse_bsc)
BY_ROWS = (sparse_csr, sparse_bsr)
BLOCKED = (sparse_bsr, sparse_bsc)
_NAMES = dict(
    zip((sparse_coo, *COMPRESSED), ("Sparse", "SparseCsr", "SparseCsc", "SparseBsr", "SparseBsc"), strict=True)
)


def scalar_name(of: layout) -> str:
    """A layout as messages name it."""
    return _NAMES.get(of, "Strided")


@dataclass(frozen=True)
class Coordinates:
    """Elements by coordinates: `values[k]` stands at `indices[:, k]`, and values at one place are added up."""

    layout: ClassVar[layout] = sparse_coo

    indices: Any
    values: Any
    size: tuple[int, ...]
    is_coalesced: bool = False
    """True if the places are sorted, and none of them occurs twice."""

    @property
    def parts(self) -> tuple[tuple[str, Any], ...]:
        """The tensors that it consists of, by the names that they are printed with."""
        return ("indices", self.indices), ("values", self.values)

    @property
    def sparse_dim(self) -> int:
        """The number of sparse dimensions."""
        count: int = self.indices.size(0)
        return count

    @property
    def dense_dim(self) -> int:
        """The number of dense dimensions."""
        count: int = self.values.ndim - 1
        return count

    @property
    def nnz(self) -> int:
        """The number of elements in memory."""
        count: int = self.values.size(0)
        return count

    def with_values(self, values: Any) -> Coordinates:
        """The same places with other values."""
        return replace(self, values=values)


@dataclass(frozen=True)
class Compressed:
    """Elements, or blocks of them, row by row or column by column: those of row `i` of a matrix are
    `values[starts[i] : starts[i + 1]]`, and stand in the columns `places[starts[i] : starts[i + 1]]`."""

    layout: layout
    starts: Any
    places: Any
    values: Any
    size: tuple[int, ...]

    @property
    def is_by_rows(self) -> bool:
        """True if rows are compressed, and not columns."""
        return self.layout in BY_ROWS

    @property
    def is_blocked(self) -> bool:
        """True if elements are blocks."""
        return self.layout in BLOCKED

    @property
    def names(self) -> tuple[str, str]:
        """The names of the two tensors of indices."""
        return ("crow_indices", "col_indices") if self.is_by_rows else ("ccol_indices", "row_indices")

    @property
    def parts(self) -> tuple[tuple[str, Any], ...]:
        """The tensors with their names."""
        starts, places = self.names
        return (starts, self.starts), (places, self.places), ("values", self.values)

    @property
    def batch_dim(self) -> int:
        """The number of batch dimensions."""
        count: int = self.starts.ndim - 1
        return count

    @property
    def sparse_dim(self) -> int:
        """The number of sparse dimensions, which is 2."""
        return 2

    @property
    def dense_dim(self) -> int:
        """The number of dense dimensions."""
        return len(self.size) - self.batch_dim - 2

    @property
    def blocksize(self) -> tuple[int, int]:
        """The rows and columns of a block, (1, 1) without blocks."""
        first = self.batch_dim + 1
        return tuple(self.values.shape[first : first + 2]) if self.is_blocked else (1, 1)

    @property
    def nnz(self) -> int:
        """The number of elements, or blocks, in memory of each matrix."""
        count: int = self.places.size(-1)
        return count

    def with_values(self, values: Any) -> Compressed:
        """The same places with other values."""
        return replace(self, values=values)


Payload: TypeAlias = Coordinates | Compressed
