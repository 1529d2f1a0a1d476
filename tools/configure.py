"""Answers to meson's questions while it configures: which files exist, what codegen wrote, where OpenBLAS is.

Reads the source tree (MESON_SOURCE_ROOT, which meson sets) and prints one answer a line.

    configure.py list PATTERN...    files that match, relative to the source root (meson itself has no globs)
    configure.py codegen INPUT...   runs codegen and prints the files it generated; the inputs are for meson's
                                    eyes, which configures again when an argument of a command changes
    configure.py openblas           the folder of the OpenBLAS library
"""

from __future__ import annotations

import importlib.util
import os
import sys
from pathlib import Path

ROOT = Path(os.environ.get("MESON_SOURCE_ROOT") or Path(__file__).resolve().parent.parent)


def matching_files(patterns: list[str]) -> list[str]:
    """Return the files that match, relative to the source root."""
    found = {path for pattern in patterns for path in ROOT.glob(pattern) if path.is_file()}
    return sorted(path.relative_to(ROOT).as_posix() for path in found)


def run_codegen() -> int:
    """Run codegen, and return its exit status."""
    os.chdir(ROOT)
    sys.path.insert(0, str(ROOT))
    from codegen.__main__ import main

    # It prints the files, or diagnostics to stderr.
    build = os.environ.get("MESON_BUILD_ROOT")
    return main(["--cache", str(Path(build, "codegen-cache.json"))] if build else [])


def openblas_folder() -> str:
    """Return the folder of OpenBLAS. Exits with a message if it is not installed."""
    # Found, not imported: the package's own import loads the library for every module of the process.
    spec = importlib.util.find_spec("scipy_openblas64")
    if spec is None or spec.origin is None:
        sys.exit("the Python package scipy-openblas64 is needed to build: pip install scipy-openblas64")
    return (Path(spec.origin).parent / "lib").as_posix()


def main(arguments: list[str]) -> None:
    """Print the answer to a question."""
    command, *rest = arguments
    if command == "list":
        lines = matching_files(rest)
    elif command == "codegen":
        sys.exit(run_codegen())
    elif command == "openblas":
        lines = [openblas_folder()]
    else:
        sys.exit(f"unknown command {command!r}")
    print("\n".join(lines))


if __name__ == "__main__":
    main(sys.argv[1:])
