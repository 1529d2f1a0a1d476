"""opweave under the name of torch, for programs and libraries that look for it: an opt-in.

    python -m opweave.as_torch script.py [ARGUMENT...]
    opweave.as_torch()  # in one process, before anything imports torch

From then on `import torch`, `import torch.nn.functional` and the like give the modules of opweave, and the version says
so: `torch.__version__` is "2.13.0+opweave". What opweave does not have is an ImportError or an AttributeError as ever.
Python processes that the script starts (`subprocess`, `multiprocessing`, joblib) have that `torch` too.
"""

from __future__ import annotations

import importlib.metadata
import importlib.util
import os
import runpy
import sys
from collections.abc import Iterator
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType
from typing import Any

__all__ = ["VERSION", "as_torch"]
_PACKAGE_NAMES = ["as_torch"]

VERSION = "2.13.0+opweave"
_NAME = "torch"
_PACKAGE = __name__.partition(".")[0]
_RENAMED = {"_C": "_torch_c", "_ops": "_torch_ops"}
"""Modules whose names opweave has for something else: the compiled module is another one, and so are operators."""


def _own_name(fullname: str) -> str:
    """The name of opweave's module for that of torch's."""
    first, dot, rest = fullname.partition(".")[2].partition(".")
    return ".".join(filter(None, [_PACKAGE, _RENAMED.get(first, first) + dot + rest]))


class _Namespace(ModuleType):
    """The module `torch`: the names of opweave, and a version of its own."""

    __version__ = VERSION

    def __init__(self) -> None:
        super().__init__(_NAME, sys.modules[_PACKAGE].__doc__)
        self.__path__ = []  # so that it has submodules
        self.__file__ = sys.modules[_PACKAGE].__file__
        self.torch = self

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") and name not in ("__all__", "__config__"):
            raise AttributeError(f"module {_NAME!r} has no attribute {name!r}")
        if name in _RENAMED:
            return importlib.import_module(f"{_NAME}.{name}")
        try:
            return getattr(sys.modules[_PACKAGE], name)
        except AttributeError as error:
            text = str(error).replace(repr(_PACKAGE), f"{_NAME!r} (which is opweave)", 1)
            raise AttributeError(text, name=name) from None

    def __dir__(self) -> list[str]:
        return sorted({*dir(sys.modules[_PACKAGE]), "__version__"})


class _Distribution(importlib.metadata.Distribution):
    """The distribution that is installed under the name of torch, for programs that ask for its version."""

    def read_text(self, filename: str) -> str | None:
        if filename != "METADATA":
            return None
        return f"Metadata-Version: 2.1\nName: {_NAME}\nVersion: {VERSION}\nSummary: opweave in the place of torch\n"

    def locate_file(self, path: Any) -> Path:
        return Path(__file__).with_name(str(path))


class _Finder(MetaPathFinder, Loader):
    """Finds `torch` and the modules in it: those of opweave, which keep their own names."""

    def find_spec(self, fullname: str, path: Any, target: ModuleType | None = None) -> ModuleSpec | None:
        if fullname == _NAME:
            return ModuleSpec(fullname, self, is_package=True)
        if fullname.partition(".")[0] != _NAME:
            return None
        try:
            found = importlib.util.find_spec(_own_name(fullname))
        except ModuleNotFoundError:
            return None
        if found is None:
            return None
        return ModuleSpec(fullname, self, is_package=found.submodule_search_locations is not None)

    def find_distributions(self, context: Any = None) -> Iterator[importlib.metadata.Distribution]:
        if context is None or context.name in (None, _NAME):
            yield _Distribution()

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        if spec.name == _NAME:
            return _Namespace()
        module = importlib.import_module(_own_name(spec.name))
        spec.loader_state = module.__spec__
        return module

    def exec_module(self, module: ModuleType) -> None:
        # The import system has given the module the specification that was asked for: it gets its own again.
        spec = module.__spec__
        if spec is not None and spec.loader_state is not None:
            module.__spec__ = spec.loader_state


_finder = _Finder()


def as_torch() -> ModuleType:
    """Makes `import torch` give opweave in this process, and returns the module `torch`.

    Raises RuntimeError if torch itself has been imported.
    """
    known = sys.modules.get(_NAME)
    if known is not None and not isinstance(known, _Namespace):
        raise RuntimeError("torch itself has been imported: opweave takes its name only before that")
    if _finder not in sys.meta_path:
        sys.meta_path.insert(0, _finder)
        # Libraries look for tensors of torch by the module of their class, and for NumPy's arrays by their dtypes.
        kind, dtype = sys.modules[_PACKAGE].Tensor, sys.modules[_PACKAGE].dtype
        kind.__module__ = _NAME
        importlib.import_module(f"{_PACKAGE}._base.shown_name").package = _NAME  # type: ignore[attr-defined]
        for owner, name in ((kind, "__numpy_dtype__"), (dtype, "__numpy_dtype__"), (dtype, "kind")):
            delattr(owner, name)
    return importlib.import_module(_NAME)


class _Callable(ModuleType):
    """The module has the name of its function, and is what `opweave.as_torch` names if it is imported first."""

    def __call__(self) -> ModuleType:
        return as_torch()


sys.modules[__name__].__class__ = _Callable


def _main() -> None:
    if len(sys.argv) < 2:
        sys.exit("usage: python -m opweave.as_torch SCRIPT [ARGUMENT...]")
    from opweave.as_torch import as_torch as install  # of the module that others import, not of __main__

    install()
    # Processes that the script starts find torch in that folder: `subprocess` hands on the variable, spawning
    # processes of `multiprocessing` the list.
    folder = str(Path(__file__).with_name("_torch_of_children"))
    os.environ["PYTHONPATH"] = os.pathsep.join([folder, *filter(None, [os.environ.get("PYTHONPATH")])])
    sys.path.insert(1, folder)
    sys.argv = sys.argv[1:]
    sys.path[0] = os.path.dirname(os.path.abspath(sys.argv[0]))  # as Python has it for a script
    runpy.run_path(sys.argv[0], run_name="__main__")


if __name__ == "__main__":
    _main()
