"""Loads OpenBLAS before the compiled module that needs it; imported before everything else of the package.

The library lies in the package `scipy_openblas64`. That is looked up but not imported, because its own import would
load the library for all modules of the process, and those that bring an OpenBLAS of their own (NumPy, SciPy) would
bind to it. Loaded here with RTLD_LOCAL it is found by `_C` alone, through its name.
"""

from __future__ import annotations

import os
import sys
import warnings
from importlib.machinery import ExtensionFileLoader, ModuleSpec, PathFinder
from typing import Any

# cffi's own loader: it is needed anyway, and importing ctypes would take longer than all of this.
import _cffi_backend

_PACKAGE = __name__.removesuffix("._base.loader")
_LIBRARY = "libscipy_openblas64_.so"


def _load_openblas() -> object:
    spec = PathFinder.find_spec("scipy_openblas64")
    for folder in (spec.submodule_search_locations if spec else None) or ():
        path = os.path.join(folder, "lib", _LIBRARY)
        if os.path.exists(path):
            return _cffi_backend.load_library(path, _cffi_backend.RTLD_NOW | _cffi_backend.RTLD_LOCAL)
    # The dynamic linker still has the rpath of `_C` to try.
    return None


# Kept, since the library is unloaded with it.
openblas = _load_openblas()

try:
    from .. import _C
except ImportError as error:
    if openblas is None and _LIBRARY.partition(".")[0] in str(error):
        raise ImportError(
            f"{error}; opweave needs OpenBLAS: pip install scipy-openblas64", name=error.name, path=error.path
        ) from None
    raise


def _load_handle_type() -> None:
    """Makes `opweave._handle` importable: a second module in the shared object of `_C`."""
    name, path = f"{_PACKAGE}._handle", _C.__file__
    assert path is not None
    loader = ExtensionFileLoader(name, path)
    module = loader.create_module(ModuleSpec(name, loader, origin=path))
    loader.exec_module(module)
    sys.modules[name] = module


_load_handle_type()

_problem = _C.lib.environment_problem()
if _problem:
    _text: Any = _C.ffi.string(_problem)
    warnings.warn(_text.decode(), RuntimeWarning, stacklevel=2)

sys.modules[f"{_PACKAGE}._handle"].claim()
