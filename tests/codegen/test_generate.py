"""Writing and checking the generated files: what is stale, what is touched, and that the text never varies."""

from __future__ import annotations

import fcntl
import hashlib
import os
import re
import shutil
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from codegen import emit, generate, library
from codegen.__main__ import main
from codegen.model import compute

ROOT = Path(__file__).resolve().parents[2]
OPS = Path(__file__).parent / "golden" / "ops.yaml"
CORE = ROOT / "runtime" / "core"


@pytest.fixture
def folder(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Path:
    """What codegen wrote for the small file."""
    output = tmp_path / "generated"
    assert run(output) == 0
    capsys.readouterr()
    return output


def run(output: Path, *options: str) -> int:
    return main(["--yaml", str(OPS), "--output", str(output), *options])


# ---- --check ------------------------------------------------------------------------------------------------


def test_fresh_files_pass_the_check(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "README.md").write_text("kept")
    (folder / "python" / "__pycache__").mkdir()
    (folder / "python" / "__pycache__" / "module.pyc").write_bytes(b"")
    assert run(folder, "--check") == 0
    assert capsys.readouterr() == ("", "")


def test_an_entry_that_moved_is_not_compiled_again(tmp_path: Path) -> None:
    source, output = tmp_path / "ops.yaml", tmp_path / "generated"
    text = OPS.read_text()

    def touched(changed: str) -> set[str]:
        source.write_text(changed)
        before = {path: path.stat().st_ino for path in output.rglob("*.c")}
        assert main(["--yaml", str(source), "--output", str(output)]) == 0
        return {path.name for path in output.rglob("*.c") if before.get(path) != path.stat().st_ino}

    assert touched(text)
    assert touched("# A comment.\n\n" + text) == set()
    assert touched(text.replace("elementwise: -self", "elementwise: 0 - self")) == {"neg.c"}


def test_the_check_names_each_stale_file_and_the_command(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "kernels" / "neg.c").unlink()
    (folder / "kernels" / "removed.c").write_text("left over")
    with (folder / "core" / "casts.c").open("a") as stream:
        stream.write(" ")
    (folder / "python" / "_operators.py").write_bytes(b"\xff")
    assert run(folder, "--check") == 1
    printed = capsys.readouterr()
    assert printed.out == ""
    stale = ["core/casts.c", "kernels/neg.c", "kernels/removed.c", "python/_operators.py"]
    assert printed.err.splitlines() == [f"{folder / path} is stale; run `python -m codegen`" for path in stale]
    assert not (folder / "kernels" / "neg.c").exists(), "the check writes nothing"


def test_writing_makes_stale_files_fresh(folder: Path) -> None:
    (folder / "kernels" / "neg.c").unlink()
    (folder / "kernels" / "removed.c").write_text("left over")
    (folder / "core" / "casts.c").write_text("changed")
    assert run(folder) == 0
    assert run(folder, "--check") == 0
    assert not (folder / "kernels" / "removed.c").exists()


def test_the_check_of_a_folder_that_does_not_exist_fails(tmp_path: Path) -> None:
    assert run(tmp_path / "absent", "--check") == 1
    assert not (tmp_path / "absent").exists()


def test_the_paths_of_all_files_are_printed(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(folder) == 0
    printed = capsys.readouterr().out.splitlines()
    assert printed == sorted(path.as_posix() for path in folder.rglob("*") if path.is_file())


# ---- writing ------------------------------------------------------------------------------------------------


def test_unchanged_files_are_not_touched(folder: Path) -> None:
    long_ago = 1_000_000_000
    files = [path for path in folder.rglob("*") if path.is_file()]
    for path in files:
        os.utime(path, (long_ago, long_ago))
    changed = folder / "kernels" / "exp.c"
    changed.write_text("changed")
    assert run(folder) == 0
    assert [path for path in files if path.stat().st_mtime != long_ago] == [changed]


def test_a_failed_write_leaves_no_file_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(source: str, target: str) -> None:
        raise OSError("no room")

    monkeypatch.setattr(generate.os, "replace", refuse)
    with pytest.raises(OSError, match="no room"):
        generate.write({"a.c": "text"}, tmp_path)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow  # `.ci/run fresh` runs it
def test_the_text_does_not_depend_on_the_process() -> None:
    """Two interpreters with different hash seeds, which order sets differently, give the same bytes: everything of a
    small file, and kernels of all that the language can say."""
    program = f"""
import sys
from codegen import emit, library
from codegen.emit import kernels
texts = [*emit.outputs(library.read({str(OPS)!r}), "ops.yaml").values()]
for path in ("examples/language.yaml", "examples/neighbours.yaml", "examples/rows.yaml", "examples/order.yaml"):
    texts += [kernels.emit(each) or "" for each in emit.kernel_files(library.read(path)).values()]
sys.stdout.write("\\n".join(texts))
"""
    digests = set()
    for seed in ("1", "2"):
        done = subprocess.run(
            [sys.executable, "-c", program],
            cwd=ROOT,
            env={**os.environ, "PYTHONHASHSEED": seed},
            stdout=subprocess.PIPE,
            check=True,
        )
        assert len(done.stdout) > 1_000_000
        digests.add(hashlib.sha256(done.stdout).hexdigest())
    assert len(digests) == 1


# ---- lines --------------------------------------------------------------------------------------------------


def test_line_directives_return_to_the_generated_file() -> None:
    files = emit.outputs(library.read(OPS, "ops.yaml"), "ops.yaml")
    directive = re.compile(r'#line (\d+) "(.+)"')
    count = 0
    for path, text in files.items():
        for number, line in enumerate(text.splitlines(), start=1):
            match = directive.fullmatch(line)
            if match and match[2] != "ops.yaml":
                assert (match[2], int(match[1])) == (path.rsplit("/", 1)[-1], number + 1)
                count += 1
    assert count > 10
    assert not any("@line" in text or "@here@" in text for text in files.values())


@pytest.mark.skipif(shutil.which("gcc") is None, reason="needs gcc")
@pytest.mark.parametrize(
    ("body", "line"),
    [
        ("  elementwise: log2(self)", 4),
        ("  elementwise:\n    floating: >-\n      self *\n      log2(self)", 6),
    ],
)
def test_a_c_error_names_the_line_of_the_yaml(tmp_path: Path, body: str, line: int) -> None:
    """The kernel of an expression whose function C must not use: gcc blames, and quotes, the YAML."""
    yaml = tmp_path / "my_ops.yaml"
    yaml.write_text(
        "# One operator.\n- func: my_log2(Tensor self) -> Tensor\n  doc: Logarithm.\n"
        f"{body}\n  promotion: int_to_float\n  dtypes: floating\n  derivatives: auto\n"
    )
    output = tmp_path / "generated"
    assert main(["--yaml", str(yaml), "--output", str(output)]) == 0
    stub = tmp_path / "stub"
    stub.mkdir()
    (stub / "kernel.h").write_text(f'#include "{CORE / "kernel" / "kernel.h"}"\n#pragma GCC poison log2f\n')
    command = ["gcc", "-std=gnu11", "-fsyntax-only", "-fdiagnostics-color=never"]
    folders = (stub, CORE / "kernel", CORE / "abi", output / "include")
    command += ["-DOW_LEVEL=v1", "-DOW_NLEVELS=1", *(f"-I{folder}" for folder in folders)]
    source = str(output / "kernels" / "my_log2.c")
    done = subprocess.run([*command, source], cwd=tmp_path, stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == 1
    assert re.search(rf"^my_ops\.yaml:{line}:\d+: error: .*log2f", done.stderr, re.MULTILINE), done.stderr
    assert f"    {line} | {yaml.read_text().splitlines()[line - 1]}" in done.stderr
    intact = [flag for flag in command if flag != f"-I{stub}"]
    assert subprocess.run([*intact, source], cwd=tmp_path, check=False).returncode == 0


# ---- two at once --------------------------------------------------------------------------------------------


def test_one_process_writes_at_a_time(tmp_path: Path) -> None:
    handle = os.open(tmp_path, os.O_RDONLY)
    fcntl.flock(handle, fcntl.LOCK_EX)
    other = threading.Thread(target=generate.write, args=({"a.c": "new"}, tmp_path))
    other.start()
    other.join(0.2)
    assert other.is_alive()
    assert not list(tmp_path.iterdir())
    os.close(handle)
    other.join(60)
    assert (tmp_path / "a.c").read_text() == "new"


# ---- limits -------------------------------------------------------------------------------------------------


def test_limits_of_expressions_over_indices_are_those_of_the_core() -> None:
    """No C that includes both sees them, as it does the limits of opweave.h."""
    header = (CORE / "kernel" / "compute.h").read_text()
    for name, limit in (("VARIABLES", compute.MAX_VARIABLES), ("UNIFORMS", compute.MAX_UNIFORMS)):
        assert re.search(rf"#define OW_MAX_{name} {limit}\b", header), name
