"""Weaving: turns a file of declarations outside the tree into an importable package of operators.

Reads the YAML and what is installed with opweave (codegen, templates, headers, compiler flags). Writes the folder
OUT/NAME: `_operators.py` with the functions, the shared objects of their kernels (levels.py), stubs, the C these were
compiled from, a copy of the declarations, and `woven.json`, which tells the next weaving whether anything changed.
"""

from __future__ import annotations

import importlib.util
import keyword
import os
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from .._base.notes import explained
from .._toolchain import isa_levels, toolchain
from . import levels, loaded_libraries, stamps
from .guards import locked, tidying_up
from .levels import Progress
from .stamps import Stamp

if TYPE_CHECKING:
    from ..codegen.errors import Diagnostics
    from ..codegen.model.operator import Operator

_LONGEST_NAME = 100


class WeaveError(RuntimeError):
    """The package could not be woven. The text says all, with the places of mistakes in the declarations."""


@dataclass(frozen=True)
class Woven:
    """The result of weaving a file of declarations."""

    name: str
    folder: Path
    operators: tuple[str, ...]
    """The operators that the package exports, without those that their gradients call."""
    seconds: float
    rebuilt: bool
    """False when nothing had changed since the package was woven."""


def weave(
    yaml: str | os.PathLike[str],
    name: str | None = None,
    out: str | os.PathLike[str] = ".",
    *,
    force: bool = False,
    all_levels: bool = False,
    progress: Progress | None = None,
    hints: Diagnostics | None = None,
) -> Woven:
    """Weaves the operators declared in the file `yaml` into the package `name` (default: the file's own) in `out`.

    It is compiled for the instruction-set level of this process, or for `all_levels`. Nothing is done when the package
    is up to date, unless `force`. `progress` is called with the number of steps done, that of all steps, and what was
    done. `hints` and notes about the file are added where it is read. Raises WeaveError.
    """
    began = time.perf_counter()
    path = Path(yaml)
    name = path.stem if name is None else name
    if not str(path).isprintable():
        raise WeaveError(f"{str(path)!r}: a name with unprintable characters cannot stand in generated code")
    try:
        text = path.read_bytes()
    except OSError as error:
        raise WeaveError(f"{path}: cannot read the declarations: {error.strerror or error}") from None
    try:
        check_name(name, path, Path(out))
        folder = Path(out) / name
        Path(out).mkdir(parents=True, exist_ok=True)
        with tidying_up(), locked(folder):
            _check_folder(folder, path)
            wanted = _Wanted(
                tuple(toolchain.configured().levels) if all_levels else (isa_levels.own(),), force, progress
            )
            known = stamps.up_to_date(folder, stamps.fingerprint_of(text, name))
            if known is None or force:
                operators, rebuilt = _weave(path, text, name, folder, wanted, hints), True
            else:
                operators, rebuilt = known.operators, _add_levels(path, folder, known, wanted)
    except OSError as error:
        where = f" ({error.filename})" if error.filename else ""
        raise WeaveError(f"cannot write {Path(out) / name}: {error.strerror or error}{where}") from None
    except toolchain.CompilerError as error:
        raise WeaveError(str(error)) from None
    # A running process has perhaps looked into the folder before.
    importlib.invalidate_caches()
    return Woven(name, folder, operators, time.perf_counter() - began, rebuilt)


@dataclass(frozen=True)
class _Wanted:
    """The request to compile a package: at which levels, whether anew, and whom to tell."""

    levels: tuple[str, ...]
    anew: bool
    told: Progress | None

    def progress(self, done: int, total: int, what: str) -> None:
        if self.told is not None:
            self.told(done, total, what)


def read(yaml: str | os.PathLike[str], package: str, diagnostics: Diagnostics | None = None) -> tuple[Operator, ...]:
    """The declared operators, checked as those of a package of this name. Hints are added to `diagnostics`.

    Raises WeaveError with every mistake.
    """
    from ..codegen import library
    from ..codegen.errors import CodegenError, Diagnostics, render
    from . import derivative_check, index_gradients

    diagnostics = Diagnostics() if diagnostics is None else diagnostics
    formulas = derivative_check.functions().keys()
    provided = library.Provided(loaded_libraries.functions(), formulas, loaded_libraries.attributes())
    try:
        taken = loaded_libraries.names_taken(package)
        operators = library.read(yaml, os.fspath(yaml), taken, provided, hints=diagnostics)
        derivative_check.check(operators, diagnostics)
        index_gradients.check(operators, diagnostics)
        diagnostics.raise_if_any()
    except CodegenError as error:
        raise explained(WeaveError(render(error.diagnostics)), "docs/adding-an-operator.md") from None
    return operators


# ---- names -------------------------------------------------------------------------------------------------


def check_name(name: str, yaml: Path, out: Path, option: str = "--name ") -> None:
    """Refuses a name that Python could not import, and one that would hide a module or somebody's files.

    `option` is what stands before a name on the command line.
    """
    if not name.isidentifier() or keyword.iskeyword(name):
        spelling = "".join(c if c.isalnum() or c == "_" else "_" for c in name)
        spelling = spelling if spelling.isidentifier() and not keyword.iskeyword(spelling) else "my_ops"
        raise WeaveError(f"'{name}' cannot be the name of a Python package; give another: {option}{spelling}")
    if len(os.fsencode(name)) > _LONGEST_NAME:
        message = f"the name of a package has up to {_LONGEST_NAME} characters, this one {len(name)}"
        raise WeaveError(f"{message}: {option}{name[:20]}")
    if name in sys.stdlib_module_names or name == "opweave" or _is_foreign_module(name, out):
        raise WeaveError(f"there is a module '{name}' already; give the package another name: {option}{name}_ops")
    folder = out / name
    if folder.with_suffix(".py").exists():
        raise WeaveError(f"{folder.with_suffix('.py')} has the name that the package would have: {option}{name}_ops")
    if folder.exists() and not folder.is_dir():
        _check_folder(folder, yaml)


def _check_folder(folder: Path, yaml: Path) -> None:
    """Refuses one with somebody's files. While another process weaves into it, this cannot be told."""
    if not (folder / stamps.STAMP).is_file() and (not folder.is_dir() or any(folder.iterdir())):
        raise WeaveError(
            f"{folder} exists and was not woven by opweave; remove it, or give another name ({yaml.stem}_ops?)"
        )


def _is_foreign_module(name: str, out: Path) -> bool:
    """True if a module of this name can be imported that is no woven package."""
    try:
        spec = importlib.util.find_spec(name)
    except (ImportError, ValueError):
        return False
    if spec is None or spec.origin is None or spec.origin == "namespace":
        return False
    folder = Path(spec.origin).parent
    return not (folder / stamps.STAMP).is_file() and folder.resolve() != (out / name).resolve()


# ---- doing it ----------------------------------------------------------------------------------------------


def _weave(
    yaml: Path, text: bytes, name: str, folder: Path, wanted: _Wanted, hints: Diagnostics | None
) -> tuple[str, ...]:
    from ..codegen.emit import backward, kernels, registry

    # Generated text calls the declarations by their name alone, so that it is the same wherever they lie.
    operators = tuple(replace(operator, file=yaml.name) for operator in read(yaml, name, hints))
    wanted.progress(0, 1, f"{len(operators)} operators")
    emitted = {each.name: kernels.emit(each) for each in (*operators, *backward.operators(operators))}
    sources = {operator: source for operator, source in emitted.items() if source is not None}
    fingerprint = stamps.fingerprint_of(text, name)
    stem = stamps.stem_of(fingerprint) if sources else None
    stamp = Stamp(fingerprint, tuple(operator.name for operator in operators if not operator.internal))
    with ExitStack() as cleaning:
        with _blaming_temporary_files():
            built = Path(cleaning.enter_context(tempfile.TemporaryDirectory(prefix="opweave-")))
            for operator, source in sources.items():
                _write(built / levels.KERNELS / f"{operator}.c", source)
            if stem is not None:
                _write(built / levels.REGISTRY, registry.emit(operators, yaml.name, library=name))
                levels.compile_package(built, stem, wanted.levels, built, yaml, wanted.progress, wanted.anew)
            _write_python(yaml, name, operators, built, stem)
            (built / levels.DECLARATIONS).write_bytes(text)
        _deliver(built, folder, stamp)
    return stamp.operators


def _add_levels(yaml: Path, folder: Path, stamp: Stamp, wanted: _Wanted) -> bool:
    """Compile the package at those of the levels at which it is not there yet. Returns True if there are such."""
    from ..codegen import generate

    assert stamp.fingerprint is not None
    stem = stamps.stem_of(stamp.fingerprint)
    missing = [level for level in wanted.levels if not (folder / levels.file_name(stem, level)).is_file()]
    if levels.REGISTRY not in stamp.files or not missing:
        return False
    with ExitStack() as cleaning:
        with _blaming_temporary_files():
            built = Path(cleaning.enter_context(tempfile.TemporaryDirectory(prefix="opweave-")))
            levels.compile_package(folder, stem, missing, built, yaml, wanted.progress)
        for path in sorted(built.iterdir()):
            generate.replace(folder / path.name, path.read_bytes())
            stamp = replace(stamp, files=(*stamp.files, path.name))
    stamps.write(folder, stamp)
    return True


@contextmanager
def _blaming_temporary_files() -> Iterator[None]:
    """Report an OSError as one of temporary files, not of the folder that the package is woven into."""
    try:
        yield
    except OSError as error:
        raise WeaveError(
            f"cannot write temporary files: {error.strerror or error}; {toolchain.ANOTHER_FOLDER}"
        ) from None


def _write_python(yaml: Path, name: str, operators: Sequence[Operator], built: Path, stem: str | None) -> None:
    from ..codegen.emit import derivatives, python, stubs

    source = yaml.name
    package = python.Package(name, stem)
    _write(built / "_operators.py", python.emit(operators, source, "_operators.py", package))
    _write(built / "_docstrings.py", python.emit_docstrings(operators, source, "_docstrings.py", package))
    _write(built / "_derivatives.py", derivatives.emit(operators, source, "_derivatives.py", package))
    _write(built / "__init__.pyi", stubs.emit(operators, source, "__init__.pyi", name))
    _write(built / "py.typed", "")
    summary = "".join(
        f"    {operator.name}: {operator.doc.splitlines()[0]}\n" for operator in operators if not operator.internal
    )
    text = f"Operators woven by opweave from {yaml.name}; importing adds their methods to opweave.Tensor.\n\n{summary}"
    text = text.replace("\\", "\\\\").replace('"', '\\"')
    _write(built / "__init__.py", f'"""{text}"""\n\n{_IMPORTS}')


_IMPORTS = """\
from opweave._weave import loaded_libraries as _libraries

_libraries.forget_modules(__name__, globals())
from ._operators import *
from ._operators import __all__ as __all__
"""


def _deliver(built: Path, folder: Path, stamp: Stamp) -> None:
    """Brings the package folder in line: each file appears whole, those that others need first, the stamp last."""
    from ..codegen import generate

    before = stamps.read(folder)
    files = sorted(path.relative_to(built).as_posix() for path in built.rglob("*") if path.is_file())
    folder.mkdir(exist_ok=True)
    # Should this be interrupted, the package counts as woven and as out of date.
    stamps.write(folder, replace(before, fingerprint=None))
    order = sorted(files, key=lambda file: (file.startswith("_op"), file.startswith("__init__"), file))
    for file in order:
        target = folder / file
        if target.parent != folder and target.parent.is_symlink():
            target.parent.unlink()
        generate.replace(target, (built / file).read_bytes(), younger=True)
    # A process that is importing the former version may still need its shared objects: they go one weaving later.
    own = {levels.stem_of(file) for file in files if file.endswith(".so")}
    former = {file for file in before.files if file.endswith(".so") and levels.stem_of(file) not in own}
    for path in [*folder.glob("_kernels-*.so"), *folder.glob(f"{levels.KERNELS}/*.c")]:
        if path.relative_to(folder).as_posix() not in {*files, *former}:
            path.unlink()
    stamps.write(folder, replace(stamp, files=tuple(files)))


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8", newline="\n")
