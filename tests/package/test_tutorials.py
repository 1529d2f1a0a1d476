"""The cells of each tutorial run, one after the other in one program, as the site runs them."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest
from harness.paths import ROOT
from pages import blocks
from scripts import script

TUTORIALS = sorted(page for page in ROOT.glob("docs/tutorials/*.md") if page.stem != "index")
MODULES = ("numpy", "opweave", "matplotlib.pyplot", "sklearn.datasets")
"""What tutorials import; it takes longer than the cells of most of them."""


@pytest.mark.parametrize("page", TUTORIALS, ids=lambda page: page.stem)
def test_cells_run(page: Path, tmp_path: Path) -> None:
    for package in ("matplotlib", "sklearn"):
        pytest.importorskip(package)
    cells = [block.text for block in blocks(page)]
    for optional in re.findall(r"^import (pandas)\b", "".join(cells), re.MULTILINE):
        pytest.importorskip(optional)
    assert len(cells) > 3
    assert "plt." in "".join(cells), "a tutorial has a picture"
    program = tmp_path / "cells.py"
    program.write_text("\n".join(["import matplotlib", 'matplotlib.use("Agg")', *cells]), "utf-8")
    script(f"import runpy; runpy.run_path({os.fspath(program)!r}, run_name='__main__')", cwd=tmp_path, modules=MODULES)
