"""What is kept of programs: other processes find it, and anything that is wrong with it costs time alone."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import opweave
import pytest
from compiled_calls import check
from opweave._toolchain import object_cache
from opweave._toolchain.object_cache import ObjectCache
from opweave.compiler import _drafts, _kept_steps, _kernels

X = opweave.linspace(-2, 2, 12).reshape(3, 4)


@pytest.fixture
def cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """An empty cache of the user."""
    monkeypatch.setenv("XDG_CACHE_HOME", os.fspath(tmp_path))
    _kernels.KNOWN.clear()
    return tmp_path / "opweave"


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A cache that has the program of a chain."""
    folder = tmp_path_factory.mktemp("filled")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", os.fspath(folder))
        _kernels.KNOWN.clear()
        check(_chain, X)
    return folder / "opweave"


@pytest.fixture
def kept(cache: Path, filled: Path) -> Path:
    """A copy of that cache, which is the user's."""
    shutil.copytree(filled, cache)
    _kernels.KNOWN.clear()
    return cache


@pytest.fixture
def divisions(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Any]]:
    """The graphs that are divided anew."""
    seen: list[Any] = []
    divided = _drafts.divided
    monkeypatch.setattr(_drafts, "divided", lambda graph: (seen.append(graph), divided(graph))[1])
    return seen


def _chain(x: Any) -> Any:
    return (x * 1.75 + 1).exp() - 1


def _entries(cache: Path, folder: str = "programs") -> list[Path]:
    return sorted((cache / folder).iterdir())


# ---- what is found ------------------------------------------------------------------------------------------


def _several(x: Any) -> Any:
    y = (x * 1.75).sin()
    y += x
    return y, {"mean": (y + 1).mean(-1, keepdim=True), "none": None}


def _with_condition(x: Any) -> Any:
    return (x * 1.75 + 1).tanh() if (x + 1).sum() > 0 else x.cos() * 1.75


@pytest.mark.parametrize(
    ("function", "needs_grad"),
    [(_several, True), (_several, False), (_with_condition, False), (lambda x: x.t(), False), (lambda x: x, False)],
)
def test_divided_once(function: Callable[..., Any], needs_grad: bool, cache: Path, divisions: list[Any]) -> None:
    x = X.clone().requires_grad_(needs_grad)
    check(function, x)
    count = len(divisions)
    assert count
    for _ in range(2):
        _kernels.KNOWN.clear()
        check(function, x)
    assert len(divisions) == count


def test_text_of_kept_kernels(cache: Path) -> None:
    def explained() -> str:
        _kernels.KNOWN.clear()
        return opweave.compiler.explain(lambda x: _several(x), X)

    first = explained()
    assert "static" in first
    assert explained().partition("\n")[2].replace(" ", "") == first.partition("\n")[2].replace(" ", "")


def test_what_makes_a_difference(kept: Path, divisions: list[Any]) -> None:
    def count(function: Callable[..., Any], x: Any) -> int:
        check(function, x)
        return len(divisions)

    assert count(_chain, X) == 0
    assert count(lambda z: (z * 1.75 + 1).exp() - 1, X) == 0
    assert count(lambda x: (x * 1.5 + 1).exp() - 1, X) == 1
    assert count(_chain, X.double()) == 2
    assert count(_chain, X.t()) == 3
    assert count(_chain, X[:2]) == 3
    assert count(_chain, X[:1]) == 4
    assert count(_chain, opweave.arange(12).reshape(3, 4)) == 5
    opweave.set_default_dtype(opweave.float64)
    try:
        assert count(_chain, opweave.arange(12).reshape(3, 4)) == 6
    finally:
        opweave.set_default_dtype(opweave.float32)
    assert count(_chain, X) == 6


def test_other_sizes(kept: Path, divisions: list[Any]) -> None:
    def function(x: Any, y: Any) -> Any:
        return (x * 1.75 + y).tanh() * y

    compiled: Any = opweave.compile(function)
    for x, y in ((X, X[0]), (X.repeat(2, 3), X.reshape(12)), (X[:, :3], X.t()[:3]), (X, X[:, :1])):
        for _ in range(2):
            assert compiled(x, y).equal(function(x, y))
    assert len(divisions) == 3
    opweave.compiler.reset()
    for x, y in ((X.repeat(4, 1), X[0]), (X[:2], X[:2, :1])):
        for _ in range(2):
            assert compiled(x, y).equal(function(x, y))
    assert len(divisions) == 3


def test_other_sources(kept: Path, divisions: list[Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_kept_steps, "_files", lambda: "of another version")
    check(_chain, X)
    assert len(divisions) == 1


def test_changed_files_are_seen(tmp_path: Path) -> None:
    (tmp_path / "inner").mkdir()
    file = tmp_path / "inner" / "file.py"
    file.write_text("1")

    def seen() -> list[str]:
        return [*_kept_steps._written(os.fspath(tmp_path))]

    before = seen()
    (tmp_path / "__pycache__").mkdir()
    (tmp_path / "__pycache__" / "file.pyc").write_text("1")
    assert seen() == before
    file.write_text("2")
    os.utime(file, ns=(0, 0))
    assert seen() != before


# ---- what is wrong ------------------------------------------------------------------------------------------


def _truncate(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-7])


def _of_another_form(content: Any) -> Callable[[Path], None]:
    return lambda path: ObjectCache(path.parent).keep(path.name, json.dumps(content).encode())


def _replace(path: Path, *changes: tuple[str, Any]) -> None:
    kept = ObjectCache(path.parent)
    (step,) = json.loads(kept.find(path.name) or b"")
    for name, value in changes:
        step["kernels"][0][name] = value
    kept.keep(path.name, json.dumps([step]).encode())


def _make_folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


@pytest.mark.parametrize(
    "damage",
    [
        lambda path: path.write_bytes(b""),
        lambda path: path.write_bytes(b"damaged"),
        _truncate,
        _make_folder,
        _of_another_form({"version": 2, "steps": []}),
        _of_another_form([1]),
        _of_another_form([{"operation": 99}]),
        _of_another_form([{"operation": 0}]),
        _of_another_form([{"operations": [0], "kernels": [{}]}]),
        _of_another_form(None),
        lambda path: ObjectCache(path.parent).keep(path.name, b"[" * 100_000),
        lambda path: ObjectCache(path.parent).keep(path.name, b"\xff"),
        lambda path: _replace(path, ("library", "f" * 64)),
        lambda path: _replace(path, ("library", 3)),
        lambda path: _replace(path, ("results", ["a"])),
        lambda path: _replace(path, ("kind", "other")),
    ],
)
def test_damaged_entries(damage: Callable[[Path], None], kept: Path, divisions: list[Any]) -> None:
    (entry,) = _entries(kept)
    damage(entry)
    for _ in range(2):
        _kernels.KNOWN.clear()
        check(_chain, X)
    assert len(divisions) == (2 if entry.is_dir() else 1)


@pytest.mark.parametrize("damage", [_truncate, Path.unlink, _make_folder, lambda path: path.write_bytes(b"\0" * 5000)])
def test_damaged_libraries(damage: Callable[[Path], None], kept: Path, divisions: list[Any]) -> None:
    (library,) = _entries(kept, "compiled")
    damage(library)
    check(_chain, X)
    assert len(divisions) == 1


def test_libraries_of_another_machine(kept: Path, divisions: list[Any]) -> None:
    (library,) = _entries(kept, "compiled")
    ObjectCache(library.parent).keep(library.name, b"\x7fELF of another machine")
    for _ in range(2):
        _kernels.KNOWN.clear()
        check(_chain, X)
    assert len(divisions) == 1


def test_a_cache_that_cannot_be_written_to(cache: Path, divisions: list[Any], monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*args: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("opweave.codegen.generate.replace", full)
    for _ in range(2):
        _kernels.KNOWN.clear()
        check(_chain, X)
    assert len(divisions) == 2
    assert not _entries(cache)
    monkeypatch.setenv("XDG_CACHE_HOME", "/proc/none")
    _kernels.KNOWN.clear()
    check(_chain, X)


def test_a_cache_that_is_read_only(kept: Path, divisions: list[Any]) -> None:
    folders = [kept / "programs", kept / "compiled", kept]
    for each in folders:
        each.chmod(0o500)
    check(_chain, X)
    assert not divisions
    check(lambda x: (x * 1.625).tanh(), X)
    assert len(divisions) == 1
    for each in reversed(folders):
        each.chmod(0o700)


def test_cleared_cache(kept: Path, divisions: list[Any]) -> None:
    assert object_cache.clear() > 0
    assert object_cache.size() == 0
    check(_chain, X)
    assert len(divisions) == 1


# ---- other processes ----------------------------------------------------------------------------------------

_PROGRAM = """
import sys
import opweave

@opweave.compile
def function(x, y):
    z = (x * 1.25 + y).tanh()
    return z, (z / z.sum(-1, keepdim=True)).sigmoid() * 2

x, y = opweave.linspace(-2, 2, 48).reshape(3, 16), opweave.ones(16)
want = function.__wrapped__(x, y)
for _ in range(2):
    assert all(map(opweave.equal, function(x, y), want))
assert len(function.compiled.entries) == 1
print(sorted(each for each in sys.modules if each.startswith(("opweave.codegen.", "opweave.nn", "jinja2", "yaml"))))
"""


def _start(cache: Path) -> subprocess.Popen[str]:
    environment = {**os.environ, "XDG_CACHE_HOME": os.fspath(cache.parent)}
    return subprocess.Popen(
        [sys.executable, "-c", _PROGRAM], env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def _ended(process: subprocess.Popen[str]) -> str:
    output, errors = process.communicate(timeout=120)
    assert process.returncode == 0, errors
    return output


def test_processes_at_once_and_a_later_one(cache: Path) -> None:
    first = [_start(cache) for _ in range(2)]
    assert all("opweave.codegen.recorded" in _ended(each) for each in first)
    assert _ended(_start(cache)) == "[]\n"
