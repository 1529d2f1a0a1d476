"""Gradients of expressions over indices without a compiler: operators are computed by loops (codegen/check/indices.py),
and the gradients that are derived of them are compared with differences."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from codegen import library
from codegen.check import indices
from codegen.dtypes import FLOAT64
from codegen.model.compute import Compute
from codegen.model.operator import Operator

_STEP = 1e-6


def read(folder: Path, inputs: str, compute: str) -> dict[str, Operator]:
    """Return the operator `one` of these inputs and the lines below `compute:`, and the operators of its gradients."""
    path = folder / "one.yaml"
    lines = "".join(f"    {line}\n" for line in compute.strip().splitlines())
    path.write_text(
        f"- func: one({inputs}) -> Tensor\n  doc: D.\n  compute:\n{lines}  dtypes: floating\n  derivatives: auto\n"
    )
    return {each.name: each for each in library.read(path)}


def computed(operator: Operator, known: Mapping[str, Any]) -> Any:
    """Return the result for the arguments among what is known by name."""
    assert isinstance(operator.body, Compute)
    tensors = {each.name: known[each.name] for each in operator.inputs}
    others = {each.name: known[each.name] for each in operator.schema.arguments if not each.is_tensor}
    (result,) = indices.results(operator, operator.body, tensors, others, FLOAT64)
    return result


def gradient(
    operators: Mapping[str, Operator], target: str, tensors: Mapping[str, Any], grad: Any, of: str = "one"
) -> Any:
    """Return the gradient by a tensor, of `one` or of one of its gradients: what is gathered, and the terms that are
    added at their places."""
    shapes = {f"{name}_shape": list(each.shape) for name, each in tensors.items()}
    known = {**tensors, **shapes, "grad_output" if of == "one" else "grad_grad_output": grad}
    gathered, total = f"{of}_backward_{target}", np.zeros_like(tensors[target])
    for name, operator in operators.items():
        if re.fullmatch(rf"{of}_places_{target}(_\d+)?", name):
            terms = name.replace("places", "terms")
            values = computed(operators[terms if terms in operators else gathered], known)
            np.add.at(total.reshape(-1), np.broadcast_to(computed(operator, known), values.shape), values)
    are_terms = f"{of}_places_{target}" in operators and f"{of}_terms_{target}" not in operators
    if gathered in operators and not are_terms:
        total = total + computed(operators[gathered], known)
    return total


def differences(operator: Operator, target: str, tensors: Mapping[str, Any], grad: Any) -> Any:
    """Return the gradient by a tensor as central differences."""
    result = np.zeros_like(tensors[target])
    for place in np.ndindex(result.shape):
        step = np.zeros_like(result)
        step[place] = _STEP
        above, below = (computed(operator, {**tensors, target: tensors[target] + each}) for each in (step, -step))
        result[place] = (grad * (above - below)).sum() / (2 * _STEP)
    return result
