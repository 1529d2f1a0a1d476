"""A cache of what an earlier run of codegen derived from entries that have not changed since; most edits touch one
entry.

It is kept in a file of the build folder and only saves time. An entry that passed its own checks passes them again, and
what was derived from it alone is what it would be: all that follows from its text, the functions of its file and
codegen's sources. Rules about several entries, and what follows from several, are never taken from here.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from . import generate
from .model.operator import Operator


class Cache:
    """The results of the run before, as far as it had the same sources, and those of this one."""

    def __init__(self, path: Path | None = None, output: Path | None = None) -> None:
        """Read the cache at `path`; None: nothing is known. `output` is the folder of the generated files."""
        self._path, self._output = path, output
        self._sources = "" if path is None else _sources()
        self._functions = ""
        known = {} if path is None else _read(path)
        same = known.get("sources") == self._sources
        self._sound: frozenset[str] = frozenset(known["sound"] if same else ())
        self._written: Mapping[str, tuple[str, str]] = known["written"] if same else {}
        self._known: Mapping[str, str] = known["texts"] if same else {}
        self._texts: dict[str, str] = {}

    def begin(self, functions: Iterable[str]) -> None:
        """A file is read, which has these functions of its own."""
        self._functions = "\n".join(functions)

    def is_sound(self, operator: Operator) -> bool:
        """Return True if the operator has passed the checks of its own entry in an earlier run."""
        return self._path is not None and self._key(operator) in self._sound

    def written(self, path: str, operator: Operator) -> str | None:
        """The text of a file that follows from the operator alone, if it was generated for the same one and is as it
        was then. Its `#line` directives may be those of an earlier place of the entry."""
        key, digest = self._written.get(path, ("", ""))
        if self._output is None or key != self._key(operator):
            return None
        text = generate.current(self._output / path)
        return text if text is not None and _digest(text) == digest else None

    def text(self, operator: Operator, what: str, derive: Callable[[], str]) -> str:
        """Return the text of `derive`, which must follow from the operator and from `what` alone, from the cache where
        it is there."""
        if self._path is None:
            return derive()
        key = f"{self._key(operator)} {what}"
        self._texts[key] = self._known[key] if key in self._known else derive()
        return self._texts[key]

    def keep(self, operators: Iterable[Operator], followed: Mapping[str, Operator]) -> None:
        """Remembers that these operators passed, and what was written of files that follow from one operator each."""
        if self._path is None or self._output is None:
            return
        sound = sorted({self._key(operator) for operator in operators})
        texts = {path: generate.current(self._output / path) for path in followed}
        written = {path: (self._key(followed[path]), _digest(text)) for path, text in texts.items() if text is not None}
        content = json.dumps({"sources": self._sources, "sound": sound, "written": written, "texts": self._texts})
        generate.replace(self._path, content.encode())

    def _key(self, operator: Operator) -> str:
        return _digest("\0".join((operator.name, operator.file, operator.text, self._functions)))


NONE = Cache()
"""The cache of runs that derive everything anew; it stores nothing."""


def _read(path: Path) -> dict[str, Any]:
    try:
        known = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError):
        return {}
    return known if isinstance(known, dict) else {}


def _sources() -> str:
    """A digest of codegen itself."""
    from .emit.text import template_folder

    own = Path(__file__).parent
    digest = hashlib.sha256()
    for folder, pattern in ((own, "**/*.py"), (template_folder(), "*.j2")):
        for path in sorted(folder.glob(pattern)):
            digest.update(f"{path.relative_to(folder)}\0".encode())
            digest.update(path.read_bytes())
    return digest.hexdigest()


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
