"""Bags: groups of rows of a table, which are summed, averaged, or of which the largest elements are taken."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..._autograd.grad_mode import is_grad_enabled
from ..._base.dtypes import EXPORTS
from ..._dispatch.ops import ops
from ..._ops.assertions import assert_explained
from ..._ops.normalization import padding_row
from ..._ops.values import has_values

__all__: list[str] = []

MODES = ("sum", "mean", "max")
"""The words for what becomes of a bag; their places are the numbers that `opweave.embedding_bag` takes."""


@dataclass
class Bags:
    """Rows of a table, and to which bag each belongs."""

    mode: str
    number: int
    all_owners: Any
    """The bags of all indices; `owners` are those of the ones that count, whose `places` in the table have `rows`."""
    owners: Any
    places: Any
    rows: Any

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
        if not (rows.requires_grad and is_grad_enabled()) or not rows.numel():
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

    def _columns(self) -> Any:
        return self.owners.unsqueeze(1).expand_as(self.rows)

    def _first_largest(self) -> Any:
        """Return the index of the row with the first of the largest elements, for each bag and column; the number of
        rows if none."""
        owners, rows, count = self._columns(), self.rows.detach(), self.rows.size(0)
        nothing = rows.new_zeros((self.number, rows.size(1)))
        chosen = nothing.scatter_reduce(0, owners, rows, "amax", include_self=False).gather(0, owners)
        is_largest = (rows == chosen) | (chosen != chosen)
        order = ops.arange(count, device=rows.device).unsqueeze(1).expand_as(rows).masked_fill(~is_largest, count)
        return owners.new_full(nothing.shape, count).scatter_reduce(0, owners, order, "amin")


def bags(
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
) -> Bags:
    """Return the rows that `embedding_bag` joins, after its checks."""
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
    if mode not in MODES:
        raise ValueError("mode has to be one of sum, mean or max")
    if mode == "max" and scale_grad_by_freq:
        raise ValueError("max mode does not support scaling the gradient by the frequency")
    if per_sample_weights is not None and mode != "sum":
        raise NotImplementedError(
            "embedding_bag: per_sample_weights was not None. per_sample_weights is only supported for mode='sum' "
            f"(got mode='{mode}'). Please open a feature request on GitHub."
        )
    int64 = EXPORTS["int64"]
    if input.dim() == 2:
        if offsets is not None:
            raise ValueError(
                "if input is 2D, then offsets has to be None, as input is treated is a mini-batch of fixed length "
                f"sequences. However, found offsets of type {type(offsets)}"
            )
        number, length = input.shape
        all_owners = ops.arange(number, dtype=int64, device=input.device).repeat_interleave(length)
    elif input.dim() == 1:
        number, all_owners = _owners(input, offsets, include_last_offset)
    else:
        raise ValueError(f"input has to be 1D or 2D Tensor, but got Tensor of dimension {input.dim()}")
    places = input.reshape(-1).to(int64)
    _check_places(places, weight.size(0))
    owners, factors = all_owners, None if per_sample_weights is None else per_sample_weights.reshape(-1)
    if padding_idx is not None:
        padding_idx = padding_row(padding_idx, weight.size(0))
    if padding_idx is not None and has_values(places):
        kept = places != padding_idx
        places, owners = places.masked_select(kept), owners.masked_select(kept)
        factors = None if factors is None else factors.masked_select(kept)
    rows = ops.embedding(places, weight, None, max_norm, norm_type, scale_grad_by_freq, sparse)
    if factors is not None:
        rows = rows * factors.unsqueeze(1)
    return Bags(mode, number, all_owners, owners, places, rows)


def _check_places(places: Any, rows: int) -> None:
    inside = ops.is_between(places, 0, rows)

    def explained() -> RuntimeError:
        at = int((~inside).nonzero()[0].item())
        value = places[at].item()
        return RuntimeError(f"Index {at} of input takes value {value} which is not in the valid range [0, {rows})")

    assert_explained(inside, "RuntimeError", f"an index of input is not in the valid range [0, {rows})", explained)


def _owners(input: Any, offsets: Any, include_last: bool) -> tuple[int, Any]:
    """The number of bags, and to which one each index belongs."""
    if offsets is None:
        raise ValueError("offsets has to be a 1D Tensor but got None")
    if offsets.dim() != 1:
        raise ValueError("offsets has to be a 1D Tensor")
    if not has_values(offsets):
        return offsets.size(0) - include_last, offsets.new_empty(input.shape, dtype=EXPORTS["int64"])
    starts = offsets.tolist()
    if include_last and not starts:
        raise ValueError("include_last_offset: number of offsets should be at least 1")
    if starts and starts[0] != 0:
        raise RuntimeError(f"offsets[0] has to be 0, i.e., the first sequence in the mini-batch has to start from "
                           f"position 0. However, got {starts[0]}")  # fmt: skip
    if starts and starts[-1] > input.size(0):
        raise RuntimeError(
            f"offsets[-1] can not be greater than input's length ({input.size(0)}), but got offsets[-1] of {starts[-1]}"
        )
    bags = len(starts) - include_last
    ends = starts[1:] if include_last else [*starts[1:], input.size(0)]
    lengths = offsets.new_tensor(
        [end - start for start, end in zip(starts, ends, strict=False)], dtype=EXPORTS["int64"]
    )
    owners = ops.arange(bags, dtype=EXPORTS["int64"]).repeat_interleave(lengths)
    if owners.numel() < input.size(0):  # what follows the last offset belongs to the last bag
        rest = owners.new_full((input.size(0) - owners.numel(),), bags - 1)
        owners = ops.cat([owners, rest])
    return bags, owners
