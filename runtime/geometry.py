"""Methods of Tensor about its shape and its order in memory."""

# mypy: disable-error-code="no-any-return"
# (in a mixin `self` is an instance of the class that it is mixed into, which mypy calls Any)

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, SupportsIndex, overload

from ._C import lib
from .errors import raise_pending, take_pending
from .handles import OVERFLOW, integer, integers, operator_index, shape_of, strides_of, wrap
from .types import Size, contiguous_format, memory_format, preserve_format, wants_contiguous

if TYPE_CHECKING:
    from .tensor import Tensor as TensorType

_T = operator_index("t")
_TRANSPOSE = operator_index("transpose")
_VIEW = operator_index("view")
_INT = {int}
_CONTIGUOUS = 1
"""OW_CONTIGUOUS, a flag of handles."""


class GeometryMethods:
    """Mixed into Tensor."""

    __slots__ = ()

    @overload
    def size(self, dim: None = None) -> Size: ...
    @overload
    def size(self, dim: SupportsIndex) -> int: ...
    def size(self: Any, dim: Any = None) -> Size | int:
        """The shape, or the size of one dimension."""
        if dim is None:
            return shape_of(self._h)
        size = lib.size(self._h, integer("size", "dim", dim))
        if size < 0:
            raise_pending()
        return size

    @overload
    def stride(self, dim: None = None) -> tuple[int, ...]: ...
    @overload
    def stride(self, dim: SupportsIndex) -> int: ...
    def stride(self: Any, dim: Any = None) -> tuple[int, ...] | int:
        """Elements to skip in memory from one position of a dimension to the next: of all, or of one dimension."""
        strides = strides_of(self._h)
        if dim is None:
            return strides
        dim = integer("stride", "dim", dim)
        if lib.size(self._h, dim) < 0:
            raise_pending()
        return strides[dim]

    def is_contiguous(self: Any, *, memory_format: memory_format = contiguous_format) -> bool:
        """Do the elements lie in memory in the order of their indices, without gaps?"""
        wants_contiguous("is_contiguous", memory_format)
        return bool(lib.flags(self._h) & _CONTIGUOUS)

    def contiguous(self: Any, *, memory_format: memory_format = contiguous_format) -> TensorType:
        """This tensor when it is contiguous, else a contiguous copy."""
        wanted = memory_format is contiguous_format or wants_contiguous("contiguous", memory_format)
        if lib.flags(self._h) & _CONTIGUOUS or not wanted:
            return self
        return wrap(lib.clone_(self._h, -1, True), self)

    def clone(self: Any, *, memory_format: memory_format = preserve_format) -> TensorType:
        """A copy with memory of its own."""
        return wrap(lib.clone_(self._h, -1, wants_contiguous("clone", memory_format)), self)

    def reshape(self: Any, *shape: int | Sequence[int]) -> TensorType:
        """The elements in another shape: a view where the memory order allows, else a copy. One size may be -1."""
        sizes: Any = shape if set(map(type, shape)) == _INT else integers("reshape", "shape", shape)
        try:
            handle = _view(self._h, sizes)
        except OverflowError:
            raise ValueError(OVERFLOW) from None
        if not handle and not lib.flags(self._h) & _CONTIGUOUS:
            # A contiguous copy can have every shape of the right size; others are refused for it as well.
            take_pending()
            copy = lib.clone_(self._h, -1, True)
            if copy:
                handle = _view(copy, sizes)
                lib.release(copy)
        return wrap(handle, self)

    def reshape_as(self: Any, other: TensorType) -> TensorType:
        """`self.reshape(other.shape)`"""
        return self.reshape(other.shape)

    def view_as(self: Any, other: TensorType) -> TensorType:
        """`self.view(other.shape)`"""
        return self.view(other.shape)

    def expand_as(self: Any, other: TensorType) -> TensorType:
        """`self.expand(other.shape)`"""
        return self.expand(other.shape)

    def as_strided(
        self: Any, size: Sequence[int], stride: Sequence[int], storage_offset: int | None = None
    ) -> TensorType:
        """A view of the storage with this shape, these strides and this position of the first element."""
        sizes = integers("as_strided", "size", (size,))
        strides = integers("as_strided", "stride", (stride,), 2)
        if len(sizes) != len(strides):
            raise RuntimeError("mismatch in length of strides and shape")
        if strides and min(strides) < 0:
            raise RuntimeError(
                f"as_strided: Negative strides are not supported at the moment, got strides: {list(strides)}"
            )
        if storage_offset is None:
            offset = lib.storage_offset(self._h)
        else:
            offset = integer("as_strided", "storage_offset", storage_offset, 3)
        return wrap(lib.as_strided(self._h, sizes, strides, len(sizes), offset, -1), self)

    @property
    def T(self: Any) -> TensorType:  # noqa: N802 (PyTorch's name)
        """The view with all dimensions in reverse order."""
        ndim = lib.ndim(self._h)
        if ndim == 2:
            return wrap(lib.view0(_T, self._h), self)
        if ndim == 0:
            _warn("Tensor.T is deprecated on 0-D tensors. This function is the identity in these cases.")
            return self
        _warn(
            "The use of `x.T` on tensors of dimension other than 2 to reverse their shape is deprecated and it will "
            "throw an error in a future release. Consider `x.mT` to transpose batches of matrices or "
            "`x.permute(*range(x.ndim - 1, -1, -1))` to reverse the dimensions of a tensor."
        )
        return self.permute(tuple(range(ndim - 1, -1, -1)))

    @property
    def mT(self: Any) -> TensorType:  # noqa: N802 (PyTorch's name)
        """The view with the last two dimensions exchanged."""
        return _matrix_transpose(self, "mT")

    @property
    def H(self: Any) -> TensorType:  # noqa: N802 (PyTorch's name)
        """The matrix transposed and conjugated; real numbers are their own conjugates."""
        ndim = lib.ndim(self._h)
        if ndim == 0:
            _warn("Tensor.H is deprecated on 0-D tensors. Consider using x.conj().")
            return self
        if ndim != 2:
            advice = " For batches of matrices, consider using tensor.mH" if ndim > 2 else ""
            raise RuntimeError(f"tensor.H is only supported on matrices (2-D tensors). Got {ndim}-D tensor.{advice}")
        return wrap(lib.view0(_T, self._h), self)

    @property
    def mH(self: Any) -> TensorType:  # noqa: N802 (PyTorch's name)
        """The last two dimensions exchanged, and conjugated; real numbers are their own conjugates."""
        return _matrix_transpose(self, "mH")


def _view(handle: float, sizes: tuple[int, ...]) -> float:
    return lib.view_list(_VIEW, handle, sizes, len(sizes))


def _matrix_transpose(tensor: Any, name: str) -> TensorType:
    ndim = lib.ndim(tensor._h)
    if ndim == 0:
        _warn(f"Tensor.{name} is deprecated on 0-D tensors. This function is the identity in these cases.")
        return tensor
    if ndim == 1:
        raise RuntimeError(f"tensor.{name} is only supported on matrices or batches of matrices. Got 1-D tensor.")
    return wrap(lib.view2(_TRANSPOSE, tensor._h, -2, -1), tensor)


def _warn(message: str) -> None:
    # Past this function, the property and its helper: to the user's line, or near it.
    warnings.warn(message, UserWarning, stacklevel=3)
