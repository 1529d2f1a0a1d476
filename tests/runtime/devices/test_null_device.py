"""A device that computes nothing: results have the dtype, the shape and the strides that they have on the CPU."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import devices.null
import opweave
import pytest
from devices.test_device_examples import moved
from harness.documented import OPERATORS, calls_of

assert devices.null

OF_VALUES = {
    "argwhere", "bincount", "masked_select", "nonzero", "nonzero_static", "one_hot", "segment_reduce", "unique",
    "unique_consecutive",
}  # fmt: skip
"""Operators whose results depend on elements: there are none."""


def described(value: Any) -> Any:
    if isinstance(value, (tuple, list)):
        return [*map(described, value)]
    return (value.dtype, value.shape, value.stride()) if isinstance(value, opweave.Tensor) else type(value)


@pytest.mark.filterwarnings("ignore")
def test_examples() -> None:
    different = set()
    for name, operator in OPERATORS.items():
        call = calls_of(operator)[-1]
        want = described(call())
        try:
            with opweave.device("null"):
                got = replace(call, values={key: moved(value, "null") for key, value in call.values.items()})()
        except (NotImplementedError, RuntimeError):
            different.add(name)
        else:
            different |= {name} if described(got) != want else set()
    assert different == OF_VALUES
