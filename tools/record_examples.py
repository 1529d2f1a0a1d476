"""Run the examples of docs/examples.txt and write what they print: `python tools/record_examples.py`.

Names the public operators that have no example yet, neither there nor a derived one, and exits with status 1 when
there are any.
"""

from __future__ import annotations

import contextlib
import doctest
import io
import sys
from pathlib import Path

import opweave

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from codegen import library  # noqa: E402 (found beside this folder)
from codegen.docs import examples, sessions  # noqa: E402

PATH = ROOT / "docs" / "examples.txt"


def recorded(session: str) -> str:
    """The session with the output of its inputs as it is now."""
    scope = {"opweave": opweave}
    lines = []
    for example in doctest.DocTestParser().get_examples(session):
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(example.source, "<example>", "single"), scope)
        first, *more = example.source.splitlines()
        lines += [f">>> {first}", *(f"... {line}" for line in more), *printed.getvalue().splitlines()]
    return "\n".join(lines)


def main() -> None:
    """Write the outputs of all examples to docs/examples.txt."""
    head = "".join(line for line in PATH.read_text("utf-8").splitlines(keepends=True) if line.startswith("#"))
    known = {name: recorded(session) for name, session in sessions.read(PATH).items()}
    PATH.write_text(sessions.text(known, head), "utf-8")
    operators = library.read(ROOT / "ops.yaml", "ops.yaml")
    missing = [o.name for o in operators if not o.internal and examples.example(o, "opweave", known) is None]
    sys.exit(f"without an example: {', '.join(missing)}" if missing else 0)


if __name__ == "__main__":
    main()
