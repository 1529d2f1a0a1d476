"""opweave.types: types of arguments, for annotations, as in torch.types."""

from __future__ import annotations

import builtins
import os
from typing import IO, Any, TypeAlias

from ._base.devices import device as _device_class
from ._base.dtypes import dtype as _dtype
from ._base.types import Size
from ._base.types import layout as _layout
from ._tensor.storage import TypedStorage, UntypedStorage

__all__ = ["Device", "FileLike", "Number", "Storage"]

Number: TypeAlias = builtins.int | builtins.float | builtins.bool
"""The types of `Tensor.item`'s result for a real tensor."""
Device: TypeAlias = _device_class | builtins.str | builtins.int | None
"""The types that stand for a device."""
FileLike: TypeAlias = builtins.str | os.PathLike[builtins.str] | IO[builtins.bytes]
"""The types that `save` and `load` take as a file."""
Storage: TypeAlias = TypedStorage | UntypedStorage

# Older names, of which torch's own annotations are made.
_int, _float, _bool, _symint = builtins.int, builtins.float, builtins.bool, builtins.int
_TensorOrTensors: TypeAlias = Any
_device = _device_class
_size: TypeAlias = Size | list[builtins.int] | tuple[builtins.int, ...]
_dtypes, _layouts = _dtype, _layout
