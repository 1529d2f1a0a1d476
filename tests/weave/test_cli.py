"""The command line, run as its users do."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import fuzzing
import pytest
from weaving import TINY, entries, python

pytest.importorskip("opweave")

from opweave._base import package_data
from opweave._weave import cli


def opweave(*arguments: str, cwd: Path, status: int = 0) -> subprocess.CompletedProcess[str]:
    return python("-m", "opweave", *arguments, cwd=cwd, status=status)


@dataclass(frozen=True)
class Done:
    stdout: str
    stderr: str


class Command:
    """The command in this process, which reads opweave's own declarations once."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
        self.monkeypatch, self.capsys = monkeypatch, capsys

    def __call__(self, *arguments: str, status: int = 0) -> Done:
        self.monkeypatch.setattr(sys, "path", [*sys.path])
        assert cli.main(arguments) == status
        return Done(*self.capsys.readouterr())

    def on_terminal(self, *arguments: str) -> str:
        """What it prints when its standard output and errors are a terminal."""
        ours, theirs = pty.openpty()
        with ThreadPoolExecutor() as pool, self.monkeypatch.context() as patch:
            printed = pool.submit(read_all, ours)  # while the command writes: terminals hold little
            with open(theirs, "w") as terminal:
                for name, value in (("TERM", "xterm-256color"), ("COLUMNS", "120"), ("NO_COLOR", "")):
                    patch.setenv(name, value)
                for name in ("stdout", "stderr"):
                    patch.setattr(sys, name, terminal)
                self(*arguments)
            return printed.result()


@pytest.fixture
def command(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Command:
    return Command(monkeypatch, capsys)


def read_all(terminal: int) -> str:
    chunks = []
    with suppress(OSError):  # how Linux says that the other side is closed
        while chunk := os.read(terminal, 65536):
            chunks.append(chunk)
    os.close(terminal)
    return b"".join(chunks).decode()


@pytest.fixture
def tiny(tmp_path: Path) -> Path:
    path = tmp_path / "tiny_ops.yaml"
    path.write_text(TINY.format(name="half_more"))
    return path


def test_functions_of_expressions(command: Command) -> None:
    assert command("functions", "**", "swap").stdout.splitlines() == [
        (
            "x ** y                     Raises `x` to the power `y`; integer powers wrap, negative ones truncate  "
            "x: where(y == 0, 0, y * x ** (y - 1)); y: where((x == 0) & (y >= 0), 0, result * log(x))  arithmetic"
        ),
        (
            "swap(list, first, second)  The list with two items exchanged                                         "
            "                                                                                          integers"
        ),
    ]
    refusal = command("functions", "expp", status=1)
    assert refusal.stderr == "there is no function 'expp' in expressions; did you mean 'exp'?\n"
    assert command("functions", "--markdown").stdout.startswith("# Functions of expressions\n")


def test_show_prints_entry_signatures_and_c(command: Command) -> None:
    text = command("show", "add").stdout
    entry = text.split("----\n")[1].split("\n\n# ----")[0]
    assert entry.startswith("- func: add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor\n")
    assert entry in package_data.path("ops.yaml").read_text()
    parameters = "input: Tensor | Number, other: Tensor | Number, *, alpha: Number = 1, out: Tensor | None = None"
    assert f"def add({parameters}) -> Tensor\n" in text
    for method in ("add(self, other", "add_(self, other", "__add__(self", "__radd__(self", "__iadd__(self"):
        assert f"    def {method}" in text
    assert "float add_f32_element(float v_self" in text
    assert "\x1b" not in text


def test_show_prints_the_derivative_and_its_kernels(command: Command) -> None:
    text = command("show", "atan2").stdout
    assert "# ---- derivative" in text
    assert "class Atan2Backward0(" in text
    assert "---- C of atan2_backward_other" in text
    assert "atan2_backward_other_f32_element(float v_grad" in text
    assert "Backward0" not in command("show", "floor", "--only", "c").stdout


def test_show_prints_loops_over_indices(command: Command) -> None:
    loops = command("show", "convolve2d", "--only", "loops").stdout
    for line in (
        "    for (int64_t o = 0; o < weight.size(-4); o++) {",
        "                    for (int64_t i = 0; i < weight.size(3); i++) {",
        "sum = sum + (self[..., g, c, y * stride[0] + i * dilation[0] - padding[0], x * stride[1] + j * dilation[1]",
        "                result[..., g, o, y, x] = sum + bias[g, o];",
    ):
        assert line in loops
    assert "/* convolve2d_backward_self(Tensor grad_output, Tensor weight," in loops
    assert "for (int64_t _p" in loops


def test_show_finds_aliases_and_special_methods_and_one_part(command: Command) -> None:
    assert "- func: gt.Tensor" in command("show", "greater", "--only", "yaml").stdout
    text = command("show", "__matmul__").stdout
    assert "- func: matmul" in text
    assert "#include" not in text
    assert command("show", "exp", "--only", "c").stdout.startswith("/* Generated by codegen")


def test_show_unknown(command: Command) -> None:
    done = command("show", "sigmod", status=1)
    assert done.stderr == "there is no operator 'sigmod'; did you mean 'sigmoid'?\n"
    assert done.stdout == ""


def test_colors_and_tables_on_a_terminal(command: Command) -> None:
    text = command.on_terminal("show", "exp")
    assert "\x1b[" in text
    assert "ow_exp_block" in text
    assert "elementwise" in command.on_terminal("list")


def test_list(command: Command) -> None:
    lines = command("list").stdout.splitlines()
    rows = {line.split()[0]: line.split(maxsplit=2)[1:] for line in lines}
    assert rows["add"] == ["elementwise", "add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor"]
    assert rows["matmul"][0] == "composite"
    assert len(rows) == len(lines) >= 40
    assert set(fuzzing.entries()) <= set(rows)


def test_output_that_nobody_reads(tmp_path: Path) -> None:
    command = f"'{sys.executable}' -m opweave docs performance.md architecture.md cookbook.md | head -n 1"
    done = subprocess.run(["bash", "-c", command], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout.count("\n") == 1
    assert done.stderr == ""


def test_weave_then_use_show_and_list(tiny: Path, tmp_path: Path, command: Command) -> None:
    done = opweave("weave", "tiny_ops.yaml", "--name", "woven_ops", "--out", "made/here", cwd=tmp_path)
    assert done.stdout.startswith("wove woven_ops: 1 operator in ")
    assert done.stdout.endswith("import woven_ops  # half_more\n")
    assert done.stderr == ""
    folder = tmp_path / "made" / "here"
    again = opweave("weave", "../../tiny_ops.yaml", "--name", "woven_ops", cwd=folder)
    assert again.stdout.startswith("woven_ops is up to date: 1 operator, in woven_ops")
    commands = "from opweave._weave.cli import main; main(['show', 'woven_ops.half_more']); main(['list', 'woven_ops'])"
    printed = python("-c", commands, cwd=folder).stdout
    assert "half_more.c" in printed
    assert "\nwoven_ops.half_more " in printed
    assert "cannot import the package 'absent'" in command("list", "absent", status=1).stderr
    assert "'json' is not a package of woven operators" in command("list", "json", status=1).stderr


def test_weave_shows_progress_on_a_terminal(tiny: Path, tmp_path: Path, command: Command) -> None:
    text = command.on_terminal("weave", str(tiny), "--out", str(tmp_path))
    assert "weaving" in text
    assert "wove tiny_ops: 1 operator in " in text


def test_weave_failure(tiny: Path, tmp_path: Path) -> None:
    tiny.write_text(tiny.read_text().replace("auto", "grad * 3"))
    done = opweave("weave", "tiny_ops.yaml", cwd=tmp_path, status=1)
    assert done.stderr.startswith("tiny_ops.yaml:5:")
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "tiny_ops").exists()


def test_check(tiny: Path, tmp_path: Path, command: Command) -> None:
    assert opweave("check", "tiny_ops.yaml", cwd=tmp_path).stdout == "tiny_ops.yaml: 1 operator, no mistakes\n"
    tiny.write_text(tiny.read_text().replace("self * self", "self * slef").replace("doc:", "dok:"))
    done = opweave("check", "tiny_ops.yaml", cwd=tmp_path, status=1)
    assert "tiny_ops.yaml:2:3: error: " in done.stderr
    assert "tiny_ops.yaml:3:23: error: unknown name 'slef'" in done.stderr
    assert "    3 |   elementwise: self * slef + 0.5\n" in done.stderr
    assert "absent.yaml: error: cannot read" in command("check", "absent.yaml", status=1).stderr


def test_what_follows_anyway_is_a_hint(tiny: Path, tmp_path: Path) -> None:
    tiny.write_text(tiny.read_text().replace("  derivatives", "  promotion: default\n  derivatives"))
    done = opweave("check", "tiny_ops.yaml", cwd=tmp_path)
    assert "tiny_ops.yaml:5:14: hint: 'promotion' follows from the expression\n    5 |" in done.stdout
    assert done.stdout.endswith("tiny_ops.yaml: 1 operator, no mistakes\n")


def test_check_runs_nothing_of_the_working_folder(tiny: Path, tmp_path: Path) -> None:
    for name in ("yaml.py", "jinja2.py", "codegen.py", "weave.py"):
        (tmp_path / name).write_text(f"open('ran_{name}', 'w')\n")
    script = "import sys, opweave._weave.cli as cli; sys.exit(cli.main(sys.argv[1:]))"
    for command in (("-m", "opweave"), ("-c", script)):
        done = python(*command, "check", "tiny_ops.yaml", cwd=tmp_path)
        assert done.stdout == "tiny_ops.yaml: 1 operator, no mistakes\n"
    assert not list(tmp_path.glob("ran_*"))


def test_check_of_opweave_itself(tmp_path: Path) -> None:
    """Its own operators may have the names that they have; those of a file to be woven may not."""
    own = package_data.path("ops.yaml")
    assert opweave("check", str(own), cwd=tmp_path).stdout.endswith("no mistakes\n")
    (tmp_path / "ops.yaml").write_text(entries(own.read_text(), "add"))
    opweave("check", "--core", "ops.yaml", cwd=tmp_path)
    assert "'add' already exists in opweave" in opweave("check", "ops.yaml", cwd=tmp_path, status=1).stderr


def test_usage(tmp_path: Path) -> None:
    assert "usage: opweave" in opweave(cwd=tmp_path, status=2).stderr
    assert opweave("--version", cwd=tmp_path).stdout.startswith("opweave 0")


# ---- docs, doctor ---------------------------------------------------------------------------------------


def test_documentation_of_names(command: Command) -> None:
    printed = command("docs", "softmax", "nn.Linear", "Tensor.add_", "opweave.linalg", "pi").stdout
    assert printed.startswith("opweave.softmax(input, dim, dtype=None, *, out=None)\n\nExponentials of the elements")
    assert "\n\n\nopweave.nn.Linear(in_features, out_features, bias=True, device=None, dtype=None)\n\nLinear" in printed
    assert "\n\n\nopweave.Tensor.add_(" in printed
    assert "\n\n\nopweave.linalg\n\n" in printed
    assert "opweave has no 'sofmax'; did you mean 'softmax'?" in command("docs", "sofmax", status=1).stderr
    assert "opweave.nn has no 'Linaer'; did you mean 'Linear'?" in command("docs", "nn.Linaer", status=1).stderr


def test_facts_for_reports(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    printed = command("doctor").stdout
    for expected in (
        "opweave version: ",
        "CPU capability: ",
        "\ncompiler: ",
        "\ncache: ",
        "\nsafetensors: safetensors ",
    ):
        assert expected in printed
    monkeypatch.setenv("PATH", "/nowhere")
    monkeypatch.delenv("CC", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", "/proc/none")
    advice = command("doctor").stdout.partition("\nAdvice:\n")[2]
    assert advice.startswith("compile() runs functions as they are, and nothing can be woven: no C compiler was found")
    assert "XDG_CACHE_HOME" in advice
