"""What the package exports, for type checkers: the functions and dtypes come from generated stubs."""

# ruff: noqa: F403
from . import _dtype_names, _operators, cpu
from ._dtype_names import *
from ._dtype_names import bool as bool  # these three would hide Python's own, so `import *` leaves them out
from ._dtype_names import float as float
from ._dtype_names import int as int
from ._operators import *
from .construct import as_tensor, asarray, is_tensor, scalar_tensor, tensor
from .dtypes import dtype, get_default_dtype, set_default_dtype
from .errors import LinAlgError, OutOfMemoryError
from .interchange import from_numpy, frombuffer
from .printing import get_printoptions, printoptions, set_printoptions
from .promotion import can_cast, promote_types, result_type
from .shapes import broadcast_shapes
from .storage import Storage, UntypedStorage, is_storage
from .tensor import Tensor
from .threads import get_num_threads, set_num_threads
from .types import (
    Size,
    channels_last,
    channels_last_3d,
    contiguous_format,
    device,
    layout,
    memory_format,
    preserve_format,
    strided,
)

__version__: str

__all__ = [
    "LinAlgError",
    "OutOfMemoryError",
    "Size",
    "Storage",
    "Tensor",
    "UntypedStorage",
    "as_tensor",
    "asarray",
    "broadcast_shapes",
    "can_cast",
    "channels_last",
    "channels_last_3d",
    "contiguous_format",
    "cpu",
    "device",
    "dtype",
    "from_numpy",
    "frombuffer",
    "get_default_dtype",
    "get_num_threads",
    "get_printoptions",
    "is_storage",
    "is_tensor",
    "layout",
    "memory_format",
    "preserve_format",
    "printoptions",
    "promote_types",
    "result_type",
    "scalar_tensor",
    "set_default_dtype",
    "set_num_threads",
    "set_printoptions",
    "strided",
    "tensor",
]
__all__ += _dtype_names.__all__
__all__ += _operators.__all__
