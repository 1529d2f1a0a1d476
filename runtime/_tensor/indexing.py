"""Indexing and assignment: `t[...]` and `t[...] = value`.

Ints, slices, None and `...` are the affair of core/python/basic_index.c; index tensors, alone or among whole slices,
that of core/python/calls_indexing.c. All other indices, and those of tensors with dispatch keys, are read by
index_parser.py, which gives a view and the index tensors that are left, as calls of operators; without any, reading
returns the view and an assignment copies into it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from .._base.errors import raise_pending
from .._base.handles import wrap
from .._base.tensor_class import Tensor
from .._C import lib
from .._dispatch.check import is_operand
from .._dispatch.ops import ops
from .._handle import as_view, assign, keys, view_of
from . import index_parser
from .assignment import check_expandable, tensor_of, write

if TYPE_CHECKING:
    from types import EllipsisType
    from typing import SupportsIndex, TypeAlias

    from numpy.typing import NDArray

    from .tensor import Tensor as TensorType

    Part: TypeAlias = SupportsIndex | slice | EllipsisType | TensorType | NDArray[Any] | list[Any] | range | None
    Index: TypeAlias = Part | tuple[Part, ...]


def subscript(self: Any, index: Any) -> TensorType:
    """`self[index]` for what the core does not know of, or of tensors that it does not take."""
    if not keys(self, index) and (handle := view_of(self._h, index)):
        return as_view(wrap(handle), self)
    if lib.error_pending():
        raise_pending()
    view, tensors, is_masked = index_parser.apply(self, index)
    result: TensorType = ops.index(view, tensors) if tensors else view.clone() if is_masked else view
    return result


class IndexingMethods:
    """Mixed into Tensor."""

    __slots__ = ()

    if TYPE_CHECKING:

        def __getitem__(self, index: Index) -> TensorType: ...  # that of class TensorBase, which goes on to subscript()

    def __setitem__(self: Any, index: Index, value: Any) -> None:
        if assign(self, index, value, False):
            return
        if not keys(self, index, value) and (view := view_of(self._h, index)):
            try:
                if write(view, value):
                    return
            finally:
                lib.release(view)
        _assign(self, index, value)

    def __delitem__(self: Any, index: Any) -> None:
        raise TypeError("Tensor does not support deleting items")

    def __iter__(self: Any) -> Iterator[TensorType]:
        if not lib.ndim(self._h):
            raise TypeError("iteration over a 0-d tensor")
        return iter(self.unbind(0))

    def __reversed__(self: Any) -> Any:
        """The positions of the first dimension in reverse order, as a tensor."""
        return self.flip(0) if lib.ndim(self._h) else self

    def __contains__(self: Any, element: Any) -> bool:
        if not is_operand(element):
            raise RuntimeError(
                f"Tensor.__contains__ only supports Tensor or scalar, but you passed in a {type(element)}."
            )
        return bool((self == element).any().item())


def _assign(self: Any, index: Any, value: Any) -> None:
    """`self[index] = value` as calls of operators."""
    # The value comes before the index, as its mistakes do in torch.
    source = value if isinstance(value, Tensor) else tensor_of(value, self._h)
    view, tensors, is_masked = index_parser.apply(self, index)
    if is_masked and not view.numel():
        return  # an index of bools that are not all true selects nothing, and takes every value
    leading = next((dim for dim, size in enumerate(source.shape) if size != 1), source.ndim)
    if leading:  # dimensions of size one that are of no account
        source = source.squeeze(tuple(range(leading)))
    if tensors:
        ops._index_put_(view, tensors, source)
    else:
        check_expandable(source._h, tuple(source.shape), tuple(view.shape))
        view.copy_(source)
