"""opweave.utils.weak: weak references to tensors, and dictionaries whose keys they are.

Tensors compare by their elements, so that keys of them are told apart by what object they are.
"""

from __future__ import annotations

import weakref
from collections.abc import Iterator, Mapping, MutableMapping
from copy import deepcopy
from typing import Any

from .._tensor.tensor import Tensor

__all__ = ["TensorWeakRef", "WeakIdKeyDictionary", "WeakIdRef", "WeakTensorKeyDictionary"]

WeakRef = weakref.ref


class WeakIdRef(weakref.ref):  # type: ignore[type-arg]
    """A weak reference that equals those to the same object; when it is gone, itself alone.

    Args:
        key (object): what it refers to.
        callback (function): called with the reference when the object is gone.
    """

    __slots__ = ("_id",)

    def __init__(self, key: Any, callback: Any = None) -> None:
        super().__init__(key, callback)  # type: ignore[call-arg]
        self._id = id(key)

    def __hash__(self) -> int:
        return self._id

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        # An address may belong to another object now.
        return isinstance(other, WeakIdRef) and (mine := self()) is not None and mine is other()


class WeakIdKeyDictionary(MutableMapping[Any, Any]):
    """A dictionary whose keys are objects, not what they equal, and leave it when nothing else refers to them.

    It may be changed while it is iterated over: that goes over the keys that there were.

    Args:
        dict (mapping): what it begins with.
        ref_type (class): of the references that are kept, which have to be hashable and to compare.
    """

    def __init__(self, dict: Any = None, ref_type: Any = WeakIdRef) -> None:
        self.data: Any = {}
        self.ref_type = ref_type
        owner = weakref.ref(self)

        def remove(reference: Any) -> None:
            found = owner()
            if found is not None:
                found.data.pop(reference, None)

        self._remove = remove
        if dict is not None:
            self.update(dict)

    def __getitem__(self, key: Any) -> Any:
        return self.data[self.ref_type(key)]

    def __setitem__(self, key: Any, value: Any) -> None:
        self.data[self.ref_type(key, self._remove)] = value

    def __delitem__(self, key: Any) -> None:
        del self.data[self.ref_type(key)]

    def __contains__(self, key: Any) -> bool:
        try:
            reference = self.ref_type(key)
        except TypeError:  # of which there are no weak references
            return False
        return reference in self.data

    def __iter__(self) -> Iterator[Any]:
        for reference in self.keyrefs():
            key = reference()
            if key is not None:
                yield key

    def __len__(self) -> int:
        return len(self.data)

    def keyrefs(self) -> list[Any]:
        """Return the references to the keys, some of which may be gone when they are asked."""
        return list(self.data)

    def copy(self) -> WeakIdKeyDictionary:
        """Return a dictionary of the same keys and values."""
        return type(self)(self, self.ref_type)

    __copy__ = copy

    def __deepcopy__(self, memo: Any) -> WeakIdKeyDictionary:
        """Copy the values; keys remain the objects that they are."""
        result = type(self)(None, self.ref_type)
        for key, value in self.items():
            result[key] = deepcopy(value, memo)
        return result

    def __or__(self, other: Any) -> WeakIdKeyDictionary:
        if not isinstance(other, Mapping):
            return NotImplemented
        result = self.copy()
        result.update(other)
        return result

    def __ror__(self, other: Any) -> WeakIdKeyDictionary:
        if not isinstance(other, Mapping):
            return NotImplemented
        result = type(self)(other, self.ref_type)
        result.update(self)
        return result

    def __ior__(self, other: Any) -> WeakIdKeyDictionary:
        self.update(other)
        return self

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Mapping):
            return NotImplemented
        return {id(key): value for key, value in self.items()} == {id(key): value for key, value in other.items()}

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"<{type(self).__name__} at {id(self):#x}>"


WeakTensorKeyDictionary = WeakIdKeyDictionary


class TensorWeakRef:
    """A weak reference to a tensor: called, it returns the tensor, or None when nothing else refers to it any more.

    Raises AssertionError for other objects.
    """

    def __init__(self, tensor: Tensor) -> None:
        if not isinstance(tensor, Tensor):
            raise AssertionError(f"expected opweave.Tensor, got {type(tensor)}.")
        self.ref = weakref.ref(tensor)

    def __call__(self) -> Tensor | None:
        return self.ref()
