"""Histories of views and of what they are views of: writing to one changes all others.

When a view is overwritten, the tensor that it is a view of becomes the output of a `CopySlices` node: its gradient goes
on as it is, but where the view lies. The other views get their edge anew from that tensor when they are next used.
"""

from __future__ import annotations

from typing import Any

from .._dispatch.ops import ops
from .._handle import set_edge
from .node import Node, edges_of, take_history

FUNCTION, SEVERAL, NO_GRAD, INFERENCE = range(1, 5)
"""How a view was made, where it is not overwritten as part of a graph (`Tensor._origin`,
core/python/tensor_object.h)."""


class Place:
    """Where a view lies in the memory of its base: what is needed to take the same view of a gradient."""

    __slots__ = ("base_sizes", "base_strides", "dtype", "offset", "sizes", "strides")

    def __init__(self, view: Any, base: Any) -> None:
        self.base_sizes, self.base_strides = tuple(base.shape), base.stride()
        self.sizes, self.strides, self.dtype = tuple(view.shape), view.stride(), view.dtype
        start = base.storage_offset() * base.itemsize
        self.offset = view.storage_offset() - start // view.itemsize

    def like_base(self, grad: Any) -> Any:
        """A copy of the base's gradient, in the base's order of memory."""
        return grad.new_empty_strided(self.base_sizes, self.base_strides).copy_(grad)

    def zeros(self, grad: Any, dtype: Any) -> Any:
        """Zeros in the place of the base."""
        return grad.new_empty_strided(self.base_sizes, self.base_strides, dtype=dtype).zero_()

    @property
    def is_expanded(self) -> bool:
        """Has an element of the memory all places along a dimension?"""
        return any(size > 1 and not stride for size, stride in zip(self.sizes, self.strides, strict=True))

    @property
    def overlaps(self) -> bool:
        """May an element of the memory have several places in the view, as in windows or in one that is expanded?"""
        reach = 0
        for stride, size in sorted(zip(self.strides, self.sizes, strict=True)):
            if size > 1:
                if stride <= reach:
                    return True
                reach += stride * (size - 1)
        return False

    def keep_where_all(self, part: Any, kept: Any) -> None:
        """Sets the gradient of an element to zero if any of its places was written to: the memory is one."""
        for d, (size, stride) in enumerate(zip(self.sizes, self.strides, strict=True)):
            if size > 1 and not stride:
                part, kept = part.narrow(d, 0, 1), kept.all(d, keepdim=True)
        part.mul_(kept)

    def added(self, grad: Any, dtype: Any) -> Any:
        """The gradient of the base, to each element of which that of all its places is added."""
        span = 1 + sum(stride * (size - 1) for size, stride in zip(self.base_sizes, self.base_strides, strict=True))
        memory = grad.new_zeros(span, dtype=dtype)
        elements = self._as_seen(memory).reshape(-1)
        places = ops.arange(elements.numel()).as_strided(self.sizes, self.strides, self.offset)
        elements.index_add_(0, places.reshape(-1), grad.reshape(-1))
        return memory.as_strided(self.base_sizes, self.base_strides, 0)

    def of(self, tensor: Any) -> Any:
        """The view of a tensor that lies as the base does."""
        return self._as_seen(tensor).as_strided(self.sizes, self.strides, self.offset)

    def _as_seen(self, tensor: Any) -> Any:
        """A tensor of the base's dtype in that of the view: complex numbers as pairs of real ones, or the reverse."""
        if tensor.dtype is self.dtype:
            return tensor
        return getattr(ops, "view_as_real" if tensor.dtype.is_complex else "view_as_complex")(tensor)


class CopySlices(Node):
    """A tensor one of whose views was overwritten by what `inner` stands for."""

    __slots__ = ("inner", "place")
    inner: Node
    place: Place

    def apply(self, grad: Any) -> tuple[Any, ...]:
        whole = self.place.like_base(grad)
        part = self.place.of(whole)
        first, *others = self.inner.apply(part.clone())
        if first is None:
            part.zero_()
        elif self.place.is_expanded:
            self.place.keep_where_all(part, first.eq(part))
        else:
            part.copy_(first)
        return (whole, *others)

    def release(self) -> None:
        self.inner.release()


class AsStridedBackward0(Node):
    """A view of a tensor that was overwritten after the view had been taken."""

    __slots__ = ("base_dtype", "place")
    base_dtype: Any
    place: Place

    def apply(self, grad: Any) -> tuple[Any, ...]:
        if self.place.overlaps:
            return (self.place.added(grad, self.base_dtype),)
        whole = self.place.zeros(grad, self.base_dtype)
        self.place.of(whole).copy_(grad)
        return (whole,)


def rebase(target: Any, node: Node) -> None:
    """Makes an overwritten tensor the output of `node`, and the tensor that it is a view of one that contains it."""
    base = target._base
    if base is None:
        take_history(target, node)
        return
    place = Place(target, base)
    copied = CopySlices((edges_of((base,))[0], *node.edges[1:]))
    copied.inner, copied.place = node, place
    take_history(base, copied)
    _take_edge(target, base, place)


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
    SEVERAL: " This view is the output of a function that returns multiple views. Such functions do not allow the "
    "output views to be modified inplace. You should replace the inplace operation by an out-of-place one.",
    NO_GRAD: _AMBIGUOUS.format("no_grad"),
    INFERENCE: _AMBIGUOUS.format("inference_mode"),
}


def refusal(view: Any, what: str) -> RuntimeError:
    """Of a view that is not overwritten as part of a graph, because of how it was made: what is modified."""
    edge, origin = view._edge, view._origin
    has_node = edge is not None and not edge[0].collects
    made, created = "A view was", " created in"
    if has_node:
        made, created = f"Output {edge[1]} of {edge[0].what} is a view", " of a view which was created in"
    if origin == INFERENCE:
        text = f"{made}{created} inference mode and {what} modified inplace in normal mode."
    elif origin == NO_GRAD or not has_node:
        text = f"{made}{created} no_grad mode and {what} modified inplace with grad mode enabled."
    else:
        text = f"{made} and {what} modified inplace."
    return RuntimeError(text + _REASONS[origin])


def refresh(view: Any) -> None:
    """Called for a view whose memory was written to since it got its edge."""
    base, edge = view._base, view._edge
    is_result = edge is not None and not edge[0].collects
    if view._origin and (base._requires_grad or is_result):
        raise refusal(view, "its base or another view of its base has been")
    if base._requires_grad:
        _take_edge(view, base, Place(view, base))
    else:
        set_edge(view, edge)


def _take_edge(view: Any, base: Any, place: Place) -> None:
    node = AsStridedBackward0(edges_of((base,)))
    node.place, node.base_dtype = place, base.dtype
    take_history(view, node)
