"""autograd.graph: settings of torch's that nothing follows from here, and errors of its hooks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import opweave as ow
import pytest
from derivatives import check_outcome
from opweave.autograd import graph

SETTINGS: dict[str, Callable[[Any], Any]] = {
    "names": lambda lib: sorted(lib.autograd.graph.__all__),
    "warn": lambda lib: lib.autograd.graph.set_warn_on_accumulate_grad_stream_mismatch(True),
    "warn of a number": lambda lib: lib.autograd.graph.set_warn_on_accumulate_grad_stream_mismatch(3),
    "override": lambda lib: lib.autograd.graph.set_override_stale_capture_stream(False),
    "override of a text": lambda lib: lib.autograd.graph.set_override_stale_capture_stream("a"),
    "budget": lambda lib: lib.autograd.graph.region_activation_memory_budget(0.5),
    "budget of a bool": lambda lib: lib.autograd.graph.region_activation_memory_budget(True),
    "budget of a text": lambda lib: lib.autograd.graph.region_activation_memory_budget("a"),
    "too large a budget": lambda lib: lib.autograd.graph.region_activation_memory_budget(1.5),
    "no budget": lambda lib: lib.autograd.graph.region_activation_memory_budget(float("nan")),
}


@pytest.mark.oracle
def test_settings() -> None:
    for name, case in SETTINGS.items():
        check_outcome(case, name)


@pytest.mark.oracle
def test_errors_of_hooks_for_several_gradients() -> None:
    for name, tensors, mode in [
        ("mode", lambda lib: [lib.ones(1, requires_grad=True)], "x"),
        ("any of none", lambda lib: [lib.ones(1)], "any"),
        ("none", lambda lib: None, "all"),
    ]:

        def register(lib: Any, tensors: Any = tensors, mode: Any = mode) -> int:
            return len(lib.autograd.graph.register_multi_grad_hook(tensors(lib), print, mode=mode).handles)

        check_outcome(register, name)


def test_no_hook_is_left_where_a_tensor_requires_no_gradient() -> None:
    x = ow.ones(1, requires_grad=True)
    seen: list[Any] = []
    with pytest.raises(AssertionError, match=r"Expected gradient function to be set, but tensors\[1\]"):
        graph.register_multi_grad_hook([x, ow.ones(1)], seen.append)
    x.sum().backward()
    assert not seen
    assert isinstance(graph.register_multi_grad_hook([x], print), ow.utils.hooks.RemovableHandle)


@pytest.mark.oracle
def test_saved_tensors_that_are_on_the_cpu_are_kept_as_they_are() -> None:
    def run(lib: Any, pinned: bool) -> Any:
        a = lib.ones(3, requires_grad=True)
        b = a * 1
        with lib.autograd.graph.save_on_cpu(pin_memory=pinned):
            c = (b * b).sum()
        with lib.no_grad():
            b.mul_(5)
        c.backward()
        return a.grad

    for pinned in (False, True):
        check_outcome(lambda lib, pinned=pinned: run(lib, pinned), f"pinned {pinned}")  # type: ignore[misc]


def test_the_text_of_a_refusal_is_text() -> None:
    with pytest.raises(TypeError, match=r"argument 'error_message' \(position 1\) must be str, not int"):
        graph.disable_saved_tensors_hooks(3)  # type: ignore[arg-type]
