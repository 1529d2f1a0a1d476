"""Histories of views and of what they are views of: writing to one changes all others.

When a view is overwritten, the tensor that it is a view of becomes the output of a `CopySlices` node: its gradient goes
on as it is, but where the view lies. The other views get their edge anew from that tensor when they are next used.
"""

from __future__ import annotations

from typing import Any

from .._handle import set_edge
from .node import Node, edges_of, part_of_graph


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
    def overlaps(self) -> bool:
        """Has an element of the memory several places in the view, as in one that is expanded?"""
        return any(size > 1 and not stride for size, stride in zip(self.sizes, self.strides, strict=True))

    def keep_where_all(self, part: Any, kept: Any) -> None:
        """Sets the gradient of an element to zero if any of its places was written to: the memory is one."""
        for d, (size, stride) in enumerate(zip(self.sizes, self.strides, strict=True)):
            if size > 1 and not stride:
                part, kept = part.narrow(d, 0, 1), kept.all(d, keepdim=True)
        part.mul_(kept)

    def added(self, grad: Any) -> Any:
        """The gradient of the base, to each element of which that of all its places is added."""
        from .formulas import as_strided_backward

        span = 1 + sum(stride * (size - 1) for size, stride in zip(self.base_sizes, self.base_strides, strict=True))
        base = (self.base_sizes, self.base_strides, 0, span)
        return as_strided_backward(grad, base, self.sizes, self.strides, self.offset)

    def of(self, tensor: Any) -> Any:
        """The view of a tensor that lies as the base does."""
        from .._operators import FUNCTIONS

        if tensor.dtype is not self.dtype:
            tensor = FUNCTIONS["view_as_real" if tensor.dtype.is_complex else "view_as_complex"](tensor)
        return tensor.as_strided(self.sizes, self.strides, self.offset)


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
        elif self.place.overlaps:
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
            return (self.place.added(grad),)
        whole = self.place.zeros(grad, self.base_dtype)
        self.place.of(whole).copy_(grad)
        return (whole,)


def rebase(target: Any, node: Node) -> None:
    """Makes an overwritten tensor the output of `node`, and the tensor that it is a view of one that contains it."""
    base = target._base
    if base is None:
        set_edge(target, (node, 0))
        return
    place = Place(target, base)
    copied = CopySlices((edges_of((base,))[0], *node.edges[1:]))
    copied.inner, copied.place = node, place
    part_of_graph(base, copied)
    _take_edge(target, base, place)


def unrecorded(what: str) -> RuntimeError:
    """Of a view that was taken while no history was recorded: what is modified."""
    return RuntimeError(
        f"A view was created in no_grad mode and {what} modified inplace with grad mode enabled. Given that this use "
        "case is ambiguous and error-prone, it is forbidden. You can clarify your code by moving both the view and the "
        "inplace either both inside the no_grad block (if you don't want the inplace to be tracked) or both outside "
        "(if you want the inplace to be tracked)."
    )


def one_of_several(what: str) -> RuntimeError:
    """Of a view that a call has taken together with others: what is modified."""
    return RuntimeError(
        f"A tensor is a view and {what} modified inplace. This view is the output of a function that returns multiple "
        "views. Such functions do not allow the output views to be modified inplace. You should replace the inplace "
        "operation by an out-of-place one."
    )


def refresh(view: Any) -> None:
    """Called for a view whose memory was written to since it got its edge."""
    base = view._base
    if view._unrecorded and base._requires_grad:
        raise unrecorded("its base or another view of its base has been")
    if view._several and base._requires_grad:
        raise one_of_several("its base or another view of its base has been")
    if base._requires_grad:
        _take_edge(view, base, Place(view, base))
    else:
        set_edge(view, view._edge)


def _take_edge(view: Any, base: Any, place: Place) -> None:
    node = AsStridedBackward0(edges_of((base,)))
    node.place, node.base_dtype = place, base.dtype
    part_of_graph(view, node)
