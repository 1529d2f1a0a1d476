"""Recurrences without a compiler: results in their order, and gradients that run back, beside differences."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from codegen import library
from codegen.check import indices
from codegen.dtypes import FLOAT64
from codegen.model.compute import Compute
from codegen.model.operator import Operator

BODIES = [
    "value[..., t]: self[..., t] + 0.5 * value[..., t - 1]",
    "value[..., t]: self[..., t] * value[..., t + 1] + self[..., t]",
    "value[..., t]: self[..., t] + sin(value[..., t - delay])",
    "value[..., y, x]: self[..., y, x] + value[..., y - 1, x] * value[..., y, x - 1] - value[..., y - 1, x - 1]",
    "value[..., t, k]: self[..., t, k] + sum(value[..., t - 1, i] * value[..., t - 2, i] for i in range(self.size(1)))",
    "value[..., t, k]: self[..., t, k] + minimum(value[..., t - 1, k], value[..., t - 1, k + 1] if t > 1 else 0.5)",
    "a[..., t]: self[..., t] * b[..., t - 1] + a[..., t - 1]\nb[..., t]: self[..., t] + tanh(a[..., t - 1])",
    "value[..., t, k]: self[..., t, k] + max(value[..., t - 1, i] * self[..., t, i] for i in range(self.size(1)))",
    "value[..., t]: self[..., t] + 0.1 * value[..., t - 1] * sum(self[..., i] for i in range(1, self.size(-1)))",
    "value[..., t, k]: sum(max(value[..., t - 1, i] * j for i in range(3)) for j in range(2)) + self[..., t, k]",
    "value[..., t, k]: self[..., t, k] + 0.5 * value[..., t - 1, k - int(3 * abs(self[..., t, 0]))]",
    "value[..., t, k]: self[..., t, k] * sin(value[..., t - 1, int(abs(2 * self[..., t, k]))])",
    "a[..., t]: self[..., t] * b[..., t - 1]\nb[..., t]: self[..., t] + 0.5 * b[..., t - 2]",
]


class Values(np.ndarray[Any, np.dtype[np.float64]]):
    """Values with the methods of tensors that formulas call."""

    def sum_to_size(self, shape: tuple[int, ...]) -> Any:
        more = tuple(range(self.ndim - len(shape)))
        return self.sum(more).view(Values)

    def new_zeros(self, shape: tuple[int, ...]) -> Any:
        return np.zeros(shape).view(Values)


def add_at(grad: Any, shape: tuple[int, ...], places: Any, terms: Any, rank: int, inner: int) -> Any:
    """The helper of formulas, of tensors with one dimension in front."""
    assert (terms.ndim, len(shape)) == (inner + 1, rank + 1)
    places = np.broadcast_to(places, terms.shape)
    made = np.zeros((shape[0], int(np.prod(shape[1:]))))
    for row, at, values in zip(made, places, terms, strict=True):
        np.add.at(row, at.ravel(), values.ravel())
    return made.reshape(shape).view(Values)


def called(operator: Operator, *arguments: Any) -> Any:
    """The results of a call."""
    assert isinstance(operator.body, Compute)
    known = dict(zip((each.name for each in operator.schema.arguments), arguments, strict=True))
    tensors = {each.name: known[each.name] for each in operator.inputs}
    others = {each.name: known[each.name] for each in operator.schema.arguments if not each.is_tensor}
    found = indices.results(operator, operator.body, tensors, others, FLOAT64)
    found = tuple(each.view(Values) for each in found)
    return found if len(found) > 1 else found[0]


@pytest.mark.parametrize("body", BODIES)
def test_gradients(body: str, tmp_path: Path) -> None:
    labels = [line.partition("[")[0] for line in body.splitlines()]
    returns = "Tensor" if len(labels) == 1 else f"({', '.join(f'Tensor {each}' for each in labels)})"
    delay = ", int delay=2" if "delay" in body else ""
    text = f"- func: one(Tensor self{delay}) -> {returns}\n  doc: D.\n  compute:\n    outside: 0\n"
    text += "".join(f"    {line}\n" for line in body.splitlines()) + "  dtypes: floating\n  derivatives: auto\n"
    (tmp_path / "one.yaml").write_text(text)
    operators = {each.name: each for each in library.read(tmp_path / "one.yaml")}
    one, more = operators["one"], (2,) * bool(delay)
    rng = np.random.default_rng(3)
    x = rng.normal(size=(2, 4, 3) if "y, x" in body or "t, k" in body else (2, 5)).view(Values)
    values = (
        {labels[0]: called(one, x, *more)}
        if len(labels) == 1
        else dict(zip(labels, called(one, x, *more), strict=True))
    )
    for absent in (None, *labels[1:]):
        grads = {each: None if each == absent else rng.normal(size=x.shape).view(Values) for each in labels}
        known: dict[str, Any] = {
            name: lambda *given, each=each: called(each, *given) for name, each in operators.items()
        }
        known |= {"total": lambda *terms: sum(each for each in terms if each is not None), "self": x}
        known |= {"delay": 2, "add_at": add_at}
        end = "" if len(labels) == 1 else "_{}"
        known |= {f"grad{end.format(each)}": grads[each] for each in labels}
        known |= {f"result{end.format(each)}": values[each] for each in labels}
        formula = one.derivatives["self"]
        assert formula.grads is not None
        made = eval(formula.grads, known)
        for each, grad in zip(labels, made if len(labels) > 1 else (made,), strict=True):
            known[f"grad{end.format(each)}"] = grad
        got = eval(formula.text, known)

        def weighted(x: Any, grads: Any = grads) -> float:
            found = called(one, x, *more)
            pairs = zip(grads.values(), found if len(labels) > 1 else (found,), strict=True)
            return float(sum((grad * each).sum() for grad, each in pairs if grad is not None))

        want = np.zeros(x.shape)
        for place in np.ndindex(x.shape):
            step = np.zeros(x.shape)
            step[place] = 1e-6
            want[place] = (weighted(x + step) - weighted(x - step)) / 2e-6
        np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-7)
