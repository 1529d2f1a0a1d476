"""Modules that hold parameters: lists and dictionaries of them."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Iterator
from typing import Any

from ..._base.tensor_class import Tensor
from ..._tensor.typed_tensors import typename
from ..parameter import Parameter
from .container import Keyed, place_of
from .module import Module

__all__ = ["ParameterDict", "ParameterList"]


def _shown(key: Any, value: Any, kind: Any) -> str:
    if not isinstance(value, Tensor):
        return f"  ({key}): Object of type: {type(value).__name__}"
    size = "x".join(map(str, value.size()))
    called = "Parameter" if isinstance(value, Parameter) else "Tensor"
    return f"  ({key}): {called} containing: [{kind(value)} of size {size}]"


class ParameterList(Module):
    """A list of parameters, which all count as those of the module that has it. Tensors become parameters; other
    values are kept as they are.

    Args:
        values (iterable): the values; None: none.

    Example:
        >>> opweave.nn.ParameterList([opweave.ones(2), opweave.zeros(3)])
        ParameterList(
            (0): Parameter containing: [opweave.float32 of size 2]
            (1): Parameter containing: [opweave.float32 of size 3]
        )
    """

    def __init__(self, values: Iterable[Any] | None = None) -> None:
        super().__init__()
        self._size = 0
        if values is not None:
            self.extend(values)

    def __len__(self) -> int:
        return self._size

    def __iter__(self) -> Iterator[Any]:
        return (self[place] for place in range(len(self)))

    def _ow_at(self, index: Any) -> str:
        return str(place_of(index, len(self)))

    def __getitem__(self, idx: Any) -> Any:
        if isinstance(idx, slice):
            return type(self)(self[place] for place in range(*idx.indices(len(self))))
        return getattr(self, self._ow_at(idx))

    def __setitem__(self, idx: Any, value: Any) -> None:
        self._ow_put(self._ow_at(idx), value)

    def _ow_put(self, name: str, value: Any) -> None:
        is_bare = isinstance(value, Tensor) and not isinstance(value, Parameter)
        setattr(self, name, Parameter(value) if is_bare else value)

    def append(self, value: Any) -> Any:
        """Add a value at the end. Returns the list."""
        self._size += 1
        self._ow_put(str(self._size - 1), value)
        return self

    def extend(self, values: Iterable[Any]) -> Any:
        """Add values at the end. Returns the list.

        Raises:
            TypeError: they are not iterable.
        """
        if not isinstance(values, Iterable) or isinstance(values, Tensor):
            raise TypeError(f"ParameterList.extend should be called with an iterable, but got {type(values).__name__}")
        for value in values:
            self.append(value)
        return self

    def __iadd__(self, other: Iterable[Any]) -> Any:
        return self.extend(other)

    def extra_repr(self) -> str:
        return "\n".join(_shown(place, value, lambda each: each.dtype) for place, value in enumerate(self))

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        raise RuntimeError("ParameterList should not be called.")


class ParameterDict(Keyed, Module):
    """A dictionary of parameters, which all count as those of the module that has it. Tensors become parameters; other
    values are kept as they are.

    Args:
        parameters: a mapping, or pairs of names and values; None: none.

    Example:
        >>> opweave.nn.ParameterDict({"scale": opweave.ones(2)})["scale"]
        Parameter containing:
        tensor([1., 1.], requires_grad=True)
    """

    def __init__(self, parameters: Any = None) -> None:
        super().__init__()
        self._keys: dict[str, None] = {}
        if parameters is not None:
            self.update(parameters)

    def _ow_attribute(self, key: Any) -> str:
        if not isinstance(key, str):
            kind = type(key).__name__
            raise TypeError(
                f"Index given to ParameterDict cannot be used as a key as it is not a string (type is '{kind}')."
            )
        return key

    def __getitem__(self, key: str) -> Any:
        return getattr(self, self._ow_attribute(key))

    def __setitem__(self, key: str, value: Any) -> None:
        self._keys[key] = None
        is_bare = isinstance(value, Tensor) and not isinstance(value, Parameter)
        setattr(self, self._ow_attribute(key), Parameter(value) if is_bare else value)

    def __delitem__(self, key: str) -> None:
        del self._keys[key]
        delattr(self, self._ow_attribute(key))

    def __reversed__(self) -> Iterator[str]:
        return reversed(list(self._keys))

    def clear(self) -> None:
        """Take all values out."""
        for key in list(self._keys):
            del self[key]

    def copy(self) -> Any:
        """Return a dictionary with the same values."""
        return ParameterDict(OrderedDict(self.items()))

    def setdefault(self, key: str, default: Any = None) -> Any:
        """Return the value of `key`, which is `default` if there was none."""
        if key not in self:
            self[key] = default
        return self[key]

    def get(self, key: str, default: Any = None) -> Any:
        """Return the value of `key`, or `default`."""
        return self[key] if key in self._keys else default

    def fromkeys(self, keys: Iterable[str], default: Any = None) -> Any:
        """Return a dictionary with these keys and one value."""
        return ParameterDict((key, default) for key in keys)

    def popitem(self) -> tuple[str, Any]:
        """Take the last value out, and return it with its key."""
        key, _ = self._keys.popitem()
        self._keys[key] = None
        return key, self.pop(key)

    def keys(self) -> Any:
        """The keys."""
        return self._keys.keys()

    def values(self) -> Any:
        """The values."""
        return (self[key] for key in self._keys)

    def items(self) -> Any:
        """Pairs of keys and values."""
        return ((key, self[key]) for key in self._keys)

    def update(self, parameters: Any) -> None:
        """Add the values of a mapping, or of pairs of keys and values.

        Raises:
            TypeError: they are none.
        """
        self._ow_update(parameters)

    def extra_repr(self) -> str:
        return "\n".join(_shown(key, value, typename) for key, value in self.items())

    def __or__(self, other: Any) -> Any:
        result = self.copy()
        result.update(other)
        return result

    def __ror__(self, other: Any) -> Any:
        result = other.copy()
        result.update(self)
        return result

    def __ior__(self, other: Any) -> Any:
        self.update(other)
        return self

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        raise RuntimeError("ParameterDict should not be called.")
