"""Modes as decorators of generators."""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import Any

import opweave as ow
import pytest


def recorded(seen: list[Any]) -> Any:
    @ow.no_grad()
    def steps() -> Generator[int, int, str]:
        seen.append(ow.is_grad_enabled())
        try:
            seen.append((yield 1))
            seen.append(ow.is_grad_enabled())
        except ValueError as error:
            seen.append((str(error), ow.is_grad_enabled()))
            yield 10
        finally:
            seen.append(("end", ow.is_grad_enabled()))
        return "done"

    return steps()


def test_what_is_sent_arrives() -> None:
    seen: list[Any] = []
    generator = recorded(seen)
    assert next(generator) == 1
    assert ow.is_grad_enabled()
    with pytest.raises(StopIteration) as stop:
        generator.send(5)
    assert stop.value.value == "done"
    assert seen == [False, 5, False, ("end", False)]


def test_what_is_thrown_arrives() -> None:
    seen: list[Any] = []
    generator = recorded(seen)
    next(generator)
    assert generator.throw(ValueError("no")) == 10
    assert ow.is_grad_enabled()
    assert seen == [False, ("no", False)]
    generator.close()
    assert seen[2:] == [("end", False)]
    assert ow.is_grad_enabled()
    generator = recorded(seen)
    next(generator)
    with pytest.raises(KeyError):
        generator.throw(KeyError("k"))
    assert ow.is_grad_enabled()


def test_closing_runs_within_the_mode() -> None:
    seen: list[Any] = []
    generator = recorded(seen)
    next(generator)
    generator.close()
    assert seen == [False, ("end", False)]


def test_anomaly_detection_is_nested_and_restored() -> None:
    state = ow.is_anomaly_enabled, ow.autograd.is_anomaly_check_nan_enabled
    assert [each() for each in state] == [False, True]
    with pytest.warns(UserWarning, match="Anomaly Detection has been enabled"):
        mode = ow.autograd.detect_anomaly(check_nan=False)
    assert [each() for each in state] == [False, True]
    with mode:
        assert [each() for each in state] == [True, False]
        with ow.autograd.set_detect_anomaly(False):
            assert [each() for each in state] == [False, True]
        assert [each() for each in state] == [True, False]
    assert [each() for each in state] == [False, True]


def test_anomalies_are_found_while_they_are_looked_for() -> None:
    x = ow.zeros(2, requires_grad=True)
    with ow.autograd.set_detect_anomaly(True):
        y = (x / x).sum()
        with pytest.warns(UserWarning, match="test_modes.py"), pytest.raises(RuntimeError, match="returned nan values"):
            y.backward()
    (x / x).sum().backward()


def test_where_leaves_do_not_decide_how_gradients_lie() -> None:
    p = ow.empty(2, 3, 4).permute(2, 0, 1).requires_grad_()
    policy = ow.autograd.enforce_grad_layout_policy

    def strides(compute: Callable[[], ow.Tensor]) -> tuple[int, ...]:
        p.grad = None
        compute().backward()
        assert p.grad.tolist() == ow.full_like(p, 2).tolist()
        return p.grad.stride()

    def twice() -> ow.Tensor:
        return (p * 2).sum()

    assert strides(twice) == p.stride() == (1, 12, 4)
    with policy(False):
        assert strides(twice) == (6, 3, 1)
        with policy():
            assert strides(twice) == (1, 12, 4)
        assert strides(lambda: p.sum() * 2) == (1, 12, 4)  # elements that are the same one are copied
        own = ow.full((2, 3, 4), 2.0).permute(2, 0, 1).contiguous()
        p.grad = None
        p.backward(own)
        assert p.grad.stride() == (1, 12, 4)
        assert p.grad.data_ptr() != own.data_ptr()
    decorated = policy(False)(lambda: strides(twice))
    assert (strides(twice), decorated(), strides(twice)) == ((1, 12, 4), (6, 3, 1), (1, 12, 4))
    mode = policy(False)
    assert strides(twice) == (6, 3, 1)
    mode.__exit__()
    assert strides(twice) == (1, 12, 4)


def test_threads_of_backward_passes_are_a_setting_of_the_thread() -> None:
    assert ow.autograd.is_multithreading_enabled()
    with ow.autograd.set_multithreading_enabled(False):
        assert not ow.autograd.is_multithreading_enabled()
        with ow.autograd.set_multithreading_enabled(True):
            assert ow.autograd.is_multithreading_enabled()
        assert not ow.autograd.is_multithreading_enabled()
    assert ow.autograd.is_multithreading_enabled()
    mode = ow.autograd.grad_mode.set_multithreading_enabled(False)
    assert not ow.autograd.is_multithreading_enabled()
    decorated = ow.autograd.set_multithreading_enabled(True)(ow.autograd.is_multithreading_enabled)
    mode.__exit__()
    assert decorated()
