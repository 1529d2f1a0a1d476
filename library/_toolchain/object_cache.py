"""Compiled objects that earlier weavings left behind: an edit of one operator compiles that one alone.

They lie in a folder of the user's own and are found by a digest of everything that they follow from. The cache only
saves time: where there is no such folder, or it cannot be trusted, everything is compiled.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import stat
import time
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

_KEPT_SECONDS = 30 * 24 * 3600
"""Objects that no weaving has used for so long are removed."""
_DIGEST_SIZE = hashlib.sha256().digest_size


class ObjectCache:
    """Objects by the digests of what they were made of."""

    def __init__(self, folder: Path | None) -> None:
        """Open the cache in a folder; None: nothing is kept and nothing is found."""
        self._folder = folder

    def find(self, key: str) -> bytes | None:
        """The object of a key; None when there is none, or what lies there is damaged."""
        if self._folder is None:
            return None
        path = self._folder / key
        try:
            content = path.read_bytes()
        except OSError:
            return None
        digest, kept = content[:_DIGEST_SIZE], content[_DIGEST_SIZE:]
        if hashlib.sha256(kept).digest() != digest:
            return None
        with suppress(OSError):
            os.utime(path)
        return kept

    def keep(self, key: str, content: bytes) -> None:
        """Keep an object's content under its key, where there is a folder that can be written to."""
        from ..codegen import generate

        if self._folder is not None:
            with suppress(OSError):
                generate.replace(self._folder / key, hashlib.sha256(content).digest() + content)

    def remove_unused(self) -> None:
        """Remove objects that are not used, and what a weaving that was killed had begun to write."""
        if self._folder is not None:
            remove_unused(self._folder)


def remove_unused(folder: Path) -> None:
    """Remove the files and folders in a cache folder that nothing has used for long."""
    with suppress(OSError):
        for path in folder.iterdir():
            with suppress(OSError):
                if path.lstat().st_mtime >= time.time() - _KEPT_SECONDS:
                    continue
                if path.is_dir() and not path.is_symlink():
                    shutil.rmtree(path, ignore_errors=True)
                else:
                    path.unlink()


def size() -> int:
    """Return how many bytes are kept for this user."""
    folder = users_folder("objects")
    return 0 if folder is None else sum(path.stat().st_size for path in folder.parent.rglob("*") if path.is_file())


def clear() -> int:
    """Remove everything that is kept for this user; the number of bytes that it had."""
    folder = users_folder("objects")
    removed = 0
    for path in sorted(folder.parent.rglob("*"), reverse=True) if folder is not None else ():
        with suppress(OSError):
            removed += path.lstat().st_size if path.is_file() else 0
            path.rmdir() if path.is_dir() and not path.is_symlink() else path.unlink()
    return removed


def users_own() -> ObjectCache:
    """The objects of this user."""
    return ObjectCache(users_folder("objects"))


def users_folder(name: str) -> Path | None:
    """A folder in the cache of this user, which nobody else may write to, as its content is executed; None where there
    is no such cache."""
    base, home = (os.environ.get(name, "") for name in ("XDG_CACHE_HOME", "HOME"))
    root = Path(base) if os.path.isabs(base) else Path(home, ".cache")
    folder = root / "opweave" / name
    if not root.is_absolute():
        return None
    try:
        root.mkdir(mode=0o700, parents=True, exist_ok=True)
        for each in (folder.parent, folder):
            with suppress(FileExistsError):
                each.mkdir(mode=0o700)
            status = each.lstat()
            others_write = status.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
            if not stat.S_ISDIR(status.st_mode) or status.st_uid != os.geteuid() or others_write:
                return None
    except OSError:
        return None
    return folder


def key(parts: Iterable[str | bytes]) -> str:
    """The digest of these parts, each with its length, so that none runs into the next."""
    digest = hashlib.sha256()
    for part in parts:
        content = os.fsencode(part)
        digest.update(f"{len(content)} ".encode())
        digest.update(content)
    return digest.hexdigest()
