"""Methods of Tensor about gradients. The rest of the package is imported when a gradient is first asked for."""

# mypy: disable-error-code="no-any-return"
# (in a mixin `self` is an instance of the class that it is mixed into, which mypy calls Any)

from __future__ import annotations

import warnings
from collections import OrderedDict
from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, Any

from .._autograd.grad_mode import AUTOGRAD, is_inference_mode_enabled
from .._base import handles
from .._base.dtypes import dtype
from .._base.type_names import type_name
from .._C import lib
from .._handle import set_edge

if TYPE_CHECKING:
    from typing_extensions import Self

    from .._autograd.node import Node, RemovableHandle
    from .tensor import Tensor as TensorType


class AutogradMethods:
    """Mixed into Tensor."""

    __slots__ = ()

    @property
    def requires_grad(self: Any) -> bool:
        """True if the tensor is a leaf that asks for a gradient, or was computed from such leaves."""
        return self._requires_grad

    @requires_grad.setter
    def requires_grad(self: Any, value: bool) -> None:
        if not isinstance(value, bool):
            raise RuntimeError(f"requires_grad must be a bool, not {type_name(value)}")
        if value and self.is_inference() and not is_inference_mode_enabled():
            raise RuntimeError("Setting requires_grad=True on inference tensor outside InferenceMode is not allowed.")
        if not value and not self.is_leaf:
            raise RuntimeError(
                "you can only change requires_grad flags of leaf variables. If you want to use a computed variable "
                "in a subgraph that doesn't require differentiation use var_no_grad = var.detach()."
            )
        asked = lib.keys(self._h) & AUTOGRAD != 0
        if value == asked or (value and not self.is_leaf):
            return
        if not value:
            lib.set_keys(self._h, lib.keys(self._h) & ~AUTOGRAD)
            return
        if not (self.dtype.is_floating_point or self.dtype.is_complex):
            raise RuntimeError("Only Tensors of floating point and complex dtype can require gradients")
        set_edge(self, (_record().leaf(self), 0))

    def requires_grad_(self, requires_grad: bool = True) -> Self:
        """Ask for a gradient of this tensor, or for none any longer, and return it.

        Raises RuntimeError for dtypes that have no gradients, and for False of what was computed from other tensors.
        """
        tensor: Any = self
        tensor.requires_grad = requires_grad
        return self

    @property
    def is_leaf(self: Any) -> bool:
        """True if the tensor was not computed from tensors that require gradients."""
        edge = self._edge
        if not self._requires_grad:
            return True
        if edge is None:  # a view of a tensor that has a history since, which the view may share
            edge = _edge(self)
        return edge is None or edge[0].collects

    @property
    def grad_fn(self: Any) -> Node | None:
        """The node of the graph that computed this tensor; None for leaves."""
        if self.is_leaf:
            return None
        node, _ = _edge(self)
        return node

    @property
    def output_nr(self: Any) -> int:
        """The index of this tensor among the outputs of its node; 0 for leaves."""
        edge = self._edge
        return 0 if edge is None else edge[0].outward(edge[1])

    @property
    def grad(self: Any) -> TensorType | None:
        """The gradient that `backward` has added up, of a leaf or where `retain_grad()` was called; None before."""
        edge = self._edge
        if edge is None:
            return None
        node, number = edge
        if node.collects:
            return node.grad
        hooks = node.hooks
        gradient: TensorType | None = None if hooks is None else hooks.gradients.get(number)
        if gradient is None and self._requires_grad and not (hooks is not None and number in hooks.retains):
            warnings.warn(
                "The .grad attribute of a Tensor that is not a leaf Tensor is being accessed. Its .grad attribute "
                "won't be populated during autograd.backward(). If you indeed want the .grad field to be populated "
                "for a non-leaf Tensor, use .retain_grad() on the non-leaf Tensor. If you access the non-leaf "
                "Tensor by mistake, make sure you access the leaf Tensor instead.",
                UserWarning,
                stacklevel=2,
            )
        return gradient

    @grad.setter
    def grad(self: Any, value: TensorType | None) -> None:
        if value is not None:
            _check_gradient(self, value)
        edge = self._edge
        if edge is None:
            if value is not None:
                _record().leaf(self).grad = value
        elif edge[0].collects:
            edge[0].grad = value
        elif value is not None or edge[0].hooks is not None:
            _hooks(edge[0]).gradients[edge[1]] = value

    @grad.deleter
    def grad(self: Any) -> None:
        self.grad = None

    @property
    def grad_dtype(self: Any) -> dtype | None:
        """The dtype to which gradients of a leaf are converted, its own unless another is assigned; None: they are kept
        as they arrive.

        Raises RuntimeError for tensors that are no leaves, and for a dtype that the gradient that is there has not.
        """
        if not self.is_leaf:
            raise RuntimeError("grad_dtype can only be accessed on leaf tensors.")
        edge = self._edge
        found = ... if edge is None or not edge[0].collects else edge[0].grad_dtype
        return self.dtype if found is ... else found

    @grad_dtype.setter
    def grad_dtype(self: Any, value: dtype | None) -> None:
        if not self.is_leaf:
            raise RuntimeError("grad_dtype can only be set on leaf tensors.")
        if value is not None and not isinstance(value, dtype):
            raise RuntimeError(f"grad_dtype must be an opweave.dtype or None, but got {type_name(value)}")
        if value is not None and not (value.is_floating_point or value.is_complex):
            raise RuntimeError(f"grad_dtype must be a floating or complex dtype, as gradients are, but got {value}")
        node = _record().leaf(self)
        if value is not None and node.grad is not None and node.grad.dtype is not value:
            raise RuntimeError(
                f"Cannot set grad_dtype to '{value.scalar_name}' because there is already a gradient with dtype "
                f"'{_name(node.grad.dtype)}'. Please clear the gradient (.grad = None) before changing grad_dtype, or "
                "ensure the new grad_dtype matches the existing gradient's dtype."
            )
        node.grad_dtype = value
        node.describe(self)

    @property
    def retains_grad(self: Any) -> bool:
        """True if `retain_grad()` was called on a tensor that is no leaf."""
        if self.is_leaf:
            return False
        node, number = _edge(self)
        return node.hooks is not None and number in node.hooks.retains

    def retain_grad(self: Any) -> None:
        """Make `backward` keep the gradient of this tensor, which is no leaf, in `grad`.

        Raises RuntimeError if the tensor does not require a gradient.
        """
        if not self._requires_grad:
            raise RuntimeError("can't retain_grad on Tensor that has requires_grad=False")
        if not self.is_leaf and not self.retains_grad:
            node, number = _edge(self)
            _hooks(node).retains.add(number)

    def backward(
        self: Any,
        gradient: TensorType | None = None,
        retain_graph: bool | None = None,
        create_graph: bool = False,
        inputs: Any = None,
    ) -> None:
        """Add the gradients of this tensor, times `gradient`, to the `grad` of all leaves that it depends on.

        See `opweave.autograd.backward`, which takes several tensors.
        """
        _backward_api().backward(self, gradient, retain_graph, create_graph, inputs=inputs)

    def detach_(self: Any) -> TensorType:
        """Take the tensor out of the graph that computed it, in place, and return it.

        Raises RuntimeError for views.
        """
        if not isinstance(self, handles.Tensor):
            raise TypeError(f"detach_(): argument 'self' must be Tensor, not {type(self).__name__}")
        if self._base is not None:
            raise RuntimeError(
                "Can't detach views in-place. Use detach() instead. If you are using DistributedDataParallel (DDP) for "
                "training, and gradient_as_bucket_view is set as True, gradients are views of DDP buckets, and hence "
                "detach_() cannot be called on these gradients."
            )
        if self.is_leaf:
            self.requires_grad = False
        else:
            set_edge(self, None)
        return self

    def register_hook(self: Any, hook: Callable[[TensorType], Any]) -> RemovableHandle:
        """Call `hook(grad)` whenever a gradient of the tensor is computed; it may return another one instead.

        Returns a handle whose `remove()` takes the hook away. Raises RuntimeError if the tensor requires no gradient.
        """
        if not self._requires_grad:
            raise RuntimeError("cannot register a hook on a tensor that doesn't require gradient")
        from .._autograd.node import RemovableHandle

        node, number = _edge(self) or (_record().leaf(self), 0)
        return RemovableHandle(_hooks(node).of_outputs.setdefault(number, OrderedDict()), hook)

    def register_post_accumulate_grad_hook(self: Any, hook: Callable[[TensorType], None]) -> RemovableHandle:
        """Call `hook(tensor)` after `backward` has added to the gradient of a leaf.

        Returns a handle whose `remove()` takes the hook away. Raises RuntimeError for tensors that are no leaves or
        require no gradient.
        """
        if not self._requires_grad:
            raise RuntimeError("cannot register a hook on a tensor that doesn't require gradient")
        if not self.is_leaf:
            raise RuntimeError("post accumulate grad hooks cannot be registered on non-leaf tensors")
        from .._autograd.node import RemovableHandle

        leaf = _record().leaf(self)
        leaf.accumulated_hooks = leaf.accumulated_hooks or OrderedDict()
        return RemovableHandle(leaf.accumulated_hooks, hook)


def _hooks(node: Any) -> Any:
    from .._autograd.node import hooks_of

    return hooks_of(node)


@cache
def _record() -> Any:
    from .._autograd import record

    return record


@cache
def _backward_api() -> Any:
    from .._autograd import backward_api

    return backward_api


def _edge(tensor: Any) -> Any:
    from .._autograd.gradient_edge import edge

    return edge(tensor)


def _check_gradient(tensor: Any, grad: Any) -> None:
    if not isinstance(grad, handles.Tensor):
        raise TypeError(f"assigned grad expected to be a Tensor or None but got grad of type {type_name(grad)}")
    if grad is tensor:
        raise RuntimeError("can't assign Variable as its own grad")
    if grad.device != tensor.device:
        raise RuntimeError(
            f"attempting to assign a gradient with device type '{grad.device}' to a tensor with device type "
            f"'{tensor.device}'. Please ensure that the gradient and the tensor are on the same device"
        )
    expected = tensor.grad_dtype if tensor.is_leaf else tensor.dtype
    if expected is not None and grad.dtype is not expected:
        raise RuntimeError(
            f"attempting to assign a gradient with dtype '{_name(grad.dtype)}' to a tensor with grad_dtype "
            f"'{_name(expected)}'. The gradient must match the tensor's grad_dtype (defaults to the tensor's dtype). "
            "You can set the tensor's grad_dtype attribute with a specific dtype, or None to allow any dtype. Set "
            "grad_dtype with caution. Diverging the dtypes of a tensor and its gradient may break downstream "
            "systems that assume they match."
        )
    if grad.shape != tensor.shape:
        raise RuntimeError(
            f"assigned grad has data of a different size: got {list(grad.shape)}, expected {list(tensor.shape)}"
        )


def _name(of: dtype) -> str:
    return of.scalar_name.lower()
