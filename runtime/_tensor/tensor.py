"""Class Tensor: its handle, its description, and the methods of all the modules that it is put together from.

The class has neither `__init__` nor `__new__`: what `Tensor(2, 3)` and `Tensor()` are stands in typed_tensors.py, and a
handle becomes a tensor by `adopt`, so that no tensor is without a handle and no handle belongs to two tensors.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .. import _operators
from .._base import handles
from .._base.devices import BY_NUMBER, CPU, META, device, has_values
from .._base.dtypes import OF_ELEMENTS, dtype
from .._base.keys import KEY_BITS
from .._base.pinning import is_pinned
from .._base.tensor_class import adds_methods
from .._base.type_names import type_name
from .._base.types import layout, memory_format, preserve_format, strided
from .._C import lib
from .._dispatch.ops import ops
from .._dispatch.subclass import SubclassMethods, takes_part
from .._dispatch.torch_dispatch import DispatchMethods
from .._handle import TensorBase, adopt, apart, set_edge, set_tensor_class
from .._representations.named.methods import NamesMethods
from .._representations.named.names import names_of, set_names, with_names_of
from . import numpy_forms as numpy_forms  # adds forms of calls
from .absent_names import AbsentNames
from .conversion_methods import ConversionMethods
from .dtype_methods import DtypeMethods
from .grad_methods import AutogradMethods
from .indexing import IndexingMethods, subscript
from .inplace_methods import MutationMethods
from .quantized_methods import QuantizedMethods, as_quantized
from .removed import RemovedMethods
from .shape_methods import GeometryMethods
from .sparse_methods import SparseMethods
from .wrappers import WrapperMethods, is_wrapper

if TYPE_CHECKING:
    from typing import TypeVar

    from typing_extensions import Self

    from .storage import TypedStorage, UntypedStorage

    _Kind = TypeVar("_Kind", bound="Tensor")

__all__ = ["Tensor"]

_dtype = lib.element_dtype
_QUANTIZED = KEY_BITS["quantized"]
_DESCRIBED = KEY_BITS["named"] | _QUANTIZED
"""The dispatch keys of tensors that print more than their handles tell."""


@adds_methods
class Tensor(
    TensorBase,
    AutogradMethods,
    IndexingMethods,
    ConversionMethods,
    DispatchMethods,
    DtypeMethods,
    GeometryMethods,
    MutationMethods,
    NamesMethods,
    QuantizedMethods,
    RemovedMethods,
    SparseMethods,
    SubclassMethods,
    WrapperMethods,
    _operators.TensorMethods,
    AbsentNames,
):
    """An array of numbers of one dtype. Made by `opweave.tensor`, `zeros`, `from_numpy` and their like."""

    __slots__ = ()
    __module__ = "opweave"

    if TYPE_CHECKING:

        def __init__(self, *args: Any, **kwargs: Any) -> None: ...

    # NumPy and pandas leave operators with their objects on the left to the tensor on their right.
    __array_priority__ = 1000
    __pandas_priority__ = 5000

    is_cuda = is_ipu = is_maia = is_mkldnn = is_mps = is_mtia = is_vulkan = is_xla = is_xpu = False
    is_nested = is_sparse = is_sparse_csr = False
    _wrapper_layout: layout = strided

    # Comparing elements with == must not take away the hash by identity.
    __hash__ = object.__hash__

    @property
    def dtype(self) -> dtype:
        """The dtype of the elements."""
        return OF_ELEMENTS[_dtype(self._h)]

    @property
    def device(self) -> device:
        """The device of the memory: `meta` where there is none."""
        return BY_NUMBER[lib.device(self._h)]

    @property
    def is_meta(self) -> bool:
        """True if the tensor has a dtype, a shape and strides, but no elements."""
        return self.device is META

    @property
    def is_cpu(self) -> bool:
        """True if the memory is that of the CPU."""
        return self.device is CPU

    @property
    def is_quantized(self) -> bool:
        """True if the memory has integers that stand for numbers."""
        return bool(lib.keys(self._h) & _QUANTIZED)

    @property
    def layout(self) -> layout:
        """The storage scheme of the elements: `strided`, unless the tensor stands for others and was made with one."""
        return self._wrapper_layout

    @property
    def ndim(self) -> int:
        """Number of dimensions."""
        return lib.ndim(self._h)

    def dim(self) -> int:
        """Return the number of dimensions."""
        return lib.ndim(self._h)

    ndimension = dim

    def numel(self) -> int:
        """Return the number of elements."""
        return lib.numel(self._h)

    nelement = numel

    def element_size(self) -> int:
        """Return the number of bytes of an element."""
        return OF_ELEMENTS[_dtype(self._h)].itemsize

    @property
    def itemsize(self) -> int:
        """Bytes of an element."""
        return OF_ELEMENTS[_dtype(self._h)].itemsize

    @property
    def nbytes(self) -> int:
        """Bytes of all elements."""
        return lib.numel(self._h) * OF_ELEMENTS[_dtype(self._h)].itemsize

    def data_ptr(self) -> int:
        """Return the address of the first element, 0 if there is none."""
        return lib.data_ptr(self._h)

    def storage_offset(self) -> int:
        """Return the position of the first element in the storage, counted in elements."""
        return lib.storage_offset(self._h)

    @property
    def _version(self) -> int:
        """The number of writes to the memory, through this tensor or any other.

        Raises RuntimeError for tensors made in inference mode, as torch does.
        """
        if self.is_inference():
            raise RuntimeError("Inference tensors do not track version counter.")
        return lib.version(self._h)

    def storage(self) -> TypedStorage:
        """Return the memory of this tensor and all its views as a one-dimensional sequence of elements."""
        from .storage_tensors import storage_of

        storage: TypedStorage = storage_of(self)
        return storage

    def untyped_storage(self) -> UntypedStorage:
        """Return the memory of this tensor and all its views as a sequence of bytes."""
        from .storage_tensors import storage_of

        storage: UntypedStorage = storage_of(self, untyped=True)
        return storage

    def get_device(self) -> int:
        """Return the index of the device; -1 of the CPU and of `meta`, which have none."""
        index = self.device.index
        return -1 if index is None else index

    def cpu(self, memory_format: memory_format = preserve_format) -> Tensor:
        """The tensor itself, or a copy in another memory order. Raises NotImplementedError if it has no elements."""
        return self.to("cpu", memory_format=memory_format)

    def _is_view(self) -> bool:
        """True if autograd knows the tensor as a view of another one."""
        return self._base is not None

    def is_pinned(self, device: Any = None) -> bool:
        """Return whether a device has allocated the memory, which is the CPU's, as `pin_memory` has it."""
        return is_pinned(self, device)

    def is_shared(self) -> bool:
        """Return whether other processes can share the memory."""
        return self.untyped_storage().is_shared()

    def share_memory_(self) -> Self:
        """Move the memory to where processes can share it, and return the tensor. Nothing happens if it is there.

        Raises RuntimeError while other tensors have the same memory, which would not see it move.
        """
        from .sharing import share

        share(self)
        return self

    @property
    def data(self) -> Tensor:
        """The same elements without history. No graph learns of what is written to them."""
        if is_wrapper(self):
            return self.detach()
        same: Any = apart(self, 0)
        if lib.keys(self._h) & _DESCRIBED:
            same = with_names_of(as_quantized(same, self), self)
        return same.as_subclass(type(self)) if takes_part(self) else same  # type: ignore[no-any-return]

    @data.setter
    def data(self, value: Tensor) -> None:
        if not isinstance(value, Tensor):
            raise TypeError(f"Variable data has to be a tensor, but got {type_name(value)}")
        kinds = [(has_values(each), each.layout, each.is_quantized) for each in (self, value)]
        if kinds[0] != kinds[1]:
            raise RuntimeError(
                "Attempted to call `variable.set_data(tensor)`, but `variable` and `tensor` have incompatible tensor "
                "type."
            )
        handles.exchange(as_quantized(self, value), apart(value, lib.version(self._h)))
        set_names(self, names_of(value))

    def new(self, *args: Any, **kwargs: Any) -> Tensor:
        """A tensor of this dtype, from sizes or from values as `FloatTensor` takes them; beside a sparse tensor, from
        sizes or from indices and values as `sparse.FloatTensor` takes them.
        """
        from .sparse_typed_tensors import made_beside
        from .typed_tensors import made

        if self.layout is not strided:
            return made_beside(self, args, kwargs)  # type: ignore[no-any-return]
        tensor: Tensor = made(self.dtype, args, {"device": self.device, **kwargs})
        return tensor

    def as_subclass(self, cls: type[_Kind]) -> _Kind:
        """Return the same elements as a tensor of class `cls`, a subclass of Tensor. Raises TypeError for other
        classes.
        """
        if not (isinstance(cls, type) and issubclass(cls, Tensor)):
            raise TypeError(
                "Creating a Tensor subclass from a class that does not inherit from Tensor is not possible. Make sure "
                f"your class inherits from Tensor (got {cls!r})."
            )
        same: Any = as_quantized(adopt(handles.same_view(self._h), cls), self)
        if self._edge is not None:
            set_edge(same, self._edge)
        return with_names_of(same, self)  # type: ignore[no-any-return]

    def __len__(self) -> int:
        if not lib.ndim(self._h):
            raise TypeError("len() of a 0-d tensor")
        return lib.size(self._h, 0)

    def __repr__(self, *, tensor_contents: str | None = None) -> str:
        from .._base.dtypes import get_default_dtype
        from .printing import tensor_text
        from .sparse_printing import sparse_text

        if tensor_contents is None and is_wrapper(self):
            tensor_contents = "..."
        if self.layout is not strided:
            return sparse_text(self, tensor_contents)
        return tensor_text(self, default_dtype_name=get_default_dtype().name, contents=tensor_contents)

    def __format__(self, spec: str) -> str:
        if not lib.ndim(self._h) and type(self) is Tensor and has_values(self):
            return format(self.item(), spec)
        return object.__format__(self, spec)


set_tensor_class(Tensor, subscript, ops.select, ops.slice, ops.unsqueeze, ops.index)
