"""Gradients of expressions over indices without a compiler: operators are computed by loops (codegen/check/indices.py),
and the gradients that are derived of them are compared with differences."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from codegen import library
from codegen.check import indices
from codegen.dtypes import FLOAT64
from codegen.model.compute import Compute
from codegen.model.operator import Composite, Operator
from codegen.model.paths import grad_name

_STEP = 1e-6


def read(folder: Path, inputs: str, compute: str) -> dict[str, Operator]:
    """Return the operator `one` of these inputs and the lines below `compute:`, and the operators of its gradients."""
    path = folder / "one.yaml"
    lines = "".join(f"    {line}\n" for line in compute.strip().splitlines())
    path.write_text(
        f"- func: one({inputs}) -> Tensor\n  doc: D.\n  compute:\n{lines}  dtypes: floating\n  derivatives: auto\n"
    )
    return {each.name: each for each in library.read(path)}


@dataclass(frozen=True)
class Step:
    """What an operator of the chain computes, of what is known by name."""

    operator: Operator
    results: tuple[str, ...]
    arguments: tuple[str, ...]

    def known(self, known: Mapping[str, Any]) -> dict[str, Any]:
        """What its arguments are, by the names that the operator has for them."""
        names = (each.name for each in self.operator.schema.arguments)
        shapes = {f"{name}.shape": list(each.shape) for name, each in known.items() if isinstance(each, np.ndarray)}
        return dict(zip(names, ({**shapes, **known}[each] for each in self.arguments), strict=True))


def steps(operators: Mapping[str, Operator], of: str = "one") -> list[Step]:
    """Return the operators that compute one: it alone, or its stages, each after those that it uses."""
    body = operators[of].body
    if not isinstance(body, Composite):
        arguments = tuple(each.name for each in operators[of].schema.arguments)
        return [Step(operators[of], ("result",), arguments)]
    found = []
    for node in ast.parse(body.source.value).body:
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call):
            called = ast.unparse(node.value.func)
            if called in operators:
                results = tuple(ast.unparse(node.targets[0]).strip("()").split(", "))
                found.append(Step(operators[called], results, tuple(map(ast.unparse, node.value.args))))
    return found


def all_computed(operators: Mapping[str, Operator], known: Mapping[str, Any], of: str = "one") -> dict[str, Any]:
    """Return what is known, and the results of all steps."""
    found = {**known}
    for step in steps(operators, of):
        found |= zip(step.results, _results(step.operator, step.known(found)), strict=True)
    return found


def computed(operators: Mapping[str, Operator], known: Mapping[str, Any], of: str = "one") -> Any:
    """Return the result for the arguments among what is known by name."""
    return all_computed(operators, known, of)["result"]


def _results(operator: Operator, known: Mapping[str, Any]) -> tuple[Any, ...]:
    assert isinstance(operator.body, Compute)
    tensors = {each.name: known[each.name] for each in operator.inputs}
    others = {each.name: known[each.name] for each in operator.schema.arguments if not each.is_tensor}
    return indices.results(operator, operator.body, tensors, others, FLOAT64)


def gradient(
    operators: Mapping[str, Operator], target: str, tensors: Mapping[str, Any], grad: Any, of: str = "one"
) -> Any:
    """Return the gradient by a tensor, of `one` or of one of its gradients, by the chain rule of its steps."""
    known = all_computed(operators, _with_shapes(tensors), of)
    totals = {name: np.zeros_like(each) for name, each in known.items() if isinstance(each, np.ndarray)}
    totals["result"] = grad
    for step in reversed(steps(operators, of)):
        for place, result in enumerate(step.results):
            for input_, name in zip(step.operator.inputs, step.arguments, strict=False):
                if input_.name not in step.operator.body.integers:  # type: ignore[union-attr]
                    totals[name] = totals[name] + _gradient(
                        operators, step, place, input_.name, step.known(known), totals[result]
                    )
    return totals[target]


def _with_shapes(tensors: Mapping[str, Any]) -> dict[str, Any]:
    shapes = {f"{name}_shape": list(each.shape) for name, each in tensors.items() if isinstance(each, np.ndarray)}
    return {**shapes, **tensors}


def _gradient(
    operators: Mapping[str, Operator], step: Step, place: int, target: str, tensors: Mapping[str, Any], grad: Any
) -> Any:
    """The gradient by a tensor of a step: what is gathered, and the terms that are added at their places."""
    assert isinstance(step.operator.body, Compute)
    of = step.operator.name + (f"_{step.results[place]}" if place else "")
    known = {**_with_shapes(tensors), grad_name(step.operator.body): grad}
    gathered, total = f"{of}_backward_{target}", np.zeros_like(tensors[target])
    for name, operator in operators.items():
        if re.fullmatch(rf"{of}_places_{target}(_\d+)?", name):
            terms = name.replace("places", "terms")
            (values,) = _results(operators[terms if terms in operators else gathered], known)
            (places,) = _results(operator, known)
            np.add.at(total.reshape(-1), np.broadcast_to(places, values.shape), values)
    are_terms = f"{of}_places_{target}" in operators and f"{of}_terms_{target}" not in operators
    if gathered in operators and not are_terms:
        total = total + _results(operators[gathered], known)[0]
    return total


def differences(
    operators: Mapping[str, Operator], target: str, tensors: Mapping[str, Any], grad: Any, of: str = "one"
) -> Any:
    """Return the gradient by a tensor as central differences."""
    result = np.zeros_like(tensors[target])
    for place in np.ndindex(result.shape):
        step = np.zeros_like(result)
        step[place] = _STEP
        above, below = (computed(operators, {**tensors, target: tensors[target] + each}, of) for each in (step, -step))
        result[place] = (grad * (above - below)).sum() / (2 * _STEP)
    return result


def wrong(operators: Mapping[str, Operator], tensors: Mapping[str, Any], seed: int = 4) -> list[str]:
    """Return which gradients of `one` and of the operators of these differ from differences along a direction."""
    generator = np.random.default_rng(seed)
    known = {**tensors, "grad_output": generator.standard_normal(computed(operators, tensors).shape)}
    found = []
    for of in operators:
        if not re.fullmatch(r"one(_(backward|terms)_[^_]+)?", of):
            continue
        given = {**_with_shapes(known), **known} if of != "one" else tensors
        grad = generator.standard_normal(computed(operators, given, of).shape)
        for each in operators[of].inputs:
            pattern = rf"{of}_(backward|terms)_{each.name}(_\d+)?"
            if not any(re.fullmatch(pattern, name) for name in operators):
                continue  # the operator itself is the gradient of its gradient, or there is none
            got = gradient(operators, each.name, given, grad, of)
            direction = generator.standard_normal(got.shape)
            moved = ({**given, each.name: given[each.name] + sign * direction} for sign in (_STEP, -_STEP))
            above, below = (computed(operators, known, of) for known in moved)
            want = (grad * (above - below)).sum() / (2 * _STEP)
            if not np.isclose((got * direction).sum(), want, rtol=1e-5, atol=1e-5):
                found.append(f"{of} by {each.name}")
    return found
