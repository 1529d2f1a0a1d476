"""NumPy's arrays of objects that have one of its protocols, where these describe memory that is there.

NumPy believes what `__array_interface__` says. A pointer nobody can check; what else is said is checked here.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from .._handle import set_numpy
from .dtypes import BY_CODE
from .lazy_imports import load
from .type_names import type_name

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["ARRAY_PROTOCOLS", "as_array", "load_numpy"]

_MEMORY_PROTOCOLS = ("__array_interface__", "__array_struct__")
ARRAY_PROTOCOLS = ("__array__", *_MEMORY_PROTOCOLS)


@cache
def load_numpy() -> Any:
    """NumPy, which the core then knows as well."""
    numpy = load("numpy")
    internals = load("numpy._core" if hasattr(numpy, "_core") else "numpy.core")
    descriptors = [numpy.dtype(each.numpy_name) if each.numpy_name else None for each in BY_CODE]
    set_numpy(internals._multiarray_umath._ARRAY_API, tuple(descriptors))
    return numpy


def as_array(value: Any) -> NDArray[Any]:
    """NumPy's array of an object that has one of its protocols or gives access to its memory.

    Raises TypeError and ValueError where the memory does not hold what the object says of it.
    """
    numpy = load_numpy()
    if isinstance(value, numpy.ndarray) or not any(hasattr(value, name) for name in _MEMORY_PROTOCOLS):
        array: NDArray[Any] = numpy.asarray(value)
        return array
    interface = None if hasattr(value, "__array_struct__") else value.__array_interface__
    data = interface.get("data", ()) if isinstance(interface, dict) else ()
    if data is None or isinstance(data, tuple):
        array, buffer = numpy.asarray(value), value if data is None else None
    else:
        array, buffer = numpy.asarray(_Described(value, interface)), data
    if array.size and array.dtype.hasobject:
        raise TypeError(f"{type_name(value)} offers its memory as that of Python objects, which nobody can check")
    if array.size and buffer is not None:
        _check_bounds(value, array, numpy.frombuffer(buffer, "u1"))
    return array


class _Described:
    """An object with the `__array_interface__` that another object had once. Asked again it may have another one:
    images copy their elements for it."""

    def __init__(self, owner: Any, interface: Any) -> None:
        self.owner = owner
        self.__array_interface__ = interface


def _check_bounds(value: Any, array: NDArray[Any], memory: NDArray[Any]) -> None:
    """Refuses an array of which a part lies outside the buffer that its interface names."""
    start = int(memory.ctypes.data)
    first = int(array.ctypes.data)
    last = first + array.itemsize
    for size, stride in zip(array.shape, array.strides, strict=True):
        first += min(0, (size - 1) * stride)
        last += max(0, (size - 1) * stride)
    if not start <= first <= last <= start + memory.nbytes:
        raise ValueError(
            f"the __array_interface__ of {type_name(value)} describes {last - first} bytes, which are not all within "
            f"the {memory.nbytes} bytes of its buffer"
        )
