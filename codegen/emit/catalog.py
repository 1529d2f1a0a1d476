"""operators.json: what every operator is, for tools that read no YAML and import no codegen (bindings, editors)."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict

from ..dtypes import ordered
from ..model import rules, variants
from ..model.operator import Operator


def emit(operators: Sequence[Operator]) -> str:
    """Return the catalog of operators as JSON."""
    return json.dumps([_record(operator) for operator in operators], indent=1, ensure_ascii=False) + "\n"


def _record(operator: Operator) -> dict[str, object]:
    """The facts of one operator. `derivatives` maps arguments to formulas, or to null where a formula is declined."""
    return {
        "name": operator.name,
        "schema": str(operator.schema),
        "doc": operator.doc,
        "family": operator.family.key,
        "functions": (*variants.function_names(operator), *variants.inplace_function_names(operator)),
        "submodules": [".".join(name) for name in variants.submodule_names(operator)],
        "methods": tuple(variants.method_names(operator)),
        "property": operator.property_name,
        "out": variants.has_out(operator),
        "dtypes": [dtype.name for dtype in ordered(operator.dtypes)],
        "promotion": operator.promotion.value,
        "reference": operator.reference,
        "derivatives": {name: derivative.formula for name, derivative in operator.derivatives.items()},
        "tags": operator.tags,
        "names": rules.naming(operator),
        **asdict(rules.facts(operator)),
        "line": operator.span.line,
    }
