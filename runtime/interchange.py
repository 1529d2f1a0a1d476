"""Memory that is not the core's own: NumPy arrays and buffers of other objects, as tensors and back.

NumPy is not imported here unless a tensor is to become an array: an array that arrives has imported it already.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ._C import ffi
from ._handle import exported, over_memory, read_array
from ._handle import from_dlpack as take_capsule
from .dtypes import BY_CODE, BY_NUMPY_NAME, dtype
from .handles import type_name, wrap
from .lazy_imports import load
from .types import check_device

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from typing_extensions import Buffer

    from .tensor import Tensor as TensorType
    from .types import device

__all__ = ["from_dlpack", "from_numpy", "frombuffer"]

def _over_memory(
    owner: Any,
    data: int,
    nbytes: int,
    sizes: tuple[int, ...],
    strides: Sequence[int],
    of: dtype,
    readonly: bool,
) -> TensorType:
    """A tensor over memory that lives as long as `owner`; `data` is its first element, strides count elements."""
    return wrap(over_memory(owner, data, nbytes, tuple(sizes), tuple(strides), of.code, readonly))


# ---- NumPy --------------------------------------------------------------------------------------------------


def is_array(value: Any) -> bool:
    """Is it a NumPy array? No, as long as nobody has imported NumPy."""
    array = getattr(sys.modules.get("numpy"), "ndarray", None)
    return array is not None and isinstance(value, array)


def is_array_scalar(value: Any) -> bool:
    """Is it a number of a NumPy type?"""
    generic = getattr(sys.modules.get("numpy"), "generic", None)
    return generic is not None and isinstance(value, generic)


# By NumPy's object for the dtype; filled as they come.
_of_numpy: dict[Any, dtype] = {}


def dtype_of_array(array: Any) -> dtype:
    """The dtype of a NumPy array or number."""
    found = _of_numpy.get(array.dtype)
    if found is None:
        found = _of_numpy[array.dtype] = _look_up(array.dtype)
    return found


def _look_up(numpy_dtype: Any) -> dtype:
    found = BY_NUMPY_NAME.get(numpy_dtype.name)
    if found is None:
        names = [of.numpy_name for of in reversed(BY_CODE) if of.numpy_name]
        raise TypeError(
            f"can't convert np.ndarray of type numpy.{numpy_dtype.type.__name__}. The only supported types are: "
            f"{', '.join(names[:-1])}, and {names[-1]}."
        )
    if not numpy_dtype.isnative:
        raise ValueError(
            "given numpy array has byte order different from the native byte order. Conversion between byte orders is "
            "currently not supported."
        )
    return found


def from_numpy(ndarray: NDArray[Any]) -> TensorType:
    """A tensor over the memory of a NumPy array: each sees what is written to the other.

    An array that must not be written gives a tensor that refuses to be.
    """
    if not is_array(ndarray):
        raise TypeError(f"expected np.ndarray (got {type_name(ndarray)})")
    return from_array(ndarray)


def from_array(array: Any, warn: bool = True) -> TensorType:
    """A tensor over the memory of an array, with a warning (if wanted) when the array must not be written."""
    handle = read_array(array)
    if handle is not None:
        return wrap(handle)
    of = dtype_of_array(array)
    itemsize = of.itemsize
    shape = array.shape
    strides: list[int] = []
    # Bytes from the lowest element to the end of the highest.
    nbytes = itemsize
    for size, stride in zip(shape, array.strides, strict=True):
        steps, rest = divmod(stride, itemsize)
        if rest:
            raise ValueError(
                "given numpy array strides not a multiple of the element byte size. Copy the numpy array to reallocate "
                "the memory."
            )
        strides.append(steps)
        nbytes += (size - 1) * abs(stride)
    flags = array.flags
    if not flags.aligned:
        raise ValueError("given numpy array is not aligned. Copy the numpy array to reallocate the memory.")
    readonly = not flags.writeable
    if readonly and warn:
        warnings.warn(
            "The given NumPy array is not writable, and neither will be the tensor: writing to it raises an error. "
            "Copy the array to get a tensor that can be written.",
            UserWarning,
            stacklevel=3,
        )
    # Much quicker to ask for than `ctypes.data`.
    address = array.__array_interface__["data"][0]
    return _over_memory(array, address, nbytes if array.size else 0, shape, strides, of, readonly)


# numpy.asarray, once NumPy is needed.
_asarray: Any = None


def to_array(tensor: Any, lasting: bool = False) -> NDArray[Any]:
    """A NumPy array over the memory of a tensor. It owns the memory, which the tensor may exchange for another.

    `lasting`: it is for the user, and the memory stays where it is from then on; else the caller is done with it soon.
    """
    global _asarray
    if _asarray is None:
        _asarray = load("numpy").asarray
    memory = exported(tensor, lasting)
    if memory is None:
        of = tensor.dtype
        if of.numpy_name is None:
            raise TypeError(f"Got unsupported ScalarType {of.scalar_name}")
        none: NDArray[Any] = load("numpy").empty(tuple(tensor.shape), of.numpy_name)
        return none
    array: NDArray[Any] = _asarray(memory)
    return array


# ---- DLPack -------------------------------------------------------------------------------------------------


def from_dlpack(ext_tensor: Any, *, device: device | str | None = None, copy: bool | None = None) -> TensorType:
    """A tensor over the memory of an object with `__dlpack__`, such as a tensor of another library, or of a capsule.

    `copy`: True asks for memory of its own, False refuses it; None leaves that to the other library.
    """
    if not hasattr(ext_tensor, "__dlpack__"):
        if device is not None or copy is not None:
            raise AssertionError("device and copy kwargs not supported when ext_tensor is already a DLPack capsule.")
        return wrap(take_capsule(ext_tensor))
    if device is not None:
        check_device(device)
    options = {"max_version": (1, 0), "copy": copy, "dl_device": None if device is None else (1, 0)}
    asked = {name: value for name, value in options.items() if value is not None}
    # Libraries that know an older protocol refuse what they do not know by a TypeError.
    for unknown in ("max_version", "copy", "dl_device"):
        try:
            made = wrap(take_capsule(ext_tensor.__dlpack__(**asked)))
            break
        except TypeError:
            asked.pop(unknown, None)
    else:
        made = wrap(take_capsule(ext_tensor.__dlpack__()))
    return made.clone() if copy and "copy" not in asked else made


# ---- other buffers ------------------------------------------------------------------------------------------


def has_buffer(value: Any) -> bool:
    """Does it give access to its memory?"""
    if isinstance(value, (bytes, bytearray, memoryview)):
        return True
    try:
        memoryview(value).release()
    except (TypeError, ValueError, BufferError):
        return False
    return True


def frombuffer(
    buffer: Buffer, *, dtype: dtype, count: int = -1, offset: int = 0, requires_grad: bool = False
) -> TensorType:
    """A one-dimensional tensor over the memory of an object: `count` elements (-1: all) from byte `offset` on."""
    of = _resolve(dtype, "frombuffer")
    if not has_buffer(buffer):
        raise ValueError("object does not implement Python buffer protocol.")
    view = memoryview(buffer)
    length, readonly = view.nbytes, view.readonly
    if not view.c_contiguous:
        raise ValueError("the memory of the buffer is not contiguous")
    if length == 0 or count == 0:
        raise ValueError(f"both buffer length ({length}) and count ({count}) must not be 0")
    if not 0 <= offset < length:
        raise ValueError(
            f"offset ({offset} bytes) must be non-negative and no greater than buffer length ({length} bytes) minus 1"
        )
    if count < 0:
        if (length - offset) % of.itemsize:
            raise ValueError(
                f"buffer length ({length - offset} bytes) after offset ({offset} bytes) must be a multiple of element "
                f"size ({of.itemsize})"
            )
        count = (length - offset) // of.itemsize
    elif offset + count * of.itemsize > length:
        raise ValueError(
            f"requested buffer length ({count} * {of.itemsize} bytes) after offset ({offset} bytes) must not be "
            f"greater than actual buffer length ({length} bytes)"
        )
    # It holds the object's memory in place, where `memoryview` and `buffer` alone would let a bytearray be resized.
    memory = ffi.from_buffer("char[]", buffer)
    address = int(ffi.cast("uintptr_t", memory)) + offset
    made = _over_memory(memory, address, count * of.itemsize, (count,), (1,), of, readonly)
    return made.requires_grad_(requires_grad)


_resolve = dtype.resolve
