"""Updates a folder of generated files: writes new and changed files and deletes stale ones.

Files are written only if their text changes (so that builds stay incremental), through a temporary file and a rename
(so that a build never sees half of one). An entry that merely moved in its file changes nothing: otherwise a new line
in ops.yaml would compile every operator below it again. Its `#line` directives keep the lines of the time when the
kernel was compiled, which is when compilers report errors.
"""

from __future__ import annotations

import fcntl
import os
import re
import secrets
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

KEPT = frozenset({"README.md"})
"""Files in the output folder that codegen does not own."""
_SOURCE_LINE = re.compile(r'^#line \d+ (?!.*\.c"$)', re.MULTILINE)


def stale(files: Mapping[str, str], folder: Path) -> list[str]:
    """Paths whose content on disk is not what it should be: missing, different or left over."""
    differing = [path for path, text in files.items() if _differs(current(folder / path), text)]
    return sorted([*differing, *_leftovers(files, folder)])


def write(files: Mapping[str, str], folder: Path) -> list[str]:
    """Make the folder hold exactly `files` and return the paths that were written or deleted. Processes take turns, as
    one would delete the temporary files of the other."""
    folder.mkdir(parents=True, exist_ok=True)
    with locked(folder):
        touched = stale(files, folder)
        for path in touched:
            if path in files:
                replace(folder / path, files[path].encode())
            else:
                (folder / path).unlink()
    return touched


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Hold a lock on the folder, for which other processes wait."""
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        with suppress(OSError):  # some network file systems have no locks for folders
            fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


def _differs(current: str | None, text: str) -> bool:
    if current is None or current == text:
        return current is None
    return without_source_lines(current) != without_source_lines(text)


def current(path: Path) -> str | None:
    """The text of a file; None where there is none."""
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return None


def _leftovers(files: Mapping[str, str], folder: Path) -> list[str]:
    leftovers = []
    for path in folder.rglob("*"):
        relative = path.relative_to(folder).as_posix()
        if path.is_file() and relative not in files and relative not in KEPT and "__pycache__" not in path.parts:
            leftovers.append(relative)
    return leftovers


def without_source_lines(text: str) -> str:
    """Generated C without line numbers of its source, so that it is equal for an entry that merely moved."""
    return _SOURCE_LINE.sub("#line ", text)


def replace(path: Path, content: bytes, younger: bool = False) -> None:
    """Write a file atomically. The temporary file is created exclusively, so that no link is followed.

    With `younger` its time is at least a second later than that of the file it replaces: Python uses the compiled form
    of a module as long as the source has the same second and size.
    """
    before = path.lstat().st_mtime if younger and os.path.lexists(path) else 0.0
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{secrets.token_hex(8)}.tmp")
    with open(temporary, "xb") as stream:
        try:
            stream.write(content)
            stream.close()
            if os.stat(temporary).st_mtime < int(before) + 1:
                os.utime(temporary, (int(before) + 1,) * 2)
            os.replace(temporary, path)
        except BaseException:
            os.unlink(temporary)
            raise
