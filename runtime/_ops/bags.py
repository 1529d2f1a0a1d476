"""Bags: groups of rows of a table, which are summed, averaged, or of which the largest elements are taken, for the
composites `embedding_bag`; messages are torch's."""

from __future__ import annotations

from typing import Any

from .._base.dtypes import EXPORTS
from .._dispatch.ops import ops
from .assertions import assert_explained
from .normalization import padding_row
from .values import has_values, is_differentiated

__all__ = ["Bags"]


def _check(input: Any, weight: Any, offsets: Any, per_sample_weights: Any) -> None:
    """Check dtypes and shapes of indices, table and weights."""
    if not weight.is_floating_point():
        raise RuntimeError(
            "Expected tensor for argument #1 'weight' to have one of the following scalar types: Half, BFloat16, "
            f"Float, Double; but got {weight.type()} instead (while checking arguments for embedding_bag)"
        )
    if per_sample_weights is not None and input.size() != per_sample_weights.size():
        raise ValueError(
            f"embedding_bag: If per_sample_weights ({list(per_sample_weights.shape)}) is not None, then it must have "
            f"the same shape as the input ({list(input.shape)})"
        )
    if weight.dim() != 2:
        raise ValueError(f"weight has to be a 2D Tensor, but got Tensor of dimension {weight.dim()}")
    if input.dim() not in (1, 2):
        raise ValueError(f"input has to be 1D or 2D Tensor, but got Tensor of dimension {input.dim()}")
    if input.dim() == 2 and offsets is not None:
        raise ValueError(
            "if input is 2D, then offsets has to be None, as input is treated is a mini-batch of fixed length "
            f"sequences. However, found offsets of type {type(offsets)}"
        )
    if input.dim() == 1 and offsets is None:
        raise ValueError("offsets has to be a 1D Tensor but got None")
    if offsets is not None and offsets.dim() != 1:
        raise ValueError("offsets has to be a 1D Tensor")


class Bags:
    """Rows of a table that bags of indices select, and to which bag each belongs."""

    def __init__(
        self,
        input: Any,
        weight: Any,
        offsets: Any,
        max_norm: float | None,
        norm_type: float,
        scale_grad_by_freq: bool,
        mode: str,
        sparse: bool,
        per_sample_weights: Any,
        include_last_offset: bool,
        padding_idx: int | None,
    ) -> None:
        _check(input, weight, offsets, per_sample_weights)
        self.mode = mode
        if input.dim() == 2:
            self.number, length = input.shape
            owners = ops.arange(self.number, dtype=EXPORTS["int64"]).repeat_interleave(length)
        else:
            self.number, owners = _owners(input, offsets, include_last_offset)
        places = input.reshape(-1).to(EXPORTS["int64"])
        _check_places(places, weight.size(0))
        self.all_owners = owners
        factors = None if per_sample_weights is None else per_sample_weights.reshape(-1)
        if padding_idx is not None:
            padding_idx = padding_row(padding_idx, weight.size(0))
        if padding_idx is not None and has_values(places):
            kept = places != padding_idx
            places, owners = places.masked_select(kept), owners.masked_select(kept)
            factors = None if factors is None else factors.masked_select(kept)
        rows = ops.nn_embedding(places, weight, None, max_norm, norm_type, scale_grad_by_freq, sparse)
        self.owners, self.places = owners, places
        self.rows = rows if factors is None else rows * factors.unsqueeze(1)

    def counts(self) -> Any:
        """Return the number of rows that count in each bag, in the dtype of the rows."""
        ones = self.rows.new_ones(self.places.shape)
        return self.rows.new_zeros(self.number).index_add_(0, self.owners, ones)

    def result(self) -> Any:
        """The sums, means or maxima, whose gradient goes to the first of equal ones; zeros for empty bags."""
        rows, nothing = self.rows, self.rows.new_zeros((self.number, self.rows.size(1)))
        if self.mode != "max":
            sums = nothing.index_add(0, self.owners, rows)
            return sums if self.mode == "sum" else sums / self.counts().clamp(min=1).unsqueeze(1)
        if not is_differentiated(rows) or not rows.numel():
            return nothing.scatter_reduce(0, self._columns(), rows, "amax", include_self=False)
        first = self._first_largest()
        return rows.gather(0, first.clamp(max=rows.size(0) - 1)).masked_fill(first == rows.size(0), 0)

    def largest_rows(self) -> Any:
        """The row of the table that each maximum is from; zero for empty bags."""
        if not self.places.numel():
            return self.places.new_zeros((self.number, self.rows.size(1)))
        first = self._first_largest()
        count = self.places.numel()
        return self.places[first.clamp(max=count - 1)].masked_fill(first == count, 0)

    def with_origins(self, dtype: Any) -> tuple[Any, Any, Any, Any]:
        """Return the result, and in the dtype of indices the bag of each index, the number of rows that count in each
        bag, which are zeros for sums, and the rows of maxima, or else the numbers once more."""
        counts = self.places.new_zeros(self.number) if self.mode == "sum" else self.counts()
        counts = counts.to(dtype)
        rows = self.largest_rows().to(dtype) if self.mode == "max" else counts.clone()
        return self.result(), self.all_owners.to(dtype), counts, rows

    def _columns(self) -> Any:
        return self.owners.unsqueeze(1).expand_as(self.rows)

    def _first_largest(self) -> Any:
        """Return the index of the row with the first of the largest elements, for each bag and column; the number of
        rows if none."""
        owners, rows, count = self._columns(), self.rows.detach(), self.rows.size(0)
        nothing = rows.new_zeros((self.number, rows.size(1)))
        chosen = nothing.scatter_reduce(0, owners, rows, "amax", include_self=False).gather(0, owners)
        is_largest = (rows == chosen) | (chosen != chosen)
        order = ops.arange(count).unsqueeze(1).expand_as(rows).masked_fill(~is_largest, count)
        return owners.new_full(nothing.shape, count).scatter_reduce(0, owners, order, "amin")


def _check_places(places: Any, rows: int) -> None:
    inside = ops.is_between(places, 0, rows)

    def explained() -> RuntimeError:
        at = int((~inside).nonzero()[0].item())
        value = places[at].item()
        return RuntimeError(f"Index {at} of input takes value {value} which is not in the valid range [0, {rows})")

    assert_explained(inside, "RuntimeError", f"an index of input is not in the valid range [0, {rows})", explained)


def _owners(input: Any, offsets: Any, include_last: bool) -> tuple[int, Any]:
    """The number of bags, and to which one each index belongs; what follows the last offset belongs to the last bag."""
    bags = offsets.size(0) - include_last
    if bags < 0:
        raise ValueError("include_last_offset: number of offsets should be at least 1")
    if offsets.size(0):
        first, last = offsets[0], offsets[-1]
        begins = "offsets[0] has to be 0, i.e., the first sequence in the mini-batch has to start from position 0"
        assert_explained(
            first == 0, "RuntimeError", begins, lambda: RuntimeError(f"{begins}. However, got {first.item()}")
        )
        ends = f"offsets[-1] can not be greater than input's length ({input.size(0)})"
        assert_explained(
            last <= input.size(0),
            "RuntimeError",
            ends,
            lambda: RuntimeError(f"{ends}, but got offsets[-1] of {last.item()}"),
        )
    places = ops.arange(input.size(0), dtype=offsets.dtype)
    return bags, (ops.searchsorted(offsets, places, right=True) - 1).clamp(max=bags - 1)
