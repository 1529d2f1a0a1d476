"""Methods of Tensor that write elements from Python."""

# mypy: disable-error-code="no-any-return"
# (in a mixin `self` is an instance of the class that it is mixed into, which mypy calls Any)

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from .._C import lib

if TYPE_CHECKING:
    from .tensor import Tensor as TensorType


class MutationMethods:
    """Mixed into Tensor."""

    __slots__ = ()

    def apply_(self: Any, callable: Callable[[Any], Any]) -> TensorType:
        """Replace each element by the number that `callable` returns for it, one after another in Python; return
        the tensor.
        """
        return _replace(self, map(callable, self.rename(None).flatten().tolist()))

    def map_(self: Any, tensor: TensorType, callable: Callable[[Any, Any], Any]) -> TensorType:
        """Replace each element by the number that `callable` returns for it and for the element of `tensor` at its
        index; return the tensor. Raises RuntimeError if `tensor` does not broadcast to this tensor's shape.
        """
        other = tensor.rename(None).expand(self.shape).flatten()
        return _replace(self, map(callable, self.rename(None).flatten().tolist(), other.tolist()))

    def is_set_to(self: Any, tensor: TensorType) -> bool:
        """Return whether both tensors have the same memory, offset, shape and strides."""
        return (
            lib.storage_of(self._h) == lib.storage_of(tensor._h)
            and self.storage_offset() == tensor.storage_offset()
            and self.shape == tensor.shape
            and self.stride() == tensor.stride()
        )


def _replace(tensor: Any, values: Any) -> Any:
    from .construct import tensor as make

    return tensor.copy_(make(list(values), dtype=tensor.dtype, device=tensor.device).reshape(tensor.shape))
