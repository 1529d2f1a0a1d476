"""docs/dispatch.md names the keys in the order in which they are asked."""

from __future__ import annotations

import re

from harness.paths import ROOT
from opweave._dispatch import dispatcher


def test_the_order_of_keys() -> None:
    page = (ROOT / "docs" / "dispatch.md").read_text("utf-8")
    rows = re.findall(r"^\| (`.*?) \|", page, re.MULTILINE)
    assert re.findall(r"`(\w+)`", " ".join(rows)) == list(dispatcher._ORDER)
