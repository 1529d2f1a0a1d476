"""The step of the build that turns api.h into the compiled module's source and stub."""

from __future__ import annotations

import ast
import importlib.util
import re
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[2]
API = ROOT / "runtime" / "core" / "abi" / "api.h"


def load() -> ModuleType:
    spec = importlib.util.spec_from_file_location("build_cffi", ROOT / "tools" / "build_cffi.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


build_cffi = load()

HEADER = """/* A header, with
 * a comment; and (parentheses) */
#include <stdint.h>
double call(int32_t op, double a, const int64_t *list); /* call it */
void forget(double t); // for good
const char *name(int32_t from);
int64_t count(void);
"""


@pytest.fixture
def built(tmp_path: Path) -> tuple[str, str]:
    (tmp_path / "api.h").write_text(HEADER)
    build_cffi.main(str(tmp_path / "api.h"), str(tmp_path / "glue.c"), str(tmp_path / "_C.pyi"))
    return (tmp_path / "glue.c").read_text(), (tmp_path / "_C.pyi").read_text()


def test_declarations_are_all_that_is_left() -> None:
    cdef = build_cffi.declarations(HEADER)
    assert re.findall(r"(\w+)\(", cdef) == ["call", "forget", "name", "count"]
    assert not set("/#") & set(cdef)


def test_glue_keeps_the_lock(built: tuple[str, str]) -> None:
    glue, _ = built
    build_cffi.check(glue, functions=4)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("  Py_BEGIN_ALLOW_THREADS\n", "  _cffi_begin();\n"),
        ("  _cffi_save_errno();\n", ""),
        ("  Py_END_ALLOW_THREADS\n", "  Py_END_ALLOW_THREADS\n  Py_END_ALLOW_THREADS\n"),
        ("(void)self;", "PyEval_SaveThread();"),
    ],
)
def test_another_shape_of_glue_ends_the_build(built: tuple[str, str], old: str, new: str) -> None:
    glue, _ = built
    assert old in glue
    with pytest.raises(SystemExit, match="cffi"):
        build_cffi.check(glue.replace(old, new, 1), functions=4)


def test_stub(built: tuple[str, str]) -> None:
    _, stub = built
    ast.parse(stub)
    methods = [line.strip() for line in stub.splitlines() if line.startswith("    def ")]
    assert methods == [
        "def call(self, op: int, a: float, list: Any, /) -> float: ...",
        "def forget(self, t: float, /) -> None: ...",
        "def name(self, from_: int, /) -> Any: ...",
        "def count(self, /) -> int: ...",
    ]


def test_the_real_header(tmp_path: Path) -> None:
    build_cffi.main(str(API), str(tmp_path / "glue.c"), str(tmp_path / "_C.pyi"))
    stub = (tmp_path / "_C.pyi").read_text()
    ast.parse(stub)
    assert stub.count("def ") == build_cffi.declarations(API.read_text()).count("(")
