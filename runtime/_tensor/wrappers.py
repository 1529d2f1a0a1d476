"""Tensors that stand for others: a class says by `__torch_dispatch__` what their operators compute.

The core knows dtype, sizes, strides and device of such a tensor, and there is no memory behind it. Whatever reads
elements finds a tensor without any.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import deepcopy
from typing import Any

from .._autograd.grad_mode import no_grad
from .._base.devices import CPU, available, device_of, holds_elements, number_of
from .._base.dtypes import dtype as dtype_class
from .._base.dtypes import get_default_dtype
from .._base.handles import same_view, shape_of, strides_of
from .._base.keys import KEY_BITS
from .._base.tensor_class import Tensor
from .._base.type_names import wrong_type
from .._base.types import layout as layout_class
from .._base.types import sparse_coo, strided
from .._C import lib
from .._dispatch.torch_dispatch import dispatches, is_wrapper
from .._handle import adopt, describe

__all__ = ["WrapperMethods", "copied", "is_wrapper", "reduced"]

_WRAPPER = KEY_BITS["wrapper"]
_POLICIES = (None, "strides", "sizes")


class WrapperMethods:
    """Methods of class Tensor that make tensors of derived classes."""

    __slots__ = ()

    @staticmethod
    def _make_subclass(cls: Any, data: Any, require_grad: bool = False) -> Any:
        """Return the elements of a tensor as a tensor of a derived class, without history.

        Raises:
            TypeError: `cls` is not derived from Tensor, or `data` is no tensor.
            RuntimeError: a gradient is asked for, and the dtype has none.
        """
        _check_class(cls)
        if not isinstance(data, Tensor):
            raise wrong_type("_make_subclass", "data", "Tensor", data, position=2)
        with no_grad():
            made = adopt(same_view(data._h), cls)
        return made.requires_grad_() if require_grad else made

    @staticmethod
    def _make_wrapper_subclass(
        cls: Any,
        size: Sequence[int],
        strides: Sequence[int] | None = None,
        storage_offset: int | None = None,
        memory_format: Any = None,
        dtype: Any = None,
        layout: Any = strided,
        device: Any = None,
        pin_memory: bool = False,
        requires_grad: bool = False,
        dispatch_sizes_strides_policy: str | None = None,
        dispatch_device: bool = False,
        dispatch_layout: bool = False,
    ) -> Any:
        """Return a tensor of a class with `__torch_dispatch__`, which has no memory: the class computes for it.

        Args:
            cls (type): class derived from Tensor.
            size, strides, storage_offset: as other tensors say them; None: contiguous, from the beginning.
            dtype, device: None: the default dtype; the CPU.
            layout (layout): what `layout` and `is_sparse` say; sizes, strides and device are kept as for others.
            requires_grad (bool): whether a gradient is recorded.
            dispatch_sizes_strides_policy (str): `sizes` or `strides` are what a property of the class says; the rest is
                as given.

        Raises:
            TypeError: `cls` is not derived from Tensor, or has no `__torch_dispatch__`; an argument has another type.
            ValueError: the policy is unknown.
            RuntimeError: sizes and strides do not make a tensor, there is an offset without strides, or there is no
                such device.
        """
        _check_class(cls)
        if not dispatches(cls):
            raise TypeError(f"{cls.__name__} must define __torch_dispatch__")
        if dispatch_sizes_strides_policy not in _POLICIES:
            raise ValueError(
                f"Unknown sizes_strides_policy: {dispatch_sizes_strides_policy}; expected 'strides' or 'sizes'"
            )
        if not isinstance(layout, layout_class):
            raise wrong_type("_make_wrapper_subclass", "layout", "opweave.layout", layout)
        if storage_offset and strides is None:
            raise RuntimeError("setting storage offset without stride not supported")
        chosen = get_default_dtype() if dtype is None else dtype
        if not isinstance(chosen, dtype_class):
            raise wrong_type("_make_wrapper_subclass", "dtype", "opweave.dtype", dtype)
        sizes = _integers("size", size)
        steps = None if strides is None else _integers("strides", strides)
        where = CPU if device is None else available(device)
        keys = _WRAPPER if holds_elements(where) else 0
        made = describe(cls, chosen.code, sizes, steps, storage_offset or 0, number_of(where), keys)
        if layout is not strided:
            made._wrapper_layout = layout
            made.is_sparse = layout is sparse_coo
        return made.requires_grad_() if requires_grad else made


def _check_class(kind: Any) -> None:
    if not (isinstance(kind, type) and issubclass(kind, Tensor)):
        raise TypeError(
            "Creating a Tensor subclass from a class that does not inherit from Tensor is not possible. Make sure your "
            "class inherits from Tensor."
        )


def _integers(name: str, values: Any) -> tuple[int, ...]:
    if not isinstance(values, (tuple, list)):
        raise wrong_type("_make_wrapper_subclass", name, "tuple of ints", values)
    return tuple([each.__index__() for each in values])


# ---- copies and pickles ---------------------------------------------------------------------------------------


def copied(tensor: Any, memo: dict[int, Any]) -> Any:
    """The deep copy of a tensor that stands for others: what its class says a clone is, with the same attributes."""
    with no_grad():
        clone = tensor.clone()
    if type(clone) is not type(tensor):
        raise RuntimeError(
            "The default implementation of __deepcopy__() for wrapper subclasses only works for subclass types that "
            "implement clone() and for which cloning returns another instance of the same subclass. You should either "
            "properly implement clone() for your subclass or override __deepcopy__() if it is intended behavior for "
            "clone() to return an instance of a different type."
        )
    memo[id(tensor)] = clone
    clone.requires_grad_(tensor.requires_grad)
    if hasattr(tensor, "__dict__"):
        clone.__dict__.update(deepcopy(tensor.__dict__, memo))
    return clone


def reduced(tensor: Any) -> tuple[Any, ...]:
    """Return what makes the same tensor of its attributes."""
    handle = tensor._h
    geometry = tuple(shape_of(handle)), tuple(strides_of(handle)), lib.storage_offset(handle)
    arguments = (type(tensor), tensor.dtype, *geometry, tensor._wrapper_layout, device_of(tensor), tensor.requires_grad)
    state = getattr(tensor, "__dict__", None)
    return (_rebuild_wrapper, arguments, state) if state else (_rebuild_wrapper, arguments)


def _rebuild_wrapper(
    kind: Any, dtype: Any, size: Any, stride: Any, storage_offset: Any, layout: Any, device: Any, requires_grad: Any
) -> Any:
    return WrapperMethods._make_wrapper_subclass(
        kind,
        size,
        strides=stride,
        storage_offset=storage_offset,
        dtype=dtype,
        layout=layout,
        device=device,
        requires_grad=requires_grad,
    )


_rebuild_wrapper.__module__ = "opweave._rebuild"  # which pickles name, wherever the code moves
