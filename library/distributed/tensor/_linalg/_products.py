"""Products of sharded matrices: SUMMA on a mesh of two dimensions, products by rows or columns on one.

R. van de Geijn and J. Watts, "SUMMA: scalable universal matrix multiplication algorithm" (1997). What another process
has of a matrix is sent in panels, and each process adds the products with them to its part of the result.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from ...._dispatch.op import Op
from ...._dispatch.ops import ops
from .._call import REPLICATE
from .._parts import made, moved, part_of
from .._spec import Part, extents
from ..placement_types import Placement, Shard
from ._matrices import Placements, answer
from ._split import Panel, Split


def multiply(op: Op, args: Sequence[Any], described: Any) -> Any:
    """The product of two matrices, or of those of two batches."""
    left, right = args
    a, b = part_of(left), part_of(right)
    pairs = list(zip(a.placements, b.placements, strict=True))
    rows, columns = Shard(left.ndim - 2), Shard(left.ndim - 1)
    if set(pairs) == {(columns, rows)} and described.numel() > left.numel() + right.numel():
        # Few columns times few rows: these are less than the sums that each process would have of all elements.
        by_rows, replicated = (rows,) * len(pairs), (REPLICATE,) * len(pairs)
        product = moved(left, by_rows) @ moved(right, replicated)
        return made(Part(product, a.mesh, by_rows), described.shape, described.stride())
    placements = _placements(pairs, left.ndim)
    if placements is None:
        return NotImplemented
    found = a.local.new_zeros(extents(described.shape, a.mesh, placements)[0])
    inner = Split(a.mesh, left.shape, a.placements, columns.dim), Split(a.mesh, right.shape, b.placements, rows.dim)
    for first, second in _common_panels(*inner):
        _add_product(found, inner[0].shared(first, a.local), inner[1].shared(second, b.local))
    return made(Part(found, a.mesh, placements), described.shape, described.stride())


def _placements(pairs: Sequence[tuple[Placement, Placement]], ndim: int) -> Placements | None:
    """The placements of the product where the terms of its elements come from panels; None: they do not."""
    rows, columns = Shard(ndim - 2), Shard(ndim - 1)
    sent: dict[tuple[Placement, Placement], Placement] = {(rows, rows): rows, (columns, columns): columns}
    kept = {(rows, REPLICATE): rows, (REPLICATE, columns): columns, (REPLICATE, REPLICATE): REPLICATE}
    kept.update({(Shard(dim), Shard(dim)): Shard(dim) for dim in range(ndim - 2)})
    if not any(pair in sent for pair in pairs) or not all(pair in sent or pair in kept for pair in pairs):
        return None
    return tuple([sent.get(pair) or kept[pair] for pair in pairs])


def _common_panels(left: Split, right: Split) -> Iterator[tuple[Panel, Panel]]:
    """The panels of two factors, cut where those of either one begin."""
    lefts, rights = list(left.panels()), list(right.panels())
    starts = sorted({panel.start for panel in (*lefts, *rights)})
    for start, stop in zip(starts, [*starts[1:], left.size], strict=False):
        yield _piece(lefts, start, stop), _piece(rights, start, stop)


def _piece(panels: Sequence[Panel], start: int, stop: int) -> Panel:
    """The piece of a panel between two positions."""
    whole = next(panel for panel in panels if panel.start <= start < panel.stop)
    return whole._replace(start=start, stop=stop)


def _add_product(total: Any, left: Any, right: Any) -> None:
    """Add a product to a tensor."""
    (total.addmm_ if total.ndim == 2 else total.baddbmm_)(left, right)


answer(multiply, ops.mm, ops.bmm)
