"""The record that a weaving leaves in the package, by which the next one finds whether anything has changed."""

from __future__ import annotations

import hashlib
import json
import os
import sys
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TypeGuard

from .. import __version__
from .._base import package_data
from .._toolchain import toolchain

STAMP = "woven.json"


def fingerprint_of(text: bytes, name: str) -> str:
    """A digest of what the package depends on. The compiler is not part of it: a package that was woven remains
    usable where there is none."""
    digest = hashlib.sha256(f"{__version__} {name} {sys.byteorder} {os.uname().machine}\n".encode())
    digest.update(text)
    digest.update(package_data.path(*toolchain.CONFIG).read_bytes())
    for file, path in package_data.folder("codegen").items():
        if path.suffix in (".py", ".j2", ".h"):
            digest.update(file.encode())
            digest.update(path.read_bytes())
    return digest.hexdigest()


@dataclass(frozen=True)
class Stamp:
    """The record of the last weaving: its fingerprint (None: it was interrupted), its operators and its files."""

    fingerprint: str | None = None
    operators: tuple[str, ...] = ()
    files: tuple[str, ...] = ()


def read(folder: Path) -> Stamp:
    """A damaged file counts as absent, so that the package is woven again."""
    try:
        stamp = json.loads((folder / STAMP).read_text("utf-8"))
    except (OSError, ValueError, RecursionError):
        return Stamp()
    if not isinstance(stamp, dict):
        return Stamp()
    fingerprint, operators, files = stamp.get("fingerprint"), stamp.get("operators"), stamp.get("files")
    if not (fingerprint is None or isinstance(fingerprint, str)) or not _are_texts(operators) or not _are_texts(files):
        return Stamp()
    return Stamp(fingerprint, tuple(operators), tuple(files))


def _are_texts(value: object) -> TypeGuard[list[str]]:
    return isinstance(value, list) and all(isinstance(each, str) for each in value)


def up_to_date(folder: Path, fingerprint: str) -> Stamp | None:
    """The record of the package if it is what it should be, at whichever levels."""
    stamp = read(folder)
    if stamp.fingerprint != fingerprint or not all((folder / file).is_file() for file in stamp.files):
        return None
    return stamp


def stem_of(fingerprint: str) -> str:
    """Return the beginning of the names of the shared objects. It follows from the content: a process that has the
    former ones loaded can load these too."""
    return f"_kernels-{fingerprint[:12]}"


def write(folder: Path, stamp: Stamp) -> None:
    """Write the stamp of a package to its folder."""
    from ..codegen import generate

    generate.replace(folder / STAMP, (json.dumps(asdict(stamp), indent=2) + "\n").encode())
