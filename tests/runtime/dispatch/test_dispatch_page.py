"""The programs of docs/dispatch.md run as they stand, one after the other."""

from __future__ import annotations

import re
from typing import Any

from harness.paths import ROOT
from opweave._dispatch import dispatcher

PAGE = (ROOT / "docs" / "dispatch.md").read_text("utf-8")
PROGRAMS = re.findall(r"^```python\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)


def test_programs() -> None:
    names: dict[str, Any] = {"__name__": "page"}
    for program in PROGRAMS:
        exec(compile(program, "dispatch.md", "exec"), names)


def test_the_order_of_keys() -> None:
    rows = re.findall(r"^\| (`.*?) \|", PAGE, re.MULTILINE)
    assert re.findall(r"`(\w+)`", " ".join(rows)) == list(dispatcher._ORDER)
