"""README.md and docs/: links lead somewhere, figures are those of the measurements, the picture is a picture."""

from __future__ import annotations

import doctest
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


@pytest.mark.parametrize(
    "page", [page for page in PAGES if ">>> " in page.read_text("utf-8")], ids=lambda page: page.name
)
def test_sessions_print_what_they_say(page: Path) -> None:
    text = re.sub(r"^```.*$", "", page.read_text("utf-8"), flags=re.MULTILINE)  # what ends a block ends an output
    report: list[str] = []
    session = doctest.DocTestParser().get_doctest(text, {}, page.name, str(page), 0)
    doctest.DocTestRunner(verbose=False).run(session, out=report.append)
    assert not report, "".join(report)


BLOCK = re.compile(r"^```python\n(?!>>> )(.*?)^```$", re.MULTILINE | re.DOTALL)
OTHERS = ("README", "coming-from", "dispatch", "export", "files", "generalized-tensors", "neighbours")
"""Pages whose programs have tests of their own."""
PROGRAMS = [page for page in PAGES if page.stem not in OTHERS and BLOCK.search(page.read_text("utf-8"))]


@pytest.mark.parametrize("page", PROGRAMS, ids=lambda page: page.name)
def test_programs_run(page: Path, tmp_path: Path) -> None:
    """The blocks of a page are one program."""
    program = "\n".join(BLOCK.findall(page.read_text("utf-8")))
    done = subprocess.run([sys.executable, "-c", program], check=False, capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 0, done.stderr


def test_the_site_has_every_page() -> None:
    """A page that is in no table of contents would be a warning of Sphinx, which the build of the site refuses."""
    listed = set[str]()
    for page in ROOT.glob("docs/*.md"):
        for block in re.findall(r"^```{toctree}\n(.*?)^```", page.read_text("utf-8"), re.MULTILINE | re.DOTALL):
            lines = (line for line in block.splitlines() if line and not line.startswith(":"))
            listed |= {line.partition("<")[2].rstrip(">") or line for line in lines}
    assert {page.stem for page in ROOT.glob("docs/*.md")} - listed == {"index"}


def test_readme_is_short() -> None:
    assert len((ROOT / "README.md").read_text("utf-8").splitlines()) < 110


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
