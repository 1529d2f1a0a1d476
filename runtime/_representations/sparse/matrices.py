"""Products of a sparse matrix with dense ones, with their gradients.

There are two: `product`, a matrix with a dense one, and `sampled`, the elements of a product of dense matrices at the
places of a sparse one. The derivatives of each are calls of both, so they may be differentiated as often as is wanted.
The places are rows and columns of one matrix; batches are the blocks on the diagonal of a larger one.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import Any

from ..._autograd.node import Node, edges_of, part_of_graph
from ..._autograd.record import unrecorded
from ..._autograd.saved_tensors import pack_inputs
from ..._base.types import sparse_csr
from ..._dispatch.ops import ops
from ..._handle import needs_grad, packing
from . import kernels
from .convert import as_coordinates, coalesced
from .payload import Payload

__all__ = ["Places", "matrix_of", "product", "sampled"]


@dataclass(frozen=True)
class Places:
    """The places of a matrix's elements row by row: where each row starts, and the columns."""

    starts: Any
    columns: Any
    width: int
    """The number of columns of the matrix."""

    @cached_property
    def rows(self) -> Any:
        """The row of each element."""
        return kernels.expand(self.starts, self.columns.size(0))

    @cached_property
    def _order(self) -> tuple[Any, Any]:
        """The start of each column in the order of the elements by columns, and this order."""
        starts, order = ops.csr_order(self.columns, self.width)
        return starts, order

    @cached_property
    def transposed(self) -> Places:
        """Return the places of the transposed matrix, whose elements are the ones in `order`."""
        starts, order = self._order
        return Places(starts, self.rows.index_select(0, order), self.starts.size(0) - 1)

    def reordered(self, values: Any) -> Any:
        """The elements in the order of the transposed matrix."""
        return values.index_select(0, self._order[1])


def matrix_of(payload: Payload) -> tuple[Places, Any]:
    """The places and the values of a matrix, or of a batch of them on the diagonal of a large one."""
    if payload.layout is sparse_csr and len(payload.size) == 2:
        return Places(payload.starts, payload.places, payload.size[1]), payload.values  # type: ignore[union-attr]
    found = coalesced(as_coordinates(payload))
    batches, (height, width) = found.size[:-2], found.size[-2:]
    rows, columns = found.indices[-2], found.indices[-1]
    if batches:
        batch = kernels.linear(found.indices[:-2], batches)
        rows, columns = batch * height + rows, batch * width + columns
    count = prod(batches)
    return Places(kernels.compress(rows, count * height), columns, count * width), found.values


def product(places: Places, values: Any, dense: Any) -> Any:
    """The product of the matrix with a dense one."""
    result = unrecorded(lambda: kernels.csr_matmul(places.starts, places.columns, values, dense))
    return _recorded(SparseProductBackward0, places, (values, dense), result)


def sampled(places: Places, left: Any, right: Any) -> Any:
    """The elements of `left @ right.T` at the places."""
    result = unrecorded(lambda: kernels.csr_sampled(places.starts, places.columns, left, right))
    return _recorded(SparseSampledBackward0, places, (left, right), result)


def _recorded(kind: type[Node], places: Places, inputs: tuple[Any, Any], result: Any) -> Any:
    if needs_grad(*inputs):
        node = kind(edges_of(inputs))
        node.keep(*inputs)
        node.values = (places,)
        part_of_graph(result, node)
        if packing():
            pack_inputs(node)
    return result


class SparseProductBackward0(Node):
    """Node of `product`."""

    __slots__ = ()

    def apply(self, grad: Any) -> tuple[Any, ...]:
        """Return the gradients by the values and by the dense matrix."""
        (places,) = self.values
        values, dense = self.saved()
        by_values = sampled(places, grad, dense.conj()) if self.edges[0] else None
        return by_values, _by_dense(places, values.conj(), grad) if self.edges[1] else None


class SparseSampledBackward0(Node):
    """Node of `sampled`."""

    __slots__ = ()

    def apply(self, grad: Any) -> tuple[Any, ...]:
        """Return the gradients by both dense matrices."""
        (places,) = self.values
        left, right = self.saved()
        by_left = product(places, grad, right.conj()) if self.edges[0] else None
        return by_left, _by_dense(places, grad, left.conj()) if self.edges[1] else None


def _by_dense(places: Places, values: Any, dense: Any) -> Any:
    """The product of the transposed matrix."""
    return product(places.transposed, places.reordered(values), dense)
