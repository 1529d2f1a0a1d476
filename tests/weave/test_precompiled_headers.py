"""Precompiled headers: kernels that are compiled with them are the same, and nothing depends on them."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

pytest.importorskip("opweave")

from opweave._base import package_data
from opweave._toolchain import toolchain
from opweave._toolchain.precompiled_headers import PrecompiledHeaders

TEXT = """/* Generated. */
#include "kernel.h"
#include "vector_math.h"

float twice(float x);
float twice(float x) { return 2 * x; }
"""
ENTRY = """
- func: damaged_{}(Tensor x) -> Tensor
  doc: Doc.
  elementwise: exp(x) * tanh(x)
  dtypes: floating
  derivatives: none
"""
IDENTITY = ("gcc, Free Software Foundation",)
NAME = "vectors.h.gch"


@pytest.fixture
def command(tmp_path: Path) -> list[str]:
    found = toolchain.find()
    if "Free Software Foundation" not in toolchain._output([*found.command, "--version"]).stdout:
        pytest.skip("headers are precompiled for GCC alone")
    level, flags = next(iter(found.levels.items()))
    return [*found.command, *found.arguments, *flags, f"-DOW_LEVEL={level}"]


@pytest.fixture
def include(tmp_path: Path) -> Path:
    folder = tmp_path / "include"
    for name, path in package_data.folder("codegen", "include").items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(path.read_bytes())
    return folder


def made(headers: PrecompiledHeaders, command: list[str]) -> Path:
    """The header, once another process has made it."""
    until = time.monotonic() + 100
    while (header := headers.find(command, TEXT)) is None and time.monotonic() < until:
        time.sleep(0.05)
    assert header is not None
    return header


def compiled(command: list[str], include: Path, *more: str) -> bytes:
    source, target = include.parent / "kernel.c", include.parent / "kernel.o"
    source.write_text(TEXT)
    assert not toolchain._run([*command, "-I", str(include), "-c", str(source), "-o", str(target), *more])
    return target.read_bytes()


def test_objects_are_the_same(tmp_path: Path, include: Path, command: list[str]) -> None:
    cache = tmp_path / "cache"
    cache.mkdir()
    headers = PrecompiledHeaders(cache, IDENTITY)
    assert headers.find(command, TEXT) is None  # nobody waits for it
    header = made(headers, command)
    with_header = compiled(command, include, "-include", str(header), "-Winvalid-pch", "-Werror=invalid-pch")
    assert with_header == compiled(command, include)
    assert PrecompiledHeaders(cache, ("gcc 2, Free Software Foundation",)).find(command, TEXT) is None


def test_one_process_makes_it(tmp_path: Path, command: list[str]) -> None:
    begun: list[Path] = []
    headers = PrecompiledHeaders(tmp_path, IDENTITY)
    headers._begin = lambda place, *_: begun.append(place)  # type: ignore[method-assign]
    counts = []
    for _ in range(4):
        assert headers.find(command, TEXT) is None
        counts.append(len(begun))
    assert counts == [0, 1, 1, 1]  # not for one kernel alone
    assert headers.find([*command, "-DOTHER"], TEXT) is None
    assert len(begun) == 1


def test_a_damaged_one_is_passed_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import opweave

    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    for name in ("a", "b"):
        opweave.weave_text(ENTRY.format(name))
    until = time.monotonic() + 100
    while not list(tmp_path.rglob(NAME)) and time.monotonic() < until:
        time.sleep(0.05)
    assert list(tmp_path.rglob(NAME))
    for path in tmp_path.rglob(NAME):
        path.write_bytes(path.read_bytes()[:5000])
    module = opweave.weave_text(ENTRY.format("c"))
    assert module.damaged_c(opweave.ones(3)).shape == (3,)
    assert not list(tmp_path.rglob(NAME))


def test_without_a_cache_there_is_none(tmp_path: Path, command: list[str]) -> None:
    assert PrecompiledHeaders(None, IDENTITY).find(command, TEXT) is None
    assert PrecompiledHeaders(tmp_path / "nowhere", IDENTITY).find(command, TEXT) is None
    assert PrecompiledHeaders(tmp_path, ("clang version 14",)).find(command, TEXT) is None
    assert not list(tmp_path.glob("[0-9a-f]*"))


def test_only_slow_headers_are_precompiled(tmp_path: Path, command: list[str]) -> None:
    for _ in range(2):
        assert PrecompiledHeaders(tmp_path, IDENTITY).find(command, '#include "kernel.h"\n') is None
    assert not list(tmp_path.glob("[0-9a-f]*"))
