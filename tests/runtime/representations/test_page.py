"""The sessions of docs/generalized-tensors.md give what stands there, one section after the other."""

from __future__ import annotations

import doctest
import re

import pytest
from harness.paths import ROOT

PAGE = (ROOT / "docs" / "generalized-tensors.md").read_text("utf-8")
SECTIONS = dict(re.findall(r"^## (.*?)\n(.*?)(?=^## |\Z)", PAGE, re.MULTILINE | re.DOTALL))


@pytest.mark.parametrize("section", SECTIONS)
def test_sessions(section: str) -> None:
    sessions = re.findall(r"^```python\n(.*?)^```$", SECTIONS[section], re.MULTILINE | re.DOTALL)
    assert sessions
    example = doctest.DocTestParser().get_doctest("\n".join(sessions), {}, section, None, 0)
    report: list[str] = []
    doctest.DocTestRunner(verbose=False).run(example, out=report.append)
    assert not report, "".join(report)
