"""Memory that is not the core's own: NumPy arrays and buffers of other objects, as tensors and back.

NumPy is not imported here unless a tensor is to become an array: an array that arrives has imported it already.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from .._C import ffi, lib
from .._handle import ELSEWHERE, exported, needs_grad, over_memory, read_array
from .._handle import from_dlpack as take_capsule
from .allocation import allocate
from .array_protocols import ARRAY_PROTOCOLS, as_array, load_numpy
from .devices import CPU, available, device, on_device
from .dtypes import BY_CODE, BY_NUMPY_NAME, dtype
from .handles import address_of, exact_integer, type_name, wrap
from .keys import DEVICE_KEYS, KEY_BITS
from .lazy_imports import load

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from typing_extensions import Buffer

    from .._tensor.tensor import Tensor as TensorType

__all__ = ["from_dlpack", "from_numpy", "frombuffer"]


def _over_memory(
    owner: Any,
    data: int,
    nbytes: int,
    sizes: tuple[int, ...],
    strides: Sequence[int],
    dtype: dtype,
    readonly: bool,
) -> TensorType:
    """A tensor over memory that lives as long as `owner`; `data` is its first element, strides count elements."""
    return wrap(over_memory(owner, data, nbytes, tuple(sizes), tuple(strides), dtype.code, readonly))


# ---- NumPy --------------------------------------------------------------------------------------------------


def is_array(value: Any) -> bool:
    """True if the value is a NumPy array. Before NumPy is imported nothing is one."""
    array = getattr(sys.modules.get("numpy"), "ndarray", None)
    return array is not None and isinstance(value, array)


def is_array_scalar(value: Any) -> bool:
    """True if the value is a NumPy scalar."""
    generic = getattr(sys.modules.get("numpy"), "generic", None)
    return generic is not None and isinstance(value, generic)


# By NumPy's object for the dtype; filled as they come.
_of_numpy: dict[Any, dtype] = {}


def dtype_of_array(array: Any) -> dtype:
    """The dtype of a NumPy array or number."""
    dtype = _of_numpy.get(array.dtype)
    if dtype is None:
        dtype = _of_numpy[array.dtype] = _look_up(array.dtype)
    return dtype


def _look_up(numpy_dtype: Any) -> dtype:
    result = BY_NUMPY_NAME.get(numpy_dtype.name)
    if result is None:
        names = [each.numpy_name for each in reversed(BY_CODE) if each.numpy_name]
        raise TypeError(
            f"can't convert np.ndarray of type numpy.{numpy_dtype.type.__name__}. The only supported types are: "
            f"{', '.join(names[:-1])}, and {names[-1]}."
        )
    if not numpy_dtype.isnative:
        raise ValueError(
            "given numpy array has byte order different from the native byte order. Conversion between byte orders is "
            "currently not supported."
        )
    return result


def of_numpy(value: Any) -> Any:
    """The dtype that a dtype or a class of numbers of NumPy stands for; anything else itself."""
    numpy = sys.modules.get("numpy")
    if numpy is None or not (
        isinstance(value, numpy.dtype) or (isinstance(value, type) and issubclass(value, numpy.generic))
    ):
        return value
    return _look_up(numpy.dtype(value))


def from_numpy(ndarray: NDArray[Any]) -> TensorType:
    """Return a tensor over the memory of a NumPy array: each sees what is written to the other.

    Shape, strides and dtype are those of the array; a read-only array gives a tensor that must not be written.
    Raises TypeError for other objects and for dtypes that tensors do not have.

    Example:
        >>> import numpy as np
        >>> array = np.zeros(2)
        >>> x = opweave.from_numpy(array)
        >>> array[0] = 1  # the memory is shared
        >>> x
        tensor([1., 0.], dtype=opweave.float64)
    """
    tensor = read_array(ndarray)
    if tensor is not None:
        return tensor  # type: ignore[no-any-return]
    if not is_array(ndarray):
        raise TypeError(f"expected np.ndarray (got {type_name(ndarray)})")
    return from_array(ndarray)


def from_array(array: Any, warn: bool = True) -> TensorType:
    """A tensor over the memory of an array, with a warning (if wanted) when the array must not be written."""
    load_numpy()
    tensor = read_array(array)
    if tensor is not None:
        return tensor  # type: ignore[no-any-return]
    dtype = dtype_of_array(array)
    itemsize = dtype.itemsize
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
    return _over_memory(array, address, nbytes if array.size else 0, shape, strides, dtype, readonly)


# ---- other libraries ----------------------------------------------------------------------------------------

_PYTHON_TYPES = frozenset((bool, int, float, complex, str, bytes, list, tuple, type))


def offered(value: Any) -> Any:
    """Return the elements that an object of another library exports, without a copy where that is possible.

    A tensor by `__dlpack__`, an array by NumPy's protocols; None where the object has neither.
    """
    if type(value) in _PYTHON_TYPES or isinstance(value, type) or is_array_scalar(value):
        return None
    has_array = any(hasattr(value, name) for name in ARRAY_PROTOCOLS)
    if hasattr(value, "__dlpack__"):
        try:
            return from_dlpack(value)
        except (AttributeError, BufferError, RuntimeError, TypeError, ValueError):
            # Packed bits, missing values, dtypes that only one of the two protocols has.
            if not has_array:
                raise
    return as_array(value) if has_array else None


def operand(value: Any, beside: TensorType) -> TensorType | None:
    """A tensor for an array, or what offers itself as one, that stands beside a tensor in an expression.

    None where its class is to implement the operator: of those that take part in NumPy's rule of priorities it is the
    one with the higher priority that does, and the others do it themselves.
    """
    priority = getattr(value, "__array_priority__", None)
    if not isinstance(priority, (int, float)) or priority > beside.__array_priority__:
        return None
    array = value if is_array(value) else offered(value)
    tensor: TensorType | None = elements_of(array) if is_array(array) else array
    # Nobody counts what is written to an array, so backward must not depend on it.
    return tensor.clone() if tensor is not None and needs_grad(beside) else tensor


def elements_of(array: Any) -> TensorType:
    """A tensor of an array's elements that are only read, and so may lie in memory as they like."""
    try:
        tensor = from_array(array, warn=False)
    except ValueError:
        tensor = from_array(array.astype(array.dtype.newbyteorder("=")), warn=False)
    mask = getattr(array, "mask", None)
    if mask is not None and mask.any():
        raise TypeError("the array has masked elements, and tensors have none: fill them first, with filled()")
    return tensor


# ---- to NumPy -----------------------------------------------------------------------------------------------


_OTHER_ELEMENTS = ELSEWHERE & ~sum(DEVICE_KEYS.values())
"""Keys of tensors in whose memory there are not their elements. (What is on another device, the core says.)"""


def check_memory(tensor: Any, error: type[Exception]) -> None:
    """Refuse a tensor whose memory does not hold its elements."""
    keys = lib.keys(tensor._h) & _OTHER_ELEMENTS
    kinds = [name for name, bit in KEY_BITS.items() if keys & bit] if keys else []
    if kinds:
        raise error(f"the memory of a {kinds[0]} tensor does not hold its elements for other libraries")


def to_array(tensor: Any, lasting: bool = False) -> NDArray[Any]:
    """A NumPy array over the memory of a tensor. It owns the memory, which the tensor may exchange for another.

    `lasting`: it is for the user, and the memory stays where it is from then on; else the caller is done with it soon.
    """
    check_memory(tensor, TypeError)
    memory = exported(tensor, lasting)
    if memory is None:
        dtype = tensor.dtype
        if dtype.numpy_name is None:
            raise TypeError(f"Got unsupported ScalarType {dtype.scalar_name}")
        none: NDArray[Any] = load("numpy").empty(tuple(tensor.shape), dtype.numpy_name)
        return none
    return as_array(memory)


# ---- DLPack -------------------------------------------------------------------------------------------------


def from_dlpack(ext_tensor: Any, *, device: device | str | None = None, copy: bool | None = None) -> TensorType:
    """A tensor over the memory of an object with `__dlpack__`, such as a tensor of another library, or of a capsule.

    `copy`: True asks for memory of its own, False refuses it; None leaves that to the other library.

    Example:
        >>> import numpy as np
        >>> opweave.from_dlpack(np.arange(3.0))
        tensor([0., 1., 2.], dtype=opweave.float64)
    """
    if not hasattr(ext_tensor, "__dlpack__"):
        if device is not None or copy is not None:
            raise AssertionError("device and copy kwargs not supported when ext_tensor is already a DLPack capsule.")
        return take_capsule(ext_tensor, None, None)  # type: ignore[no-any-return]
    asked: dict[str, Any] = {"max_version": (1, 0)}
    if copy is not None:
        asked["copy"] = copy
    if device is not None:
        if available(device) is not CPU:
            raise BufferError(f"Cannot pack tensors on {available(device)}")
        asked["dl_device"] = (1, 0)
    # Libraries that know an older protocol refuse what they do not know by a TypeError.
    for unknown in ("max_version", "copy", "dl_device"):
        try:
            capsule = ext_tensor.__dlpack__(**asked)
            break
        except TypeError:
            asked.pop(unknown, None)
    else:
        capsule = ext_tensor.__dlpack__()
    result: TensorType = take_capsule(capsule, _is_immutable, ext_tensor)
    return result.clone() if copy and "copy" not in asked else result


def _is_immutable(value: Any) -> bool:
    """True if the object shows its memory to NumPy as an array that must not be written: jax's arrays do, whose
    capsules do not say so."""
    if not hasattr(value, "__array__"):
        return False
    try:
        return not as_array(value).flags.writeable
    except (BufferError, RuntimeError, TypeError, ValueError):  # on another device, or of another dtype
        return False


# ---- other buffers ------------------------------------------------------------------------------------------


def has_buffer(value: Any) -> bool:
    """True if the value implements the buffer protocol."""
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
    """A one-dimensional tensor over the memory of an object: `count` elements (-1: all) from byte `offset` on.

    Example:
        >>> opweave.frombuffer(bytearray([1, 0, 2, 0]), dtype=opweave.int16)
        tensor([1, 2], dtype=opweave.int16)
    """
    resolved = _resolve(dtype, "frombuffer")
    count, offset = exact_integer(count), exact_integer(offset)
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
        if (length - offset) % resolved.itemsize:
            raise ValueError(
                f"buffer length ({length - offset} bytes) after offset ({offset} bytes) must be a multiple of element "
                f"size ({resolved.itemsize})"
            )
        count = (length - offset) // resolved.itemsize
    elif offset + count * resolved.itemsize > length:
        raise ValueError(
            f"requested buffer length ({count} * {resolved.itemsize} bytes) after offset ({offset} bytes) must not be "
            f"greater than actual buffer length ({length} bytes)"
        )
    # It holds the object's memory in place, where `memoryview` and `buffer` alone would let a bytearray be resized.
    memory = ffi.from_buffer("char[]", view)
    address = int(ffi.cast("uintptr_t", memory)) + offset
    result = _over_memory(memory, address, count * resolved.itemsize, (count,), (1,), resolved, readonly)
    return result.requires_grad_(requires_grad)


_resolve = dtype.resolve


def tensor_of_bytes(data: Any, sizes: tuple[int, ...], dtype: dtype) -> TensorType:
    """A new tensor on the CPU of these bytes. Raises ValueError where the sizes need more or fewer of them."""
    tensor: TensorType = on_device(CPU, allocate, sizes, dtype.code)
    given, needed = memoryview(data).nbytes, tensor.nbytes
    if given != needed:  # as after another thread has changed a list that was being read
        raise ValueError(
            f"expected {needed // dtype.itemsize} numbers for the shape {sizes}, got {given // dtype.itemsize}"
        )
    if needed:
        ffi.memmove(address_of(tensor._h), data, needed)
    return tensor


def bytes_of_tensor(tensor: Any) -> bytes:
    """Return the bytes of the elements, in C's order."""
    packed = tensor.detach().cpu().resolve_conj().contiguous()
    return bytes(ffi.buffer(address_of(packed._h), packed.nbytes)) if packed.nbytes else b""
