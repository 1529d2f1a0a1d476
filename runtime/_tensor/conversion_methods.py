"""Methods of Tensor that turn it into something else: Python numbers, lists, arrays, bytes, copies."""

# mypy: disable-error-code="no-any-return"
# (in a mixin `self` is an instance of the class that it is mixed into, which mypy calls Any)

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .._base import handles
from .._base.devices import CPU, device, has_values, stands_for_others
from .._base.dtypes import QUANTIZED, dtype
from .._base.errors import raise_pending
from .._base.handles import shape_of, strides_of
from .._base.interchange import check_memory, from_array, to_array
from .._base.keys import KEY_BITS
from .._base.lazy_imports import load
from .._base.pinning import pinned_result
from .._C import lib
from .._handle import ELSEWHERE, adopt, array_of, needs_grad, to_arrow, to_dlpack
from .._representations.named.names import check_savable, with_names_of
from . import wrappers
from .wrappers import is_wrapper

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from .tensor import Tensor as TensorType


class ConversionMethods:
    """Mixed into Tensor."""

    __slots__ = ()

    # ---- Python numbers ----

    def __bool__(self: Any) -> bool:
        count = lib.numel(self._h)
        if count != 1:
            amount = "more than one value" if count else "no values"
            raise RuntimeError(f"Boolean value of Tensor with {amount} is ambiguous")
        return self.item() != 0

    def __int__(self: Any) -> int:
        return int(_real_element(self, "int64_t"))

    def __float__(self: Any) -> float:
        return float(_real_element(self, "double"))

    def __complex__(self: Any) -> complex:
        return complex(_only_element(self))

    def __index__(self: Any) -> int:
        if lib.item_kind(self._h) in (0, 1, 3):
            return int(self.item())
        if not has_values(self) and lib.numel(self._h) == 1 and self.dtype.is_integer:
            self.item()
        raise TypeError("only integer tensors of a single element can be converted to an index")

    def new_tensor(
        self: Any,
        data: Any,
        *,
        dtype: dtype | None = None,
        device: device | str | None = None,
        requires_grad: bool = False,
        pin_memory: bool = False,
    ) -> TensorType:
        """Return a new tensor with the values of `data`, of the dtype of this tensor unless `dtype` is given.

        The shape and the errors are those of `opweave.tensor`.
        """
        from .construct import tensor

        if isinstance(data, handles.Tensor):
            source: Any = data.detach()
            where = self.device if device is None else device
            copied = source.to(where, dtype, copy=True)
            return (pinned_result(copied) if pin_memory else copied).requires_grad_(requires_grad)
        wanted = self.dtype if dtype is None else dtype
        where = self.device if device is None else device
        return tensor(data, dtype=wanted, device=where, requires_grad=requires_grad, pin_memory=pin_memory)

    # ---- NumPy ----

    def numpy(self: Any, *, force: bool = False) -> NDArray[Any]:
        """Return a NumPy array over the same memory, of the same shape and dtype.

        Raises RuntimeError if operations on the tensor are recorded, or it is read as conjugates, and `force` is false,
        TypeError for dtypes that NumPy does not have.
        """
        array = array_of(self)
        if array is not None:
            return array
        if needs_grad(self) and not force:
            raise RuntimeError("Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy() instead.")
        if self.is_conj() and not force:
            raise RuntimeError(
                "Can't call numpy() on Tensor that has conjugate bit set. Use tensor.resolve_conj().numpy() instead."
            )
        return to_array(self.detach().cpu().resolve_conj() if force else self, lasting=True)

    if TYPE_CHECKING:

        def __buffer__(self, flags: int, /) -> memoryview:
            """A slot of the C type (core/python/buffer.c)."""

    @property
    def __numpy_dtype__(self: Any) -> Any:
        """NumPy's dtype of the elements, which `numpy.result_type` asks for; AttributeError where NumPy has none."""
        return self.dtype.__numpy_dtype__

    def to_numpy(self: Any) -> NDArray[Any]:
        """Return what `numpy()` does, under the name by which plotting libraries ask for an array."""
        return self.numpy()

    def __array__(self: Any, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        array = self.numpy()
        if dtype is not None and array.dtype != dtype:
            if copy is False:
                raise ValueError(f"a copy is needed to convert {array.dtype} to {dtype}")
            return array.astype(dtype)
        return array.copy() if copy else array

    def __dlpack__(
        self: Any,
        *,
        stream: Any = -1,
        max_version: tuple[int, int] | None = None,
        dl_device: tuple[int, int] | None = None,
        copy: bool | None = None,
    ) -> Any:
        """A DLPack capsule over the same memory, or with `copy` over that of a copy."""
        _check_lent(self)
        if stream is not None and type(stream) is not int:
            raise TypeError("stream must be ``int`` or ``none``")
        if stream not in (None, -1):
            raise AssertionError("stream should be None on cpu.")
        if dl_device is not None and tuple(dl_device) != self.__dlpack_device__():
            raise BufferError(f"Can't export tensors of the CPU to the device {tuple(dl_device)}")
        lent = self.clone() if copy else self
        return to_dlpack(lent, max_version is not None and max_version[0] >= 1, bool(copy))

    def __dlpack_device__(self: Any) -> tuple[int, int]:
        if self.device is not CPU:
            raise ValueError(f"Unknown device type {self.device.type} for Dlpack")
        return 1, 0

    def __arrow_c_array__(self: Any, requested_schema: Any = None) -> tuple[Any, Any]:
        """Arrow's capsules of a schema and of an array over the same memory; a copy of bools, or if not contiguous.

        Of several dimensions it is an array of lists of a fixed size. Raises BufferError where the memory does not hold
        the elements, TypeError for dtypes that Arrow does not have and tensors without dimensions.
        """
        _check_lent(self)
        return to_arrow(self.contiguous())

    def __array_wrap__(self: Any, array: NDArray[Any], context: Any = None, return_scalar: bool = False) -> TensorType:
        # What a function of NumPy made of a tensor becomes a tensor.
        return from_array(array)

    # ---- the array API standard ----

    def __array_namespace__(self, /, *, api_version: str | None = None) -> Any:
        """The module `opweave.array_api`. Raises ValueError for versions of the standard that it does not follow."""
        namespace = load("opweave.array_api")
        if api_version is not None and api_version not in namespace.VERSIONS:
            raise ValueError(
                f"the array API standard of {api_version!r} is not supported: expected one of "
                f"{', '.join(namespace.VERSIONS)}"
            )
        return namespace

    def to_device(self: Any, device: device | str, /, *, stream: int | None = None) -> TensorType:
        """Return the tensor on a device: the standard's name for `to`. The CPU has no streams."""
        if stream is not None:
            raise ValueError(f"a stream was given ({stream!r}), and the CPU has none")
        moved: TensorType = self.to(device)
        return moved

    # ---- copies and pickles ----

    def __copy__(self: Any) -> Any:
        rebuild, arguments, *state = self.__reduce_ex__(2) if is_wrapper(self) else _reduced(self)
        if rebuild is not _rebuild_tensor:
            same = rebuild(*arguments)
            same.__dict__.update(*state)
            return same
        return with_names_of(rebuild(*arguments, *state), self)

    def __deepcopy__(self: Any, memo: dict[int, Any]) -> Any:
        from copy import deepcopy

        if not self.is_leaf:
            raise RuntimeError(
                "Only Tensors created explicitly by the user (graph leaves) support the deepcopy protocol at the "
                "moment. Use detach() or clone() for what was computed."
            )
        if is_wrapper(self):
            copied = wrappers.copied(self, memo)
        elif stands_for_others(self):
            copied = self.detach().clone().requires_grad_(self.requires_grad)
        else:
            rebuild, (kind, storage, *geometry), *state = _reduced(self)
            copied = rebuild(kind, deepcopy(storage, memo), *geometry, *deepcopy(state, memo))
        memo[id(self)] = with_names_of(copied, self)
        if self.grad is not None:
            copied.grad = deepcopy(self.grad, memo)
        return copied

    def __reduce_ex__(self: Any, protocol: Any) -> tuple[Any, ...]:
        if is_wrapper(self):
            return wrappers.reduced(self)
        check_savable(self)
        return _reduced(self)


def _check_lent(tensor: Any) -> None:
    """Refuses a tensor whose elements other libraries would not find in its memory, or would change behind a graph."""
    if tensor._requires_grad:
        raise BufferError("Can't export tensors that require gradient, use tensor.detach()")
    if lib.keys(tensor._h) & ELSEWHERE:
        if tensor.is_conj():
            raise BufferError("Can't export tensors with the conjugate bit set")
        check_memory(tensor, BufferError)


def _reduced(tensor: Any) -> tuple[Any, ...]:
    """Return what makes the same tensor, but for names of dimensions."""
    if tensor.is_conj():
        return _reduced(tensor.resolve_conj())
    # Tensors that share memory have one Storage object, so they share it again when they are restored together.
    handle = tensor._h
    geometry = (lib.storage_offset(handle), tuple(shape_of(handle)), strides_of(handle))
    reduced = (_rebuild_tensor, (tensor.__class__, tensor.storage(), *geometry, tensor._requires_grad))
    state = getattr(tensor, "__dict__", None)
    return (*reduced, state) if state else reduced


def _rebuild_tensor(
    kind: type,
    storage: Any,
    offset: int,
    sizes: tuple[int, ...],
    strides: tuple[int, ...],
    requires_grad: bool = False,
    state: Any = None,
) -> TensorType:
    from .storage_tensors import tensor_over

    if not (isinstance(kind, type) and issubclass(kind, handles.Tensor)):
        raise TypeError(f"expected a class of tensors, but got {kind!r}")
    handle = tensor_over(storage, offset, sizes, strides)
    if not handle:
        raise_pending()
    tensor: Any = adopt(handle, kind)
    if state:
        tensor.__dict__.update(state)
    if storage.dtype in QUANTIZED.values():
        lib.set_keys(handle, KEY_BITS["quantized"])  # the quantizer is an attribute
    return tensor.requires_grad_() if requires_grad else tensor


_rebuild_tensor.__module__ = "opweave._rebuild"  # which pickles name, wherever the code moves


# ---- memory to values and back ------------------------------------------------------------------------------


def _only_element(tensor: Any) -> Any:
    if lib.numel(tensor._h) != 1:
        raise ValueError("only one element tensors can be converted to Python scalars")
    return tensor.item()


def _real_element(tensor: Any, wanted: str) -> Any:
    value = _only_element(tensor)
    if isinstance(value, complex):
        if value.imag:
            raise RuntimeError(f"value cannot be converted to type {wanted} without overflow")
        return value.real
    return value
