"""Which variable runs along the lines of a kernel."""

from __future__ import annotations

from ...model.compute import Compute


def line_variable(body: Compute) -> str | None:
    """The last variable of the results, unless ranges depend on it, so that each position has loops of its own."""
    if not body.names:
        return None
    last = body.names[-1]
    bounds = (bound for each in body.ranges.values() for bound in (each.first, each.stop))
    return None if any(body.depends(bound, last) for bound in bounds) else last
