"""Methods of Tensor that turn it into something else: Python numbers, lists, arrays, bytes, other dtypes, copies."""

# mypy: disable-error-code="no-any-return"
# (in a mixin `self` is an instance of the class that it is mixed into, which mypy calls Any)

from __future__ import annotations

from typing import TYPE_CHECKING, Any, overload

from . import handles
from ._C import ffi, lib
from .assignment import Source
from .dtypes import BY_CODE, EXPORTS, dtype
from .errors import raise_pending
from .handles import address_of, shape_of, strides_of, type_name, wrap
from .types import check_device, contiguous_format, device, memory_format, preserve_format, wants_contiguous

_BOOL = EXPORTS["bool"]
_UINT64_MAXIMUM = EXPORTS["uint64"].maximum
_CONTIGUOUS = 1
"""OW_CONTIGUOUS, a flag of handles."""


def _cast_method(name: str, target: dtype) -> Any:
    def cast(self: Any, memory_format: Any = preserve_format) -> Any:
        if lib.dtype(self._h) == target.code:
            return self
        return wrap(lib.clone_(self._h, target.code, wants_contiguous(name, memory_format)), self)

    cast.__name__ = name
    cast.__qualname__ = f"Tensor.{name}"
    cast.__doc__ = f"The elements as {target!r}; itself when they are."
    return cast


if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ._dtype_names import CastMethods
    from ._operators import Number
    from .tensor import Tensor as TensorType
else:
    # `float()`, `int()` and so on, one for each dtype.
    CastMethods = type(
        "CastMethods",
        (),
        {"__slots__": ()} | {of.method: _cast_method(of.method, of) for of in BY_CODE if of.method},
    )


class ConversionMethods(CastMethods):
    """Mixed into Tensor."""

    __slots__ = ()

    # ---- Python numbers ----

    def item(self: Any) -> Number:
        """The value of a tensor with one element, as a Python number."""
        handle = self._h
        kind = lib.item_kind(handle)
        if kind == 2:
            return lib.item_d(handle)
        if kind == 1:
            return lib.item_i(handle)
        if kind == 0:
            return lib.item_i(handle) != 0
        if kind == 3:
            return lib.item_i(handle) & _UINT64_MAXIMUM
        raise RuntimeError(f"a Tensor with {lib.numel(handle)} elements cannot be converted to Scalar")

    def tolist(self: Any) -> Any:
        """The values as nested lists of Python numbers; a number for a tensor without dimensions."""
        if not lib.ndim(self._h):
            return self.item()
        return _nested_lists(self)

    def __bool__(self: Any) -> bool:
        handle = self._h
        if lib.item_kind(handle) == 2:
            return lib.item_d(handle) != 0
        count = lib.numel(handle)
        if count != 1:
            amount = "more than one value" if count else "no values"
            raise RuntimeError(f"Boolean value of Tensor with {amount} is ambiguous")
        return lib.item_i(handle) != 0

    def __int__(self: Any) -> int:
        return int(_only_element(self))

    def __float__(self: Any) -> float:
        return float(_only_element(self))

    def __complex__(self: Any) -> complex:
        return complex(_only_element(self))

    def __index__(self: Any) -> int:
        if lib.item_kind(self._h) in (0, 1, 3):
            return int(self.item())
        raise TypeError("only integer tensors of a single element can be converted to an index")

    # ---- other dtypes ----

    @overload
    def to(
        self,
        dtype: dtype,
        non_blocking: bool = False,
        copy: bool = False,
        *,
        memory_format: memory_format | None = None,
    ) -> TensorType: ...
    @overload
    def to(
        self,
        device: device | str | None = None,
        dtype: dtype | None = None,
        non_blocking: bool = False,
        copy: bool = False,
        *,
        memory_format: memory_format | None = None,
    ) -> TensorType: ...
    @overload
    def to(
        self,
        other: TensorType,
        non_blocking: bool = False,
        copy: bool = False,
        *,
        memory_format: memory_format | None = None,
    ) -> TensorType: ...
    def to(self: Any, *args: Any, **kwargs: Any) -> TensorType:
        """The elements with another dtype: itself when nothing changes and no copy is asked for.

        Takes `to(dtype)`, `to(device)`, `to(device, dtype)` or `to(other)`, each followed by `non_blocking` and
        `copy`, and `memory_format` by keyword.
        """
        if len(args) == 1 and not kwargs and type(args[0]) is dtype:
            wanted: dtype | None = args[0]
            copy = contiguous = False
        else:
            wanted, copy, contiguous = _to_arguments(args, kwargs)
        code = lib.dtype(self._h) if wanted is None else wanted.code
        if not copy and code == lib.dtype(self._h):
            return self
        return wrap(lib.clone_(self._h, code, contiguous), self)

    @overload
    def type(self, dtype: None = None, non_blocking: bool = False) -> str: ...
    @overload
    def type(self, dtype: dtype | str, non_blocking: bool = False) -> TensorType: ...
    def type(self: Any, dtype: Any = None, non_blocking: bool = False) -> str | TensorType:
        """The name of the type, such as `opweave.FloatTensor`, or the elements with another dtype."""
        if dtype is None:
            return f"opweave.{BY_CODE[lib.dtype(self._h)].scalar_name}Tensor"
        return self.to(_dtype_of_name(dtype))

    def type_as(self: Any, other: TensorType) -> TensorType:
        """The elements with the dtype of `other`."""
        return self.to(other.dtype)

    def copy_(self: Any, src: TensorType | Number, non_blocking: bool = False) -> TensorType:
        """Copies the elements of `src`, broadcast and converted, into this tensor."""
        if isinstance(src, handles.Tensor):
            if not lib.copy_(self._h, src._h):
                raise_pending()
        elif isinstance(src, (int, float)):
            source = Source(src, self._h)
            try:
                source.copy_into(self._h)
            finally:
                source.release()
        else:
            raise TypeError(f"copy_(): argument 'other' (position 1) must be Tensor, not {type_name(src)}")
        return self

    # ---- NumPy ----

    def numpy(self: Any, *, force: bool = False) -> NDArray[Any]:
        """A NumPy array over the same memory."""
        from .interchange import to_array

        return to_array(self)

    def __array__(self: Any, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        from .interchange import to_array

        array = to_array(self)
        if dtype is not None and array.dtype != dtype:
            if copy is False:
                raise ValueError(f"a copy is needed to convert {array.dtype} to {dtype}")
            return array.astype(dtype)
        return array.copy() if copy else array

    def __array_wrap__(self: Any, array: NDArray[Any], context: Any = None, return_scalar: bool = False) -> TensorType:
        # What a function of NumPy made of a tensor becomes a tensor.
        from .interchange import from_array

        return from_array(array)

    # ---- copies and pickles ----

    def __copy__(self: Any) -> Any:
        rebuild, arguments, *state = self.__reduce_ex__(2)
        return rebuild(*arguments, *state)

    def __deepcopy__(self: Any, memo: dict[int, Any]) -> Any:
        from copy import deepcopy

        rebuild, (kind, storage, *geometry), *state = self.__reduce_ex__(2)
        copied = rebuild(kind, deepcopy(storage, memo), *geometry, *deepcopy(state, memo))
        memo[id(self)] = copied
        return copied

    def __reduce_ex__(self: Any, protocol: Any) -> tuple[Any, ...]:
        # Tensors that share memory have one Storage object, so they share it again when they are restored together.
        handle = self._h
        geometry = (lib.storage_offset(handle), tuple(shape_of(handle)), strides_of(handle))
        reduced = (_rebuild_tensor, (self.__class__, self.storage(), *geometry))
        state = getattr(self, "__dict__", None)
        return (*reduced, state) if state else reduced


def _rebuild_tensor(
    kind: type, storage: Any, offset: int, sizes: tuple[int, ...], strides: tuple[int, ...], state: Any = None
) -> TensorType:
    from .storage import tensor_over

    like: Any = kind
    tensor = wrap(tensor_over(storage, offset, sizes, strides), like.__new__(like))
    if state:
        tensor.__dict__.update(state)
    return tensor


# ---- arguments of to() --------------------------------------------------------------------------------------


def _to_arguments(args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[dtype | None, bool, bool]:
    """The dtype (None: the tensor's own), whether to copy in any case, and whether to copy in C order."""
    names: tuple[str, ...]
    first = args[0] if args else None
    if isinstance(first, handles.Tensor) or "other" in kwargs:
        names = ("other", "non_blocking", "copy")
    elif isinstance(first, dtype) or (isinstance(first, type) and first in (bool, int, float)):
        names = ("dtype", "non_blocking", "copy")
    else:
        names = ("device", "dtype", "non_blocking", "copy")
    given = dict(zip(names, args, strict=False))
    unknown = [name for name in kwargs if name not in (*names, "memory_format") or name in given]
    if len(args) > len(names) or unknown:
        raise TypeError(_TO_FORMS.format(_call_text(args, kwargs)))
    given.update(kwargs)
    memory_format = given.pop("memory_format", None)
    for name in ("non_blocking", "copy"):
        if not isinstance(given.get(name, False), bool):
            raise TypeError(_TO_FORMS.format(_call_text(args, kwargs)))
    wanted = None
    if given.get("other") is not None:
        if not isinstance(given["other"], handles.Tensor):
            raise TypeError(_TO_FORMS.format(_call_text(args, kwargs)))
        wanted = given["other"].dtype
    place = given.get("device")
    if place is not None:
        if not isinstance(place, (str, int, device)):
            raise TypeError(_TO_FORMS.format(_call_text(args, kwargs)))
        check_device(place)
    if given.get("dtype") is not None:
        wanted = dtype.resolve(given["dtype"], "to")
    contiguous = memory_format is contiguous_format or wants_contiguous("to", memory_format)
    return wanted, given.get("copy", False), contiguous


_TO_FORMS = """to() received an invalid combination of arguments - got ({}), but expected one of:
 * (opweave.device device = None, opweave.dtype dtype = None, bool non_blocking = False, bool copy = False, *, \
opweave.memory_format memory_format = None)
 * (opweave.dtype dtype, bool non_blocking = False, bool copy = False, *, opweave.memory_format memory_format = None)
 * (Tensor other, bool non_blocking = False, bool copy = False, *, opweave.memory_format memory_format = None)"""


def _call_text(args: tuple[Any, ...], kwargs: dict[str, Any]) -> str:
    """The types of the arguments of a call."""
    keywords = (f"{name}={type(value).__name__}" for name, value in kwargs.items())
    return ", ".join([*(type(value).__name__ for value in args), *keywords])


def _dtype_of_name(value: Any) -> dtype:
    """The dtype meant by `opweave.FloatTensor` and the like."""
    if isinstance(value, dtype):
        return value
    if isinstance(value, str):
        for found in BY_CODE:
            if value == f"opweave.{found.scalar_name}Tensor":
                return found
    raise ValueError(f"invalid type: {value.__name__ if isinstance(value, type) else value!r}")


# ---- memory to values and back ------------------------------------------------------------------------------


def _only_element(tensor: Any) -> Any:
    if lib.numel(tensor._h) != 1:
        raise ValueError("only one element tensors can be converted to Python scalars")
    return tensor.item()


def _nested_lists(tensor: Any) -> Any:
    handle = tensor._h
    if not lib.numel(handle):
        return _empty_lists(tensor.shape)
    of = BY_CODE[lib.dtype(handle)]
    if of.typecode is None:
        # Python has no name for this format; float32 holds all of its values.
        return _nested_lists(tensor.to(EXPORTS["float32"]))
    if not lib.flags(handle) & _CONTIGUOUS:
        return _nested_lists(tensor.contiguous())
    memory: Any = memoryview(ffi.buffer(address_of(handle), lib.numel(handle) * of.itemsize)).cast("B")
    return memory.cast("?" if of is _BOOL else of.typecode, shape_of(handle)).tolist()


def _empty_lists(shape: tuple[int, ...]) -> Any:
    if not shape:
        return []
    return [_empty_lists(shape[1:]) for _ in range(shape[0])] if shape[0] and len(shape) > 1 else []


def bytes_of(tensor: Any) -> bytes:
    """The elements of a contiguous tensor as they lie in memory."""
    return bytes(ffi.buffer(address_of(tensor._h), tensor.nbytes)) if tensor.nbytes else b""


def tensor_of_bytes(data: Any, sizes: tuple[int, ...], of: dtype) -> TensorType:
    """A new tensor with these bytes as its elements."""
    tensor = wrap(lib.empty_strided(sizes, ffi.NULL, len(sizes), of.code))
    if data:
        handle = tensor._h
        ffi.memmove(address_of(handle), data, lib.numel(handle) * of.itemsize)
    return tensor
