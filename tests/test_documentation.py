"""README.md and docs/: links lead somewhere, figures are those of the measurements, the picture is a picture."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

ROOT = Path(__file__).resolve().parent.parent
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


def test_picture_shows_every_stage() -> None:
    picture = ElementTree.parse(ROOT / "docs" / "pipeline.svg").getroot()
    titles = [text.text for text in picture.findall(".//{*}text") if text.get("class") == "title"]
    assert titles[:3] == ["ops.yaml", "typed tree", "package opweave"]
    assert titles[3:] == ["C kernels", "Python", "autograd", "type stubs", "tests"]
