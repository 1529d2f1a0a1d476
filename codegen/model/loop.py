"""Operators whose loop is C of the entry, over the last dimensions of tensors that a signature names."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from ..dtypes import DType
from ..expr import Name
from ..source import Scalar
from .parts import Expression, Requirement

MAX_DIMS = 8
"""Dimensions of one operand in a signature (OW_LOOP_DIMS of loop.c)."""
_GROUP = re.compile(r"\(([^()]*)\)")


@dataclass(frozen=True)
class Loop:
    """`code` computes one result of each kind, in C, from the last dimensions of the inputs; batches of these are
    looped over."""

    inputs: tuple[tuple[str, ...], ...]
    """The names or the sizes of the last dimensions of each input."""
    results: tuple[tuple[str, ...], ...]
    fixed: Mapping[str, DType]
    """Inputs with a dtype of their own."""
    own: tuple[DType | None, ...]
    code: Scalar = field(repr=False, compare=False)
    require: tuple[Requirement[Expression, Name], ...] = ()
    """Conditions on parameters and sizes."""

    @property
    def names(self) -> tuple[str, ...]:
        """The sizes that the code is given, in the order of the signature."""
        every = (name for dims in self.inputs for name in dims if not name.isdigit())
        return tuple(dict.fromkeys(every))

    def text(self, parameters: tuple[str, ...]) -> str:
        """The signature as the core reads it: sizes that are parameters by their index."""
        known = self.names

        def dims(group: tuple[str, ...]) -> str:
            texts = (each if each.isdigit() or each in known else f"#{parameters.index(each)}" for each in group)
            return f"({','.join(texts)})"

        return f"{','.join(map(dims, self.inputs))}->{','.join(map(dims, self.results))}"


def groups(text: str) -> tuple[tuple[str, ...], ...] | None:
    """The names in `(h,w),(n)`; None where it is written otherwise."""
    found = _GROUP.findall(text)
    if ",".join(f"({each})" for each in found) != text.replace(" ", ""):
        return None
    return tuple(tuple(part.strip() for part in each.split(",")) if each.strip() else () for each in found)
