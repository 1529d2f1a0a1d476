"""Functions that pickles in files call to make tensors: torch's, with every argument checked against the storage.

`FUNCTIONS` has them by torch's names. They run nothing but what is written here, so that both unpicklers may call them.
"""

from __future__ import annotations

from collections.abc import Callable
from pickle import UnpicklingError
from typing import Any
from weakref import WeakKeyDictionary

from .._base import handles
from .._base.devices import META, device, on_device
from .._base.dtypes import dtype
from .._base.handles import wrap
from .._base.types import LAYOUTS, per_channel_affine, per_channel_affine_float_qparams, per_tensor_affine
from .._base.types import layout as layout_class
from .._C import lib
from .._rebuild import _rebuild_sparse_tensor, _rebuild_wrapper
from .._representations.quantized.quantizer import per_channel, per_tensor
from .._representations.quantized.tensors import is_quantized, own_quantizer, with_quantizer
from .._tensor.storage import AnyStorage
from ..nn.parameter import Parameter
from .pickle_data import shown

__all__ = ["FUNCTIONS", "READING", "rebuild_parameter", "rebuild_tensor_v2", "rebuild_tensor_v3"]


def _check(holds: bool, what: str, got: Any) -> None:
    if not holds:
        raise UnpicklingError(f"a tensor in the file is damaged: expected {what}, but got {type(got).__name__}")


def _integers(values: Any, what: str) -> tuple[int, ...]:
    _check(isinstance(values, (tuple, list)), f"a tuple of {what}", values)
    for value in values:
        _check(type(value) is int, f"{what} that are ints", value)
        if not -(2**63) <= value < 2**63:
            raise UnpicklingError(f"a tensor in the file is damaged: {what} beyond 64 bits")
    return tuple(values)


def _tensor(
    storage: Any, offset: Any, size: Any, stride: Any, requires_grad: Any, of: dtype | None, metadata: Any = None
) -> Any:
    _check(isinstance(storage, AnyStorage), "a storage", storage)
    _check(of is None or isinstance(of, dtype), "a dtype", of)
    _check(isinstance(requires_grad, bool), "a bool", requires_grad)
    _check(metadata is None or isinstance(metadata, dict), "a dictionary", metadata)
    (start,) = _integers((offset,), "offsets")
    sizes, strides = _integers(size, "sizes"), _integers(stride, "strides")
    if len(sizes) != len(strides):
        raise UnpicklingError(f"a tensor in the file is damaged: {len(sizes)} sizes and {len(strides)} strides")
    elements = storage._elements
    if metadata and metadata.get("neg") is True:
        elements = _negated(storage, of or storage.dtype)
    code = -1 if of is None else of.code
    tensor: Any = wrap(lib.as_strided(elements._h, sizes, strides, len(sizes), start, code))
    if metadata and metadata.get("conj") is True:
        tensor = tensor.conj()
    return tensor.requires_grad_() if requires_grad else tensor


_negatives: WeakKeyDictionary[AnyStorage, dict[dtype, Any]] = WeakKeyDictionary()


def _negated(storage: AnyStorage, of: dtype) -> Any:
    """The memory of a storage, negated as a whole once, where a file has a view that is read as the negative."""
    known = _negatives.setdefault(storage, {})
    if of not in known:
        count = storage.nbytes() // of.itemsize
        known[of] = -wrap(lib.as_strided(storage._elements._h, (count,), (1,), 1, 0, of.code))
    return known[of]


def rebuild_tensor(storage: Any, storage_offset: Any, size: Any, stride: Any) -> Any:
    """A tensor in a storage."""
    return _tensor(storage, storage_offset, size, stride, False, None)


def rebuild_tensor_v2(
    storage: Any,
    storage_offset: Any,
    size: Any,
    stride: Any,
    requires_grad: Any,
    backward_hooks: Any,
    metadata: Any = None,
) -> Any:
    """A tensor in a storage of its dtype."""
    return _tensor(storage, storage_offset, size, stride, requires_grad, None, metadata)


def rebuild_tensor_v3(
    storage: Any,
    storage_offset: Any,
    size: Any,
    stride: Any,
    requires_grad: Any,
    backward_hooks: Any,
    dtype: Any,
    metadata: Any = None,
) -> Any:
    """A tensor in a storage of bytes."""
    return _tensor(storage, storage_offset, size, stride, requires_grad, dtype, metadata)


def rebuild_qtensor(
    storage: Any,
    storage_offset: Any,
    size: Any,
    stride: Any,
    quantizer_params: Any,
    requires_grad: Any,
    backward_hooks: Any,
) -> Any:
    """A quantized tensor in a storage of integers."""
    integers = _tensor(storage, storage_offset, size, stride, False, None)
    of = storage.dtype
    _check(hasattr(of, "memory"), "a storage of quantized elements", storage)
    _check(isinstance(quantizer_params, tuple) and bool(quantizer_params), "scales and zero points", quantizer_params)
    scheme, *params = quantizer_params
    try:
        if scheme is per_tensor_affine:
            scale, zero_point = params
            _check(isinstance(scale, (int, float)), "a scale", scale)
            _check(type(zero_point) is int, "a zero point", zero_point)
            return with_quantizer(integers, per_tensor("load", scale, zero_point, of))
        if scheme not in (per_channel_affine, per_channel_affine_float_qparams):
            raise UnpicklingError(f"a tensor in the file is damaged: it is quantized by {shown(scheme)}")
        scales, zero_points, axis = params
        for each in (scales, zero_points):
            _check(isinstance(each, handles.Tensor) and not is_quantized(each), "a tensor", each)
        _check(type(axis) is int, "a dimension", axis)
        return with_quantizer(integers, per_channel("load", scales, zero_points, axis, integers.shape, of))
    except (RuntimeError, ValueError) as error:
        raise UnpicklingError(f"a quantized tensor in the file is damaged: {error}") from error


def quantizer_parameters(tensor: Any) -> tuple[Any, ...]:
    """Return the scheme, scales and zero points as rebuild_qtensor takes them."""
    quantizer = own_quantizer(tensor)
    return quantizer.scheme, *quantizer.arguments


def attributes_of(tensor: Any) -> dict[str, Any]:
    """Return the attributes that users have set on a tensor."""
    return {name: value for name, value in tensor.__dict__.items() if name != "_quantizer"}


def rebuild_parameter(data: Any, requires_grad: Any, backward_hooks: Any) -> Any:
    """A parameter over a tensor's memory."""
    _check(isinstance(data, handles.Tensor), "a tensor", data)
    _check(isinstance(requires_grad, bool), "a bool", requires_grad)
    return Parameter(data, requires_grad)


def rebuild_parameter_with_state(data: Any, requires_grad: Any, backward_hooks: Any, state: Any) -> Any:
    """A parameter with attributes of its own."""
    return _with_state(rebuild_parameter(data, requires_grad, backward_hooks), state)


def rebuild_from_type_v2(func: Any, new_type: Any, args: Any, state: Any) -> Any:
    """A tensor of a subclass, or with attributes of its own."""
    makes = any(func is each for each in FUNCTIONS.values()) and func is not rebuild_from_type_v2
    _check(makes, "one of the functions that make tensors", func)
    _check(isinstance(new_type, type) and issubclass(new_type, handles.Tensor), "a class of tensors", new_type)
    _check(isinstance(args, tuple), "a tuple", args)
    made = func(*args)
    _check(isinstance(made, handles.Tensor), "a tensor", made)
    return _with_state(made if type(made) is new_type else made.as_subclass(new_type), state)


def _with_state(tensor: Any, state: Any) -> Any:
    if not state:
        return tensor
    own = state[0] if isinstance(state, tuple) and len(state) == 2 else state  # the second has values of slots
    _check(isinstance(own, dict) and all(isinstance(name, str) for name in own), "a dictionary of attributes", own)
    tensor.__dict__.update(own)
    return tensor


def rebuild_meta_tensor_no_storage(dtype: Any, size: Any, stride: Any, requires_grad: Any) -> Any:
    """A tensor without elements."""
    return on_device(META, _empty, dtype, size, stride, requires_grad)


def _empty(of: Any, size: Any, stride: Any, requires_grad: Any) -> Any:
    _check(isinstance(of, dtype), "a dtype", of)
    _check(isinstance(requires_grad, bool), "a bool", requires_grad)
    sizes, strides = _integers(size, "sizes"), _integers(stride, "strides")
    if len(sizes) != len(strides) or min(strides, default=0) < 0:
        raise UnpicklingError(f"a tensor in the file is damaged: sizes {sizes} and strides {strides}")
    tensor: Any = wrap(lib.empty_strided(sizes, strides, len(sizes), of.code))
    return tensor.requires_grad_() if requires_grad else tensor


def rebuild_device_tensor_from_cpu_tensor(data: Any, dtype: Any, device: Any, requires_grad: Any) -> Any:
    """A tensor of another kind of device, whose elements the file has as a tensor of the CPU."""
    _check(isinstance(data, handles.Tensor), "a tensor", data)
    return data.to(dtype).requires_grad_(requires_grad)


def rebuild_sparse_tensor(layout: Any, data: Any) -> Any:
    """A sparse tensor of the tensors that it consists of."""
    _check(isinstance(layout, layout_class), "a layout", layout)
    _check(isinstance(data, tuple), "a tuple", data)
    try:
        return _rebuild_sparse_tensor(layout, data)
    except (RuntimeError, TypeError, ValueError) as error:
        raise UnpicklingError(f"a tensor in the file is damaged: {error}") from error


def rebuild_wrapper_subclass(kind: Any, *arguments: Any) -> Any:
    """A tensor that stands for others, which are its attributes."""
    try:
        return _rebuild_wrapper(kind, *arguments)
    except (AttributeError, RuntimeError, TypeError, ValueError) as error:
        raise UnpicklingError(f"a tensor in the file is damaged: {error}") from error


def get_layout(name: Any) -> Any:
    """A layout, by torch's name."""
    found = next((each for each in LAYOUTS if repr(each).replace("opweave", "torch", 1) == name), None)
    if found is None:
        raise UnpicklingError(f"there is no layout {shown(name)} here")
    return found


def make_parameter(data: Any = None, requires_grad: Any = True) -> Any:
    """Return the Parameter of the data, after checks."""
    _check(data is None or isinstance(data, handles.Tensor), "a tensor", data)
    return Parameter(data, bool(requires_grad))


def make_device(*args: Any) -> Any:
    """A device, which need not be there."""
    return device(*args)


FUNCTIONS: dict[str, Callable[..., Any]] = {
    "torch._utils._rebuild_tensor": rebuild_tensor,
    "torch._utils._rebuild_tensor_v2": rebuild_tensor_v2,
    "torch._utils._rebuild_tensor_v3": rebuild_tensor_v3,
    "torch._utils._rebuild_qtensor": rebuild_qtensor,
    "torch._utils._rebuild_parameter": rebuild_parameter,
    "torch._utils._rebuild_parameter_with_state": rebuild_parameter_with_state,
    "torch._utils._rebuild_meta_tensor_no_storage": rebuild_meta_tensor_no_storage,
    "torch._utils._rebuild_device_tensor_from_cpu_tensor": rebuild_device_tensor_from_cpu_tensor,
    "torch._utils._rebuild_sparse_tensor": rebuild_sparse_tensor,
    "torch._utils._rebuild_wrapper_subclass": rebuild_wrapper_subclass,
    "torch.serialization._get_layout": get_layout,
    "torch._tensor._rebuild_from_type_v2": rebuild_from_type_v2,
}
"""The functions by torch's names."""

READING = (rebuild_qtensor, rebuild_device_tensor_from_cpu_tensor, rebuild_sparse_tensor)
"""Functions that copy or check elements of the tensors that they are given, which may be more than memory has."""
