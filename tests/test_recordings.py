"""Recordings are asked for again when they, or the sources that asked, have changed."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest
from harness import recording

ITEMS: recording.Items = {"test_sum": (7, ["1", "[2,3]"])}


@pytest.fixture
def source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A test file whose recording has just been written."""
    monkeypatch.setattr(recording, "FOLDER", tmp_path)
    monkeypatch.setattr(recording, "TESTS", tmp_path)
    monkeypatch.setattr(recording, "version", lambda name: "2.13.0+cpu")
    path = tmp_path / "test_sums_oracle.py"
    path.write_text("question")
    (tmp_path / "helper.py").write_text("values")
    recording.path_of(path.stem).write_bytes(recording.pack(ITEMS, path))
    return path


def test_what_was_written_is_fresh_and_read_again(source: Path) -> None:
    assert recording.is_fresh(source.stem)
    assert recording.load(source.stem) == ([1, [2, 3]], {"test_sum": [7, 0, 1]})
    assert not recording.is_fresh("test_others_oracle")
    source.unlink()
    assert not recording.is_fresh(source.stem)


@pytest.mark.parametrize("name", ["test_sums_oracle.py", "helper.py"])
def test_a_changed_source_is_asked_again(source: Path, name: str) -> None:
    (source.parent / name).write_text("another")
    assert not recording.is_fresh(source.stem)


def test_other_test_files_do_not_matter(source: Path) -> None:
    (source.parent / "test_products_oracle.py").write_text("question")
    assert recording.is_fresh(source.stem)


def test_changed_answers_are_asked_again(source: Path) -> None:
    other = recording.pack({"test_sum": (7, ["1", "[2,4]"])}, source)
    kept = gzip.decompress(recording.path_of(source.stem).read_bytes()).partition(b"\n")[0]
    content = gzip.decompress(other).partition(b"\n")[2]
    recording.path_of(source.stem).write_bytes(gzip.compress(kept + b"\n" + content))
    assert not recording.is_fresh(source.stem)


def test_another_release_is_asked_again(source: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recording, "version", lambda name: "2.14.0")
    assert not recording.is_fresh(source.stem)
