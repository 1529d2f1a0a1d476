"""Momentum that cycles against the learning rate: an option of groups, or the first of Adam's `betas`."""

from __future__ import annotations

from typing import Any

from ..optimizer import Optimizer
from .base import for_each_group


def uses_beta1(optimizer: Optimizer) -> bool:
    """True if the momentum is the first of `betas`. Raises ValueError for optimizers without momentum."""
    if "momentum" not in optimizer.defaults and "betas" not in optimizer.defaults:
        raise ValueError("optimizer must support momentum or beta1 with `cycle_momentum` option enabled")
    return "betas" in optimizer.defaults


def set_momentum(group: dict[str, Any], momentum: Any) -> None:
    """Set the momentum of a group, or the first of its `betas`."""
    if "betas" in group:
        group["betas"] = (momentum, *group["betas"][1:])
    else:
        group["momentum"] = momentum


def bounds_of(optimizer: Optimizer, base: Any, most: Any, begins: bool) -> tuple[list[Any], list[Any]]:
    """Least and largest momentum of each group; where the schedule begins, groups have the largest and know both."""
    bases = for_each_group("base_momentum", optimizer, base)
    largest = for_each_group("max_momentum", optimizer, most)
    if begins:
        for group, low, high in zip(optimizer.param_groups, bases, largest, strict=True):
            set_momentum(group, high)
            group.update(base_momentum=low, max_momentum=high)
    return bases, largest
