"""The loss of triples by a distance that is given as a function, which no operator takes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..._dispatch.ops import ops
from ..._ops.losses import check_triples, reduced_loss, triplet_losses

__all__ = ["triplet_margin_with_distance_loss"]


def triplet_margin_with_distance_loss(
    anchor: Any,
    positive: Any,
    negative: Any,
    *,
    distance_function: Callable[[Any, Any], Any] | None = None,
    margin: float = 1.0,
    swap: bool = False,
    reduction: str = "mean",
) -> Any:
    """Return `triplet_margin_loss` by a distance of your own, `distance_function(x, y)`; None: `pairwise_distance`.

    Raises:
        ValueError: the margin is not positive, or the reduction not known.
    """
    if margin <= 0:
        raise ValueError(f"margin must be greater than 0, got {margin}")
    if reduction not in ("mean", "sum", "none"):
        raise ValueError(f"{reduction} is not a valid value for reduction")
    check_triples(anchor, positive, negative)
    distance = ops.pairwise_distance if distance_function is None else distance_function
    return reduced_loss(triplet_losses(anchor, positive, negative, distance, margin, swap), reduction)
