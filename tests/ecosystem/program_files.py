"""The files of programs with other libraries: what torch answered, how they are run, and how answers are compared.

    python tests/ecosystem/program_files.py [NAME…]   asks torch, where it is installed, keeps what it answers and
                                                      writes docs/libraries.md

Each file has the constant LIBRARIES, the distributions that it needs; a docstring, which becomes a heading; and
programs, public functions whose docstrings say the library and what is run. LACKS, if it is there, says what of these
libraries does not run, and why.
"""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from own_suites import NO_TESTS, SUITES, Suite

FOLDER = Path(__file__).parent
PAGE = FOLDER.parents[1] / "docs" / "libraries.md"
NAMES = sorted(path.stem for path in (FOLDER / "programs").glob("*.py"))


def recorded(name: str) -> Any:
    return json.loads((FOLDER / "answers" / f"{name}.json").read_text())


def run(name: str, *module: str) -> Any:
    """Run the programs of a file in a process of their own, by a module of Python or with torch. Raises RuntimeError
    with all that was printed where they end without answers."""
    command = [sys.executable, *module, str(FOLDER / "run_programs.py"), str(FOLDER / "programs" / f"{name}.py")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(done.stdout + done.stderr)
    return json.loads(done.stdout.splitlines()[-1])


def differences(got: Any, expected: Any, tolerance: float, path: str = "") -> Iterator[str]:
    """The places at which two answers differ by more than a tolerance, in proportion to the size of each tensor."""
    if isinstance(expected, dict) and "values" in expected and isinstance(got, dict) and "values" in got:
        size = expected["size"]
        if got["shape"] != expected["shape"]:
            yield f"{path}: shape {got['shape']}, torch has {expected['shape']}"
        elif not np.allclose(
            got["values"], expected["values"], rtol=tolerance, atol=tolerance * np.nan_to_num(size), equal_nan=True
        ):
            error = np.nanmax(np.abs(np.subtract(got["values"], expected["values"])))
            yield f"{path}: differs by {error:.2g} from values of {size:.2g}"
        elif not np.isclose(got["size"], size, rtol=tolerance, atol=1e-30, equal_nan=True):
            yield f"{path}: absolute values have the mean {got['size']:.6g}, torch {size:.6g}"
    elif type(got) is not type(expected) or (isinstance(expected, (dict, list)) and len(got) != len(expected)):
        yield f"{path}: {got!r:.200}, torch has {expected!r:.200}"
    elif isinstance(expected, dict):
        for key, each in expected.items():
            yield from differences(got.get(key), each, tolerance, f"{path}.{key}")
    elif isinstance(expected, list):
        for at, (left, right) in enumerate(zip(got, expected, strict=True)):
            yield from differences(left, right, tolerance, f"{path}[{at}]")
    elif got != expected:
        yield f"{path}: {got!r:.200}, torch has {expected!r:.200}"


HEAD = """# Libraries written for torch

<!-- Written by tests/ecosystem/program_files.py. -->

They run as they are with opweave in the place of torch: `python -m opweave.as_torch program.py`. Install them without
what they depend on (`pip install --no-deps`), as this includes torch. Each program below runs in
`python -m pytest -m slow tests/ecosystem` and answers what torch 2.13 answered: values, gradients, weights after steps
of training, texts.
"""


SUITES_HEAD = """## Own suites

The tests that libraries bring for tensors of torch, with opweave in its place. `tests/ecosystem/test_own_suites.py`
runs them, and of the long ones a part. What passes with torch passes, but for the tests that are named.

| suite | passed | failed, and why |
|---|---|---|"""


def page() -> str:
    """The text of docs/libraries.md."""
    parts = [HEAD]
    for name in NAMES:
        module = ast.parse((FOLDER / "programs" / f"{name}.py").read_text())
        docs = {each.name: ast.get_docstring(each) for each in module.body if isinstance(each, ast.FunctionDef)}
        answers = recorded(name)
        versions = ", ".join(f"{library} {version}" for library, version in answers["libraries"].items())
        programs = "".join(f"* {' '.join((docs[program] or program).split())}\n" for program in answers["answers"])
        parts.append(f"## {str(ast.get_docstring(module)).rstrip('.')}\n\n{versions}.\n\n{programs}")
        lacks = _constants(module).get("LACKS", ())
        if lacks:
            parts.append("Not yet:\n\n" + "".join(f"* {each}\n" for each in lacks))
    rows = "".join(_row(name, suite) for name, suite in SUITES.items())
    parts.append(f"{SUITES_HEAD}\n{rows}\nWithout tests: {', '.join(NO_TESTS)}.\n")
    return "\n".join(parts)


def _row(name: str, suite: Suite) -> str:
    """A line of the table of suites."""
    reasons: dict[str, list[str]] = {}
    for test, reason in suite.failed.items():
        reasons.setdefault(reason, []).append(f"`{test}`")
    failed = "; ".join(f"{', '.join(tests)}: {reason}" for reason, tests in reasons.items())
    what = f": {suite.what}" if suite.what else ""
    return f"| {name} {suite.version}{what} | {suite.whole or suite.passed:,} | {failed or 'none'} |\n"


def _constants(module: ast.Module) -> dict[str, Any]:
    found = {}
    for each in module.body:
        if isinstance(each, ast.Assign) and isinstance(each.targets[0], ast.Name) and each.targets[0].id.isupper():
            found[each.targets[0].id] = ast.literal_eval(each.value)
    return found


def main(names: list[str]) -> None:
    for name in names or NAMES:
        answers = run(name)
        for program, answer in answers["answers"].items():
            if isinstance(answer, dict) and "error" in answer:
                raise SystemExit(f"{name}.{program} fails with torch: {answer['error']}")
        text = json.dumps(answers, separators=(",", ":")).replace('},"', '},\n"')
        (FOLDER / "answers" / f"{name}.json").write_text(text + "\n")
    PAGE.write_text(page())


if __name__ == "__main__":
    main(sys.argv[1:])
