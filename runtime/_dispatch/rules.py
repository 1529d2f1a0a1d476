"""Rules of dimensions: which dimensions of the results of an operator come from which of its tensors.

An operator has its rule as text (codegen/model/rules.py): a word, of which each user knows its own meaning, or a
signature. What is read from both stands here. Users are names of dimensions (_representations/named/) and functions of
samples (_batching/).
"""

from __future__ import annotations

import re
from functools import cache
from typing import NamedTuple, TypeAlias

from .op import Op

BATCH = "..."
"""The part of a signature that stands for any dimensions before a tensor's own."""

Letters: TypeAlias = tuple[str, ...]

_DIMENSIONS = re.compile(r"(?:\w+_)?(?:dims?|dimension|axis|axes)\d?\Z")


class Signature(NamedTuple):
    """The dimensions of each tensor, and those of each result. One that some tensors lack ends with `?`; one that an
    operator needs whole is in capitals."""

    inputs: tuple[Letters, ...]
    results: tuple[Letters, ...]


@cache
def signature(rule: str | None) -> Signature | None:
    """Return the signature of a rule; None: it is a word, or there is none."""
    if rule is None or "(" not in rule:
        return None
    inputs, results = (tuple(map(_letters, re.findall(r"\(([^)]*)\)", each))) for each in rule.split("->"))
    return Signature(inputs, results)


def _letters(group: str) -> Letters:
    return tuple([each.strip() for each in group.split(",") if each.strip()])


@cache
def dimensions(op: Op) -> tuple[int, ...]:
    """The places of the arguments that are dimensions of the first tensor: integers of such a name."""
    return tuple(
        place
        for place, (name, types) in enumerate(zip(op.names, op.types, strict=True))
        if _DIMENSIONS.match(name) and (types.startswith("int") or types == "any")
    )


@cache
def tensors(op: Op) -> tuple[int, ...]:
    """The places of the arguments that are tensors, in the order of a signature."""
    return tuple(place for place, types in enumerate(op.types) if types.startswith("Tensor"))
