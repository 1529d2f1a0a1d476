"""docs/export.md: its programs run."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from harness.paths import ROOT

PROGRAMS = re.findall(r"```python\n(.*?)```", (ROOT / "docs" / "export.md").read_text("utf-8"), re.DOTALL)


@pytest.mark.parametrize("program", PROGRAMS)
def test_programs_run(program: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if "onnx" in program:
        pytest.importorskip("onnx", reason="models are made by the package onnx")
    monkeypatch.chdir(tmp_path)
    exec(compile(program, "docs/export.md", "exec", dont_inherit=True), {})
