"""The namespace `opweave.mps`: Apple's devices, of which there are none."""

from typing import TYPE_CHECKING as _TYPE_CHECKING
from typing import Any as _Any

from ._names.absent_devices import names_of as _names_of

globals().update(_names_of(__name__))

if _TYPE_CHECKING:

    def __getattr__(name: str) -> _Any: ...
