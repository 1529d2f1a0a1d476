"""The examples in docstrings: every one is run, and must print what it says."""

from __future__ import annotations

import doctest
from collections.abc import Callable
from typing import Any

import opweave
import opweave.fft
import opweave.nn.functional
import opweave.signal
import opweave.special
import pytest

MODULES: tuple[Any, ...] = (opweave, opweave.fft, opweave.special, opweave.nn.functional, opweave.Tensor)


def examples() -> dict[str, doctest.DocTest]:
    """By the first name of each function that has any."""
    functions: dict[Callable[..., Any], str] = {}
    for module in MODULES:
        for name in dir(module):
            value = getattr(module, name)
            if callable(value) and (getattr(value, "__doc__", None) or "").find(">>>") >= 0:
                functions.setdefault(value, name)
    parser = doctest.DocTestParser()
    return {
        name: parser.get_doctest(function.__doc__ or "", {"opweave": opweave}, name, None, 0)
        for function, name in functions.items()
    }


EXAMPLES = examples()


def test_most_operators_have_an_example() -> None:
    assert len(EXAMPLES) > 100
    assert {"add", "sum", "mm", "cumsum", "t"} <= EXAMPLES.keys()


@pytest.mark.parametrize("name", EXAMPLES)
def test_example(name: str) -> None:
    report: list[str] = []
    doctest.DocTestRunner(verbose=False).run(EXAMPLES[name], out=report.append)
    assert not report, "".join(report)
