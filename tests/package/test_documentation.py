"""README.md and docs/: links lead somewhere, figures are those of the measurements, the picture is a picture."""

from __future__ import annotations

import ast
import doctest
import inspect
import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from xml.etree import ElementTree

import pytest
from harness.paths import ROOT
from opweave import _derivatives
from opweave._weave.weave import WeaveError, weave
from pages import GENERATED, LANGUAGES, PAGES, blocks, prose
from weaving import python


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_to_files(page: Path) -> None:
    targets = [page.parent / target for target in re.findall(r"\]\((?!https?:)([^)#]+)", page.read_text("utf-8"))]
    assert [path for path in targets if not path.exists() and path.parent not in GENERATED] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_to_headings(page: Path) -> None:
    links = re.findall(r"\]\((?!https?:)([^)#]*)#([^)]+)\)", page.read_text("utf-8"))
    assert [
        f"{path}#{name}" for path, name in links if name not in headings(page.parent / path if path else page)
    ] == []


def headings(page: Path) -> set[str]:
    """Return the anchors of the headings of a page, as GitHub and the site make them from their text."""
    texts = re.findall(r"^#+ (.+)$", prose(page), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", text.lower()).replace(" ", "-") for text in texts}


def test_pages_that_sources_name_exist() -> None:
    """In errors, help, docstrings and comments."""
    folders = ("library", "runtime", "codegen", "templates", "benchmarks", "tools", "examples")
    paths = [
        path for folder in folders for path in (ROOT / folder).rglob("*") if path.suffix in (".py", ".c", ".h", ".j2")
    ]
    texts = [path.read_text("utf-8") for path in [*paths, ROOT / "ops.yaml", ROOT / "pyproject.toml"]]
    named = {found for text in texts for found in re.findall(r"\b(docs/[\w/-]+\.md)(?:#([\w-]+))?", text)}
    assert len(named) > 5
    assert [page for page, _ in named if not (ROOT / page).exists()] == []
    assert [each for each in named if each[1] and each[1] not in headings(ROOT / each[0])] == []


def test_every_block_is_tested() -> None:
    """By its language. Code that is only indented would have none."""
    found = [block for page in PAGES for block in blocks(page)]
    assert [f"{block.page}:{block.line}" for block in found if block.language not in LANGUAGES] == []
    indented = {page.name: re.findall(r"\n\n {4,}.*", prose(page)) for page in PAGES}
    assert {name: found for name, found in indented.items() if found} == {}


@pytest.mark.parametrize(
    "page", [page for page in PAGES if ">>> " in page.read_text("utf-8")], ids=lambda page: page.name
)
def test_sessions_print_what_they_say(page: Path) -> None:
    report: list[str] = []
    text = "\n".join(block.text for block in blocks(page, "python") if block.text.startswith(">>> "))
    session = doctest.DocTestParser().get_doctest(text, {}, page.name, str(page), 0)
    doctest.DocTestRunner(verbose=False).run(session, out=report.append)
    assert not report, "".join(report)


def test_excerpts_stand_in_the_sources() -> None:
    """Lines of code of the internals are still those of the files that they are from."""
    files = [*ROOT.glob("library/nn/modules/*.py"), *ROOT.glob("codegen/expr/functions/*.py")]
    sources = "".join(path.read_text("utf-8") for path in files) + inspect.getsource(_derivatives)
    excerpts = [block.text for page in PAGES for block in blocks(page, "text") if not is_output(block.text)]
    assert len(excerpts) > 2
    lines = [line.strip() for text in excerpts for line in text.splitlines() if line.strip() != "..."]
    assert [line for line in lines if line not in sources] == []


def is_output(text: str) -> bool:
    """Tell whether a block is a drawing or a message."""
    return " → " in text or ": error: " in text


def test_the_message_of_a_mistake(tmp_path: Path) -> None:
    (message,) = (block.text for page in PAGES for block in blocks(page, "text") if ": error: " in block.text)
    file = tmp_path / "ops.yaml"
    line = re.findall(r"^ +\d+ \| (.+)$", message, re.MULTILINE)[0]
    entry = "- func: mixed(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor\n  doc: A sum."
    file.write_text("\n" * 7 + f"{entry}\n{line}\n", "utf-8")
    with pytest.raises(WeaveError) as caught:
        weave(file, out=tmp_path)
    assert message.strip() in str(caught.value).replace(f"{tmp_path}/", "")


def programs(page: Path) -> list[str]:
    """The blocks of a page as one program, and those that start processes, which would run all of it, as others."""
    found = [block.text for block in blocks(page, "python") if not block.text.startswith(">>> ")]
    found = [each for each in found if all(find_spec(name) or example(name).exists() for name in imported(each))]
    alone = [each for each in found if "if __name__" in each]
    return ["\n".join(each for each in found if each not in alone), *alone]


def imported(text: str) -> set[str]:
    """Return the packages that a program imports."""
    found = [node for node in ast.walk(ast.parse(text)) if isinstance(node, (ast.Import, ast.ImportFrom))]
    names = [each.module if isinstance(each, ast.ImportFrom) else each.names[0].name for each in found]
    names += [name.name for each in found if isinstance(each, ast.Import) for name in each.names[1:]]
    return {name.partition(".")[0] for name in names if name and not name.startswith("torch")}


def example(name: str) -> Path:
    """The declarations of a package that a page says to weave."""
    return ROOT / "examples" / f"{name}.yaml"


@pytest.mark.parametrize("page", [page for page in PAGES if any(programs(page))], ids=lambda page: page.name)
def test_programs_run(page: Path, tmp_path: Path) -> None:
    for program in programs(page):
        for name in imported(program):
            if example(name).exists():
                weave(example(name), out=tmp_path)
        (tmp_path / "page.py").write_text(program, "utf-8")
        python("page.py", cwd=tmp_path)


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
