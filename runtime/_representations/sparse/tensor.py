"""The class of sparse tensors: described ones (core/python/described.c), whose payload is what the tensor consists of.

The class is derived from Tensor, and says what is different of tensors that have no strides. It takes no part in the
protocol of subclasses: calls go to the handlers of the key `sparse`. A sparse tensor has the history of its values, so
that its gradient is a sparse tensor of the same places.
"""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any, NoReturn

from ..._base.handles import exchange, type_name
from ..._base.keys import KEY_BITS
from ..._base.shown_name import qualified
from ..._base.tensor_class import Tensor
from ..._base.types import layout, sparse_coo
from ..._C import lib
from ..._dispatch.subclass import disabled
from ..._handle import alias, describe, set_payload
from ..._handle import payload as payload_of
from .payload import Compressed, Coordinates, Payload, scalar_name

__all__ = ["SparseTensor", "check_size", "is_sparse", "made", "payload_of", "replace_payload"]

SPARSE = KEY_BITS["sparse"]


def is_sparse(value: Any) -> bool:
    """True if the value is a sparse tensor, of any layout."""
    return isinstance(value, Tensor) and bool(lib.keys(value._h) & SPARSE)


def check_size(size: tuple[int, ...]) -> None:
    """Refuses sizes that no tensor has."""
    if any(n < 0 for n in size):
        raise RuntimeError(f"size of a sparse tensor must not be negative, but got {list(size)}")
    if prod(size) >= 2**63:
        raise RuntimeError("numel: integer multiplication overflow")


def made(payload: Payload) -> Any:
    """The sparse tensor that consists of this."""
    check_size(payload.size)
    if payload.values.is_quantized or is_sparse(payload.values):
        raise NotImplementedError(
            "the values of a sparse tensor must be dense; dequantize() or to_dense() makes them so"
        )
    code, size = payload.values.dtype.code, payload.size
    where = lib.device(payload.values._h)
    return describe(SparseTensor, code, size, (0,) * len(size), 0, where, SPARSE, payload)


def replace_payload(tensor: Any, payload: Payload) -> Any:
    """Makes a sparse tensor consist of something else, and returns it."""
    if tensor._is_view:
        raise NotImplementedError(
            "a view of a sparse tensor cannot be given other elements, of which the tensor would not learn; clone() it"
        )
    if payload.size != tuple(tensor.shape) or payload.values.dtype is not tensor.dtype:
        exchange(tensor, made(payload))
    else:
        tensor._sparse = payload
    return tensor


class SparseTensor(Tensor):  # type: ignore[misc]
    """A tensor of which only some elements are in memory. Made by `sparse_coo_tensor`, `to_sparse` and their like."""

    __module__ = "opweave"
    __torch_function__ = staticmethod(disabled)

    _sparse: Payload = property(payload_of, set_payload, doc="What the tensor consists of.")  # type: ignore[assignment]
    _is_part = _is_view = False
    """True if it is what a view would be of a dense tensor, in memory of its own, or with the same values."""

    # ---- what it is ----

    @property
    def layout(self) -> layout:
        """The storage scheme of the elements."""
        return self._sparse.layout

    @property
    def is_sparse(self) -> bool:
        """True if the elements are given by coordinates."""
        return self._sparse.layout is sparse_coo

    @property
    def is_sparse_csr(self) -> bool:
        """True if the elements are given row by row."""
        return scalar_name(self._sparse.layout) == "SparseCsr"

    def __format__(self, spec: str) -> str:
        return object.__format__(self, spec)

    def __setitem__(self, index: Any, value: Any) -> None:
        raise NotImplementedError(
            f"assignment to elements is not implemented for tensors of layout {self.layout}: use values(), or add a "
            "sparse tensor of what changes"
        )

    # ---- memory, which it has none of ----

    @property
    def nbytes(self) -> int:
        """Raises RuntimeError: the tensors that it consists of have bytes."""
        raise RuntimeError(
            "nbytes is not defined for sparse tensors.  If you want the size of the constituent tensors, add the "
            "nbytes of the indices and values.  If you want the size of the  equivalent dense tensor, multiply "
            "numel() by element_size()"
        )

    def data_ptr(self) -> int:
        """Raises RuntimeError: the tensors that it consists of have addresses."""
        raise RuntimeError("Cannot access data pointer of Tensor that doesn't have storage")

    def _no_storage(self) -> NoReturn:
        kind = "SparseTensorImpl" if isinstance(self._sparse, Coordinates) else "SparseCsrTensorImpl"
        raise NotImplementedError(f"Cannot access storage of {kind}")

    def storage(self) -> Any:
        """Raises NotImplementedError: the tensors that it consists of have storages."""
        self._no_storage()

    untyped_storage = storage

    def is_shared(self) -> bool:
        """True if other processes share the memory of all tensors that it consists of."""
        return all(part.is_shared() for _, part in self._sparse.parts)

    def is_pinned(self, device: Any = None) -> bool:
        """Return whether a device has allocated the memory of all tensors that it consists of."""
        return all(part.is_pinned(device) for _, part in self._sparse.parts if part.numel())

    def share_memory_(self) -> Any:
        """Moves the tensors that it consists of to shared memory."""
        for _, part in self._sparse.parts:
            part.share_memory_()
        return self

    def stride(self, dim: Any = None) -> Any:
        """Raises RuntimeError for all layouts but `sparse_coo`, whose strides are zeros as in torch."""
        self._check_strides("strides")
        return 0 if dim is not None else (0,) * self.ndim

    def is_contiguous(self, *, memory_format: Any = None) -> bool:
        """Return False. Raises RuntimeError for all layouts but `sparse_coo`."""
        self._check_strides("is_contiguous")
        return False

    def _check_strides(self, what: str) -> None:
        if isinstance(self._sparse, Compressed):
            raise RuntimeError(f"Sparse {scalar_name(self.layout)[6:].upper()} tensors do not have {what}")

    def numpy(self, *, force: bool = False) -> Any:
        """Raises TypeError: `to_dense().numpy()` has all elements, `values().numpy()` those that are in memory."""
        raise TypeError(
            f"can't convert {scalar_name(self.layout)} layout tensor to numpy. Use Tensor.to_dense() first."
        )

    def tolist(self) -> Any:
        """Raises RuntimeError: `to_dense().tolist()` has all elements, `values().tolist()` those that are in memory."""
        raise RuntimeError("Cannot access data pointer of Tensor that doesn't have storage")

    def __dlpack__(self, **_: Any) -> Any:
        raise BufferError(f"Can't export tensors with layout {self.layout}: use to_dense() first")

    def type(self, dtype: Any = None, non_blocking: bool = False) -> Any:
        """Return the name of the type, such as `opweave.sparse.FloatTensor`, or the tensor with values of a dtype."""
        if dtype is None:
            where = "meta." if self.is_meta else ""
            kind = "sparse" if self.is_sparse else "sparse_csr"
            return qualified(f"{where}{kind}.{self.dtype.scalar_name}Tensor")
        return Tensor.type(self, dtype, non_blocking)

    # ---- history: that of the values ----

    @property
    def _requires_grad(self) -> bool:
        return bool(self._sparse.values._requires_grad)

    @property
    def requires_grad(self) -> bool:
        """True if the values have a history, or are asked for a gradient."""
        return bool(self._sparse.values._requires_grad)

    @requires_grad.setter
    def requires_grad(self, value: bool) -> None:
        values = self._sparse.values
        if value is True and not values._requires_grad:
            values = alias(values)  # the tensor that the user has given stays without a gradient
            self._sparse = self._sparse.with_values(values)
        values.requires_grad = value

    @property
    def is_leaf(self) -> bool:
        """True if the values were not computed from tensors that require gradients."""
        return bool(self._sparse.values.is_leaf)

    @property
    def grad_fn(self) -> Any:
        """The node of the graph that computed the values."""
        return self._sparse.values.grad_fn

    @property
    def grad(self) -> Any:
        """The gradient, a sparse tensor of the same places."""
        grad = self._sparse.values.grad
        return None if grad is None else self._with_values(grad)

    @grad.setter
    def grad(self, value: Any) -> None:
        if value is not None and not isinstance(value, Tensor):
            raise TypeError(f"assigned grad expected to be a Tensor or None but got grad of type {type_name(value)}")
        self._sparse.values.grad = None if value is None else self._values_of_gradient(value)

    @grad.deleter
    def grad(self) -> None:
        self._sparse.values.grad = None

    def _with_values(self, values: Any) -> Any:
        """A tensor of the same places."""
        return made(self._sparse.with_values(values))

    def _values_of_gradient(self, grad: Any) -> Any:
        """The elements of a gradient at the places of this tensor."""
        if grad.shape != self.shape:
            raise RuntimeError(
                f"Mismatch in shape: a gradient has a shape of {grad.shape} and the tensor has a shape of {self.shape}."
            )
        from .masking import values_at

        return values_at(grad, self._sparse)

    def backward(
        self, gradient: Any = None, retain_graph: Any = None, create_graph: bool = False, inputs: Any = None
    ) -> None:
        """Adds the gradients of this tensor, times `gradient`, to the `grad` of all leaves that it depends on."""
        if gradient is not None:
            gradient = self._values_of_gradient(gradient)
        self._sparse.values.backward(gradient, retain_graph, create_graph, inputs)

    @property
    def retains_grad(self) -> bool:
        """True if `retain_grad()` was called on a tensor that is no leaf."""
        return bool(self._sparse.values.retains_grad)

    def retain_grad(self) -> None:
        """Make `backward` keep the gradient of this tensor, which is no leaf, in `grad`."""
        self._sparse.values.retain_grad()

    def register_hook(self, hook: Callable[[Any], Any]) -> Any:
        """Calls `hook(grad)` whenever a gradient of the tensor is computed; it may return another one instead."""
        payload = self._sparse

        def with_values(grad: Any) -> Any:
            changed = hook(made(payload.with_values(grad)))
            return None if changed is None else self._values_of_gradient(changed)

        return payload.values.register_hook(with_values)

    def register_post_accumulate_grad_hook(self, hook: Callable[[Any], None]) -> Any:
        """Calls `hook(tensor)` after `backward` has added to the gradient of a leaf."""
        return self._sparse.values.register_post_accumulate_grad_hook(lambda _: hook(self))

    def detach_(self) -> Any:
        """Take the tensor out of the graph that computed it, in place, and return it."""
        self._sparse = self._sparse.with_values(self._sparse.values.detach())
        return self

    @property
    def data(self) -> Any:
        """The same elements without history."""
        return made(self._sparse.with_values(self._sparse.values.data))

    @data.setter
    def data(self, value: Any) -> None:
        if not is_sparse(value):
            raise TypeError(f"the data of a sparse tensor must be a sparse tensor, but got {type_name(value)}")
        values = alias(value._sparse.values)
        replace_payload(self, value._sparse.with_values(values.requires_grad_() if self._requires_grad else values))

    # ---- copies and pickles ----

    def __reduce_ex__(self, protocol: Any) -> Any:
        from .pickling import reduced

        return reduced(self)

    def __copy__(self) -> Any:
        rebuild, arguments = self.__reduce_ex__(2)
        return rebuild(*arguments)

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        from copy import deepcopy

        if id(self) in memo:
            return memo[id(self)]
        payload = self._sparse
        parts = {name: deepcopy(getattr(payload, name), memo) for name in FIELDS[type(payload)]}
        copied = made(type(payload)(**(vars(payload) | parts)))
        memo[id(self)] = copied
        return copied


FIELDS = {Coordinates: ("indices", "values"), Compressed: ("starts", "places", "values")}
"""The tensors among what a payload consists of."""
