"""Checks of values on a registered device: they are made when the program waits for it or copies from it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import devices.mirror
import opweave
import pytest
from opweave import library
from opweave._dispatch import dispatcher, pending_checks
from opweave._dispatch.ops import ops
from opweave.nn import functional

assert devices.mirror


@pytest.fixture
def wrong() -> Iterator[Any]:
    """A condition that does not hold."""
    yield opweave.tensor([True, False], device="mirror:0")
    pending_checks._pending.clear()


def fails(condition: Any, text: str = "late") -> None:
    assert ops.assert_values(condition, "ValueError", text) is True


@pytest.mark.parametrize(
    "wait",
    [
        lambda tensor: opweave.accelerator.synchronize("mirror:0"),
        lambda tensor: tensor.cpu(),
        lambda tensor: tensor.tolist(),
        lambda tensor: opweave.ones(3).copy_(tensor),
    ],
)
def test_the_error_comes_when_the_program_waits(wrong: Any, wait: Callable[[Any], Any]) -> None:
    tensor = opweave.ones(3).to("mirror:0")
    fails(wrong)
    with pytest.raises(ValueError, match=r"^late$"):
        wait(tensor)
    wait(tensor)


def test_devices_wait_for_their_own_checks(wrong: Any) -> None:
    other = opweave.ones(3).to("mirror:1")
    fails(wrong)
    opweave.accelerator.synchronize("mirror:1")
    assert other.tolist() == [1.0, 1.0, 1.0]
    with pytest.raises(ValueError, match=r"^late$"):
        opweave.accelerator.synchronize("mirror:0")


def test_the_first_failed_check_is_raised_and_none_is_left(wrong: Any) -> None:
    first = opweave.tensor([True], device="mirror:0")
    conditions = [first, ~first, ~first]
    for number, condition in enumerate(conditions):
        pending_checks.remember(ops.assert_values.op, (Computed(condition), "ValueError", f"check {number}"), None, 0)
    with pytest.raises(ValueError, match=r"^check 1$"):
        opweave.accelerator.synchronize("mirror:0")
    opweave.accelerator.synchronize("mirror:0")


class Computed:
    """A condition whose device computes without copies to the CPU, unlike the mirror."""

    def __init__(self, condition: Any) -> None:
        self._condition = condition

    def all(self) -> Any:
        return self._condition


def test_programs_that_never_wait_gather_few_checks(wrong: Any) -> None:
    condition = Computed(opweave.tensor(True, device="mirror:0"))
    for _ in range(1000):
        pending_checks.remember(ops.assert_values.op, (condition, "ValueError", "late"), None, 0)
        assert len(pending_checks._pending.get(opweave.device("mirror:0"), ())) <= pending_checks._MOST


def test_functions_check_on_the_device() -> None:
    table = opweave.ones(2, 3).to("mirror:0")
    with pytest.raises(IndexError, match="index out of range in self"):
        functional.embedding(opweave.tensor([2]).to("mirror:0"), table).cpu()
    loss = functional.cross_entropy(table, opweave.tensor([0, 2]).to("mirror:0"))
    assert loss.item() == pytest.approx(1.0986123)


def test_a_device_may_check_at_once(wrong: Any) -> None:
    library.register("assert_values", "mirror")(library.cpu_fallback)
    try:
        with pytest.raises(ValueError, match=r"^now$"):
            ops.assert_values(wrong, "ValueError", "now")
    finally:
        dispatcher.unregister("mirror", ops.assert_values.op)
