"""`tags`, `out` and the words of `promotion` about numbers: properties that an entry has or has not.

docs/adding-an-operator.md explains each of them.
"""

from __future__ import annotations

from collections.abc import Mapping

from ..errors import suggest
from ..model.family import FAMILIES, Family
from ..model.rules import DATA_DEPENDENT, DYNAMIC_SHAPE, MAY_FAIL
from . import copies
from .fields import Fields

_ALL = frozenset(FAMILIES.values())
_ELEMENTWISE = frozenset({Family.ELEMENTWISE})
_COMPOSITE = frozenset({Family.COMPOSITE})

TAGS: Mapping[str, frozenset[Family]] = {
    "complex_result": _COMPOSITE,
    DATA_DEPENDENT: _ALL,
    DYNAMIC_SHAPE: _ALL,
    copies.TAG: frozenset({Family.COMPOSITE, Family.VIEW}),
    "handler": _ALL,
    "inplace": frozenset({Family.COMPOSITE, Family.VIEW}),
    "inplace_argument": _ELEMENTWISE | _COMPOSITE,
    MAY_FAIL: _COMPOSITE | {Family.CORE, Family.INDEXING, Family.LAPACK, Family.RANDOM},
    "memory_format": _COMPOSITE,
    "promotes": _COMPOSITE,
    "unpack": _COMPOSITE,
    "varargs": _COMPOSITE,
}
"""The families for which each tag has a meaning."""
OUTS: Mapping[str, frozenset[Family]] = {
    "any": _COMPOSITE,
    "exact": _ELEMENTWISE | _COMPOSITE,
    "none": _COMPOSITE | {Family.CORE},
    "same_count": frozenset({Family.FACTORY}) | _COMPOSITE,
}
NUMBERS: Mapping[str, frozenset[Family]] = dict.fromkeys(
    ("fitting_numbers", "lone_numbers", "opmath_number", "rounded_numbers", "same_dtype", "strict_numbers"),
    _ELEMENTWISE,
)


def read(fields: Fields, family: Family | None) -> tuple[str, ...]:
    """All tags of the entry; words of `out` get the prefix `out_`."""
    tags = _words(fields, family, "tags", TAGS, "tag")
    outs = _words(fields, family, "out", OUTS, "out")
    numbers = [word.value for word in fields.words("promotion") if word.value in NUMBERS]
    return (*tags, *(f"out_{word}" for word in outs), *numbers)


def _words(
    fields: Fields, family: Family | None, key: str, known: Mapping[str, frozenset[Family]], what: str
) -> tuple[str, ...]:
    words = fields.words(key)
    for word in words:
        families = known.get(word.value)
        if families is None:
            fields.report(word.span, f"unknown {what} '{word.value}'", suggest(word.value, known))
        elif family is not None and family not in families:
            only = " and ".join(sorted(each.key for each in families))
            fields.report(word.span, f"the {what} '{word.value}' has no meaning for {family.title}", f"only for {only}")
    return tuple(word.value for word in words)
