# ruff: noqa: F403
"""What the package exports, for type checkers: the functions and dtypes come from generated stubs."""

from . import cpu as cpu
from ._dtype_names import *
from ._operators import *
from .construct import as_tensor as as_tensor
from .construct import asarray as asarray
from .construct import is_tensor as is_tensor
from .construct import scalar_tensor as scalar_tensor
from .construct import tensor as tensor
from .dtypes import dtype as dtype
from .dtypes import get_default_dtype as get_default_dtype
from .dtypes import set_default_dtype as set_default_dtype
from .errors import LinAlgError as LinAlgError
from .errors import OutOfMemoryError as OutOfMemoryError
from .interchange import from_numpy as from_numpy
from .interchange import frombuffer as frombuffer
from .printing import get_printoptions as get_printoptions
from .printing import printoptions as printoptions
from .printing import set_printoptions as set_printoptions
from .promotion import can_cast as can_cast
from .promotion import promote_types as promote_types
from .promotion import result_type as result_type
from .shapes import broadcast_shapes as broadcast_shapes
from .storage import Storage as Storage
from .storage import UntypedStorage as UntypedStorage
from .storage import is_storage as is_storage
from .tensor import Tensor as Tensor
from .threads import get_num_threads as get_num_threads
from .threads import set_num_threads as set_num_threads
from .types import Size as Size
from .types import channels_last as channels_last
from .types import channels_last_3d as channels_last_3d
from .types import contiguous_format as contiguous_format
from .types import device as device
from .types import layout as layout
from .types import memory_format as memory_format
from .types import preserve_format as preserve_format
from .types import strided as strided

__version__: str
__all__: list[str]
