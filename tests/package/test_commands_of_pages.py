"""Commands in README.md and docs/: their programs, files, subcommands and options exist. None of them is run."""

from __future__ import annotations

import argparse
import contextlib
import importlib.util
import io
import re
import shlex
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from harness.paths import ROOT
from opweave._weave import cli
from pages import PAGES, blocks, prose

OTHERS = {"auditwheel", "build", "cd", "ruff", "sphinx-build", "$EDITOR", "."}
"""Programs of others, of which only the name is looked at."""


def commands(page: Path) -> Iterator[str]:
    """The commands of a page: lines of its blocks, and code in its text that begins as one."""
    for block in blocks(page, "sh"):
        yield from block.text.splitlines()
    yield from re.findall(r"`((?:opweave|python|pip|\.ci/\w+|sphinx-build|[A-Z_]+=\S+ python) [^`\n]+)`", prose(page))


def parts(line: str) -> Iterator[list[str]]:
    """The words of each command that `&&` joins, without settings of the environment and redirections."""
    words = shlex.split(re.sub(r"\[(\w+)\.\.\.\]", r"\1", line), comments=True)
    while words:
        end = words.index("&&") if "&&" in words else len(words)
        command = words[:end]
        while command and re.match(r"[A-Z_]+=", command[0]):
            del command[0]
        yield command[: command.index(">")] if ">" in command else command
        words = words[end + 1 :]


def check_opweave(words: list[str]) -> None:
    parser = cli._parser()
    said = io.StringIO()
    try:
        with contextlib.redirect_stderr(said), contextlib.redirect_stdout(said):
            parser.parse_args(words)
    except SystemExit:
        # A text names commands without their files as well: `opweave weave`.
        assert len(words) == 1, said.getvalue()
        assert "the following arguments are required" in said.getvalue(), said.getvalue()
    for word in words[1:]:
        check_file(word)


def check_python(words: list[str]) -> None:
    first, *rest = words
    if first == "-c":
        compile(rest[0], "-c", "exec")
    elif first == "-m":
        if rest[0] in OTHERS:
            return
        found = importlib.util.find_spec(rest[0])
        assert found is not None, f"no module {rest[0]}"
        assert found.origin is not None
        if rest[0].partition(".")[0] in ("opweave", "codegen"):
            origin = Path(found.origin)
            check_options(origin.parent if origin.name == "__init__.py" else origin, rest[1:])
        for word in rest[1:]:
            check_file(word)
    elif first not in ("script.py", "program.py"):  # the reader's own
        assert (ROOT / first).exists(), f"no file {first}"
        check_options(ROOT / first, rest)


def check_options(program: Path, words: list[str]) -> None:
    """Options stand in the source of the program that takes them, a file or a folder."""
    files = program.glob("*.py") if program.is_dir() else [program]
    source = "".join(path.read_text("utf-8") for path in files)
    for option in (word for word in words if word.startswith("--")):
        assert f'"{option}"' in source, f"no option {option}"


def check_pip(words: list[str]) -> None:
    _, _, sections = (ROOT / "pyproject.toml").read_text("utf-8").partition("[project.optional-dependencies]")
    extras = set(re.findall(r"^(\w+) = \[", sections.partition("\n[")[0], re.MULTILINE))
    for names in re.findall(r"(?:\.|opweave)\[([\w,]+)\]", " ".join(words)):
        assert set(names.split(",")) <= extras


def check_file(word: str) -> None:
    """A path of the repository leads to something."""
    if word.startswith(("examples/", "tests/", "benchmarks/", "docs/", "tools/", "generated/")):
        assert (ROOT / word).exists() or word == "generated/tests", f"no file {word}"


CHECKS: dict[str, Callable[[list[str]], None]] = {
    "opweave": check_opweave,
    "python": check_python,
    "python3": check_python,
    "pip": check_pip,
}


def check(line: str) -> None:
    for program, *words in filter(None, parts(line)):
        if program.startswith(".ci/"):
            assert (ROOT / program).exists(), f"no file {program}"
        elif program not in OTHERS:
            assert program in CHECKS, f"what checks the command {program}?"
            CHECKS[program](words)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_commands_exist(page: Path) -> None:
    for line in commands(page):
        try:
            check(line)
        except (AssertionError, ValueError, argparse.ArgumentError) as error:
            raise AssertionError(f"{page.name}: {line}: {error}") from error


@pytest.mark.parametrize(
    "line",
    [
        "opweave wave my_ops.yaml",
        "opweave weave my_ops.yaml --fast",
        "opweave weave examples/nothing.yaml",
        "python benchmarks/nothing.py",
        "python benchmarks/report.py --nothing",
        "python -m opweave.nothing",
        "pip install '.[nothing]'",
        ".ci/nothing",
        "nothing",
    ],
)
def test_others_are_found_out(line: str) -> None:
    with pytest.raises(AssertionError):
        check(line)
