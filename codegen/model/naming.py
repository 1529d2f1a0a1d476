"""By which rule the results of an operator get names of dimensions from its tensors: that of its entry, or of its
family.

The runtime knows the rules by these words (_representations/named/rules.py). A signature is a rule as well, that of
products.
"""

from __future__ import annotations

from collections.abc import Mapping

from .operator import Extern, Family, Operator

WORDS = ("drop", "join", "keep", "reduce", "refuse", "select", "unify", "view")
FAMILIES: Mapping[Family, str] = {
    Family.ELEMENTWISE: "unify",
    Family.REDUCE: "reduce",
    Family.SCAN: "keep",
    Family.ROWS: "reduce",
    Family.FOLD: "reduce",
    Family.RANDOM: "keep",
    Family.VIEW: "view",
}
"""The rules that follow from families. Composites have those of the operators that they are made of; others have none,
and refuse tensors with names."""


def rule(operator: Operator) -> str | None:
    """A word, or the signature of a product; None: there is none."""
    if operator.naming is not None:
        return operator.naming
    if isinstance(operator.body, Extern):
        return operator.body.signature
    return FAMILIES.get(operator.family)
