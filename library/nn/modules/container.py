"""Modules that hold other modules: sequences and dictionaries of them."""

from __future__ import annotations

import operator
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain, islice
from typing import Any

from ..._base.warn import warn
from ..._tensor.tensor import Tensor
from .module import Module

__all__ = ["Container", "ModuleDict", "ModuleList", "Sequential"]


def place_of(given: Any, length: int) -> int:
    """Return an index as one from 0 on. Raises IndexError if it is out of range."""
    index: int = operator.index(given)
    if not -length <= index < length:
        raise IndexError(f"index {index} is out of range")
    return index % length


class _Numbered(Module):
    """Base of sequences of modules, whose names are their places."""

    def _ow_names(self) -> list[str]:
        return list(self._modules)

    def _ow_set_all(self, modules: Iterable[Any]) -> None:
        self._modules = {str(place): module for place, module in enumerate(modules)}

    def __len__(self) -> int:
        return len(self._modules)

    def __iter__(self) -> Iterator[Any]:
        return iter(self._modules.values())

    def __getitem__(self, idx: Any) -> Any:
        names = self._ow_names()
        if isinstance(idx, slice):
            return self._ow_slice({name: self._modules[name] for name in names[idx]})
        return self._modules[names[place_of(idx, len(names))]]

    def _ow_slice(self, modules: dict[str, Any]) -> Any:
        raise NotImplementedError

    def __setitem__(self, idx: Any, module: Any) -> None:
        names = self._ow_names()
        setattr(self, names[place_of(idx, len(names))], module)

    def __delitem__(self, idx: Any) -> None:
        names = self._ow_names()
        for name in names[idx] if isinstance(idx, slice) else [names[place_of(idx, len(names))]]:
            delattr(self, name)
        self._ow_set_all(self._modules.values())

    def append(self, module: Any) -> Any:
        """Add a module at the end. Returns the container."""
        self.add_module(str(len(self)), module)
        return self

    def insert(self, index: int, module: Any) -> Any:
        """Add a module before the one at `index`."""
        place = place_of(index, len(self)) if index < 0 else index
        modules = [*islice(self, place), module, *islice(self, place, None)]
        self._ow_set_all(modules)
        return self

    def extend(self, modules: Iterable[Any]) -> Any:
        """Add modules at the end. Returns the container."""
        for module in list(modules):
            self.append(module)
        return self

    def pop(self, key: Any) -> Any:
        """Take a module out, and return it."""
        module = self[key]
        del self[key]
        return module


class Sequential(_Numbered):
    """Modules that are called one after the other, each with what the one before it returned.

    Args:
        args: modules, or one OrderedDict of modules by name.

    Example:
        >>> model = opweave.nn.Sequential(opweave.nn.Linear(3, 4), opweave.nn.ReLU(), opweave.nn.Linear(4, 1))
        >>> model(opweave.ones(2, 3)).shape
        opweave.Size([2, 1])
        >>> model[1]
        ReLU()
    """

    def __init__(self, *args: Any) -> None:
        super().__init__()
        named = args[0].items() if len(args) == 1 and isinstance(args[0], OrderedDict) else enumerate(args)
        for name, module in named:
            self.add_module(str(name), module)

    def _ow_slice(self, modules: dict[str, Any]) -> Any:
        return type(self)(OrderedDict(modules))

    def insert(self, index: int, module: Any) -> Any:
        """Add a module before the one at `index`. Returns the container.

        Raises:
            IndexError: there is no such place.
            AssertionError: it is no module.
        """
        if not isinstance(module, Module):
            raise AssertionError(f"module should be of type: {Module}")
        count = len(self)
        if not -count <= index <= count:
            raise IndexError(f"Index out of range: {index}")
        return super().insert(index, module)

    def __add__(self, other: Any) -> Any:
        _check_sequential("add", other)
        return Sequential(*self, *other)

    def __iadd__(self, other: Any) -> Any:
        _check_sequential("add", other)
        return self.extend(other)

    def __mul__(self, other: int) -> Any:
        _check_count(other)
        return Sequential(*chain.from_iterable(self for _ in range(other)))

    __rmul__ = __mul__

    def __imul__(self, other: int) -> Any:
        _check_count(other)
        return self.extend([module for _ in range(other - 1) for module in self])

    def forward(self, input: Tensor) -> Tensor:
        """Return what the last module returns."""
        for module in self._modules.values():
            input = module(input)
        return input


def _check_sequential(what: str, other: Any) -> None:
    if not isinstance(other, Sequential):
        raise ValueError(f"{what} operator supports only objects of Sequential class, but {type(other)} is given.")


def _check_count(other: Any) -> None:
    if not isinstance(other, int):
        raise TypeError(f"unsupported operand type(s) for *: {type(Sequential)} and {type(other)}")
    if other <= 0:
        raise ValueError(f"Non-positive multiplication factor {other} for {Sequential}")


class ModuleList(_Numbered):
    """A list of modules, which all count as parts of the module that has it.

    Args:
        modules (iterable): the modules; None: none.

    Example:
        >>> layers = opweave.nn.ModuleList([opweave.nn.Linear(3, 3) for _ in range(2)])
        >>> len(layers), len(list(layers.parameters()))
        (2, 4)
    """

    def __init__(self, modules: Iterable[Any] | None = None) -> None:
        super().__init__()
        if modules is not None:
            self.extend(modules)

    def _ow_slice(self, modules: dict[str, Any]) -> Any:
        return type(self)(list(modules.values()))

    def insert(self, index: int, module: Any) -> None:
        """Add a module before the one at `index`, as list does."""
        super().insert(index, module)

    def __add__(self, other: Iterable[Any]) -> Any:
        return ModuleList([*self, *other])

    def __iadd__(self, other: Iterable[Any]) -> Any:
        return self.extend(other)

    def extend(self, modules: Iterable[Any]) -> Any:
        """Add modules at the end. Returns the list.

        Raises:
            TypeError: they are not iterable.
        """
        if not isinstance(modules, Iterable):
            raise TypeError(f"ModuleList.extend should be called with an iterable, but got {type(modules).__name__}")
        return super().extend(modules)

    def __repr__(self) -> str:
        """Equal neighbours are printed once, with their number."""
        texts = [repr(module) for module in self]
        if not texts:
            return f"{self._get_name()}()"
        groups: list[list[Any]] = []
        for place, text in enumerate(texts):
            if groups and groups[-1][2] == text:
                groups[-1][1] = place
            else:
                groups.append([place, place, text])
        lines = []
        for first, last, text in groups:
            shown = f"({first}): {text}" if first == last else f"({first}-{last}): {last - first + 1} x {text}"
            lines.append(shown.replace("\n", "\n  "))
        return f"{self._get_name()}(\n  " + "\n  ".join(lines) + "\n)"


class Keyed:
    """Methods that dictionaries of modules and of parameters share."""

    def __contains__(self, key: str) -> bool:
        return key in self.keys()  # type: ignore[attr-defined]

    def __iter__(self) -> Iterator[str]:
        return iter(self.keys())  # type: ignore[attr-defined]

    def __len__(self) -> int:
        return len(self.keys())  # type: ignore[attr-defined]

    def pop(self, key: str) -> Any:
        """Take a value out, and return it."""
        value = self[key]  # type: ignore[index]
        del self[key]  # type: ignore[attr-defined]
        return value

    def _ow_update(self, values: Any) -> None:
        name = type(self).__name__
        if not isinstance(values, Iterable):
            kind = type(values).__name__
            raise TypeError(f"{name}.update should be called with an iterable of key/value pairs, but got {kind}")
        if isinstance(values, (Mapping, Keyed)):
            mapping: Any = values
            pairs: Any = mapping.items()
        else:
            pairs = []
            for place, pair in enumerate(values):
                if not isinstance(pair, Iterable):
                    raise TypeError(
                        f"{name} update sequence element #{place} should be Iterable; is {type(pair).__name__}"
                    )
                if len(pair) != 2:  # type: ignore[arg-type]
                    raise ValueError(
                        f"{name} update sequence element #{place} has length {len(pair)}; 2 is required"  # type: ignore[arg-type]
                    )
                pairs.append(pair)
        for key, value in pairs:
            self[key] = value  # type: ignore[index]


class ModuleDict(Keyed, Module):
    """A dictionary of modules, which all count as parts of the module that has it. It keeps their order.

    Args:
        modules: a mapping, or pairs of names and modules; None: none.

    Example:
        >>> opweave.nn.ModuleDict({"relu": opweave.nn.ReLU(), "tanh": opweave.nn.Tanh()})["tanh"](opweave.zeros(2))
        tensor([0., 0.])
    """

    def __init__(self, modules: Any = None) -> None:
        super().__init__()
        if modules is not None:
            self.update(modules)

    def __getitem__(self, key: str) -> Any:
        return self._modules[key]

    def __setitem__(self, key: str, module: Any) -> None:
        self.add_module(key, module)

    def __delitem__(self, key: str) -> None:
        del self._modules[key]

    def clear(self) -> None:
        """Take all modules out."""
        self._modules.clear()

    def keys(self) -> Any:
        """The names."""
        return self._modules.keys()

    def items(self) -> Any:
        """Pairs of names and modules."""
        return self._modules.items()

    def values(self) -> Any:
        """The modules."""
        return self._modules.values()

    def update(self, modules: Any) -> None:
        """Add the modules of a mapping, or of pairs of names and modules.

        Raises:
            TypeError: they are none.
        """
        self._ow_update(modules)


class Container(Module):
    """A module with parts of these names. Deprecated: a class derived from Module does the same."""

    def __init__(self, **kwargs: Any) -> None:
        warn(
            "`nn.Container` is deprecated. All of its functionality is now implemented in `nn.Module`. Subclass that "
            "instead.",
            FutureWarning,
        )
        super().__init__()
        for name, module in kwargs.items():
            self.add_module(name, module)
