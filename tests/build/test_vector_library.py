"""glibc's vector mathematics: asked for where the package runs, function by function, and not linked."""

from __future__ import annotations

import inspect
import json
import os
import platform
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

COMPILER = shutil.which("cc")

pytestmark = pytest.mark.skipif(
    COMPILER is None or sys.platform != "linux" or platform.machine() != "x86_64" or platform.libc_ver()[0] != "glibc",
    reason="needs a compiler, x86-64 and glibc",
)

_PROGRAM = """
    import json, math
    import opweave as ow
    names = "tan asin acos atan sinh cosh asinh atanh log2 log10 log1p expm1 erf erfc sin cos exp log".split()
    x = ow.linspace(0.01, 0.99, 1000, dtype=ow.float64)
    assert ow.equal(ow.compile(lambda x: x.tan() + x.sinh())(x), x.tan() + x.sinh())
    print(json.dumps({
        name: [getattr(x, name)().tolist(), [getattr(math, name)(each) for each in x.tolist()]] for name in names
    }))
"""


def results(folder: Path, source: str) -> dict[str, list[list[float]]]:
    """By function: what opweave and what the scalar library computes beside a libmvec of this assembler."""
    (folder / "source.s").write_text(source)
    assert COMPILER is not None
    subprocess.run([COMPILER, "-shared", "-o", folder / "libmvec.so.1", folder / "source.s"], check=True)
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", inspect.cleandoc(_PROGRAM)],
        env={**os.environ, "LD_LIBRARY_PATH": str(folder)},
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    found: dict[str, list[list[float]]] = json.loads(done.stdout)
    return found


def test_a_library_without_vector_functions(tmp_path: Path) -> None:
    """Each number is computed by the scalar function, to the bit where opweave has no form of its own."""
    found = results(tmp_path, ".text\n")
    assert all(found[name][0] == found[name][1] for name in ("tan", "asin", "atan", "sinh", "asinh", "atanh"))
    far = [
        name for name, pairs in found.items() if any(abs(a - b) > 1e-14 * abs(b) for a, b in zip(*pairs, strict=True))
    ]
    assert not far


def test_a_library_with_one_vector_function(tmp_path: Path) -> None:
    """It is called, here one that is zero everywhere, and the others are as without a library."""
    forms = {"_ZGVbN2v_tan": "xorpd %xmm0, %xmm0", "_ZGVdN4v_tan": "vxorpd %xmm0, %xmm0, %xmm0"}
    forms["_ZGVeN8v_tan"] = forms["_ZGVdN4v_tan"]
    text = "".join(f".globl {name}\n.type {name}, @function\n{name}: {code}\nret\n" for name, code in forms.items())
    found = results(tmp_path, f".text\n{text}")
    assert not any(found["tan"][0])
    assert found["sinh"][0] == found["sinh"][1]


def test_the_module_does_not_need_the_library() -> None:
    from opweave import _C

    assert _C.__file__ is not None
    module = Path(_C.__file__).read_bytes()
    assert b"_ZGVdN4v_tan\0" in module, "the vector functions are not asked for"
    readelf = shutil.which("readelf")
    if readelf is None:
        pytest.skip("needs readelf")
    done = subprocess.run([readelf, "-dsW", _C.__file__], capture_output=True, text=True, check=True)
    wrong = [line for line in done.stdout.splitlines() if "_ZGV" in line and " UND " in line]
    wrong += [line for line in done.stdout.splitlines() if "NEEDED" in line and "libmvec" in line]
    assert not wrong
