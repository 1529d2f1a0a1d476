"""Indexing and assignment: `t[...]` and `t[...] = value`.

Ints, slices, None and `...` are the affair of core/python/basic_index.c; index tensors, alone or among whole slices,
that of core/python/calls_indexing.c. All other indices are read by index_parser.py, which gives a view and the index
tensors that are left; without any, reading returns the view and an assignment copies into it. Of tensors with dispatch
keys these views and copies are calls of operators.
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
from .assignment import Source, check_expandable, tensor_of, write

if TYPE_CHECKING:
    from types import EllipsisType
    from typing import SupportsIndex, TypeAlias

    from numpy.typing import NDArray

    from .tensor import Tensor as TensorType

    Part: TypeAlias = SupportsIndex | slice | EllipsisType | TensorType | NDArray[Any] | list[Any] | range | None
    Index: TypeAlias = Part | tuple[Part, ...]


def subscript(self: Any, index: Any) -> TensorType:
    """`self[index]` for what the core does not know of, or of tensors that it does not take."""
    if keys(self, index):
        view, tensors = index_parser.apply(self, index)
        result: TensorType = ops.index(view, tensors) if tensors else view
        return result
    if handle := view_of(self._h, index):
        return as_view(wrap(handle, self), self)
    return wrap(_get(self._h, index), self)


class IndexingMethods:
    """Mixed into Tensor."""

    __slots__ = ()

    if TYPE_CHECKING:

        def __getitem__(self, index: Index) -> TensorType: ...  # that of class TensorBase, which goes on to subscript()

    def __setitem__(self: Any, index: Index, value: Any) -> None:
        if assign(self, index, value, False):
            return
        if keys(self, index, value):
            _assign(self, index, value)
            return
        if view := view_of(self._h, index):
            try:
                if write(view, value):
                    return
            finally:
                lib.release(view)
        _set_general(self._h, index, value)

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


def _get(handle: float, index: Any) -> float:
    if lib.error_pending():
        raise_pending()
    parts = index_parser.read(handle, index)
    try:
        if parts.tensors:
            return lib.index_get(parts.view, parts.handles(), len(parts.tensors))
        return lib.clone_(parts.view, -1, False) if parts.is_masked else parts.take_view()
    finally:
        parts.release()


def _assign(self: Any, index: Any, value: Any) -> None:
    """The same by calls of operators."""
    source = value if isinstance(value, Tensor) else tensor_of(value, self._h)
    view, tensors = index_parser.apply(self, index)
    leading = 0
    while leading < source.ndim and source.shape[leading] == 1:
        leading += 1
    if leading:
        source = source.view(source.shape[leading:])
    if tensors:
        ops._index_put_(view, tensors, source)
    else:
        check_expandable(source._h, tuple(source.shape), tuple(view.shape))
        view.copy_(source)


def _set_general(handle: float, index: Any, value: Any) -> None:
    # The value comes before the index, as its mistakes do in torch.
    source = Source(value, handle)
    try:
        parts = index_parser.read(handle, index)
        try:
            if parts.tensors:
                source.put_into(parts.view, parts.handles())
            # An index of bools that are not all true selects nothing, and takes every value.
            elif not parts.is_masked or lib.numel(parts.view):
                source.expand_into(parts.view)
        finally:
            parts.release()
    finally:
        source.release()
