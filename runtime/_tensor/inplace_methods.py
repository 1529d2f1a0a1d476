"""Methods of Tensor that write elements from Python, or give the tensor other memory."""

# mypy: disable-error-code="no-any-return"
# (in a mixin `self` is an instance of the class that it is mixed into, which mypy calls Any)

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from .._base import handles, histories
from .._base.errors import raise_pending
from .._base.handles import integers, type_name
from .._base.shapes import packed_strides, strides_in_order
from .._base.types import FORMATS, memory_order, preserve_format
from .._C import lib
from .._handle import needs_grad
from .assignment import Source
from .dtype_methods import warn_of_cut

if TYPE_CHECKING:
    from .._operators import Number
    from .storage import AnyStorage
    from .tensor import Tensor as TensorType


class MutationMethods:
    """Mixed into Tensor."""

    __slots__ = ()

    def copy_(self: Any, src: TensorType | Number, non_blocking: bool = False) -> TensorType:
        """Copy the elements of `src`, a tensor or a number, into this tensor and return it.

        `src` is broadcast to this tensor's shape and converted to its dtype. Raises TypeError if it is neither,
        RuntimeError if its shape does not broadcast, or if several elements of this tensor lie at one address.
        """
        if needs_grad(self, src):
            return histories.recording.by_formula_inplace(
                "CopyBackwards", self, (self, src), lambda: self.copy_(src), lambda grad: (None, grad)
            )
        if isinstance(src, handles.Tensor):
            warn_of_cut(lib.dtype(src._h), lib.dtype(self._h))
            if not lib.copy_(self._h, src._h):
                raise_pending()
        elif isinstance(src, (int, float, complex)):
            _write_number(self._h, src)
        else:
            raise TypeError(f"copy_(): argument 'other' (position 1) must be Tensor, not {type_name(src)}")
        return self

    def fill_(self: Any, value: TensorType | Number) -> TensorType:
        """Write one number, or the value of a tensor without dimensions, to all elements and return the tensor.

        Raises RuntimeError if `value` is a tensor with dimensions, TypeError if it is no number.
        """
        number: Any = value
        if needs_grad(self, value):
            return histories.recording.by_formula_inplace(
                "FillBackward0", self, (self, value), lambda: self.fill_(value), lambda grad: (None, grad.sum())
            )
        if type(number) is not float and type(number) is not int:
            if isinstance(number, handles.Tensor) and number.ndim:
                raise RuntimeError(
                    f"fill_ only supports 0-dimension value tensor but got tensor with {number.ndim} dimensions."
                )
            if isinstance(number, handles.Tensor):
                return self.copy_(number)  # converted as elements are: beyond the dtype they become infinite, or wrap
            if hasattr(number, "item") and getattr(number, "shape", None) == ():
                number = number.item()
            if not isinstance(number, (int, float, complex)):
                raise TypeError(f"fill_(): argument 'value' (position 1) must be Number, not {type_name(number)}")
        if isinstance(number, float):
            done = lib.fill_d(self._h, number)
        elif isinstance(number, complex):
            _write_number(self._h, number)
            return self
        elif -(2**63) <= number < 2**63:
            done = lib.fill_i(self._h, number)
        elif -(2**63) <= number < 2**64:
            _write_number(self._h, number if self.dtype.is_integer else float(number))
            return self
        else:
            raise OverflowError("int too big to convert")
        if not done:
            raise_pending()
        return self

    def zero_(self: Any) -> TensorType:
        """Write zero to all elements and return the tensor."""
        if needs_grad(self):
            return histories.recording.by_formula_inplace(
                "ZeroBackward0", self, (self,), lambda: self.zero_(), lambda grad: (None,)
            )
        if not lib.fill_i(self._h, 0):
            raise_pending()
        return self

    def apply_(self: Any, callable: Callable[[Any], Any]) -> TensorType:
        """Replace each element by the number that `callable` returns for it, one after another in Python; return
        the tensor.
        """
        return _replace(self, map(callable, self.flatten().tolist()))

    def map_(self: Any, tensor: TensorType, callable: Callable[[Any, Any], Any]) -> TensorType:
        """Replace each element by the number that `callable` returns for it and for the element of `tensor` at its
        index; return the tensor. Raises RuntimeError if `tensor` does not broadcast to this tensor's shape.
        """
        other = tensor.expand(self.shape).flatten()
        return _replace(self, map(callable, self.flatten().tolist(), other.tolist()))

    def resize_(self: Any, *sizes: int | Sequence[int], memory_format: Any = None) -> TensorType:
        """Give the tensor another shape, contiguous from its first element on, and return it.

        Elements stay in their order in memory; further ones are not initialised. Raises RuntimeError if the tensor
        requires a gradient, if a size is negative, or if its memory is shared with NumPy and too small.
        """
        if memory_format is preserve_format:
            raise RuntimeError("resize_(): the memory format cannot be preserved, but must be named or left out")
        order = memory_order("resize_", memory_format)
        if self._requires_grad:
            raise RuntimeError("cannot resize variables that require grad")
        shape = integers("resize_", "size", sizes)
        strides = None if memory_format is None else strides_in_order(shape, order)
        if shape != tuple(self.shape) and not lib.resize_(self._h, shape, len(shape)):
            raise_pending()
        if strides is not None and strides != self.stride():
            placed = lib.as_strided(self._h, shape, strides, len(shape), self.storage_offset(), -1)
            handles.exchange(self, handles.wrap(placed))
        return self

    def resize_as_(self: Any, the_template: TensorType, *, memory_format: Any = None) -> TensorType:
        """Give the tensor the shape of `the_template`, and with `preserve_format` its memory format; return the
        tensor.
        """
        if memory_format is preserve_format:
            memory_format = next((each for each in FORMATS if the_template.is_contiguous(memory_format=each)), None)
        return self.resize_(the_template.shape, memory_format=memory_format)

    def set_(
        self: Any,
        source: TensorType | AnyStorage | None = None,
        storage_offset: int = 0,
        size: Sequence[int] | None = None,
        stride: Sequence[int] | None = None,
    ) -> TensorType:
        """Make this tensor a view of a storage, of the memory of another tensor, or of no memory at all; return it.

        `size`, `stride` and `storage_offset` count elements. Raises TypeError if `source` is neither, RuntimeError
        if its dtype differs.
        """
        from .storage import AnyStorage

        if isinstance(source, handles.Tensor) and size is None:
            size, stride, storage_offset = source.shape, source.stride(), source.storage_offset()
        if source is None:
            view: Any = self.new_empty(0)
        else:
            if not isinstance(source, (handles.Tensor, AnyStorage)):
                raise TypeError(f"set_(): argument 'source' (position 1) must be Tensor, not {type_name(source)}")
            elements = source._elements if isinstance(source, AnyStorage) else source
            if elements.device != self.device:
                raise RuntimeError(
                    f'Attempted to set the storage of a tensor on device "{self.device}" to a storage on different '
                    f'device "{elements.device}".  This is no longer allowed; the devices must match.'
                )
            if isinstance(source, AnyStorage) and elements.itemsize == 1 != self.itemsize:
                elements = elements.view(self.dtype)
            elif elements.dtype is not self.dtype:
                raise RuntimeError(
                    f"Could not set tensor of type {elements.dtype.scalar_name} to a tensor of type "
                    f"{self.dtype.scalar_name}"
                )
            sizes = (elements.numel(),) if size is None else integers("set_", "size", (size,))
            strides = packed_strides(sizes, range(len(sizes))) if stride is None else stride
            base = elements.as_strided(sizes, strides, storage_offset)
            view = base if type(base) is handles.Tensor else base.as_subclass(handles.Tensor)
        return handles.exchange(self, view)

    def is_set_to(self: Any, tensor: TensorType) -> bool:
        """Return whether both tensors have the same memory, offset, shape and strides."""
        return (
            lib.storage_of(self._h) == lib.storage_of(tensor._h)
            and self.storage_offset() == tensor.storage_offset()
            and self.shape == tensor.shape
            and self.stride() == tensor.stride()
        )


def _write_number(target: float, value: Any) -> None:
    source = Source(value, target, halves_overflow=False)
    try:
        source.copy_into(target)
    finally:
        source.release()


def _replace(tensor: Any, values: Any) -> Any:
    from .construct import tensor as make

    return tensor.copy_(make(list(values), dtype=tensor.dtype, device=tensor.device).reshape(tensor.shape))
