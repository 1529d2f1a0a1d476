"""Indexing and assignment: `t[...]` and `t[...] = value`.

Ints, slices, None and `...` are the affair of core/python/basic_index.c; index tensors, alone or among whole slices,
that of core/python/calls_indexing.c. All other indices are read by index_parser.py, which gives a view and the index
tensors that are left; without any, reading returns the view and an assignment copies into it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from .._base import histories
from .._base.errors import raise_pending
from .._base.handles import type_name, wrap
from .._base.tensor_class import Tensor
from .._C import lib
from .._dispatch.check import is_operand
from .._handle import as_view, assign, needs_grad, view_of
from . import index_parser
from .assignment import Source, write

if TYPE_CHECKING:
    from types import EllipsisType
    from typing import SupportsIndex, TypeAlias

    from numpy.typing import NDArray

    from .tensor import Tensor as TensorType

    Part: TypeAlias = SupportsIndex | slice | EllipsisType | TensorType | NDArray[Any] | list[Any] | range | None
    Index: TypeAlias = Part | tuple[Part, ...]


def subscript(self: Any, index: Any) -> TensorType:
    """`self[index]` for what the core does not know of, or of tensors that it does not take."""
    if needs_grad(self):
        return _recorded_subscript(self, index)
    if handle := view_of(self._h, index):
        return as_view(wrap(handle, self), self)
    return wrap(_get(self._h, index), self)


def _recorded_subscript(self: Any, index: Any) -> TensorType:
    """The gradient of the result goes where the elements came from; of those taken several times it adds up."""
    shape, index = self.shape, index_parser.lasting(index)

    def backward(grad: Any) -> tuple[Any]:
        whole = grad.new_zeros(shape)
        add_at(whole, index, grad)
        return (whole,)

    kind = {int: "Select", slice: "Slice"}.get(type(index), "Index")
    recorded: TensorType = histories.recording.by_formula(
        f"{kind}Backward0", (self,), lambda: self[index], backward, _tensors_of(index)
    )
    return recorded


def _tensors_of(index: Any) -> list[Any]:
    parts = index if type(index) is tuple else (index,)
    return [part for part in parts if isinstance(part, Tensor)]


def add_at(target: Any, index: Any, values: Any) -> None:
    """`target[index] += values`, but elements that the index names several times get all of their values."""
    if needs_grad(target, values):
        _write_recorded(target, index, values, True, partial(add_at, target, index, values))
        return
    if assign(target, index, values, True):
        return
    parts = index_parser.read(target._h, index)
    try:
        if parts.tensors:
            if not lib.index_put(parts.view, parts.handles(), len(parts.tensors), values._h, True):
                raise_pending()
        elif (not parts.is_masked or lib.numel(parts.view)) and not lib.copy_(parts.view, values._h):
            raise_pending()
    finally:
        parts.release()


class IndexingMethods:
    """Mixed into Tensor."""

    __slots__ = ()

    if TYPE_CHECKING:

        def __getitem__(self, index: Index) -> TensorType: ...  # that of class TensorBase, which goes on to subscript()

    def __setitem__(self: Any, index: Index, value: Any) -> None:
        if assign(self, index, value, False):
            return
        if needs_grad(self, value):
            index = index_parser.lasting(index)
            _write_recorded(self, index, value, False, partial(self.__setitem__, index, value))
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

    def index_put_(
        self: Any, indices: Sequence[TensorType], values: TensorType, accumulate: bool = False
    ) -> TensorType:
        """Write `values` to the elements that `indices` select, and return the tensor: `self[indices] = values`.

        `indices` is a tuple of tensors of integers or bool, one for each leading dimension; `values` has the
        tensor's dtype and broadcasts to the shape of what is selected. With `accumulate` values are added, each one
        even where the indices name an element several times. Raises IndexError for an index that is out of range,
        RuntimeError if shapes or dtypes differ.
        """
        return _put(self, _checked_put("index_put_", indices, values, accumulate), values, accumulate)

    def index_put(self: Any, indices: Sequence[TensorType], values: TensorType, accumulate: bool = False) -> TensorType:
        """Return a copy of the tensor, of the same shape and dtype, after `index_put_`."""
        return _put(self.clone(), _checked_put("index_put", indices, values, accumulate), values, accumulate)

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


def _checked_put(name: str, indices: Any, values: Any, accumulate: Any) -> tuple[Any, ...]:
    """The indices, once the types of arguments are checked as torch's parser does; a list may change meanwhile."""
    if not isinstance(indices, (tuple, list)):
        kind = type_name(indices)
        raise TypeError(f"{name}(): argument 'indices' (position 1) must be tuple of Tensors, not {kind}")
    selectors: tuple[Any, ...] = tuple(indices)
    for position, index in enumerate(selectors):
        if not isinstance(index, Tensor):
            raise TypeError(f"expected Tensor as element {position} in argument 0, but got {type_name(index)}")
    if not isinstance(values, Tensor):
        raise TypeError(f"{name}(): argument 'values' (position 2) must be Tensor, not {type_name(values)}")
    if not isinstance(accumulate, bool):
        raise TypeError(f"{name}(): argument 'accumulate' (position 3) must be bool, not {type_name(accumulate)}")
    return selectors


def _put(target: TensorType, indices: tuple[TensorType, ...], values: TensorType, accumulate: bool) -> TensorType:
    if needs_grad(target, values):
        run = partial(_put, target, indices, values, accumulate)
        recorded: TensorType = _write_recorded(target, indices, values, accumulate, run)
        return recorded
    if not lib.index_put(target._h, [index._h for index in indices], len(indices), values._h, accumulate):
        raise_pending()
    return target


def _write_recorded(target: Any, index: Any, values: Any, accumulate: bool, run: Callable[[], Any]) -> Any:
    """Record that `run` writes to the elements that the index names: their gradient is that of the values."""

    def backward(grad: Any) -> tuple[Any, Any]:
        kept = grad
        if not accumulate:
            kept = grad.clone()
            kept[index] = 0
        return kept, grad[index]

    inputs, used = (target, values), _tensors_of(index)
    return histories.recording.by_formula_inplace("IndexPutBackward0", target, inputs, run, backward, used)


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
