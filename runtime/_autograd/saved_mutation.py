"""Writes to tensors that the graph has saved: what lets them happen, and what tells the graph of them."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any
from weakref import WeakKeyDictionary, WeakValueDictionary

from .._base import handles
from .._C import lib
from .._dispatch.modes import TorchDispatchMode
from .node import same
from .saved_tensors import saved_tensors_hooks

__all__ = ["MutationContext", "allow_mutation_on_saved_tensors", "increment_version"]


def increment_version(tensor: Any) -> None:
    """Count a write to a tensor, or to each of several, that happened where the package cannot see it.

    A graph that has saved the tensor then raises RuntimeError instead of computing a gradient of other elements.
    Tensors of the inference mode count nothing. Raises RuntimeError for what is no tensor.
    """
    try:
        listed = (tensor,) if isinstance(tensor, handles.Tensor) else tuple(tensor)
    except TypeError:
        raise RuntimeError("increment_version expect a Iterable[Tensor] as input") from None
    for each in listed:
        if not isinstance(each, handles.Tensor):
            raise RuntimeError("increment_version expects each element of the iterable to be a tensor")
    for each in listed:
        if not lib.storage_is_inference(lib.storage_of(each._h)):
            lib.count_write(each._h)


class _Saved:
    """The object that a node keeps in place of a saved tensor."""

    __slots__ = ("__weakref__",)


class MutationContext:
    """The tensors that were saved in a block of `allow_mutation_on_saved_tensors`, as long as the graph needs them.

    `original` has those that were not written to since, `cloned` copies of those that were.
    """

    __module__ = "opweave.autograd.graph"

    def __init__(self) -> None:
        self.cloned: WeakKeyDictionary[_Saved, Any] = WeakKeyDictionary()
        self.original: WeakKeyDictionary[_Saved, Any] = WeakKeyDictionary()
        self._by_memory: dict[int, WeakValueDictionary[Any, _Saved]] = {}
        """The tensors of each memory that were saved since it was last written to, by sizes, strides and the like."""

    def save(self, tensor: Any) -> _Saved:
        """Return what stands for the tensor; the same for one of the same elements."""
        saved = self._by_memory.setdefault(lib.storage_of(tensor._h), WeakValueDictionary())
        geometry = (
            tensor.dtype,
            tensor.shape,
            tensor.stride(),
            tensor.storage_offset(),
            lib.keys(tensor._h),
            type(tensor),
        )
        handle = saved.get(geometry)
        if handle is None:
            handle = saved[geometry] = _Saved()
            self.original[handle] = same(tensor)
        return handle

    def saved(self, handle: _Saved) -> Any:
        """Return the tensor of the elements that were saved."""
        tensor = self.cloned.get(handle)
        if tensor is None:
            tensor = self.original.get(handle)
        if tensor is None:
            raise AssertionError(
                "Trying to backward outside of the 'allow_mutation_on_saved_tensors' context in which the graph was "
                "originally recorded."
            )
        return tensor

    def before_write(self, tensor: Any) -> None:
        """Copies what was saved of the memory that is about to be written to."""
        memory = lib.storage_of(tensor._h)
        kept = [*self._by_memory.get(memory, {}).values()]
        for handle in kept:
            self.cloned[handle] = self.original[handle].clone()
        for handle in kept:
            del self.original[handle]
        self._by_memory.pop(memory, None)

    def clear(self) -> None:
        """Forget all saved tensors and their copies."""
        self.cloned.clear()
        self.original.clear()
        self._by_memory.clear()


class _CopyBeforeWrite(TorchDispatchMode):
    def __init__(self, context: MutationContext) -> None:
        self.context = context

    def __torch_dispatch__(self, func: Any, types: Any, args: Sequence[Any] = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        for place, argument in enumerate(func._schema.all_arguments):
            if argument.is_write:
                written = args[place] if place < len(args) else kwargs.get(argument.name)
                for each in written if isinstance(written, (list, tuple)) else [written]:
                    if isinstance(each, handles.Tensor):
                        self.context.before_write(each)
        return func(*args, **kwargs)


class _Thread(threading.local):
    is_within = False


_thread = _Thread()


@contextmanager
def allow_mutation_on_saved_tensors() -> Iterator[MutationContext]:
    """Context in which tensors that the graph has saved may be overwritten: they are copied first.

    The backward pass has to run in it as well; outside it raises AssertionError. Gives the `MutationContext`, which is
    emptied at the end. Raises RuntimeError within another such context of the thread.
    """
    if _thread.is_within:
        raise RuntimeError("allow_mutation_on_saved_tensors contexts cannot be nested")
    context = MutationContext()
    with saved_tensors_hooks(context.save, context.saved), _CopyBeforeWrite(context):
        _thread.is_within = True
        try:
            yield context
        finally:
            _thread.is_within = False
            context.clear()
