"""The comments of the first program of docs/neighbours.md are what its expressions are."""

from __future__ import annotations

from harness.paths import ROOT
from pages import blocks


def test_results() -> None:
    names: dict[str, object] = {}
    for line in blocks(ROOT / "docs" / "neighbours.md", "python")[0].text.splitlines():
        code, _, comment = line.partition("  # ")
        if comment and not code.startswith("import"):
            assert repr(eval(code, names)).replace("\n      ", "") == comment
        else:
            exec(code, names)
