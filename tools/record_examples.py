"""Run the examples of docs/examples.txt and write what they print: `python tools/record_examples.py`.

A public operator that has no example yet, neither there nor a derived one, gets a call with small inputs that it takes,
which may be replaced by one that says more. Those that take none of these are named, and the exit status is 1.
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
from codegen.model.operator import Operator  # noqa: E402
from codegen.model.parts import python_name  # noqa: E402
from codegen.model.variants import own_name  # noqa: E402
from codegen.schema import Argument  # noqa: E402

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


TENSORS = ("[[1.0, 2.0], [4.0, 3.0]]", "[0.5, 2.0, 1.0]", "[[[[1.0, 2.0], [4.0, 3.0]]]]", "[3, 1, 2]", "[True, False]")


def proposed(operator: Operator) -> str | None:
    """A call with the same small tensor in place of each one that is required; None where no such call succeeds."""
    path = ".".join(filter(None, ("opweave", operator.module, own_name(operator))))
    required = [argument for argument in operator.schema.arguments if argument.default is None]
    for tensor in TENSORS:
        given = [f"{python_name(argument.name)}={value_of(argument, tensor)}" for argument in required]
        session = f">>> {path}({', '.join(given)})"
        with contextlib.suppress(Exception):  # it does not take these
            return recorded(session)
    return None


def value_of(argument: Argument, tensor: str) -> str:
    """The text of a value that an argument may have."""
    if argument.is_tensor or argument.is_tensor_list:
        one = f"opweave.tensor({tensor})"
        return f"[{one}, {one}]" if argument.is_tensor_list else one
    if argument.is_list:
        return "(1, 1)"
    return "1" if argument.is_integral else "0.5" if argument.is_real else "2"


def main() -> None:
    """Write the outputs of all examples to docs/examples.txt."""
    head = "".join(line for line in PATH.read_text("utf-8").splitlines(keepends=True) if line.startswith("#"))
    known = {name: recorded(session) for name, session in sessions.read(PATH).items()}
    operators = library.read(ROOT / "ops.yaml", "ops.yaml")
    without = [o for o in operators if not o.internal and examples.example(o, "opweave", known) is None]
    known |= {operator.name: session for operator in without if (session := proposed(operator)) is not None}
    PATH.write_text(sessions.text(known, head), "utf-8")
    missing = [operator.name for operator in without if operator.name not in known]
    sys.exit(f"without an example: {', '.join(missing)}" if missing else 0)


if __name__ == "__main__":
    main()
