"""Histories of views and of what they are views of: writing to one changes all others.

When a view is overwritten, the tensor that it is a view of becomes the output of a `CopySlices` node: its gradient goes
on as it is, but where the view lies. The other views get their edge anew from that tensor when they are next used.
"""

from __future__ import annotations

from typing import Any

from .._dispatch.ops import ops
from .._handle import set_edge
from .node import Node, edges_of, take_history

FUNCTION, MULTI_VIEW, NO_GRAD, INFERENCE = range(1, 5)
"""The origins of views that must not be overwritten as part of a graph (`Tensor._origin`,
core/python/tensor_object.h)."""


class ViewGeometry:
    """Sizes, strides and offset of a view and of its base, by which the same view is taken of a gradient."""

    __slots__ = ("base_sizes", "base_strides", "dtype", "is_conj", "offset", "sizes", "strides")

    def __init__(self, view: Any, base: Any) -> None:
        self.base_sizes, self.base_strides = tuple(base.shape), base.stride()
        self.sizes, self.strides, self.dtype = tuple(view.shape), view.stride(), view.dtype
        self.is_conj = view.is_conj() != base.is_conj()
        start = base.storage_offset() * base.itemsize
        self.offset = view.storage_offset() - start // view.itemsize

    def like_base(self, grad: Any) -> Any:
        """A copy of the base's gradient, in the base's order of memory."""
        return grad.new_empty_strided(self.base_sizes, self.base_strides).copy_(grad)

    def zeros(self, grad: Any, dtype: Any) -> Any:
        """Zeros with the sizes and strides of the base."""
        return grad.new_empty_strided(self.base_sizes, self.base_strides, dtype=dtype).zero_()

    @property
    def is_expanded(self) -> bool:
        """True if some dimension is expanded: all its positions are one element of the memory."""
        return any(size > 1 and not stride for size, stride in zip(self.sizes, self.strides, strict=True))

    @property
    def overlaps(self) -> bool:
        """True if positions of the view may share an element of the memory, as in overlapping windows."""
        reach = 0
        for stride, size in sorted(zip(self.strides, self.sizes, strict=True)):
            if size > 1:
                if stride <= reach:
                    return True
                reach += stride * (size - 1)
        return False

    def keep_where_all(self, part: Any, kept: Any) -> None:
        """Sets the gradient of an element to zero if any position that shares it was written to."""
        for d, (size, stride) in enumerate(zip(self.sizes, self.strides, strict=True)):
            if size > 1 and not stride:
                part, kept = part.narrow(d, 0, 1), kept.all(d, keepdim=True)
        part.mul_(kept)

    def added(self, grad: Any, dtype: Any) -> Any:
        """The gradient of the base: each element gets the sum over all positions of the view that share it."""
        span = 1 + sum(stride * (size - 1) for size, stride in zip(self.base_sizes, self.base_strides, strict=True))
        memory = grad.new_zeros(span, dtype=dtype)
        elements = self._as_seen(memory).reshape(-1)
        indices = ops.arange(elements.numel(), device=grad.device).as_strided(self.sizes, self.strides, self.offset)
        elements.index_add_(0, indices.reshape(-1), (grad.conj() if self.is_conj else grad).reshape(-1))
        return memory.as_strided(self.base_sizes, self.base_strides, 0)

    def view_of(self, tensor: Any) -> Any:
        """The same view (sizes, strides, offset) of a tensor that is laid out like the base."""
        seen = self._as_seen(tensor).as_strided(self.sizes, self.strides, self.offset)
        return seen.conj() if self.is_conj else seen

    def _as_seen(self, tensor: Any) -> Any:
        """A tensor of the base's dtype in that of the view: complex numbers as pairs of real ones, or the reverse."""
        if tensor.dtype is self.dtype:
            return tensor
        return getattr(ops, "view_as_real" if tensor.dtype.is_complex else "view_as_complex")(tensor)


class CopySlices(Node):
    """A tensor one of whose views was overwritten by what `inner` stands for."""

    __slots__ = ("geometry", "inner")
    inner: Node
    geometry: ViewGeometry

    def name(self) -> str:
        """Return torch's name of the node."""
        return "torch::autograd::CopySlices"

    def apply(self, grad: Any) -> tuple[Any, ...]:
        """Return the gradients by the base and by the inputs of the operator that wrote to a view of it."""
        whole = self.geometry.like_base(grad)
        part = self.geometry.view_of(whole)
        first, *others = self.inner.apply(part.clone())
        if first is None:
            part.zero_()
        elif self.geometry.is_expanded:
            self.geometry.keep_where_all(part, first.eq(part))
        else:
            part.copy_(first)
        return (whole, *others)

    def release(self) -> None:
        """Release the tensors that the operator's node saved."""
        self.inner.release()


class AsStridedBackward0(Node):
    """A view of a tensor that was overwritten after the view had been taken."""

    __slots__ = ("base_dtype", "geometry")
    base_dtype: Any
    geometry: ViewGeometry

    def apply(self, grad: Any) -> tuple[Any, ...]:
        """Return the gradient by the tensor whose memory the view is of; elements that occur several times are
        summed."""
        if self.geometry.overlaps:
            return (self.geometry.added(grad, self.base_dtype),)
        whole = self.geometry.zeros(grad, self.base_dtype)
        self.geometry.view_of(whole).copy_(grad)
        return (whole,)


def rebase(target: Any, node: Node) -> None:
    """Makes an overwritten tensor the output of `node`, and the tensor that it is a view of one that contains it."""
    base = target._base
    if base is None:
        take_history(target, node)
        return
    geometry = ViewGeometry(target, base)
    copied = CopySlices((edges_of((base,))[0], *node.edges[1:]))
    copied.inner, copied.geometry = node, geometry
    take_history(base, copied)
    _take_edge(target, base, geometry)


_AMBIGUOUS = (
    " Given that this use case is ambiguous and error-prone, it is forbidden. You can clarify your code by moving both "
    "the view and the inplace either both inside the {0} block (if you don't want the inplace to be tracked) or both "
    "outside (if you want the inplace to be tracked)."
)
_REASONS = {
    FUNCTION: " This view was created inside a custom Function (or because an input was returned as-is) and the "
    "autograd logic to handle view+inplace would override the custom backward associated with the custom Function, "
    "leading to incorrect gradients. This behavior is forbidden. You can fix this by cloning the output of the custom "
    "Function.",
    MULTI_VIEW: " This view is the output of a function that returns multiple views. Such functions do not allow the "
    "output views to be modified inplace. You should replace the inplace operation by an out-of-place one.",
    NO_GRAD: _AMBIGUOUS.format("no_grad"),
    INFERENCE: _AMBIGUOUS.format("inference_mode"),
}


def refusal(view: Any, what: str) -> RuntimeError:
    """The error for overwriting a view whose origin forbids it; `what` names what is modified."""
    edge, origin = view._edge, view._origin
    has_node = edge is not None and not edge[0].collects
    subject, created = "A view was", " created in"
    if has_node:
        subject, created = f"Output {edge[1]} of {edge[0].what} is a view", " of a view which was created in"
    if origin == INFERENCE:
        text = f"{subject}{created} inference mode and {what} modified inplace in normal mode."
    elif origin == NO_GRAD or not has_node:
        text = f"{subject}{created} no_grad mode and {what} modified inplace with grad mode enabled."
    else:
        text = f"{subject} and {what} modified inplace."
    return RuntimeError(text + _REASONS[origin])


def refresh(view: Any) -> None:
    """Called for a view whose memory was written to since it got its edge."""
    base, edge = view._base, view._edge
    is_result = edge is not None and not edge[0].collects
    if view._origin and (base._requires_grad or is_result):
        raise refusal(view, "its base or another view of its base has been")
    if base._requires_grad:
        _take_edge(view, base, ViewGeometry(view, base))
    else:
        set_edge(view, edge)


def _take_edge(view: Any, base: Any, geometry: ViewGeometry) -> None:
    node = AsStridedBackward0(edges_of((base,)))
    node.geometry, node.base_dtype = geometry, base.dtype
    take_history(view, node)
