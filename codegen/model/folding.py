"""Reductions and scans with a state of several values, over several tensors."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ..dtypes import DType
from .parts import Expression

OTHER = "other_"
"""The prefix of the variables of a second state, which a reduction combines with the first."""


@dataclass(frozen=True)
class Folding:
    """Lines of elements that are folded into a state, or from state to state.

    A reduction combines the states of all elements, each of which is `element`, in any order; `following` has the
    combination of a state with another one, whose variables are called `other_NAME`. One in order, which has no
    `element`, computes the `following` state from the one before and an element, as a scan does, whose results are
    computed beside it.
    """

    is_scan: bool
    state: tuple[tuple[str, Expression], ...]
    """The variables and what they are before the first element: of a reduction what leaves others as they are, of a
    scan expressions of the first element."""
    element: tuple[Expression, ...]
    following: tuple[Expression, ...]
    results: tuple[Expression, ...]
    """The results: of a reduction in terms of the last state and of `count`, of a scan in terms of each state and
    element."""
    fixed: Mapping[str, DType]
    own: tuple[DType | None, ...]
    local: tuple[tuple[str, Expression], ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(name for name, _ in self.state)

    @property
    def joins(self) -> bool:
        """True if parts of a line are computed apart and joined."""
        return bool(self.element)

    @property
    def others(self) -> tuple[str, ...]:
        """The variables of a second state."""
        return tuple(f"{OTHER}{name}" for name in self.names) if self.joins else ()

    @property
    def expressions(self) -> tuple[Expression, ...]:
        return (*(start for _, start in self.state), *self.element, *self.following, *self.results)
