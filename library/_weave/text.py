"""Weaving of a text, as from a cell of a notebook: into a package in the user's cache, which is imported at once."""

from __future__ import annotations

import atexit
import hashlib
import importlib.util
import os
import shutil
import sys
import tempfile
from functools import cache
from pathlib import Path
from types import ModuleType

from .._toolchain import object_cache
from . import loaded_libraries
from .weave import WeaveError, weave

_PACKAGE_NAMES = ["weave_text"]

_SHOWN = "<text>"


def weave_text(text: str) -> ModuleType:
    """Weave the operators that a text declares, in the format of a file for `opweave weave`, and import them.

    Returns the module of the operators; the methods are those of Tensor from then on. A text that was woven before, by
    this process or another one, is only imported. Operators of another text of this process make way for those of the
    same name, so that a cell of a notebook can be changed and run again. Raises WeaveError, with the lines and columns
    of mistakes.
    """
    if not isinstance(text, str):
        raise TypeError(f"weave_text(): argument 'text' must be str, not {type(text).__name__}")
    return woven(text, _SHOWN)


def name_of(text: str) -> str:
    """The name of the package of a text."""
    return f"woven_{hashlib.sha256(text.encode()).hexdigest()[:16]}"


def woven(text: str, shown: str) -> ModuleType:
    """The module of the operators of a text; `shown` is what messages call it."""
    name = name_of(text)
    if name in loaded_libraries.texts:
        loaded_libraries.install_again(name)
        return sys.modules[name]
    folder = _folder()
    path = folder / f"{name}.yaml"
    loaded_libraries.texts.add(name)
    try:
        path.write_text(text, "utf-8")
        package = weave(path, name, folder).folder
        os.utime(package)  # it is in use
        return _imported(name, package)
    except WeaveError as error:
        raise WeaveError(str(error).replace(os.fspath(path), shown)) from None
    except OSError as error:
        raise WeaveError(f"cannot write {path}: {error.strerror or error}") from None
    finally:
        if name not in sys.modules:
            loaded_libraries.texts.discard(name)


def _imported(name: str, folder: Path) -> ModuleType:
    """The package in this folder, which is none that Python searches."""
    spec = importlib.util.spec_from_file_location(
        name, folder / "__init__.py", submodule_search_locations=[str(folder)]
    )
    assert spec is not None
    assert spec.loader is not None
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    return module


@cache
def _folder() -> Path:
    """Return the folder of the packages of texts: in the user's cache, or where there is none a folder that lasts as
    long as the process."""
    folder = object_cache.users_folder("texts")
    if folder is not None:
        object_cache.remove_unused(folder)
        return folder
    temporary = tempfile.mkdtemp(prefix="opweave-")
    atexit.register(shutil.rmtree, temporary, ignore_errors=True)
    return Path(temporary)
