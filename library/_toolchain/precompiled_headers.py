"""Precompiled headers: those of vector instructions are parsed once for all weavings.

They take most of the time that a small kernel takes to compile; GCC reads them in a tenth of it where it has
precompiled them with the same flags. That takes as long as five kernels, so nobody waits for it: a process of its own
does it in the user's cache, for the kernels that come later. The cache only saves time: without it, with another
compiler, or where what lies there is damaged, kernels are compiled as they are.
"""

from __future__ import annotations

import os
import re
import subprocess
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from . import object_cache

_SLOW = re.compile(r'^#include "(half|special|vector_math|complex_math)\.h"$', re.MULTILINE)
"""The headers of the core that include those of vector instructions."""
_HEADER = "vectors.h"
_PRECOMPILED = f"{_HEADER}.gch"
_TEXT = "#if defined(__F16C__)\n#include <immintrin.h>\n#endif\n"
"""The header: alone, as others define names that kernels may use."""
_MAKING_SECONDS = 60
"""The age from which a header that is not there yet counts as one whose making was interrupted."""
_MAKE = f'("$@" -o made && mv made {_PRECOMPILED}) >/dev/null 2>&1 &'


class PrecompiledHeaders:
    """The precompiled headers of a user, for one compiler."""

    def __init__(self, folder: Path | None, identity: Sequence[str | bytes]) -> None:
        """Open the cache in `folder`; None: there is none.

        Args:
            folder: the cache, each header in a folder of its own.
            identity: what the compiler's work depends on, the text of `--version` first.
        """
        version = identity[0]
        is_gcc = isinstance(version, str) and "Free Software Foundation" in version
        self._folder = folder if is_gcc else None
        self._identity = identity

    def find(self, command: Sequence[str], text: str) -> Path | None:
        """Return the header to include before a kernel's text, if it is precompiled; else begin to precompile it, where
        that saves time."""
        if self._folder is None or not _SLOW.search(text):
            return None
        place = self._folder / object_cache.key([*self._identity, *command, _TEXT])
        try:
            if (place / _PRECOMPILED).exists():
                os.utime(place)  # it is in use
                return place / _HEADER
            if _is_ours_to_make(place):
                self._begin(place, command)
        except OSError:
            pass
        return None

    def _begin(self, place: Path, command: Sequence[str]) -> None:
        (place / _HEADER).write_text(_TEXT, "utf-8")
        compiler = [*command, "-x", "c-header", _HEADER]
        subprocess.run(["sh", "-c", _MAKE, "sh", *compiler], cwd=place, stdin=subprocess.DEVNULL, check=False)

    def remove_unused(self) -> None:
        """Remove headers that no weaving has used for long."""
        if self._folder is not None:
            object_cache.remove_unused(self._folder)


def discard(header: Path) -> None:
    """Remove a precompiled header with which the compiler refuses what it compiles without."""
    with suppress(OSError):
        header.with_name(_PRECOMPILED).unlink()


def _is_ours_to_make(place: Path) -> bool:
    """True for the second kernel that would use the header, and for the first after its making was interrupted: one
    kernel alone is compiled before its header could be."""
    try:
        place.mkdir()
    except FileExistsError:
        header = place / _HEADER
        try:
            header.open("x").close()
        except FileExistsError:
            if time.time() - header.stat().st_mtime < _MAKING_SECONDS:
                return False
            os.utime(header)
        return True
    return False
