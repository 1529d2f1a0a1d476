"""Every operator on a device that has nothing but its memory: the results are those of the CPU."""

from __future__ import annotations

import gc
from dataclasses import replace
from typing import Any

import devices.mirror
import opweave
import pytest
from harness.documented import OPERATORS, calls_of

DEVICE = "mirror"


def moved(value: Any, device: str) -> Any:
    """Tensors on a device, in sequences too."""
    if isinstance(value, opweave.Tensor):
        return value.to(device)
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)([moved(each, device) for each in value])
    if isinstance(value, (tuple, list)) and not isinstance(value, opweave.Size):
        return type(value)([moved(each, device) for each in value])
    return value


def described(value: Any) -> Any:
    return [*map(described, value)] if isinstance(value, (tuple, list)) else repr(value)


def places(value: Any) -> set[str]:
    """The devices of tensors."""
    if isinstance(value, (tuple, list)):
        return set().union(*map(places, value))
    return {value.device.type} if isinstance(value, opweave.Tensor) else set()


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", OPERATORS)
def test_example(name: str) -> None:
    call = calls_of(OPERATORS[name])[-1]
    opweave.manual_seed(0)
    want = call()
    opweave.manual_seed(0)
    with opweave.device(DEVICE):
        got = replace(call, values={name: moved(value, DEVICE) for name, value in call.values.items()})()
    assert places(got) <= {DEVICE}
    if "empty" in name:  # the elements are not determined
        assert [each.shape for each in (got, want)] == [want.shape] * 2
    else:
        assert described(moved(got, "cpu")) == described(want)


def test_nothing_is_left() -> None:
    gc.collect()  # modules of tests that were imported have left cycles
    assert all(memory.used == 0 for memory in devices.mirror.MEMORIES)
