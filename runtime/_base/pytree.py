"""Nested containers as a flat list of what is in them, and back; which classes are containers is a table."""

from __future__ import annotations

from collections import OrderedDict, defaultdict, deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

from .sequences import remade

__all__ = ["CONTAINERS", "LEAF", "Container", "Structure", "container_of", "flatten"]


class Container(NamedTuple):
    """The functions that take values of a class apart and make them again."""

    flatten: Callable[[Any], tuple[Iterable[Any], Any]]
    """The values in a container, and its context: what else is needed to make it."""
    unflatten: Callable[[list[Any], Any], Any]
    keys: Callable[[Any], Iterable[Any]] | None = None
    """The keys of a path to each of its values; None: positions."""
    file_name: str | None = None
    """The name of the class in files; None: it has none."""
    dump: Callable[[Any], Any] | None = None
    """The function that gives the context as JSON has it; None: that is JSON itself, and so for `load`."""
    load: Callable[[Any], Any] | None = None


def _flatten_dict(value: Any) -> tuple[list[Any], Any]:
    return list(value.values()), list(value)


CONTAINERS: dict[type, Container] = {
    tuple: Container(lambda value: (list(value), None), lambda values, _: tuple(values), file_name="builtins.tuple"),
    list: Container(lambda value: (list(value), None), lambda values, _: values, file_name="builtins.list"),
    deque: Container(lambda value: (list(value), value.maxlen), deque, file_name="collections.deque"),
    dict: Container(
        _flatten_dict, lambda values, keys: dict(zip(keys, values, strict=True)), file_name="builtins.dict"
    ),
    OrderedDict: Container(
        _flatten_dict,
        lambda values, keys: OrderedDict(zip(keys, values, strict=True)),
        file_name="collections.OrderedDict",
    ),
    defaultdict: Container(
        lambda value: (list(value.values()), [value.default_factory, list(value)]),
        lambda values, context: defaultdict(context[0], zip(context[1], values, strict=True)),
    ),
}
"""The classes of containers, whose subclasses are none."""

_NAMED_TUPLE = Container(lambda value: (list(value), type(value)), lambda values, kind: remade(kind, values))


def container_of(kind: type) -> Container | None:
    """Return how values of this class are taken apart, or None if it is no container. All named tuples are
    containers."""
    found = CONTAINERS.get(kind)
    is_named = found is None and issubclass(kind, tuple) and hasattr(kind, "_fields")
    return _NAMED_TUPLE if is_named else found


class _Leaf:
    """A stand-in for whatever is no container, where a structure is printed."""

    def __repr__(self) -> str:
        return "*"


_Class: TypeAlias = type[Any]


@dataclass(frozen=True, repr=False)
class Structure:
    """The containers of a nested value, without what is in them; `type` is None for what is no container."""

    type: _Class | None
    context: Any = None
    children: tuple[Structure, ...] = ()

    def unflatten(self, leaves: Iterable[Any]) -> Any:
        """Return a value of this structure from as many leaves as it has."""
        return self._from(iter(leaves))

    def _from(self, leaves: Iterator[Any]) -> Any:
        if self.type is None:
            return next(leaves)
        values = [child._from(leaves) for child in self.children]
        container = container_of(self.type)
        assert container is not None
        return container.unflatten(values, self.context)

    def is_leaf(self) -> bool:
        """Return True if the value is no container."""
        return self.type is None

    @property
    def num_leaves(self) -> int:
        """The number of leaves."""
        return 1 if self.type is None else sum(child.num_leaves for child in self.children)

    @property
    def num_nodes(self) -> int:
        """The number of containers and leaves."""
        return 1 + sum(child.num_nodes for child in self.children)

    @property
    def num_children(self) -> int:
        """The number of values in the outermost container."""
        return len(self.children)

    def __hash__(self) -> int:
        return hash((self.type, self.children))  # contexts may be lists

    def __str__(self) -> str:
        return repr(self._from(iter(_Leaf, None)))

    def __repr__(self) -> str:
        if self.type is None:
            return "*"
        children = ",\n".join(map(repr, self.children)).replace("\n", "\n  ")
        return f"TreeSpec({self.type.__name__}, {self.context}, [{children}])"


LEAF = Structure(None)


def flatten(value: Any, is_leaf: Callable[[Any], bool] | None = None) -> tuple[list[Any], Structure]:
    """The leaves of a nested value, from left to right, and its structure.

    An instance of a subclass of a container is a leaf, unless it is a named tuple; so is what `is_leaf` says of.
    """
    leaves: list[Any] = []
    return leaves, _structure(value, leaves, is_leaf)


def tree_map(function: Callable[[Any], Any], value: Any) -> Any:
    """The same nested value with what a function makes of each leaf."""
    leaves, structure = flatten(value)
    return structure.unflatten(map(function, leaves))


def _structure(value: Any, leaves: list[Any], is_leaf: Callable[[Any], bool] | None) -> Structure:
    kind = type(value)
    container = None if is_leaf is not None and is_leaf(value) else container_of(kind)
    if container is None:
        leaves.append(value)
        return LEAF
    values, context = container.flatten(value)
    return Structure(kind, context, tuple([_structure(each, leaves, is_leaf) for each in values]))
