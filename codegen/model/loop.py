"""Operators whose loop is C of the entry, over the last dimensions of tensors that a signature names."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ..dtypes import DType
from ..source import Scalar
from .body import Body
from .family import Family
from .index_rule import BATCH, written
from .parts import Expression, Requirement

if TYPE_CHECKING:
    from .operator import Declaration, Operator

MAX_DIMS = 8
"""Dimensions of one operand in a signature (OW_LOOP_DIMS of loop.c)."""
_GROUP = re.compile(r"\(([^()]*)\)")


@dataclass(frozen=True)
class Loop(Body):
    """`code` computes one result of each kind, in C, from the last dimensions of the inputs; batches of these are
    looped over."""

    family = Family.LOOP

    inputs: tuple[tuple[str, ...], ...]
    """The names or the sizes of the last dimensions of each input."""
    results: tuple[tuple[str, ...], ...]
    fixed: Mapping[str, DType] = field()
    own: tuple[DType | None, ...] = field()
    code: Scalar = field(repr=False, compare=False)
    conditions: tuple[Requirement[Expression, Any], ...] = ()

    @property
    def named_sizes(self) -> tuple[str, ...]:
        """The sizes that the code is given, in the order of the signature."""
        every = (name for dims in self.inputs for name in dims if not name.isdigit())
        return tuple(dict.fromkeys(every))

    def called(self, operator: Operator) -> str | None:
        """The signature as the core reads it: sizes that are parameters by their index."""
        known, parameters = self.named_sizes, [each.name for each in operator.params]

        def dims(group: tuple[str, ...]) -> str:
            texts = (each if each.isdigit() or each in known else f"#{parameters.index(each)}" for each in group)
            return f"({','.join(texts)})"

        return f"{','.join(map(dims, self.inputs))}->{','.join(map(dims, self.results))}"

    def rule(self, operator: Operator) -> str | None:
        """The dimensions of a batch, then those that the loop is given, whole."""
        inputs, results = ([(BATCH, *map(str.upper, dims)) for dims in each] for each in (self.inputs, self.results))
        return written(inputs, results)

    def own_dtypes(self, operator: Declaration) -> tuple[DType | None, ...]:
        return self.own


def groups(text: str) -> tuple[tuple[str, ...], ...] | None:
    """The names in `(h,w),(n)`; None where it is written otherwise."""
    found = _GROUP.findall(text)
    if ",".join(f"({each})" for each in found) != text.replace(" ", ""):
        return None
    return tuple(tuple(part.strip() for part in each.split(",")) if each.strip() else () for each in found)
