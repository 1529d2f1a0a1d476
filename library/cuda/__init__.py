"""The namespace `opweave.cuda`: CUDA devices, of which there are none."""

from importlib import import_module as _import_module
from types import ModuleType as _ModuleType
from typing import TYPE_CHECKING as _TYPE_CHECKING

from .._base.module_names import submodule as _submodule
from ..backends._no_devices import *  # noqa: F403
from ..backends._no_devices import __all__ as __all__

if not _TYPE_CHECKING:  # type checkers would take every name for one of these

    def __getattr__(name: str) -> _ModuleType:
        return _import_module(".amp", __name__) if name == "amp" else _submodule(__name__, name)
