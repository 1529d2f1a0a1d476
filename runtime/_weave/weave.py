"""Weaving: turns a file of declarations outside the tree into an importable package of operators.

Reads the YAML and what is installed with opweave (codegen, templates, headers, compiler flags). Writes the folder
OUT/NAME: `_operators.py` with the functions, the shared object of their kernels, stubs, the C it was compiled from, a
copy of the declarations, and `woven.json`, which tells the next weaving whether anything changed.
"""

from __future__ import annotations

import hashlib
import importlib.util
import json
import keyword
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, TypeGuard

from .. import __version__
from .._base import package_data
from . import loaded_libraries, toolchain
from .guards import locked, tidying_up

if TYPE_CHECKING:
    from ..codegen.model.operator import Operator

STAMP = "woven.json"
_LONGEST_NAME = 100

Progress = Callable[[int, int, str], None]
"""Called with the number of steps done, that of all steps, and what was done."""


class WeaveError(RuntimeError):
    """The package could not be woven. The text says all, with the places of mistakes in the declarations."""


@dataclass(frozen=True)
class Woven:
    """The result of weaving a file of declarations."""

    name: str
    folder: Path
    operators: tuple[str, ...]
    seconds: float
    rebuilt: bool
    """False when nothing had changed since the package was woven."""


def weave(
    yaml: str | os.PathLike[str],
    name: str | None = None,
    out: str | os.PathLike[str] = ".",
    *,
    force: bool = False,
    progress: Progress | None = None,
) -> Woven:
    """Weaves the operators declared in the file `yaml` into the package `name` (default: the file's own) in `out`.

    Nothing is done when the package is up to date, unless `force`. Raises WeaveError.
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
            known = _up_to_date(folder, _fingerprint(text, name))
            operators = known if known is not None and not force else None
            rebuilt = operators is None
            if operators is None:
                operators = _weave(path, text, name, folder, progress or (lambda done, total, what: None), force)
    except OSError as error:
        where = f" ({error.filename})" if error.filename else ""
        raise WeaveError(f"cannot write {Path(out) / name}: {error.strerror or error}{where}") from None
    except toolchain.CompilerError as error:
        raise WeaveError(str(error)) from None
    # A running process has perhaps looked into the folder before.
    importlib.invalidate_caches()
    return Woven(name, folder, tuple(operators), time.perf_counter() - began, rebuilt)


def read(yaml: str | os.PathLike[str], package: str) -> tuple[Operator, ...]:
    """The declared operators, checked as those of a package of this name. Raises WeaveError with every mistake."""
    from ..codegen import library
    from ..codegen.errors import CodegenError, Diagnostics, render
    from . import derivative_check

    diagnostics = Diagnostics()
    formulas = derivative_check.functions().keys()
    provided = library.Provided(loaded_libraries.functions(), formulas, loaded_libraries.attributes())
    try:
        operators = library.read(yaml, os.fspath(yaml), loaded_libraries.names_taken(package), provided)
        derivative_check.check(operators, diagnostics)
        diagnostics.raise_if_any()
    except CodegenError as error:
        raise WeaveError(render(error.diagnostics)) from None
    return operators


# ---- names -------------------------------------------------------------------------------------------------


def check_name(name: str, yaml: Path, out: Path) -> None:
    """Refuses a name that Python could not import, and one that would hide a module or somebody's files."""
    if not name.isidentifier() or keyword.iskeyword(name):
        spelling = "".join(c if c.isalnum() or c == "_" else "_" for c in name)
        spelling = spelling if spelling.isidentifier() and not keyword.iskeyword(spelling) else "my_ops"
        raise WeaveError(f"'{name}' cannot be the name of a Python package; give another: --name {spelling}")
    if len(os.fsencode(name)) > _LONGEST_NAME:
        message = f"the name of a package has up to {_LONGEST_NAME} characters, this one {len(name)}"
        raise WeaveError(f"{message}: --name {name[:20]}")
    if name in sys.stdlib_module_names or name == "opweave" or _is_foreign_module(name, out):
        raise WeaveError(f"there is a module '{name}' already; give the package another name: --name {name}_ops")
    folder = out / name
    if folder.with_suffix(".py").exists():
        raise WeaveError(f"{folder.with_suffix('.py')} has the name that the package would have: --name {name}_ops")
    if folder.exists() and not folder.is_dir():
        _check_folder(folder, yaml)


def _check_folder(folder: Path, yaml: Path) -> None:
    """Refuses one with somebody's files. While another process weaves into it, this cannot be told."""
    if not (folder / STAMP).is_file() and (not folder.is_dir() or any(folder.iterdir())):
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
    return not (folder / STAMP).is_file() and folder.resolve() != (out / name).resolve()


# ---- is there anything to do? ------------------------------------------------------------------------------


def _fingerprint(text: bytes, name: str) -> str:
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
class _Stamp:
    """The record of the last weaving: its fingerprint (None: it was interrupted), its operators and its files."""

    fingerprint: str | None = None
    operators: tuple[str, ...] = ()
    files: tuple[str, ...] = ()


def _read_stamp(folder: Path) -> _Stamp:
    """A damaged file counts as absent, so that the package is woven again."""
    try:
        stamp = json.loads((folder / STAMP).read_text("utf-8"))
    except (OSError, ValueError, RecursionError):
        return _Stamp()
    if not isinstance(stamp, dict):
        return _Stamp()
    fingerprint, operators, files = stamp.get("fingerprint"), stamp.get("operators"), stamp.get("files")
    if not (fingerprint is None or isinstance(fingerprint, str)) or not _are_texts(operators) or not _are_texts(files):
        return _Stamp()
    return _Stamp(fingerprint, tuple(operators), tuple(files))


def _are_texts(value: object) -> TypeGuard[list[str]]:
    return isinstance(value, list) and all(isinstance(each, str) for each in value)


def _up_to_date(folder: Path, fingerprint: str) -> list[str] | None:
    """The names of the operators if the package is what it should be."""
    stamp = _read_stamp(folder)
    if stamp.fingerprint != fingerprint or not all((folder / file).is_file() for file in stamp.files):
        return None
    return list(stamp.operators)


# ---- doing it ----------------------------------------------------------------------------------------------


def _weave(yaml: Path, text: bytes, name: str, folder: Path, progress: Progress, force: bool) -> list[str]:
    from ..codegen.emit import backward, kernels

    # Generated text calls the declarations by their name alone, so that it is the same wherever they lie.
    operators = tuple(replace(operator, file=yaml.name) for operator in read(yaml, name))
    progress(0, 1, f"{len(operators)} operators")
    emitted = {each.name: kernels.emit(each) for each in (*operators, *backward.operators(operators))}
    sources = {operator: source for operator, source in emitted.items() if source is not None}
    fingerprint = _fingerprint(text, name)
    with ExitStack() as cleaning:
        with _blaming_temporary_files():
            temporary = Path(cleaning.enter_context(tempfile.TemporaryDirectory(prefix="opweave-")))
            built = temporary / "package"
            for operator, source in sources.items():
                _write(built / "kernels" / f"{operator}.c", source)
            # The name follows from the content: a process that has the former one loaded can load this one too.
            shared_object = f"_kernels-{fingerprint[:12]}.so" if sources else None
            if shared_object is not None:
                _compile(yaml, name, operators, temporary, built / shared_object, progress, force)
            _write_python(yaml, name, operators, built, shared_object)
            (built / loaded_libraries.DECLARATIONS).write_bytes(text)
        _deliver(built, folder, fingerprint, [operator.name for operator in operators])
    return [operator.name for operator in operators]


@contextmanager
def _blaming_temporary_files() -> Iterator[None]:
    """Report an OSError as one of temporary files, not of the folder that the package is woven into."""
    try:
        yield
    except OSError as error:
        raise WeaveError(
            f"cannot write temporary files: {error.strerror or error}; {toolchain.ANOTHER_FOLDER}"
        ) from None


def _compile(
    yaml: Path,
    name: str,
    operators: Sequence[Operator],
    temporary: Path,
    output: Path,
    progress: Progress,
    force: bool,
) -> None:
    from ..codegen.emit import registry

    compiler = toolchain.find()
    for header, path in package_data.folder("codegen", "include").items():
        _write(temporary / "include" / header, path.read_text("utf-8"))
    registration = temporary / "registry_ops.c"
    _write(registration, registry.emit(operators, yaml.name, library=name))
    # Objects lie beside their sources, so these are compiled from copies: the package keeps only the text.
    kernels = [Path(shutil.copy(source, temporary)) for source in sorted(output.parent.glob("kernels/*.c"))]
    toolchain.build(compiler, kernels, registration, temporary / "include", output, yaml, progress, force)


def _write_python(yaml: Path, name: str, operators: Sequence[Operator], built: Path, shared_object: str | None) -> None:
    from ..codegen.emit import derivatives, python, stubs

    source = yaml.name
    package = python.Package(name, shared_object)
    _write(built / "_operators.py", python.emit(operators, source, "_operators.py", package))
    _write(built / "_docstrings.py", python.emit_docstrings(operators, source, "_docstrings.py", package))
    _write(built / "_derivatives.py", derivatives.emit(operators, source, "_derivatives.py", package))
    _write(built / "__init__.pyi", stubs.emit(operators, source, "__init__.pyi", name))
    _write(built / "py.typed", "")
    summary = "".join(f"    {operator.name}: {operator.doc.splitlines()[0]}\n" for operator in operators)
    text = f"Operators woven by opweave from {yaml.name}; importing adds their methods to opweave.Tensor.\n\n{summary}"
    text = text.replace("\\", "\\\\").replace('"', '\\"')
    _write(built / "__init__.py", f'"""{text}"""\n\n{_IMPORTS}')


_IMPORTS = """\
from opweave._weave import loaded_libraries as _libraries

_libraries.forget_modules(__name__, globals())
from ._operators import *
from ._operators import __all__ as __all__
"""


def _deliver(built: Path, folder: Path, fingerprint: str, operators: list[str]) -> None:
    """Brings the package folder in line: each file appears whole, those that others need first, the stamp last."""
    from ..codegen import generate

    before = _read_stamp(folder)
    files = sorted(path.relative_to(built).as_posix() for path in built.rglob("*") if path.is_file())
    folder.mkdir(exist_ok=True)
    # Should this be interrupted, the package counts as woven and as out of date.
    _write_stamp(folder, replace(before, fingerprint=None))
    order = sorted(files, key=lambda file: (file.startswith("_op"), file.startswith("__init__"), file))
    for file in order:
        target = folder / file
        if target.parent != folder and target.parent.is_symlink():
            target.parent.unlink()
        generate.replace(target, (built / file).read_bytes(), younger=True)
    # A process that is importing the former version may still need its shared object: it goes one weaving later.
    kept = {*files, *(file for file in before.files if file.endswith(".so"))}
    for path in [*folder.glob("_kernels-*.so"), *folder.glob("kernels/*.c")]:
        if path.relative_to(folder).as_posix() not in kept:
            path.unlink()
    _write_stamp(folder, _Stamp(fingerprint, tuple(operators), tuple(files)))


def _write_stamp(folder: Path, stamp: _Stamp) -> None:
    from ..codegen import generate

    generate.replace(folder / STAMP, (json.dumps(asdict(stamp), indent=2) + "\n").encode())


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8", newline="\n")
