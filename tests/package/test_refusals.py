"""Namespaces whose functions say what to use in place of them."""

from __future__ import annotations

import opweave
import pytest


@pytest.mark.parametrize("name", ["script", "trace", "load", "save", "freeze"])
def test_nothing_is_scripted(name: str) -> None:
    with pytest.raises(NotImplementedError, match=rf"opweave.jit.{name}\(\) does not exist: "):
        getattr(opweave.jit, name)(lambda x: x)


@pytest.mark.parametrize("name", ["load", "list", "help", "load_state_dict_from_url"])
def test_nothing_is_downloaded(name: str) -> None:
    with pytest.raises(NotImplementedError, match=rf"opweave.hub.{name}\(\) does not exist: "):
        getattr(opweave.hub, name)("owner/repository")


def test_marks_of_functions_do_nothing() -> None:
    jit = opweave.jit

    @jit.ignore
    @jit.unused
    @jit.export
    def function(x: int) -> int:
        return x + 1

    assert jit.ignore(drop=True)(function)(1) == 2
    assert not jit.is_scripting()
    assert not jit.is_tracing()
