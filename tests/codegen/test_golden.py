"""The text generated for a small file of operators, compared with what stands in tests/codegen/golden/generated.

After a change of a template or an emitter that is meant, this writes the new text; look at its diff:

    OPWEAVE_UPDATE_GOLDEN=1 python -m pytest tests/codegen/test_golden.py
"""

from __future__ import annotations

import difflib
import os
from pathlib import Path

from codegen import emit, generate, library
from codegen.model.family import FAMILIES
from codegen.model.operator import Family, Operator

FOLDER = Path(__file__).parent / "golden"
EXPECTED = FOLDER / "generated"
UPDATE = "OPWEAVE_UPDATE_GOLDEN"
HINT = f"if the change is meant: {UPDATE}=1 python -m pytest tests/codegen/test_golden.py"


def operators() -> tuple[Operator, ...]:
    return library.read(FOLDER / "ops.yaml", "ops.yaml")


def generated() -> dict[str, str]:
    """Everything that depends on the operators; the rest follows from the tables of codegen."""
    everything = emit.outputs(operators(), "ops.yaml")
    of_tables = emit.outputs((), "ops.yaml")
    return {path: text for path, text in everything.items() if of_tables.get(path) != text}


def difference(path: str, text: str) -> str:
    expected = (EXPECTED / path).read_text(encoding="utf-8") if (EXPECTED / path).is_file() else ""
    lines = difflib.unified_diff(
        expected.splitlines(), text.splitlines(), f"expected {path}", f"generated {path}", lineterm=""
    )
    return "\n".join(lines)


def test_the_generated_text_is_as_expected() -> None:
    files = generated()
    if os.environ.get(UPDATE):
        EXPECTED.mkdir(exist_ok=True)
        generate.write(files, EXPECTED)
    differing = generate.stale(files, EXPECTED)
    shown = "\n".join(difference(path, files[path]) if path in files else f"left over: {path}" for path in differing)
    assert not differing, f"{shown}\n{HINT}"


def test_the_file_has_every_family() -> None:
    assert {operator.family for operator in operators()} == set(FAMILIES.values())


def test_every_operator_with_a_kernel_has_its_file() -> None:
    names = {operator.name for operator in operators() if operator.family is not Family.COMPOSITE}
    assert {path for path in generated() if path.startswith("kernels/")} == {f"kernels/{name}.c" for name in names}
