"""Forward derivatives of every operator with a documented example: they are those that two backward passes give."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import opweave as ow
import pytest
from harness.documented import OPERATORS, calls_of
from opweave.utils._pytree import tree_leaves


def is_variable(value: Any) -> bool:
    plain = isinstance(value, ow.Tensor) and value.layout is ow.strided and not value.is_quantized
    return plain and (value.is_floating_point() or value.is_complex())


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", OPERATORS)
def test_example(name: str) -> None:
    call = calls_of(OPERATORS[name])[-1]
    given = {key: value for key, value in call.values.items() if is_variable(value)}
    if not given:
        return

    def function(*args: ow.Tensor) -> Any:
        ow.manual_seed(0)
        results = tree_leaves(replace(call, values={**call.values, **dict(zip(given, args, strict=True))})())
        return [each for each in results if is_variable(each)]

    ow.manual_seed(1)
    primals = tuple(value.detach() for value in given.values())
    tangents = tuple(ow.randn_like(value) for value in primals)
    try:
        results, product = ow.func.linearize(function, *primals)
        want = product(*tangents)
    except RuntimeError:  # it has no such result, or no derivative
        return
    got_results, got = ow.func.jvp(function, primals, tangents)
    for mine, theirs in zip((*got_results, *got), (*results, *want), strict=True):
        assert mine.dtype is theirs.dtype
        ow.testing.assert_close(mine, theirs, equal_nan=True, rtol=1e-4, atol=1e-5)
