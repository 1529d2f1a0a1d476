"""The programs of docs/dispatch.md run as they stand, one after the other."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest
from harness.paths import ROOT
from opweave._dispatch import dispatcher

PAGE = (ROOT / "docs" / "dispatch.md").read_text("utf-8")
PROGRAMS = re.findall(r"^```python\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)


@pytest.fixture
def registrations() -> Iterator[None]:
    yield
    dispatcher.unregister("cuda")


def test_programs(registrations: None) -> None:
    names: dict[str, Any] = {"__name__": "page"}
    for program in PROGRAMS:
        exec(compile(program, "dispatch.md", "exec"), names)


def test_a_backend_is_forty_lines() -> None:
    backend = PROGRAMS[0].partition("\n\n\nx = ")[0]
    assert len(backend.splitlines()) <= 40


def test_the_order_of_keys() -> None:
    rows = re.findall(r"^\| (`.*?) \|", PAGE, re.MULTILINE)
    assert re.findall(r"`(\w+)`", " ".join(rows)) == list(dispatcher.KEYS)
