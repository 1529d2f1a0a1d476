"""Loading operator libraries: good ones twice, wrong ones never."""

from __future__ import annotations

from pathlib import Path

from codegen.dtypes import DTYPE_CLASSES

from .conftest import CORE_INCLUDES, Core, compile_c, generated_headers

SOURCE = """
#include "opweave.h"
static const ow_op one = {.name = "one"}, two = {.name = "two"};
static const ow_op *const ops[] = {&one, &two};
const ow_library ow_exports = {%s, %s, 2, ops};
"""
FUNCTIONS = """
#define OW_HAVE_LIBMVEC
#define OW_LIBMVEC(one, two) one(exp)
#include "libmvec.h"
"""


def weave(
    path: Path, version: str = "OW_ABI_VERSION", ndtypes: str = "OW_NDTYPES", levels: int = 3, more: str = ""
) -> Path:
    source = path.with_suffix(".c")
    source.write_text(SOURCE % (version, ndtypes) + more)
    include = [*CORE_INCLUDES, f"-I{generated_headers()}"]
    options = ["-shared", "-fPIC", "-fvisibility=hidden", f"-DOW_NLEVELS={levels}", *include]
    compile_c(*options, str(source), "-o", str(path))
    return path


def load(core: Core, path: Path) -> int:
    return int(core.lib.load_library(str(path).encode()))


def name(core: Core, index: int) -> str:
    return core.ffi.string(core.lib.operator_name(index)).decode()


def test_operators_are_appended(core: Core, tmp_path: Path) -> None:
    count = core.lib.operator_count()
    first = load(core, weave(tmp_path / "good.so"))
    assert first == count
    assert core.lib.operator_count() == count + 2
    assert [name(core, first), name(core, first + 1), name(core, 0)] == ["one", "two", "first"]
    assert load(core, tmp_path / "good.so") == first, "the same library again"
    assert core.lib.operator_count() == count + 2
    assert load(core, weave(tmp_path / "other.so")) == count + 2
    assert core.lib.operator_name(-1) == core.ffi.NULL
    assert core.lib.operator_name(count + 4) == core.ffi.NULL


def test_wrong_libraries_are_refused(core: Core, tmp_path: Path) -> None:
    compile_c("-shared", "-fPIC", "-x", "c", "/dev/null", "-o", str(tmp_path / "empty.so"))
    known = len(DTYPE_CLASSES["any"])
    cases = [
        (tmp_path / "missing.so", "cannot load operator library"),
        (tmp_path / "empty.so", "does not export ow_library"),
        (weave(tmp_path / "old.so", version="99 * 256 + 3"), "built for interface 99 with 3 instruction-set levels"),
        (weave(tmp_path / "one.so", levels=1), "with 1 instruction-set levels, this opweave has interface"),
        (weave(tmp_path / "dtypes.so", ndtypes="7"), f"was built for 7 dtypes, this opweave has {known}"),
        (weave(tmp_path / "functions.so", more=FUNCTIONS), "calls functions that this opweave does not have"),
    ]
    count = core.lib.operator_count()
    for path, message in cases:
        assert load(core, path) == -1
        kind, text = core.error()
        assert kind == 1
        assert message in text
        assert path.name in text
    assert core.lib.operator_count() == count
