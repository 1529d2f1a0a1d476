"""Where `save` writes to: open files, pipes, folders that take no other file; what is left when it is stopped."""

from __future__ import annotations

import errno
import io
import os
import tempfile
import threading
from pathlib import Path
from typing import Any

import opweave as ow
import pytest
from opweave.serialization import atomic


def test_pipes_are_written_to(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    read: list[bytes] = []
    reader = threading.Thread(target=lambda: read.append((tmp_path / "pipe").read_bytes()))
    reader.start()
    ow.save(ow.ones(2), tmp_path / "pipe")
    reader.join()
    assert ow.load(io.BytesIO(read[0])).tolist() == [1.0, 1.0]


def test_open_files_are_written_to(tmp_path: Path) -> None:
    """A file that is open somewhere is the one that is meant, whether it is named by a path or by a descriptor."""
    with tempfile.NamedTemporaryFile(dir=tmp_path) as file:
        ow.save(ow.ones(2), file)
        assert ow.load(file.name).tolist() == [1.0, 1.0], "nothing waits in a buffer"
        ow.save(ow.arange(3), f"/proc/self/fd/{file.fileno()}")
        file.seek(0)
        assert ow.load(file).tolist() == [0, 1, 2]
        os.unlink(file.name)
        (tmp_path / "link").symlink_to(f"/proc/self/fd/{file.fileno()}")
        ow.save(3, tmp_path / "link")
        file.seek(0)
        assert ow.load(file) == 3
        assert [each.name for each in tmp_path.iterdir()] == ["link"]
        (tmp_path / os.path.basename(file.name)).touch()  # which the block removes


@pytest.mark.parametrize("code", [errno.EACCES, errno.EBUSY])
def test_folders_that_take_no_other_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: int) -> None:
    path = tmp_path / "x.pt"
    ow.save(ow.zeros(100), path)
    place = path.stat().st_ino

    def refuse(*arguments: Any) -> Any:
        raise OSError(code, os.strerror(code))

    def open_existing(name: Any, mode: str, **named: Any) -> Any:
        return refuse() if mode == "xb" else open(name, mode, **named)

    if code == errno.EBUSY:
        monkeypatch.setattr(os, "replace", refuse)
    else:
        monkeypatch.setattr(atomic, "open", open_existing, raising=False)
        with pytest.raises(PermissionError):
            ow.save(1, tmp_path / "new.pt")
    ow.save(ow.ones(2), path)
    assert ow.load(path).tolist() == [1.0, 1.0]
    assert path.stat().st_ino == place
    assert [each.name for each in tmp_path.iterdir()] == ["x.pt"]


@pytest.mark.parametrize("place", ["open", "_put_in_place", "_take_room", "after"])
def test_an_interrupt_leaves_no_other_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: str) -> None:
    path = tmp_path / "x.pt"
    ow.save(1, path)
    name = "_put_in_place" if place == "after" else place
    original: Any = open if name == "open" else getattr(atomic, name)

    def interrupted(*arguments: Any, **named: Any) -> Any:
        if place != "open" or arguments[1] == "xb":
            if place in ("open", "after"):
                original(*arguments, **named)
            raise KeyboardInterrupt
        return original(*arguments, **named)

    monkeypatch.setattr(atomic, name, interrupted, raising=False)
    with pytest.raises(KeyboardInterrupt):
        ow.save(ow.ones(1_000_000), path)
    assert [each.name for each in tmp_path.iterdir()] == ["x.pt"]
    monkeypatch.undo()
    found = ow.load(path)
    assert found[0] == 1 if place == "after" else found == 1


def test_names_of_many_bytes(tmp_path: Path) -> None:
    path = tmp_path / ("\u20ac" * 80)
    ow.save(1, path)
    assert ow.load(path) == 1
