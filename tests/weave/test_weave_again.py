"""Weaving again, and at the same time: what is compiled, what a running process sees, and what is left behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from weaving import TINY, python

pytest.importorskip("opweave")

from opweave._toolchain import object_cache
from opweave._weave.weave import WeaveError, weave
from opweave.codegen import generate

COMPOSITE = "- func: {name}(Tensor self) -> Tensor\n  doc: Doubles.\n  composite: return self + self\n"


@pytest.fixture
def log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """What the compiler is told, when the cache of objects is empty."""
    path = tmp_path / "compiler"
    path.write_text(f'#!/bin/sh\necho "$*" >> "{tmp_path}/log"\nexec cc "$@"\n')
    path.chmod(0o755)
    monkeypatch.setenv("CC", f"'{path}'")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "log"


def compiled(log: Path) -> set[str]:
    """The C files that were compiled since this was asked last."""
    words = [line.split() for line in log.read_text().splitlines() if " -c " in line]
    log.write_text("")
    return {Path(line[line.index("-c") + 1]).stem for line in words}


# ---- compiling ---------------------------------------------------------------------------------------------


def test_an_edit_compiles_what_it_touched(log: Path, tmp_path: Path) -> None:
    declined = TINY.replace("auto", "none")
    path = tmp_path / "pair.yaml"
    path.write_text(declined.format(name="one_more") + declined.format(name="two_more"))
    weave(path, out=tmp_path)
    assert compiled(log) == {"one_more", "two_more", "_registry"}

    # The second entry moves by a line, which is no change.
    path.write_text("# A remark.\n" + path.read_text().replace("0.5", "0.25", 1))
    assert weave(path, out=tmp_path).rebuilt
    assert compiled(log) == {"one_more"}
    code = "import pair, opweave as ow; print(pair.one_more(ow.ones(1)).item(), pair.two_more(ow.ones(1)).item())"
    assert python("-c", code, cwd=tmp_path).stdout == "1.25 1.5\n"

    weave(path, out=tmp_path, force=True)
    assert compiled(log) == {"one_more", "two_more", "_registry"}

    # A package is the same wherever its declarations lie, and whether its objects are new or old.
    (tmp_path / "elsewhere").mkdir()
    other = path.rename(tmp_path / "elsewhere" / "pair.yaml")
    again = weave(other, out=tmp_path / "elsewhere").folder
    assert compiled(log) == set()
    for file in [file for file in again.rglob("*") if file.is_file()]:
        content = file.read_bytes()
        assert os.fsencode(tmp_path) not in content
        assert content == (tmp_path / "pair" / file.relative_to(again)).read_bytes()


def test_damaged_objects_are_not_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    cache = object_cache.users_own()
    cache.keep("a", b"content")
    assert cache.find("a") == b"content"
    assert cache.find("b") is None
    path = tmp_path / "opweave" / "objects" / "a"
    path.write_bytes(path.read_bytes()[:-1])
    assert cache.find("a") is None
    os.utime(path, (0, 0))
    cache.remove_unused()
    assert not path.exists()


def test_a_cache_that_others_may_write_is_not_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    folder = tmp_path / "opweave" / "objects"
    folder.mkdir(parents=True)
    folder.chmod(0o777)
    object_cache.users_own().keep("a", b"content")
    folder.rmdir()
    (tmp_path / "elsewhere").mkdir()
    folder.symlink_to(tmp_path / "elsewhere")
    object_cache.users_own().keep("a", b"content")
    assert not list((tmp_path / "elsewhere").iterdir())
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")
    monkeypatch.setenv("HOME", "")
    object_cache.users_own().keep("a", b"content")
    assert object_cache.users_own().find("a") is None


# ---- in a running process ----------------------------------------------------------------------------------


def test_a_running_process_takes_the_new_operators(tmp_path: Path) -> None:
    """Whether it reloads the package or imports it anew, at once after it was woven."""
    code = f"""
import importlib, os, pathlib, sys
import opweave as ow
from opweave._weave.weave import weave
path = pathlib.Path("living.yaml")
text = {COMPOSITE!r}
path.write_text(text.format(name="other"))
weave(path, "other")  # imports all that weaving needs, which looks into the folder as well
try:
    import living  # there is none yet, and the import system remembers what the folder holds
except ImportError:
    pass
path.write_text(text.format(name="twofold") + text.format(name="passing"))
before = os.stat(".")
weave(path)
os.utime(".", ns=(before.st_atime_ns, before.st_mtime_ns))  # as after less than a tick of the clock of files
import living
assert living.twofold(ow.ones(1)).item() == 2 and ow.ones(1).passing().item() == 2
for place, factor in enumerate("345"):
    path.write_text(text.format(name="twofold").replace("self + self", "self * " + factor))
    weave(path)
    if place == 1:
        del sys.modules["living"]
        import living
    else:
        assert importlib.reload(living) is living
    assert living.twofold(ow.ones(1)).item() == int(factor) == ow.ones(1).twofold().item()
    assert living.__all__ == ["twofold"] and not hasattr(living, "passing") and not hasattr(ow.Tensor, "passing")
"""
    python("-c", code, cwd=tmp_path)


def test_what_replaces_a_module_is_younger(tmp_path: Path) -> None:
    """Python takes a compiled module for current whose source has the second and the size of the one it is of."""
    path = tmp_path / "module.py"
    generate.replace(path, b"1", younger=True)
    before = path.stat().st_mtime
    generate.replace(path, b"2", younger=True)
    assert int(path.stat().st_mtime) > int(before)


# ---- at the same time, and told to end ---------------------------------------------------------------------


def started(tmp_path: Path, name: str, **environment: str) -> tuple[subprocess.Popen[str], Path]:
    """A process that weaves a package, whose compiler waits until the file `go` exists."""
    (tmp_path / "tmp").mkdir(exist_ok=True)
    path = tmp_path / "slow_compiler"
    path.write_text(
        f'#!/bin/sh\ncase "$*" in *" -c "*) touch "{tmp_path}/begun"\n'
        f'while [ ! -e "{tmp_path}/go" ]; do sleep 0.05; done;; esac\nexec cc "$@"\n'
    )
    path.chmod(0o755)
    (tmp_path / f"{name}.yaml").write_text(TINY.replace("auto", "none").format(name="half_more"))
    process = subprocess.Popen(
        [sys.executable, "-m", "opweave", "weave", f"{name}.yaml"],
        cwd=tmp_path,
        env={
            **os.environ,
            "CC": f"'{path}'",
            "TMPDIR": str(tmp_path / "tmp"),
            "XDG_CACHE_HOME": str(tmp_path / "cache"),
            **environment,
        },
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    for _ in range(1200):
        if (tmp_path / "begun").exists():
            return process, tmp_path / "go"
        assert process.poll() is None, process.communicate()[0]
        time.sleep(0.05)
    raise AssertionError("the compiler was not called")


def test_packages_side_by_side_do_not_wait_for_each_other(tmp_path: Path) -> None:
    process, go = started(tmp_path, "slow_ops")
    try:
        (tmp_path / "quick.yaml").write_text(COMPOSITE.format(name="twofold"))
        assert weave(tmp_path / "quick.yaml", out=tmp_path).rebuilt
        assert process.poll() is None
    finally:
        go.touch()
    output, _ = process.communicate(timeout=120)
    assert process.returncode == 0, output


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_who_is_told_to_end_leaves_nothing_behind(tmp_path: Path, number: signal.Signals) -> None:
    before = signal.signal(number, signal.SIG_DFL)  # a process inherits that a signal is ignored
    try:
        process, go = started(tmp_path, "slow_ops")
    finally:
        signal.signal(number, before)
    process.send_signal(number)
    process.send_signal(number)
    time.sleep(0.2)
    go.touch()
    process.communicate(timeout=120)
    assert process.returncode == -number
    assert not list((tmp_path / "tmp").iterdir())
    assert not (tmp_path / "slow_ops").exists()


def test_mistakes_leave_no_folder(tmp_path: Path) -> None:
    path = tmp_path / "wrong.yaml"
    path.write_text(COMPOSITE.format(name="add"))
    with pytest.raises(WeaveError, match="already exists"):
        weave(path, out=tmp_path)
    assert [each.name for each in tmp_path.iterdir()] == ["wrong.yaml"]
