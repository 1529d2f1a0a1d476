"""What type checkers see of woven packages: functions by their stubs, methods where `opweave stubs` wrote them."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import opweave
import pytest
from harness.paths import ROOT, with_interpreter
from opweave._weave import method_stubs
from opweave._weave.weave import weave
from weaving import python

pytest.importorskip("mypy")

DECLARATIONS = """\
- func: typed_scale(Tensor self, *, Scalar by=2) -> Tensor
  doc: Scales.
  elementwise: self * by
  dtypes: floating
  derivatives: auto

- func: typed_ends(Tensor self, int dim=0) -> (Tensor first, Tensor last)
  doc: Both ends along `dim`. Returns the input's shape without dimension `dim`.
  composite: return self.select(dim, 0), self.select(dim, -1)
"""
PROGRAM = """\
import opweave
import typed_ops

x = opweave.ones(3)
reveal_type(typed_ops.typed_scale(x, by=1.5))
reveal_type(x.typed_scale(by=3).typed_scale_())
reveal_type(x.typed_ends(0).last)
x.typed_scale(by="3")
x.not_there()
"""


@pytest.fixture(scope="module")
def checked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the package as it is installed, a woven one, its methods, and a program."""
    folder = tmp_path_factory.mktemp("checked")
    subprocess.run([ROOT / ".ci" / "link-package", folder], env=with_interpreter(), check=True)
    (folder / "typed_ops.yaml").write_text(DECLARATIONS)
    weave(folder / "typed_ops.yaml", out=folder)
    # The folder comes last, as its package has links to what type checkers read, and no compiled module.
    code = f"import sys, opweave; sys.path.append({str(folder)!r}); import typed_ops; "
    code += "from opweave._weave.method_stubs import text; print(text(['typed_ops']), end='')"
    stub = folder / "opweave" / method_stubs.FILE
    stub.unlink()
    stub.write_text(python("-c", code, cwd=folder / "typed_ops").stdout)
    (folder / "program.py").write_text(PROGRAM)
    return folder


def test_mypy_sees_methods(checked: Path) -> None:
    options = ["--strict", "--config-file=", "--no-error-summary", f"--cache-dir={checked / 'cache'}"]
    done = subprocess.run(
        [sys.executable, "-m", "mypy", *options, "program.py"],
        cwd=checked,
        env={**os.environ, "MYPYPATH": str(checked)},
        capture_output=True,
        text=True,
        check=False,
    )
    lines = [line.partition(": ")[2] for line in done.stdout.splitlines() if line.startswith("program.py")]
    assert lines == [
        'note: Revealed type is "opweave._tensor.tensor.Tensor"',
        'note: Revealed type is "opweave._tensor.tensor.Tensor"',
        'note: Revealed type is "opweave._tensor.tensor.Tensor"',
        (
            'error: Argument "by" to "typed_scale" of "WovenMethods" has incompatible type "str"; expected '
            '"bool | int | float | complex"  [arg-type]'
        ),
        'error: "Tensor" has no attribute "not_there"  [attr-defined]',
    ]


def test_pyright_sees_methods(checked: Path) -> None:
    command = shutil.which("pyright")
    if command is None or subprocess.run([command, "--version"], capture_output=True, check=False).returncode:
        pytest.skip("there is no pyright")
    (checked / "pyrightconfig.json").write_text(json.dumps({"include": ["program.py"], "extraPaths": [str(checked)]}))
    arguments = ["--outputjson", "--pythonpath", sys.executable, "--project", str(checked)]
    done = subprocess.run([command, *arguments], capture_output=True, text=True, check=False)
    messages = json.loads(done.stdout)["generalDiagnostics"]
    found = [(each["range"]["start"]["line"] + 1, each["severity"]) for each in messages]
    assert found == [(5, "information"), (6, "information"), (7, "information"), (8, "error"), (9, "error")]
    assert all('is "Tensor"' in each["message"] for each in messages[:3])


def test_a_source_tree_is_left_alone(tmp_path: Path) -> None:
    assert opweave.__file__ is not None
    if Path(opweave.__file__).with_name("_operators.pyi").exists():
        pytest.skip("opweave is installed")
    done = python("-m", "opweave", "stubs", cwd=tmp_path, status=1)
    assert "is a source tree, where type checkers find no package opweave" in done.stderr
