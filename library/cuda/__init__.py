"""The namespace `opweave.cuda`: CUDA devices, of which there are none."""

from importlib import import_module as _import_module
from typing import Any as _Any

from .._names.absent_devices import names_of as _names_of
from .._names.module_names import submodule as _submodule

globals().update(_names_of(__name__))


def __getattr__(name: str) -> _Any:
    return _import_module(".amp", __name__) if name == "amp" else _submodule(__name__, name)
