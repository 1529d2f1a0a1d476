"""Methods of Tensor that convert elements to other dtypes or devices: `to` in all its forms, one for each of them."""

# mypy: disable-error-code="no-any-return"
# (in a mixin `self` is an instance of the class that it is mixed into, which mypy calls Any)

from __future__ import annotations

from typing import TYPE_CHECKING, Any, overload

from .._base import handles
from .._base.devices import available, device
from .._base.dtypes import BY_CODE, OF_ELEMENTS, dtype
from .._base.shown_name import qualified
from .._base.type_names import type_name
from .._base.types import memory_format, memory_order, preserve_format
from .._C import lib
from .._dispatch.ops import ops


def _cast_method(name: str, target: dtype) -> Any:
    def cast(self: Any, memory_format: Any = preserve_format) -> Any:
        if lib.element_dtype(self._h) == target.code:
            return self
        memory_order(name, memory_format)
        return ops._to_copy(self, dtype=target, memory_format=memory_format)

    cast.__name__ = name
    cast.__qualname__ = f"Tensor.{name}"
    cast.__doc__ = f"The elements as {target!r}; itself when they are."
    return cast


if TYPE_CHECKING:
    from .._dtype_names import CastMethods
    from .tensor import Tensor as TensorType
else:
    # `float()`, `int()` and so on, one for each dtype.
    CastMethods = type(
        "CastMethods",
        (),
        {"__slots__": ()} | {dtype.method: _cast_method(dtype.method, dtype) for dtype in BY_CODE if dtype.method},
    )


class DtypeMethods(CastMethods):
    """Mixed into Tensor."""

    __slots__ = ()

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
        """Return the elements with another dtype or order in memory, of the same shape; the tensor itself if
        nothing changes and `copy` is false.

        Takes `to(dtype)`, `to(device)`, `to(device, dtype)` or `to(other)`, each followed by `non_blocking` and
        `copy`, and `memory_format` by keyword. Values are converted as by C; of a complex tensor a real dtype keeps
        the real parts, with a warning. Raises RuntimeError for a device other than the CPU, TypeError for other
        arguments, NotImplementedError for the CPU where the tensor has no elements.
        """
        if len(args) == 1 and not kwargs and type(args[0]) is dtype:
            return self if args[0].code == lib.element_dtype(self._h) else ops._to_copy(self, dtype=args[0])
        where, wanted, copy, order = _to_arguments(args, kwargs, self.dtype)
        if wanted is self.dtype:
            wanted = None
        if where is not None and self.device != where:
            return ops._to_copy(self, dtype=wanted, device=where, memory_format=order)
        if not copy and wanted is None and memory_order("to", order) in (0, lib.suggested_order(self._h)):
            return self
        return ops._to_copy(self, dtype=wanted, memory_format=order)

    @overload
    def type(self, dtype: None = None, non_blocking: bool = False) -> str: ...
    @overload
    def type(self, dtype: dtype | str, non_blocking: bool = False) -> TensorType: ...
    def type(self: Any, dtype: Any = None, non_blocking: bool = False) -> str | TensorType:
        """Return the name of the type, such as `opweave.FloatTensor`, or the elements converted to `dtype`.

        `dtype` is a dtype or the name of a type. Raises ValueError for another name.
        """
        if dtype is None:
            where = "meta." if self.is_meta else "quantized." if self.is_quantized else ""
            return qualified(f"{where}{OF_ELEMENTS[lib.element_dtype(self._h)].scalar_name}Tensor")
        return self.to(_dtype_of_name(dtype))

    def cuda(
        self: Any,
        device: device | str | None = None,
        non_blocking: bool = False,
        memory_format: memory_format = preserve_format,
    ) -> TensorType:
        """The elements on a CUDA device; raises RuntimeError, for there is none."""
        return self.to("cuda" if device is None else device, non_blocking=non_blocking, memory_format=memory_format)

    def xpu(
        self: Any,
        device: device | str | None = None,
        non_blocking: bool = False,
        memory_format: memory_format = preserve_format,
    ) -> TensorType:
        """The elements on an XPU device; raises RuntimeError, for there is none."""
        return self.to("xpu" if device is None else device, non_blocking=non_blocking, memory_format=memory_format)

    def pin_memory(self: Any, device: device | str | None = None) -> TensorType:
        """The tensor itself if its memory is pinned, else a copy in memory of the CPU that the accelerator allocates.

        Raises RuntimeError for tensors of other devices, and where there is no accelerator, or none with such memory.
        """
        return self if self.is_pinned(device) else ops._pin_memory(self, device)


# ---- arguments of to() --------------------------------------------------------------------------------------


def _to_arguments(
    args: tuple[Any, ...], kwargs: dict[str, Any], own: dtype
) -> tuple[device | None, dtype | None, bool, Any]:
    """Device and dtype (None: the tensor's own), whether to copy in any case, and the memory format of a copy."""
    names: tuple[str, ...]
    first = args[0] if args else None
    if isinstance(first, handles.Tensor) or "other" in kwargs:
        names = ("other", "non_blocking", "copy")
    elif isinstance(first, dtype) or (isinstance(first, type) and first in (bool, int, float, complex)):
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
    where = given["other"].device if wanted is not None else given.get("device")
    if where is not None:
        if not isinstance(where, (str, int, device)):
            raise TypeError(_TO_FORMS.format(_call_text(args, kwargs)))
        where = available(where)
    if given.get("dtype") is own:
        wanted = own
    elif given.get("dtype") is not None:
        wanted = dtype.resolve(given["dtype"], "to")
    memory_order("to", memory_format)
    return where, wanted, given.get("copy", False), memory_format


_TO_FORMS = """to() received an invalid combination of arguments - got ({}), but expected one of:
 * (opweave.device device = None, opweave.dtype dtype = None, bool non_blocking = False, bool copy = False, *, \
opweave.memory_format memory_format = None)
 * (opweave.dtype dtype, bool non_blocking = False, bool copy = False, *, opweave.memory_format memory_format = None)
 * (Tensor tensor, bool non_blocking = False, bool copy = False, *, opweave.memory_format memory_format = None)"""


def _call_text(args: tuple[Any, ...], kwargs: dict[str, Any]) -> str:
    """The types of the arguments of a call."""
    keywords = (f"{name}={type_name(value)}" for name, value in kwargs.items())
    return ", ".join([*(type_name(value) for value in args), *keywords])


def _dtype_of_name(value: Any) -> dtype:
    """The dtype meant by `opweave.FloatTensor` and the like, also of `opweave.sparse`; texts may name it as torch does,
    `torch.FloatTensor`.
    """
    if isinstance(value, dtype):
        return value
    if isinstance(value, type) and isinstance(getattr(value, "dtype", None), dtype):
        return value.dtype  # type: ignore[attr-defined]
    if isinstance(value, str):
        package, _, name = value.rpartition(".")
        for each in BY_CODE:
            if name == f"{each.scalar_name}Tensor":
                if package.removesuffix(".sparse") in ("opweave", "torch"):
                    return each
                if package in ("opweave.cuda", "torch.cuda"):
                    available("cuda")
    raise ValueError(f"invalid type: {value.__name__ if isinstance(value, type) else value!r}")
