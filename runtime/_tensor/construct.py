"""`opweave.tensor` and its relatives: tensors from Python numbers, nested sequences, arrays and other tensors.

The dtype is inferred as in PyTorch: bool, int64 and the default dtype for Python's numbers, an element's own dtype for
NumPy's numbers and for tensors, and the promoted dtype for mixtures.
"""

from __future__ import annotations

import warnings
from array import array
from collections.abc import Sequence
from itertools import chain, islice
from typing import TYPE_CHECKING, Any

from .._base import handles, interchange
from .._base.array_protocols import as_array
from .._base.devices import available, device, get_default_device, has_values
from .._base.dtypes import EXPORTS, dtype, get_default_dtype
from .._base.handles import OVERFLOW
from .._base.interchange import tensor_of_bytes
from .._base.pinning import pinned_result
from .._base.type_names import type_name
from .._base.types import check_placement
from .._C import lib
from .._dispatch.ops import ops
from .._handle import from_numbers
from .._representations.named.names import read as read_names
from .._representations.named.names import rename_new

if TYPE_CHECKING:
    from typing_extensions import TypeIs

    from .tensor import Tensor as TensorType

__all__ = ["as_tensor", "asarray", "is_tensor", "tensor"]

_MAX_DIMS = 64
_BOOL, _INT64, _UINT64 = EXPORTS["bool"], EXPORTS["int64"], EXPORTS["uint64"]


def tensor(
    data: Any,
    *,
    dtype: dtype | None = None,
    device: device | str | None = None,
    requires_grad: bool = False,
    pin_memory: bool = False,
    names: Sequence[str | None] | None = None,
) -> TensorType:
    """Return a new tensor with the values of `data`: a number, nested sequences of numbers, an array or a tensor; or
    one over the memory of `data`, a storage.

    The shape is that of the nesting. The dtype is `dtype`, that of an array or tensor, or follows from the numbers:
    bool, int64, the default dtype for floats, its complex counterpart for complex numbers. The bytes of an untyped
    storage are elements of `dtype`, or of int64. Raises ValueError for
    sequences of unequal lengths, texts and integers beyond int64, RuntimeError for other objects. `names` are those
    of the dimensions.

    Example:
        >>> opweave.tensor([[1, 2], [3, 4]])
        tensor([[1, 2],
                [3, 4]])
        >>> opweave.tensor([1, 2], dtype=opweave.float32)
        tensor([1., 2.])
    """
    if device is None and names is None and not pin_memory:
        made: TensorType | None = from_numbers(data, -1 if dtype is None else _resolve(dtype, "tensor").code)
        if made is not None:
            return made.requires_grad_() if requires_grad else made
    given_names = read_names("tensor", names)
    named = None if device is None else available(device)
    check_placement("tensor", pin_memory=pin_memory)
    wanted = None if dtype is None else _resolve(dtype, "tensor")
    if isinstance(data, handles.Tensor):
        warnings.warn(
            "To copy construct from a tensor, it is recommended to use sourceTensor.detach().clone(), rather than "
            "opweave.tensor(sourceTensor).",
            UserWarning,
            stacklevel=2,
        )
        data = data.detach()
    result: TensorType = _moved(_new(data, wanted), named)
    if pin_memory:
        result = pinned_result(result)
    if given_names is not None:
        rename_new(result, given_names)
    return result.requires_grad_() if requires_grad else result


def as_tensor(data: Any, *, dtype: dtype | None = None, device: device | str | None = None) -> TensorType:
    """Return the data as a tensor, without a copy if it is a tensor or an array of dtype `dtype`, or of any if that
    is None. Shape, dtype and errors are otherwise those of `tensor`.

    Example:
        >>> opweave.as_tensor([1.0, 2.0])
        tensor([1., 2.])
    """
    named = None if device is None else available(device)
    wanted = None if dtype is None else _resolve(dtype, "as_tensor")
    source = _over_memory(data)
    if source is None:
        return _moved(_new(data, wanted), named)
    return _moved(source if wanted is None else source.to(wanted), named)


def asarray(
    obj: Any,
    *,
    dtype: dtype | None = None,
    device: device | str | None = None,
    copy: bool | None = None,
    requires_grad: bool | None = None,
) -> TensorType:
    """Return a tensor of the object's values, which shares its memory where that is possible and `copy` is not
    true.

    Shape and dtype are those of the object, as `tensor` reads it, or `dtype`. A tensor that is given, or its copy,
    keeps its history unless `requires_grad` is false: a leaf that is shared then requires no gradient itself any more.
    Raises ValueError if `copy` is False and the memory cannot be shared, and the errors of `tensor`.

    Example:
        >>> opweave.asarray([1.0, 2.0])
        tensor([1., 2.])
    """
    named = None if device is None else available(device)
    source = _as_array(obj, dtype, copy)
    result = _moved(source, named)
    if copy is False and result is not source:
        raise ValueError(f"can't alias tensor from device '{source.device}' to '{result.device}'.")
    if requires_grad is None:
        return result
    return result.detach() if not (requires_grad or result.is_leaf) else result.requires_grad_(requires_grad)


def _moved(tensor: Any, named: device | None) -> TensorType:
    """The tensor on the device that is named, else on the default one, but where it has no elements to be moved."""
    where = named or (get_default_device() if has_values(tensor) else tensor.device)
    moved: TensorType = tensor if tensor.device == where else tensor.to(where)
    return moved


def _as_array(obj: Any, dtype: dtype | None, copy: bool | None) -> TensorType:
    wanted = None if dtype is None else _resolve(dtype, "asarray")
    source = _over_memory(obj, copy is not False)
    if source is None:
        source = _over_storage(obj, wanted)
    if source is None and type(obj).__name__ == "PyCapsule":
        source = interchange.from_dlpack(obj)
    if source is None and interchange.has_buffer(obj) and not interchange.is_array_scalar(obj):
        source = _over_buffer(obj, wanted)
    if source is None:
        if copy is False:
            raise ValueError("can't alias arbitrary sequence into a tensor.")
        return _new(obj, wanted)
    if wanted is not None and wanted is not source.dtype:
        if copy is False:
            raise ValueError(
                f"can't alias tensor with dtype '{source.dtype.scalar_name}' into dtype '{wanted.scalar_name}'."
            )
        return source.to(wanted)
    return source.clone() if copy else source


def _over_memory(data: Any, may_copy: bool = True) -> TensorType | None:
    """A tensor over the memory of a tensor, an array, or an object of another library; None of anything else."""
    if isinstance(data, handles.Tensor):
        same: TensorType = data
        return same
    if interchange.is_array(data):
        return interchange.from_array(data)
    exported = interchange.offered(data)
    if exported is None:
        return None
    if isinstance(exported, handles.Tensor):
        lent: TensorType = exported
        return lent.clone() if may_copy and lib.storage_readonly(lib.storage_of(lent._h)) else lent
    if exported.dtype.hasobject:
        return None  # its elements say what they are
    result = interchange.from_array(exported, warn=not may_copy)
    # What another library lets nobody write is copied, rather than handed out as a tensor that cannot be.
    return result if exported.flags.writeable or not may_copy else result.clone()


def _over_storage(data: Any, wanted: dtype | None) -> TensorType | None:
    """A tensor over the memory of a storage; None of anything else."""
    from .storage import is_storage
    from .storage_tensors import tensor_of

    return tensor_of(data, wanted) if is_storage(data) else None


def _over_buffer(buffer: Any, wanted: dtype | None) -> TensorType:
    """A tensor over the memory of an object that has typed elements, or bytes, which are read as `wanted`."""
    if wanted is None and memoryview(buffer).format not in ("B", "c"):
        return interchange.from_array(as_array(buffer))
    return interchange.frombuffer(buffer, dtype=wanted or get_default_dtype())


def is_tensor(obj: object) -> TypeIs[TensorType]:
    """Return whether `obj` is a Tensor."""
    return isinstance(obj, handles.Tensor)


_resolve = dtype.resolve


def _new(data: Any, wanted: dtype | None) -> TensorType:
    """A tensor with memory of its own, or over that of a storage."""
    made: TensorType | None = from_numbers(data, -1 if wanted is None else wanted.code)
    if made is not None:
        return made
    data = _known(data)
    if interchange.is_array(data):
        # The array is only read, so one that must not be written is as good as any.
        data = interchange.from_array(data, warn=False)
    if isinstance(data, handles.Tensor):
        copied: TensorType = ops._to_copy(data.detach(), dtype=wanted)
        return copied
    stored = _over_storage(data, wanted)
    if stored is not None:
        return stored
    shape = _shape(data)
    dtype = wanted or _infer(data)
    values: list[Any] = []
    _collect(data, shape, 0, values)
    return _store(values, shape, dtype)


# ---- what is no nested list of numbers of Python, or does not fit into its dtype ---------------------------------


def _known(value: Any, depth: int = 0) -> Any:
    """The same numbers in lists, tensors and NumPy's arrays, whatever library they are from."""
    kind = type(value)
    if kind is float or kind is int or kind is bool or isinstance(value, (handles.Tensor, str, bytes)):
        return value
    if interchange.is_array(value) or interchange.is_array_scalar(value):
        return value
    if isinstance(value, (list, tuple)):
        if depth == _MAX_DIMS:
            raise _too_deep(value)
        return [_known(each, depth + 1) for each in value]
    exported = interchange.offered(value)
    if exported is not None:
        array = exported.numpy() if isinstance(exported, handles.Tensor) else exported
        return _known(array.tolist(), depth) if array.dtype.hasobject else array
    if interchange.has_buffer(value):
        # Its elements are numbers of Python, of which the dtype follows as of any others.
        return as_array(value).tolist()
    return value


def _is_sequence(value: Any) -> bool:
    """True if the value has elements. A tensor counts as one number, and so does an array without dimensions."""
    if isinstance(value, (list, tuple)):
        return True
    if isinstance(value, handles.Tensor) or getattr(value, "shape", None) == ():
        return False
    return hasattr(value, "__len__") and hasattr(value, "__getitem__") and not hasattr(value, "keys")


def _shape(data: Any) -> tuple[int, ...]:
    """The lengths of the first sequence, of its first element, and so on."""
    shape: list[int] = []
    while _is_sequence(data):
        if isinstance(data, str) and shape:
            raise ValueError("too many dimensions 'str'")
        if isinstance(data, (str, bytes)):
            break
        shape.append(len(data))
        if len(shape) > _MAX_DIMS:
            raise _too_deep(data)
        if not shape[-1]:
            break
        data = data[0]
    return tuple(shape)


def _infer(value: Any) -> dtype:
    """The dtype of a number, or the common one of a sequence."""
    if isinstance(value, handles.Tensor):
        own: dtype = value.dtype
        return own
    if interchange.is_array(value) or interchange.is_array_scalar(value):
        return interchange.dtype_of_array(value)
    if isinstance(value, bool):
        return _BOOL
    if isinstance(value, int):
        return _INT64
    if isinstance(value, float):
        return get_default_dtype()
    if isinstance(value, complex):
        return get_default_dtype().to_complex()
    if isinstance(value, (str, bytes)):
        raise _not_numbers(value)
    if not _is_sequence(value):
        raise RuntimeError(f"Could not infer dtype of {type_name(value)}")
    from .._base.promotion import promote_types

    common = None
    for element in islice(iter(value), len(value)):  # it may have no end, which is refused later
        result = _infer(element)
        common = result if common is None or common is result else promote_types(common, result)
    return common or get_default_dtype()


def _collect(value: Any, shape: tuple[int, ...], dim: int, values: list[Any]) -> None:
    """Appends the numbers of nested sequences, which must have the given shape."""
    if dim == len(shape):
        if isinstance(value, handles.Tensor):
            if value.numel() != 1:
                raise _not_a_number(value)
            value = value.item()
        elif interchange.is_array_scalar(value) or getattr(value, "shape", None) == ():
            value = value.item()
        elif isinstance(value, (str, bytes)):
            raise _not_numbers(value)
        values.append(value)
        return
    if isinstance(value, handles.Tensor):
        raise _not_a_number(value)
    if not _is_sequence(value):
        raise TypeError("not a sequence")
    if len(value) != shape[dim]:
        raise ValueError(f"expected sequence of length {shape[dim]} at dim {dim} (got {len(value)})")
    count = 0
    for element in value:
        count += 1
        if count > shape[dim]:
            break
        _collect(element, shape, dim + 1, values)
    if count != shape[dim]:
        # What it says of its length is not so; it may even have no end.
        got = f"more than {shape[dim]}" if count > shape[dim] else str(count)
        raise ValueError(f"expected sequence of length {shape[dim]} at dim {dim} (got {got})")


def _too_deep(value: Any) -> ValueError:
    return ValueError(f"too many dimensions '{type_name(value)}'")


def _not_numbers(text: str | bytes) -> TypeError:
    return TypeError(f"new(): invalid data type '{type_name(text)}'")


def _not_a_number(tensor: TensorType) -> Exception:
    if tensor.dtype.is_floating_point:
        return ValueError("only one element tensors can be converted to Python scalars")
    return TypeError("only integer tensors of a single element can be converted to an index")


# ---- numbers to memory --------------------------------------------------------------------------------------


def _store(values: Sequence[Any], shape: tuple[int, ...], dtype: dtype) -> TensorType:
    """A new tensor of these numbers."""
    if dtype is _BOOL:
        return tensor_of_bytes(bytes(map(bool, values)), shape, dtype)
    if dtype.is_integer:
        return tensor_of_bytes(_integer_array(values, dtype), shape, dtype)
    if dtype.is_complex:
        parts = array(dtype.typecode or "f", chain.from_iterable((z.real, z.imag) for z in map(complex, values)))
        pairs = tensor_of_bytes(parts, shape, dtype if dtype.typecode else EXPORTS["complex64"])
        return pairs.to(dtype)
    if dtype.typecode is not None:
        return tensor_of_bytes(array(dtype.typecode, values), shape, dtype)
    # Python cannot write this format: the core rounds to it.
    wide = EXPORTS["float64"]
    return tensor_of_bytes(array("d", values), shape, wide).to(dtype)


def _integer_array(values: Sequence[Any], dtype: dtype) -> array[int]:
    assert dtype.typecode is not None
    if dtype is _UINT64:
        return _uint64_array(values)
    if float in set(map(type, values)):
        # NaN is in no range.
        if not all(dtype.minimum <= value <= dtype.maximum for value in values if type(value) is float):
            raise _range_error(dtype)
        values = list(map(int, values))
    try:
        return array(dtype.typecode, values)
    except OverflowError:
        lowest, highest = min(values), max(values)
    if lowest < _INT64.minimum or highest > _INT64.maximum:
        raise ValueError(OVERFLOW)
    if dtype.is_signed or lowest < -dtype.maximum or highest > dtype.maximum:
        raise _range_error(dtype)
    # Unsigned integers take negative numbers as bit patterns.
    return array(dtype.typecode, [value & dtype.maximum for value in values])


def _uint64_array(values: Sequence[Any]) -> array[int]:
    """torch reads these with another function of Python's, which neither cuts floats nor wraps."""
    if float in set(map(type, values)):
        raise TypeError("an integer is required")
    if values and min(values) < 0:
        raise OverflowError("can't convert negative int to unsigned")
    if values and max(values) > _UINT64.maximum:
        raise OverflowError("int too big to convert")
    return array("Q", values)


def _range_error(dtype: dtype) -> RuntimeError:
    return RuntimeError(f"value cannot be converted to type {str(dtype).rpartition('.')[2]} without overflow")
