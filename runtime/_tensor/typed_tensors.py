"""The constructors of early PyTorch: `Tensor(2, 3)`, `FloatTensor([1, 2])`, `LongTensor(4)` and their like.

Sizes make a tensor that is not initialised, a sequence one with its values. A tensor is seen again, as is the memory of
a storage.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from .._base import handles, interchange
from .._base.allocation import allocate
from .._base.devices import CPU, on_device
from .._base.dtypes import BY_CODE, dtype, get_default_dtype, set_default_dtype
from .._base.handles import is_integer, type_name
from .._base.types import Size, check_placement, layout, strided
from .._base.warn import warn
from .._handle import set_constructor
from .construct import tensor

__all__ = ["TENSOR_TYPES", "set_default_tensor_type", "typename"]


class tensortype(type):  # noqa: N801 (PyTorch's name)
    """Metaclass of `FloatTensor` and its like, whose instances are the tensors of one dtype and layout in memory."""

    dtype: dtype
    layout: layout
    _made: Any

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        return cls._made(cls.dtype, args, kwargs)

    def __instancecheck__(cls, instance: object) -> bool:
        if not isinstance(instance, handles.Tensor):
            return False
        return instance.dtype is cls.dtype and instance.layout is cls.layout and instance.device.type == "cpu"


def made(dtype: dtype, args: tuple[Any, ...], kwargs: dict[str, Any], any_dtype: bool = False) -> Any:
    """A tensor of dtype `dtype` from such arguments; another tensor need not have it where there is `any_dtype`."""
    given = dict(kwargs)
    where = check_placement("new", device=given.pop("device", None)) or CPU
    return on_device(where, _made, dtype, args, given, any_dtype)


def _made(dtype: dtype, args: tuple[Any, ...], given: dict[str, Any], any_dtype: bool) -> Any:
    from .storage import is_storage
    from .storage_tensors import tensor_of

    if not args and len(given) == 1 and next(iter(given)) in ("size", "data", "storage"):
        name, value = given.popitem()
        args = (Size(value) if name == "size" else value,)
    if given:
        raise TypeError(invalid_arguments(args, given))
    first = args[0] if args else Size([0])
    if len(args) > 1 or is_size(first):
        return _of_size(args, dtype)
    if isinstance(first, Size):
        return _of_size(first, dtype)
    if isinstance(first, handles.Tensor):
        if not any_dtype and (first.dtype is not dtype or first.layout is not strided):
            raise TypeError(f"expected a tensor of {dtype}, {strided}, but got one of {first.dtype}, {first.layout}")
        return first.detach()
    if is_storage(first):
        return tensor_of(first, dtype)
    if isinstance(first, str) or not (hasattr(first, "__len__") and hasattr(first, "__getitem__")):
        if isinstance(first, str):
            raise TypeError("new(): invalid data type 'str'")
        raise TypeError(f"new(): data must be a sequence (got {type_name(first)})")
    return tensor(first.tolist() if interchange.is_array(first) else first, dtype=dtype)


def invalid_arguments(args: tuple[Any, ...], kwargs: dict[str, Any]) -> str:
    """Return the message about arguments that fit no form."""
    kinds = ", ".join([*map(type_name, args), *(f"{name}={type_name(value)}" for name, value in kwargs.items())])
    return f"new() received an invalid combination of arguments - got ({kinds})"


def is_size(value: Any) -> bool:
    """Return True if an argument is the size of a dimension. Tensors and arrays of one element can be integers, too."""
    return is_integer(value) and not isinstance(value, handles.Tensor) and interchange.offered(value) is None


def check_sizes(sizes: Any) -> None:
    """Raises TypeError where one is no integer."""
    for index, size in enumerate(sizes):
        if not is_integer(size):
            raise TypeError(
                f"new(): argument 'size' failed to unpack the object at pos {index + 1} with error "
                f'"type must be tuple of ints,but got {type_name(size)}"'
            )


def _of_size(sizes: Any, dtype: dtype) -> Any:
    check_sizes(sizes)
    for size in sizes:
        if size < 0:
            raise RuntimeError(f"Trying to create tensor with negative dimension {size}: {[*sizes]}")
    return allocate(sizes, dtype.code)


def _construct(kind: type, args: tuple[Any, ...], kwargs: dict[str, Any] | None) -> Any:
    """`Tensor(...)` with arguments, in the class `kind`."""
    tensor = made(get_default_dtype(), args, kwargs or {}, any_dtype=True)
    return tensor if kind is handles.Tensor else tensor.as_subclass(kind)


set_constructor(_construct)

_FACTS = {"layout": strided, "is_cuda": False, "is_sparse": False, "_made": staticmethod(made)}

TENSOR_TYPES = {
    name: tensortype(name, (), {"__module__": "opweave", "__doc__": doc, "dtype": dtype, **_FACTS})
    for dtype in BY_CODE
    if dtype.method is not None and not dtype.is_complex
    for name, doc in ((f"{dtype.scalar_name}Tensor", f"Constructor and class of dense tensors of dtype {dtype}."),)
}
"""The classes by name."""


def set_default_tensor_type(t: Any, /) -> None:
    """Set the dtype of tensors made from Python floats to that of `FloatTensor` or its like, with a warning: call
    `set_default_dtype`.

    Args:
        t: such a type, or its name, `"torch.FloatTensor"`.

    Raises:
        TypeError: it is no type of floating point tensors, or one of a device that there is not.
        AttributeError, ModuleNotFoundError: there is nothing of that name.
    """
    named = _named(t) if isinstance(t, str) else t
    if not isinstance(named, tensortype):
        raise TypeError("invalid type object: only floating-point types are supported as the default type")
    if named.layout is not strided:
        raise TypeError("only dense types are supported as the default type")
    set_default_dtype(named.dtype)
    warn(
        "torch.set_default_tensor_type() is deprecated as of PyTorch 2.1, please use torch.set_default_dtype() and "
        "torch.set_default_device() as alternatives."
    )


def _named(name: str) -> Any:
    """Return the object of a dotted name, where torch's package is this one."""
    package, *path = name.split(".")
    if len(path) == 2 and path[0] == "cuda" and path[1] in TENSOR_TYPES:
        raise TypeError(f"type {name} not available. Torch not compiled with CUDA enabled.")
    own = __name__.partition(".")[0]
    found: Any = import_module(own if package == "torch" else package)
    for part in path:
        found = getattr(found, part)
    return found


def typename(obj: Any, /) -> str:
    """The type of a tensor as `Tensor.type` gives it, and of everything else the class with its module."""
    if isinstance(obj, handles.Tensor):
        return obj.type()  # type: ignore[no-any-return]
    named = obj if hasattr(obj, "__qualname__") or hasattr(obj, "__name__") else type(obj)
    module = getattr(named, "__module__", "") or ""
    name: str = getattr(named, "__qualname__", None) or named.__name__
    return name if module in ("", "builtins") else f"{module}.{name}"
