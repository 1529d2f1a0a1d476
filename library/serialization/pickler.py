"""Pickles whose tensors are references to storages, and whose classes and functions have torch's names.

The standard library's pickler in Python, as that in C lets nobody choose the name of a class.
"""

from __future__ import annotations

import io
import pickle
import sys
from collections import OrderedDict
from types import FunctionType
from typing import Any

from .._base.devices import has_values
from .._base.dtypes import BY_CODE, EXPORTS
from .._base.generator import Generator
from .._base.handles import shape_of, strides_of
from .._base.types import layout
from .._C import lib
from .._rebuild import _rebuild_sparse_tensor, _rebuild_tensor, _rebuild_wrapper
from .._representations.named.names import check_savable
from .._tensor.storage import STORAGE_TYPES, AnyStorage, TypedStorage, UntypedStorage
from .._tensor.storage_tensors import storage_of
from .._tensor.tensor import Tensor
from ..nn.parameter import Parameter
from ..utils.hooks import warn_if_has_hooks
from . import rebuild
from .locations import location_tag
from .modules import state_for_torch
from .names import is_own, module_of_torch

__all__ = ["Collected", "TorchPickler", "pickled"]

_WITHOUT_STORAGE_TYPE = (
    *(EXPORTS[name] for name in ("uint16", "uint32", "uint64", "complex32")),
    *(each for each in BY_CODE if not each.promotes),
)
"""dtypes for which torch has no class of storages."""

_NAMES: dict[Any, tuple[str, str]] = {
    **{function: tuple(name.rsplit(".", 1)) for name, function in rebuild.FUNCTIONS.items()},  # type: ignore[misc]
    UntypedStorage: ("torch.storage", "UntypedStorage"),
    TypedStorage: ("torch.storage", "TypedStorage"),
    Generator: ("torch._C", "Generator"),
}


class Collected:
    """The storages that a pickle refers to, by keys in the order of their first use."""

    def __init__(self) -> None:
        self.storages: dict[str, Any] = {}
        self._keys: dict[int, str] = {}
        self._kinds: dict[int, Any] = {}
        self._tags: dict[str, str] = {}

    def reference(self, storage: Any) -> tuple[Any, ...]:
        """Return what stands in the pickle for a storage."""
        whole = storage.untyped()
        address = lib.storage_of(whole._elements._h)
        kind = type(storage)
        key = self._keys.get(address)
        if key is None:
            key = self._keys[address] = str(len(self._keys))
            self.storages[key] = whole  # which keeps the address from being used again
        if self._kinds.setdefault(address, kind) is not kind:
            raise RuntimeError("Cannot save multiple tensors or storages that view the same data as different types")
        tag = location_tag(whole)
        return "storage", kind, key, self._tags.setdefault(tag, tag), len(storage)

    def itemsize(self, storage: Any) -> int:
        """Bytes of the elements by which references count this storage."""
        itemsize: int = self._kinds[lib.storage_of(storage._elements._h)].dtype.itemsize
        return itemsize


_Pickler: Any = pickle._Pickler


class TorchPickler(_Pickler):  # type: ignore[misc]
    """Writes one pickle."""

    dispatch: dict[type, Any] = _Pickler.dispatch.copy()

    def __init__(self, file: Any, protocol: int, collected: Collected) -> None:
        super().__init__(file, protocol=protocol)
        self._collected = collected

    def save(self, obj: Any, save_persistent_id: bool = True) -> None:
        """Save an object as pickle does, without asking what objects of known classes are besides."""
        function = self.dispatch.get(type(obj))
        if function is None:
            super().save(obj, save_persistent_id)
            return
        self.framer.commit_frame()
        known = self.memo.get(id(obj))
        if known is None:
            function(self, obj)
        else:
            self.write(self.get(known[0]))

    def persistent_id(self, obj: Any) -> Any:
        """Return the reference to a storage; None for other objects."""
        return self._collected.reference(obj) if isinstance(obj, AnyStorage) else None

    def save_storage(self, storage: Any) -> None:
        """A reference to a storage."""
        self.save_pers(self._collected.reference(storage))

    dispatch.update(dict.fromkeys((UntypedStorage, TypedStorage, *STORAGE_TYPES.values()), save_storage))

    def save_global(self, obj: Any, name: str | None = None) -> None:
        """Write the name of a function or class, as torch's where it has one."""
        named = torch_name(obj, name)
        if named is None:
            super().save_global(obj, name)
            return
        self.write(pickle.GLOBAL + "\n".join((*named, "")).encode())
        self.memoize(obj)

    dispatch[FunctionType] = save_global

    def save_reduce(self, func: Any, args: Any, state: Any = None, *rest: Any, obj: Any = None, **more: Any) -> None:
        """Write an object by the function that makes it, as torch's where it has one."""
        if func is _rebuild_sparse_tensor:
            func = rebuild.rebuild_sparse_tensor
        if func is _rebuild_tensor:  # of a subclass
            kind, storage, offset, sizes, strides, requires_grad = args
            args = (storage, offset, sizes, strides, requires_grad, OrderedDict())
            func, args, state = rebuild.rebuild_from_type_v2, (rebuild.rebuild_tensor_v2, kind, args, state), None
        if func is _rebuild_wrapper:
            args = (rebuild.rebuild_wrapper_subclass, args[0], args, state)
            func, state = rebuild.rebuild_from_type_v2, None
        super().save_reduce(func, args, state_for_torch(obj, state), *rest, obj=obj, **more)

    def save_tensor(self, tensor: Any) -> None:
        """A tensor of class Tensor."""
        func, args = _reduced(tensor)
        if attributes := rebuild.attributes_of(tensor):
            func, args = rebuild.rebuild_from_type_v2, (func, Tensor, args, attributes)
        super().save_reduce(func, args, obj=tensor)

    dispatch[Tensor] = save_tensor

    def save_parameter(self, parameter: Any) -> None:
        """A tensor of class Parameter."""
        func: Any = rebuild.rebuild_parameter
        args: tuple[Any, ...] = parameter.data.as_subclass(Tensor), parameter.requires_grad, OrderedDict()
        if attributes := rebuild.attributes_of(parameter):
            func, args = rebuild.rebuild_parameter_with_state, (*args, attributes)
        super().save_reduce(func, args, obj=parameter)

    dispatch[Parameter] = save_parameter

    def save_layout(self, named: layout) -> None:
        """A layout, whose name in a pickle is an argument, as torch has it."""
        super().save_reduce(rebuild.get_layout, (repr(named).replace("opweave", "torch", 1),), obj=named)

    dispatch[layout] = save_layout


def _reduced(tensor: Any) -> tuple[Any, tuple[Any, ...]]:
    """The function that makes a tensor of class Tensor anew, and its arguments."""
    check_savable(tensor)
    handle = tensor._h
    dtype = tensor.dtype
    sizes, strides = tuple(shape_of(handle)), (*strides_of(handle),)  # which is no other tensor's, to be pickled anew
    requires_grad = tensor.requires_grad
    if requires_grad:
        warn_if_has_hooks(tensor)
    if not has_values(tensor):
        return rebuild.rebuild_meta_tensor_no_storage, (dtype, sizes, strides, requires_grad)
    if tensor.is_quantized:
        geometry = storage_of(tensor), lib.storage_offset(handle), sizes, strides
        return rebuild.rebuild_qtensor, (*geometry, rebuild.quantizer_parameters(tensor), requires_grad, OrderedDict())
    untyped = dtype in _WITHOUT_STORAGE_TYPE
    args: tuple[Any, ...]
    args = (storage_of(tensor, untyped), lib.storage_offset(handle), sizes, strides, requires_grad, OrderedDict())
    func: Any = rebuild.rebuild_tensor_v2
    if untyped:
        func, args = rebuild.rebuild_tensor_v3, (*args, dtype)
    return func, (*args, {"conj": True}) if tensor.is_conj() else args


def torch_name(obj: Any, name: str | None) -> tuple[str, str] | None:
    """The module and the name that torch has for a class or a function; None for what is not of this package."""
    known = _NAMES.get(obj)
    if known is not None:
        return known
    module = getattr(obj, "__module__", None)
    name = name or getattr(obj, "__qualname__", None)
    if not (isinstance(module, str) and is_own(module) and name):
        return None
    found = sys.modules.get(module)
    for part in name.split("."):
        found = getattr(found, part, None)
    return (module_of_torch(module, name), name) if found is obj else None


def pickled(obj: object, pickle_module: Any, protocol: int, collected: Any) -> bytes:
    """The pickle of an object, and in `collected` the storages that it refers to."""
    file = io.BytesIO()
    if pickle_module is pickle:
        pickler: Any = TorchPickler(file, protocol, collected)
    else:
        # Its pickler has ways of its own, so that names stay those of this package.
        def persistent_id(self: Any, value: Any) -> Any:
            return collected.reference(value) if isinstance(value, AnyStorage) else None

        kind = type("Pickler", (pickle_module.Pickler,), {"persistent_id": persistent_id})
        pickler = kind(file, protocol=protocol)
    pickler.dump(obj)
    return file.getvalue()
