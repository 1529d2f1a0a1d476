"""Reductions and scans with a state of several values, over several tensors."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ..dtypes import INT64, DType, Promotion
from ..expr.lower import Env
from . import inference
from .body import Body
from .computation import argument_dtypes, result_dtypes, state_dtypes, value_dtypes, with_truths
from .family import Family
from .parts import OTHER as OTHER
from .parts import Expression

if TYPE_CHECKING:
    from .operator import Declaration, Operator


@dataclass(frozen=True)
class Folding(Body):
    """Lines of elements that are folded into a state, or from state to state.

    A reduction combines the states of all elements, each of which is `element`, in any order; `following` has the
    combination of a state with another one, whose variables are called `other_NAME`. One in order, which has no
    `element`, computes the `following` state from the one before and an element, as a scan does, whose results are
    computed beside it.
    """

    family = Family.FOLD

    is_scan: bool
    state: tuple[tuple[str, Expression], ...]
    """The variables and what they are before the first element: of a reduction what leaves others as they are, of a
    scan expressions of the first element."""
    element: tuple[Expression, ...]
    following: tuple[Expression, ...]
    results: tuple[Expression, ...]
    """The results: of a reduction in terms of the last state and of `count`, of a scan in terms of each state and
    element."""
    fixed: Mapping[str, DType] = field()
    own: tuple[DType | None, ...] = field()
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

    # ---- answers (body.py)

    def values(self, dtype: DType) -> tuple[Expression, ...]:
        return self.results

    def variable_dtypes(self, operator: Declaration, dtype: DType) -> dict[str, DType]:
        env = self._around(operator, dtype)
        starts = {name: start.tree for name, start in self.state}
        following = dict(zip(starts, (each.tree for each in self.following), strict=True))
        elements = dict(zip(starts, (each.tree for each in self.element), strict=True)) if self.element else {}
        states = state_dtypes(starts, following, env, dtype, elements, INT64)
        return {**env, **states, **dict(zip(self.others, states.values(), strict=False)), "count": INT64}

    def _around(self, operator: Declaration, dtype: DType) -> dict[str, DType]:
        """The dtypes of what states are made of."""
        return argument_dtypes(operator, self, dtype)

    def typed(self, operator: Operator, dtype: DType) -> Iterator[tuple[Expression, Env, DType]]:
        env = self.variable_dtypes(operator, dtype)
        for name, start in self.state:
            yield start, env, env[name]
        for part in (self.element, self.following):
            for name, each in zip(self.names, part, strict=False):
                yield each, env, env[name]
        for each, result in zip(self.results, result_dtypes(operator, dtype), strict=True):
            yield each, env, result

    def own_dtypes(self, operator: Declaration) -> tuple[DType | None, ...]:
        return with_truths(operator, self, self.own)

    @property
    def cost(self) -> float:
        return 1.0 + inference.cost_of((*self.element, *self.following), 0)

    def promotion(self, declaration: Declaration, dtypes: frozenset[DType]) -> Promotion:
        types = {dtype: value_dtypes(declaration, self, dtype) for dtype in inference.computed(dtypes)}
        return inference.promotion(types, self.own)

    def formula(self, names: tuple[str, ...]) -> str:
        pairs = zip(self.names, self.following, strict=True)
        return ", ".join(f"`{name} = {each.source.value}`" for name, each in pairs)

    def shape_text(self, operator: Operator) -> str | None:
        return "the input's shape"
