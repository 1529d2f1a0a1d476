"""The compiler of `.ci/run`, which finds the objects of what it has compiled elsewhere."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from harness.paths import ROOT

COMPILER = shutil.which("cc")
Compile = Callable[..., tuple[bool, bytes]]

pytestmark = pytest.mark.skipif(COMPILER is None, reason="no compiler")


@pytest.fixture
def compile_in(tmp_path: Path) -> Compile:
    """A function that compiles a source beside a header in a folder, and says whether a compiler has run."""
    for name in ("kept", "true"):
        (tmp_path / name).mkdir()
    (tmp_path / "kept" / "cc").symlink_to(ROOT / ".ci" / "kept-objects")
    count = tmp_path / "count"
    (tmp_path / "true" / "cc").write_text(f'#!/bin/sh\necho >> "{count}"\nexec "{COMPILER}" "$@"\n')
    (tmp_path / "true" / "cc").chmod(0o755)
    path = os.pathsep.join([str(tmp_path / "kept"), str(tmp_path / "true"), os.environ["PATH"]])
    environment = os.environ | {"PATH": path, "OPWEAVE_CI_OBJECTS": str(tmp_path / "objects")}

    def run(folder: str, source: str, header: str, *options: str) -> tuple[bool, bytes]:
        place = tmp_path / folder
        place.mkdir(exist_ok=True)
        (place / "source.c").write_text(source)
        (place / "header.h").write_text(header)
        count.write_text("")
        command = ["cc", *options, "-MD", "-MF", "out.d", "-o", "out.o", "-c", "source.c"]
        subprocess.run(command, cwd=place, env=environment, check=True, capture_output=True)
        assert "header.h" in (place / "out.d").read_text()
        return count.read_text() != "", (place / "out.o").read_bytes()

    return run


SOURCE = '#include "header.h"\nint number(void) { return NUMBER; }\n'


def test_what_was_compiled_elsewhere_is_found(compile_in: Compile) -> None:
    compiled, first = compile_in("a", SOURCE, "#define NUMBER 1\n")
    again, second = compile_in("b", SOURCE, "#define NUMBER 1\n")
    assert (compiled, again) == (True, False)
    assert first == second


def test_everything_that_decides_the_object_is_compared(compile_in: Compile) -> None:
    _, first = compile_in("a", SOURCE, "#define NUMBER 1\n")
    results = [
        compile_in("a", SOURCE, "#define NUMBER 2\n"),
        compile_in("a", SOURCE.replace("number", "figure"), "#define NUMBER 1\n"),
        compile_in("a", SOURCE, "#define NUMBER 1\n", "-fPIC", "-DMORE"),
    ]
    assert [compiled for compiled, _ in results] == [True] * 3
    assert results[0][1] != first
    assert compile_in("a", SOURCE, "#define NUMBER 1\n") == (False, first)


def test_warnings_are_said_again(compile_in: Compile) -> None:
    warns = SOURCE + "static int unused(void) { return 0; }\n"
    assert [compile_in("a", warns, "#define NUMBER 1\n", "-Wall")[0] for _ in range(2)] == [True, True]
