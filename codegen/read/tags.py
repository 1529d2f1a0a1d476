"""Tags: single properties of an entry that are there or not.

docs/adding-an-operator.md says what each of them means.
"""

from __future__ import annotations

from collections.abc import Mapping

from ..errors import suggest
from ..model.operator import Family
from .fields import Fields

_ELEMENTWISE = frozenset({Family.ELEMENTWISE})
_COMPOSITE = frozenset({Family.COMPOSITE})

TAGS: Mapping[str, frozenset[Family]] = {
    "any_out": _COMPOSITE,
    "complex_result": _ELEMENTWISE | _COMPOSITE,
    "fitting_numbers": _ELEMENTWISE,
    "exact_out": _COMPOSITE,
    "flat": _COMPOSITE,
    "inplace": _ELEMENTWISE | _COMPOSITE,
    "no_out": _COMPOSITE,
    "opmath_number": _ELEMENTWISE,
    "promotes": _COMPOSITE,
    "real_result": _ELEMENTWISE,
    "refuses_factors": _ELEMENTWISE,
    "rounded_numbers": _ELEMENTWISE,
    "same_dtype": _ELEMENTWISE,
    "separate": _COMPOSITE,
    "sequence": frozenset({Family.FACTORY}) | _COMPOSITE,
    "single": _COMPOSITE,
    "strict_numbers": _ELEMENTWISE,
    "underscore": frozenset({Family.COMPOSITE, Family.VIEW}),
}
"""For which bodies each of them has a meaning."""


def read(fields: Fields, family: Family | None) -> tuple[str, ...]:
    found = fields.words("tags")
    for tag in found:
        families = TAGS.get(tag.value)
        if families is None:
            fields.report(tag.span, f"unknown tag '{tag.value}'", suggest(tag.value, TAGS))
        elif family is not None and family not in families:
            only = " and ".join(sorted(each.value for each in families))
            fields.report(tag.span, f"the tag '{tag.value}' has no meaning for {family.body}", f"only for {only}")
    return tuple(tag.value for tag in found)
