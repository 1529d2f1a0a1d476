"""Operators that are woven from a text, by the types of their schemas and with junk."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

from opweave.weave import weave_text

from codegen.schema import parse

from ..callables import Target

TEXT = """\
- func: hostile_blend(Tensor self, Tensor other, *, Scalar amount=0.5) -> Tensor
  doc: Goes from `self` to `other` by `amount`.
  elementwise: self + amount * (other - self)
  dtypes: floating
  derivatives: auto

- func: hostile_sum(Tensor self, int[1]? dim=None, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor
  doc: Sum of absolute values over `dim`.
  reduce: {identity: 0, combine: acc + self, map: abs(self)}
  promotion: int_to_long
  derivatives: none

- func: hostile_maximum(Tensor self, int dim, *, ScalarType? dtype=None) -> Tensor
  doc: Largest element so far along `dim`.
  scan: {identity: lowest, combine: 'maximum(acc, self)'}
  dtypes: floating
  derivatives: none

- func: hostile_ramp(SymInt[] size, *, Scalar slope=1, ScalarType? dtype=None) -> Tensor
  doc: Values that rise by `slope` from element to element.
  factory: {shape: size, value: slope * i}
"""


@cache
def _woven() -> Any:
    return weave_text(TEXT)


def targets() -> Mapping[str, Target]:
    schemas = [parse(line.removeprefix("- func: ")) for line in TEXT.splitlines() if line.startswith("- func: ")]
    return {str(schema.name): _target(schema) for schema in schemas}


def _target(schema: Any) -> Target:
    """The text is woven at the first call."""
    name = schema.name.identifier

    def use(*arguments: Any, **keywords: Any) -> Any:
        result = getattr(_woven(), name)(*arguments, **keywords)
        if result.requires_grad:
            result.sum().backward()
        return result

    types = tuple(str(each.type) for each in schema.positional)
    return Target(use, types, {each.name: str(each.type) for each in schema.keyword_only}, has_out=True)
