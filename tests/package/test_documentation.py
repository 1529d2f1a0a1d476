"""README.md and docs/: links lead somewhere, figures are those of the measurements, the picture is a picture."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest
from harness.paths import ROOT

PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/*.md"), *ROOT.glob("examples/*.md")])


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_to_files(page: Path) -> None:
    targets = re.findall(r"\]\((?!https?:)([^)#]+)", page.read_text("utf-8"))
    assert [target for target in targets if not (page.parent / target).exists()] == []


def test_readme_is_short() -> None:
    assert len((ROOT / "README.md").read_text("utf-8").splitlines()) <= 130


def test_figures_are_those_of_the_measurements() -> None:
    script = ROOT / "benchmarks" / "report.py"
    status = subprocess.run([sys.executable, script, "--check"], check=False, capture_output=True, text=True)
    assert status.returncode == 0, f"{status.stderr}\nrun `python benchmarks/report.py --render`"


@pytest.mark.slow  # `.ci/run fresh` runs it
def test_picture_shows_what_codegen_makes(tmp_path: Path) -> None:
    drawn = tmp_path / "pipeline.svg"
    subprocess.run([sys.executable, ROOT / "tools" / "draw_pipeline.py", drawn], check=True)
    shown, made = (numbers_of(path) for path in (ROOT / "docs" / "pipeline.svg", drawn))
    assert len(made) == len(shown) > 5
    assert all(abs(number - other) <= 0.2 * other for number, other in zip(shown, made, strict=True)), (shown, made)


def numbers_of(picture: Path) -> list[int]:
    texts = [text.text or "" for text in ElementTree.parse(picture).getroot().findall(".//{*}text")]
    return [int(number.replace(",", "")) for text in texts for number in re.findall(r"\d[\d,]*", text)]
