"""A run of codegen that knows what an earlier one found out writes what a run without it would write."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from codegen import cache, emit, library
from codegen.__main__ import main
from codegen.emit import kernels

ENTRIES = """\
- function: half(x)
  value: x / 2

- func: first(Tensor self) -> Tensor
  doc: Halves.
  elementwise: half(self)
  dtypes: floating
  derivatives: auto

- func: second(Tensor self) -> Tensor
  doc: Squares and adds.
  elementwise: self * self + 1
  dtypes: floating
  derivatives: auto
"""


class Runs:
    """Runs over one file of entries, into one folder, with one cache."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.cache = folder / "cache.json"
        self.yaml = folder / "ops.yaml"

    def run(self, text: str, *options: str, output: str = "generated") -> int:
        self.yaml.write_text(text)
        return main(["--yaml", str(self.yaml), "--output", str(self.folder / output), *options])

    def written(self, text: str) -> dict[str, str]:
        """What a run with the cache writes, which a run without it would have written."""
        assert self.run(text, "--cache", str(self.cache)) == 0
        assert self.run(text, output="fresh") == 0
        texts, fresh = (
            {path.relative_to(root).as_posix(): path.read_text() for path in root.rglob("*") if path.is_file()}
            for root in (self.folder / "generated", self.folder / "fresh")
        )
        assert texts == fresh
        return texts


@pytest.fixture
def runs(tmp_path: Path) -> Runs:
    return Runs(tmp_path)


@pytest.fixture
def emitted(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The operators whose kernels were made anew."""
    names: list[str] = []

    def made(operator: emit.Operator) -> str | None:
        names.append(operator.name)
        return original(operator)

    original = kernels.emit
    monkeypatch.setattr(kernels, "emit", made)
    return names


def test_an_edit_makes_anew_what_it_touched(runs: Runs, emitted: list[str]) -> None:
    before = runs.written(ENTRIES)
    del emitted[:]
    assert runs.run(ENTRIES, "--cache", str(runs.cache)) == 0
    assert emitted == []
    after = runs.written(ENTRIES.replace("self + 1", "self + 3"))
    assert after["kernels/second.c"] != before["kernels/second.c"]
    assert after["kernels/first.c"] == before["kernels/first.c"]
    del emitted[:]
    assert runs.run(ENTRIES, "--cache", str(runs.cache)) == 0
    assert emitted == ["second", "second_backward_self"]


def test_a_function_of_the_file_changes_what_may_call_it(runs: Runs) -> None:
    before = runs.written(ENTRIES)
    after = runs.written(ENTRIES.replace("x / 2", "x / 4"))
    assert after["kernels/first.c"] != before["kernels/first.c"]


def test_files_that_were_changed_or_removed_are_written_again(runs: Runs) -> None:
    before = runs.written(ENTRIES)
    (runs.folder / "generated" / "kernels" / "first.c").unlink()
    (runs.folder / "generated" / "kernels" / "second.c").write_text("int changed;\n")
    assert runs.written(ENTRIES) == before


@pytest.mark.parametrize("content", ["", "[]", "{", '{"sources": "of another version"}'])
def test_a_cache_that_is_damaged_or_old_counts_as_none(runs: Runs, content: str, emitted: list[str]) -> None:
    runs.written(ENTRIES)
    runs.cache.write_text(content)
    del emitted[:]
    assert runs.run(ENTRIES, "--cache", str(runs.cache)) == 0
    assert {"first", "second"} <= set(emitted)


def test_mistakes_are_found_beside_what_is_known(runs: Runs, capsys: pytest.CaptureFixture[str]) -> None:
    runs.written(ENTRIES)
    capsys.readouterr()
    wrong = ENTRIES.replace("half(self)\n", "self + nothing\n")
    assert runs.run(wrong, "--cache", str(runs.cache)) == 1
    assert "unknown name 'nothing'" in capsys.readouterr().err
    # What fails a check is not remembered as having passed.
    contradiction = ENTRIES + "  reference: self + 7\n"
    for _ in range(2):
        assert runs.run(contradiction, "--cache", str(runs.cache)) == 1
        assert "'reference' contradicts the body" in capsys.readouterr().err


def test_a_check_knows_nothing(runs: Runs, capsys: pytest.CaptureFixture[str]) -> None:
    runs.written(ENTRIES)
    path = runs.folder / "generated" / "kernels" / "first.c"
    path.write_text(path.read_text() + "int added;\n")
    known = json.loads(runs.cache.read_text())
    known["written"]["kernels/first.c"][1] = cache._digest(path.read_text())
    runs.cache.write_text(json.dumps(known))
    capsys.readouterr()
    assert runs.run(ENTRIES, "--check", "--cache", str(runs.cache)) == 1
    assert "first.c is stale" in capsys.readouterr().err


def test_without_a_file_nothing_is_known(tmp_path: Path) -> None:
    (tmp_path / "ops.yaml").write_text(ENTRIES)
    operators = library.read(tmp_path / "ops.yaml")
    cache.NONE.keep(operators, {})
    assert not any(map(cache.NONE.is_sound, operators))
    assert cache.NONE.written("kernels/first.c", operators[0]) is None
    assert cache.NONE.text(operators[0], "text", lambda: "derived") == "derived"
