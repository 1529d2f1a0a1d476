"""The package as type checkers see it: mypy and pyright over programs of users, mypy over every name that there is.

Each runs once, over the package in the form in which it is installed, which `.ci/typecheck` links together.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

import opweave
import pytest
from harness.paths import ROOT, with_interpreter
from opweave import _dtypes, _operators
from opweave._tensor import absent_names, removed

from codegen.generate import locked

pytest.importorskip("mypy")

CODE = Path(__file__).resolve().parent / "typing"
MISUSE = CODE / "misuse.py"
USER_CODE = CODE / "user_code.py"
TRAINING = CODE / "training.py"
Report = dict[str, dict[int, list[str]]]

# What the functions and dtypes are called, whatever module has them, and what class Tensor has of its own.
MODULE_NAMES = sorted(
    {*opweave.__all__, *_operators.FUNCTIONS, *(name for row in _dtypes.TABLE for name in (row[0], *row[5]))}
)
# Methods that only say what to call instead are none that a type checker should find.
TENSOR_NAMES = sorted(
    name
    for name in dir(opweave.Tensor)
    if (name[0] != "_" or name in _operators.METHODS) and name not in {*removed.FUNCTIONS, *absent_names.ABSENT}
)
# An element is whatever its dtype says; lists of lists have no type; `max` is a tensor or a named tuple; and so on.
UNTYPED = {"tolist", "grad", "grad_fn", "load", "max", "min", "median", "nanmedian", "unique", "unique_consecutive"}


@pytest.fixture(scope="module")
def names(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A program that asks for the type of everything."""
    lines = ["import opweave", "x = opweave.ones(1)"]
    lines += [f"reveal_type(opweave.{name})" for name in MODULE_NAMES]
    lines += [f"reveal_type(x.{name})" for name in TENSOR_NAMES]
    path = tmp_path_factory.mktemp("names") / "names.py"
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.fixture(scope="module")
def star(names: Path) -> Path:
    """A program that takes every public name, and for which `int` is still Python's."""
    lines = ["from opweave import *", *opweave.__all__, "number: int = 1"]
    path = names.with_name("star.py")
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.fixture(scope="module")
def report(names: Path, star: Path) -> Report:
    """What mypy says: the messages by file and line."""
    # Processes take turns, as they share the cache.
    with locked(CODE):
        done = subprocess.run(
            [ROOT / ".ci" / "typecheck", "--no-error-summary", USER_CODE, TRAINING, MISUSE, names, star],
            env=with_interpreter(),
            capture_output=True,
            text=True,
            check=False,
        )
    assert done.returncode in (0, 1), done.stdout + done.stderr
    result: Report = defaultdict(lambda: defaultdict(list))
    for line in done.stdout.splitlines():
        parts = re.fullmatch(r"(?P<path>.*?):(?P<line>\d+): (?P<message>.*)", line)
        assert parts is not None, line
        result[Path(parts["path"]).name][int(parts["line"])].append(parts["message"])
    return result


@pytest.mark.parametrize("program", [USER_CODE, TRAINING], ids=lambda program: program.stem)
def test_user_code_is_accepted(report: Report, program: Path) -> None:
    assert report[program.name] == {}


@pytest.mark.parametrize("program", [USER_CODE, TRAINING], ids=lambda program: program.stem)
def test_user_code_runs(program: Path) -> None:
    # In a fresh process, so that nothing else has imported what it forgot to.
    subprocess.run([sys.executable, program], cwd=ROOT, check=True)


def test_mistakes_are_refused(report: Report) -> None:
    expected = mistakes()
    results = {
        number: ", ".join(re.findall(r"^error: .*\[([a-z-]+)\]$", "\n".join(messages), re.MULTILINE))
        for number, messages in report[MISUSE.name].items()
    }
    assert expected
    assert results == expected


def mistakes() -> dict[int, str]:
    """The lines that are mistakes, and what mypy calls each."""
    lines = enumerate(MISUSE.read_text().splitlines(), 1)
    return {number: line.split("  # ")[1] for number, line in lines if "  # " in line}


def test_pyright_agrees(report: Report, tmp_path: Path) -> None:
    """In its strict mode it accepts what users write, and finds the mistakes that mypy finds."""
    command = shutil.which("pyright")
    if command is None or subprocess.run([command, "--version"], capture_output=True, check=False).returncode:
        pytest.skip("there is no pyright")
    files = [shutil.copy(path, tmp_path) for path in (USER_CODE, TRAINING, MISUSE)]
    options = {"include": files, "extraPaths": [str(ROOT / "build" / "types")], "typeCheckingMode": "strict"}
    (tmp_path / "pyrightconfig.json").write_text(json.dumps(options))
    arguments = ["--outputjson", "--pythonpath", sys.executable, "--project", str(tmp_path)]
    done = subprocess.run([command, *arguments], capture_output=True, text=True, check=False)
    result: Report = defaultdict(lambda: defaultdict(list))
    for message in json.loads(done.stdout)["generalDiagnostics"]:
        result[Path(message["file"]).name][message["range"]["start"]["line"] + 1].append(message["message"])
    assert result[USER_CODE.name] == {}
    assert result[TRAINING.name] == {}
    assert set(result[MISUSE.name]) == set(mistakes())


def test_the_package_itself_is_accepted(report: Report) -> None:
    """Nothing is reported outside the programs, where a user could do nothing about it."""
    assert set(report) <= {USER_CODE.name, TRAINING.name, MISUSE.name, "names.py", "star.py"}


def test_star_import_takes_the_public_names(report: Report) -> None:
    assert report["star.py"] == {}


def test_every_name_has_a_type(report: Report) -> None:
    wrong = []
    for number, name in enumerate([*MODULE_NAMES, *TENSOR_NAMES], 3):
        messages = report["names.py"].get(number, [])
        revealed = re.fullmatch(r'note: Revealed type is "(.*)"', messages[0] if messages else "")
        result = "" if revealed is None else revealed[1].rpartition("-> ")[2]
        if revealed is None or (result == "Any" and name not in UNTYPED):
            wrong.append((name, messages))
    assert wrong == []
