"""A handle is an address: whoever passes one to the core holds the tensor that owns it."""

from __future__ import annotations

import ast
from pathlib import Path

import opweave
import pytest

PACKAGE = Path(opweave.__file__).parent
MODULES = sorted(path for path in PACKAGE.rglob("*.py") if "codegen" not in path.parts)


def temporaries(source: str) -> list[int]:
    """The lines where a handle is taken of a value that nothing holds: it may be freed before the core is called."""
    nodes = ast.walk(ast.parse(source))
    return [
        node.lineno
        for node in nodes
        if isinstance(node, ast.Attribute) and node.attr == "_h" and isinstance(node.value, (ast.Call, ast.BinOp))
    ]


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.relative_to(PACKAGE).as_posix())
def test_handles_are_taken_of_values_with_a_name(path: Path) -> None:
    assert temporaries(path.read_text("utf-8")) == []


def test_one_without_a_name_is_found() -> None:
    assert temporaries("lib.fill(tensor._h)\nlib.copy(tensor.to(dtype)._h, result._h)\n") == [2]
