"""The shared objects of a woven package: one for each instruction-set level that it was compiled for.

Weaving compiles for the level of the process alone, as each level takes as long as the first. A process at another one
takes the best of those below it, whose instructions its processor has; where there is none it compiles the C that lies
in the package.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from .._C import lib
from .._toolchain.isa_levels import NAMES, own

_MEANT = ("x86-64", "x86-64-v3", "x86-64-v4")
"""The values of OPWEAVE_ISA."""
DECLARATIONS = "operators.yaml"
"""The file in a package with the declarations of its operators."""
KERNELS, REGISTRY = "kernels", "_registry.c"
"""The folder and the file in a package with its C."""

Progress = Callable[[int, int, str], None]


def file_name(stem: str, level: str) -> str:
    """Return the name of the shared object of a level."""
    return f"{stem}-{level}.so"


def stem_of(name: str) -> str:
    """Return the common beginning of the names of the shared objects of one weaving."""
    return name.rpartition("-")[0]


@contextmanager
def loadable(package: str, folder: str, stem: str) -> Iterator[str]:
    """The path of the shared object that this process can load. Raises ImportError where there is none and none can be
    compiled."""
    for level in reversed(NAMES[: lib.level() + 1]):
        path = os.path.join(folder, file_name(stem, level))
        if os.path.exists(path):
            yield path
            return
    from .._toolchain.toolchain import CompilerError

    with tempfile.TemporaryDirectory(prefix="opweave-") as temporary:
        try:
            yield os.fspath(_added(Path(folder), stem, Path(temporary)))
        except (CompilerError, OSError) as error:
            there = [
                meant for name, meant in zip(NAMES, _MEANT, strict=True) if Path(folder, file_name(stem, name)).exists()
            ]
            raise ImportError(
                f"{package} was woven for {' and '.join(there) or 'no level'}, this process runs at "
                f"{_MEANT[lib.level()]}, and it cannot be compiled for that: {error}\n"
                f"weave it with --all-levels where there is a compiler",
                name=package,
            ) from None


def _added(folder: Path, stem: str, temporary: Path) -> Path:
    """Compiles the package for this process's level, and keeps that in its folder where this can be written to."""
    from ..codegen import generate

    compile_package(folder, stem, (own(),), temporary, folder / DECLARATIONS, lambda done, total, what: None)
    made = temporary / file_name(stem, own())
    kept = folder / made.name
    try:
        generate.replace(kept, made.read_bytes())
    except OSError:
        return made
    return kept


def compile_package(
    package: Path,
    stem: str,
    levels: Sequence[str],
    into: Path,
    yaml: Path,
    progress: Progress,
    anew: bool = False,
) -> None:
    """Compiles the C in the folder of a package at some levels, to shared objects in the folder `into`.

    `yaml` are the declarations, for the compiler's complaints. Raises CompilerError.
    """
    from .._toolchain import toolchain

    compiler = toolchain.find()
    with tempfile.TemporaryDirectory(prefix="opweave-") as folder:
        # Objects lie beside their sources, so these are copies: the package keeps only the text.
        copies = Path(folder, KERNELS)
        copies.mkdir()
        headers = Path(folder, "include")
        toolchain.write_headers(headers)
        kernels = [Path(shutil.copy(source, copies)) for source in sorted((package / KERNELS).glob("*.c"))]
        registry = Path(shutil.copy(package / REGISTRY, folder))
        outputs = {level: into / file_name(stem, level) for level in levels}
        toolchain.build(compiler, kernels, registry, headers, outputs, yaml, progress, anew)
