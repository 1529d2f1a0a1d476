"""Modes as decorators of generators."""

from __future__ import annotations

from collections.abc import Generator
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
