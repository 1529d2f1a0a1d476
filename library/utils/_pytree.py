"""opweave.utils._pytree: functions of nested containers, as in torch.utils._pytree.

Lists, tuples, named tuples, dictionaries and deques are containers; further classes are registered.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable, Iterable
from typing import Any, TypeAlias

from .._base.pytree import CONTAINERS, LEAF, Container, Structure, container_of, flatten

__all__ = [
    "GetAttrKey",
    "LeafSpec",
    "MappingKey",
    "PyTree",
    "SequenceKey",
    "TreeSpec",
    "keystr",
    "register_constant",
    "register_dataclass",
    "register_pytree_node",
    "tree_all",
    "tree_all_only",
    "tree_any",
    "tree_any_only",
    "tree_flatten",
    "tree_flatten_with_path",
    "tree_is_leaf",
    "tree_iter",
    "tree_leaves",
    "tree_leaves_with_path",
    "tree_map",
    "tree_map_",
    "tree_map_only",
    "tree_map_only_",
    "tree_map_with_path",
    "tree_structure",
    "tree_unflatten",
    "treespec_dumps",
    "treespec_loads",
]

PyTree: TypeAlias = Any
Context: TypeAlias = Any
TreeSpec = Structure
SUPPORTED_NODES = CONTAINERS
_IsLeaf: TypeAlias = Callable[[Any], bool] | None


def _get_node_type(tree: Any) -> Any:
    """Return the class under which a container is registered."""
    return type(tree)


def is_namedtuple_class(cls: type) -> bool:
    """Return whether a class is that of named tuples."""
    return issubclass(cls, tuple) and hasattr(cls, "_fields")


def is_namedtuple_instance(tree: Any) -> bool:
    """Return whether a value is a named tuple."""
    return is_namedtuple_class(type(tree))


def is_structseq_class(cls: type) -> bool:
    """Return whether a class is one of tuples with names that are written in C, as those of `time`."""
    return issubclass(cls, tuple) and all(
        isinstance(getattr(cls, name, None), int) for name in ("n_sequence_fields", "n_fields", "n_unnamed_fields")
    )


def is_structseq_instance(tree: Any) -> bool:
    """Return whether a value is such a tuple."""
    return is_structseq_class(type(tree))


def _dict_flatten(d: dict[Any, Any]) -> tuple[list[Any], list[Any]]:
    """Return the values and the keys of a dictionary."""
    return list(d.values()), list(d)


def _dict_unflatten(values: Iterable[Any], context: Iterable[Any]) -> dict[Any, Any]:
    """Return the dictionary of values and keys."""
    return dict(zip(context, values, strict=True))


def _list_flatten(d: list[Any]) -> tuple[list[Any], None]:
    """Return the values of a list, and no context."""
    return list(d), None


def _list_unflatten(values: Iterable[Any], context: Any) -> list[Any]:
    """Return the list of values."""
    return list(values)


def _dict_flatten_with_keys(d: dict[Any, Any]) -> tuple[list[tuple[MappingKey, Any]], list[Any]]:
    """Return the keys with the values of a dictionary, and the keys."""
    return [(MappingKey(key), value) for key, value in d.items()], list(d)


def _list_flatten_with_keys(d: list[Any]) -> tuple[list[tuple[SequenceKey, Any]], None]:
    """Return the places with the values of a list, and no context."""
    return [(SequenceKey(place), value) for place, value in enumerate(d)], None


def LeafSpec() -> TreeSpec:  # noqa: N802  the name of a class in torch
    """Return the structure of what is no container."""
    return LEAF


# ---- classes of containers ----------------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True)
class SequenceKey:
    """A position in a sequence, as a part of a path."""

    idx: int

    def __str__(self) -> str:
        return f"[{self.idx!r}]"

    def get(self, value: Any) -> Any:
        """Return what is there."""
        return value[self.idx]


@dataclasses.dataclass(frozen=True)
class MappingKey:
    """A key of a dictionary, as a part of a path."""

    key: Any

    def __str__(self) -> str:
        return f"[{self.key!r}]"

    def get(self, value: Any) -> Any:
        """Return what is there."""
        return value[self.key]


@dataclasses.dataclass(frozen=True)
class GetAttrKey:
    """A name of an attribute, as a part of a path."""

    name: str

    def __str__(self) -> str:
        return f".{self.name}"

    def get(self, value: Any) -> Any:
        """Return what is there."""
        return getattr(value, self.name)


def register_pytree_node(
    cls: type,
    flatten_fn: Callable[[Any], tuple[Iterable[Any], Any]],
    unflatten_fn: Callable[[Iterable[Any], Any], Any],
    *,
    serialized_type_name: str | None = None,
    to_dumpable_context: Callable[[Any], Any] | None = None,
    from_dumpable_context: Callable[[Any], Any] | None = None,
    flatten_with_keys_fn: Callable[[Any], tuple[list[tuple[Any, Any]], Any]] | None = None,
) -> None:
    """Make a class one of containers.

    `flatten_fn(value)` gives the values in it and a context, of which `unflatten_fn(values, context)` makes it again;
    `flatten_with_keys_fn` gives a key with each value. In files, as of `treespec_dumps` and `export.save`, the class is
    `serialized_type_name`, without which structures that have it are not written; `to_dumpable_context` gives the
    context as text there, and `from_dumpable_context` the context of that, where JSON does not have it.

    Raises:
        ValueError: The class is registered already, or one of the functions of a context is missing.
    """
    if cls in CONTAINERS:
        raise ValueError(f"{cls} is already registered as pytree node.")
    if (to_dumpable_context is None) != (from_dumpable_context is None):
        raise ValueError(f"Both to_dumpable_context and from_dumpable_context for {cls} must be None or registered.")
    keys = None if flatten_with_keys_fn is None else lambda value: [key for key, _ in flatten_with_keys_fn(value)[0]]
    file = (serialized_type_name, to_dumpable_context, from_dumpable_context)
    CONTAINERS[cls] = Container(flatten_fn, unflatten_fn, keys, *file)


_register_pytree_node = register_pytree_node


def _register_namedtuple(cls: type, *, serialized_type_name: str) -> None:
    """Have a class of named tuples, which is one of containers, a name in files."""
    known = container_of(cls)
    assert known is not None
    CONTAINERS[cls] = known._replace(
        file_name=serialized_type_name, dump=lambda kind: serialized_type_name, load=lambda text: cls
    )


def register_dataclass(
    cls: type,
    *,
    field_names: list[str] | None = None,
    drop_field_names: list[str] | None = None,
    serialized_type_name: str | None = None,
) -> None:
    """Make a data class one of containers, whose values are its fields. In files it is `serialized_type_name`."""
    names = field_names or [field.name for field in dataclasses.fields(cls) if field.init]
    names = [name for name in names if name not in (drop_field_names or ())]

    def flatten_fields(value: Any) -> tuple[list[Any], Any]:
        given = [name for name in names if getattr(value, name) is not None]
        absent = [name for name in names if name not in given]
        return [getattr(value, name) for name in given], [given, absent]

    def unflatten_fields(values: Iterable[Any], context: Any) -> Any:
        given, absent = context
        return cls(**dict(zip(given, values, strict=True)), **dict.fromkeys(absent))

    def flatten_with_keys(value: Any) -> tuple[list[tuple[Any, Any]], Any]:
        values, context = flatten_fields(value)
        return [(GetAttrKey(name), each) for name, each in zip(context[0], values, strict=True)], context

    register_pytree_node(
        cls,
        flatten_fields,
        unflatten_fields,
        flatten_with_keys_fn=flatten_with_keys,
        serialized_type_name=serialized_type_name,
    )


def register_constant(cls: type) -> None:
    """Make instances of a class parts of a structure, with no leaves in them."""
    register_pytree_node(cls, lambda value: ([], value), lambda _, value: value)


# ---- structures in files ------------------------------------------------------------------------------------

_PROTOCOL = 1


def treespec_dumps(treespec: TreeSpec, protocol: int | None = None) -> str:
    """Return a structure as JSON.

    Raises:
        NotImplementedError: it has a class without a name in files.
        TypeError: `treespec` is no structure, or JSON does not have a context.
        ValueError: `protocol` is another one than 1.
    """
    if not isinstance(treespec, TreeSpec):
        raise TypeError(f"Expected `treespec` to be an instance of PyTreeSpec but got item of type {type(treespec)}.")
    _check_protocol(_PROTOCOL if protocol is None else protocol)
    return json.dumps([_PROTOCOL, structure_data(treespec)])


def treespec_loads(serialized: str) -> TreeSpec:
    """Return the structure that `treespec_dumps` has written.

    Raises:
        NotImplementedError: it has a class that nobody has registered.
        ValueError: it is of another protocol.
    """
    protocol, data = json.loads(serialized)
    _check_protocol(protocol)
    return structure_of(data)


def _check_protocol(protocol: int) -> None:
    if protocol != _PROTOCOL:
        raise ValueError(f"Unknown protocol {protocol}. Available protocols: {[_PROTOCOL]}")


def structure_data(structure: TreeSpec) -> dict[str, Any]:
    """Return a structure as JSON has it. Raises the errors of `treespec_dumps`."""
    kind = structure.type
    if kind is None:
        return {"type": None, "context": None, "children_spec": []}
    container = CONTAINERS.get(kind)
    if container is None:
        raise NotImplementedError(
            f"Can't serialize TreeSpec of namedtuple class {kind} because we didn't register a serializated_type_name. "
            "Please register using `_register_namedtuple`."
        )
    if container.file_name is None:
        raise NotImplementedError(
            f"No registered serialization name for {kind} found. Please update your _register_pytree_node call with a "
            "`serialized_type_name` kwarg."
        )
    try:
        context = (container.dump or json.dumps)(structure.context)
    except TypeError as error:
        raise TypeError(
            "Unable to serialize context. Please make the context json dump-able, or register a custom serializer "
            "using _register_pytree_node."
        ) from error
    children = [structure_data(each) for each in structure.children]
    return {"type": container.file_name, "context": context, "children_spec": children}


def structure_of(data: dict[str, Any]) -> TreeSpec:
    """Return the structure of what `structure_data` gives. Raises the errors of `treespec_loads`."""
    name = data["type"]
    if name is None:
        return LEAF
    found = next(((kind, each) for kind, each in CONTAINERS.items() if each.file_name == name), None)
    if found is None:
        raise NotImplementedError(f"Deserializing {name} in pytree is not registered.")
    kind, container = found
    context = (container.load or json.loads)(data["context"])
    return TreeSpec(kind, context, tuple(map(structure_of, data["children_spec"])))


# ---- leaves and structures ----------------------------------------------------------------------------------


def tree_flatten(tree: PyTree, is_leaf: _IsLeaf = None) -> tuple[list[Any], TreeSpec]:
    """Return the leaves of a nested value, from left to right, and its structure."""
    return flatten(tree, is_leaf)


def tree_unflatten(leaves: Iterable[Any], treespec: TreeSpec) -> PyTree:
    """Return a value of a structure, from its leaves.

    Raises:
        TypeError: `treespec` is no structure.
        ValueError: There are more or fewer leaves than the structure has.
    """
    if not isinstance(treespec, TreeSpec):
        raise TypeError(f"Expected `treespec` to be an instance of PyTreeSpec but got item of type {type(treespec)}.")
    leaves = list(leaves)
    if len(leaves) != treespec.num_leaves:
        raise ValueError(
            f"treespec.unflatten(leaves): `leaves` has length {len(leaves)} but the spec refers to a pytree that holds "
            f"{treespec.num_leaves} items ({treespec!r})."
        )
    return treespec.unflatten(leaves)


def tree_leaves(tree: PyTree, is_leaf: _IsLeaf = None) -> list[Any]:
    """Return the leaves of a nested value."""
    return flatten(tree, is_leaf)[0]


def tree_iter(tree: PyTree, is_leaf: _IsLeaf = None) -> Iterable[Any]:
    """Return an iterator over the leaves of a nested value."""
    return iter(tree_leaves(tree, is_leaf))


def tree_structure(tree: PyTree, is_leaf: _IsLeaf = None) -> TreeSpec:
    """Return the structure of a nested value."""
    return flatten(tree, is_leaf)[1]


def tree_is_leaf(tree: PyTree, is_leaf: _IsLeaf = None) -> bool:
    """Return True if a value is no container."""
    return (is_leaf is not None and is_leaf(tree)) or container_of(type(tree)) is None


def _values(tree: Any, structure: TreeSpec) -> Iterable[Any]:
    """The values in a container, which must be one like that of a structure."""
    kind = structure.type
    assert kind is not None
    container = container_of(kind)
    if type(tree) is not kind or container is None:
        raise ValueError(f"Node type mismatch; expected {kind}, but got {type(tree)}.")
    values, context = container.flatten(tree)
    values = list(values)
    if len(values) != len(structure.children):
        raise ValueError(f"Node arity mismatch; expected {len(structure.children)}, but got {len(values)}.")
    if kind is dict and context != structure.context:
        if set(context) != set(structure.context):
            raise ValueError(f"Node keys mismatch; expected {structure.context}, but got {context}.")
        values = [tree[key] for key in structure.context]
    return values


def _leaves_up_to(tree: Any, structure: TreeSpec) -> list[Any]:
    """Return the parts of a value in the places of a structure's leaves."""
    if structure.type is None:
        return [tree]
    pairs = zip(_values(tree, structure), structure.children, strict=True)
    return [leaf for value, child in pairs for leaf in _leaves_up_to(value, child)]


def _broadcast_to_and_flatten(tree: PyTree, treespec: TreeSpec, is_leaf: _IsLeaf = None) -> list[Any] | None:
    """A leaf for each one of a structure: one of the value is for all that is below it. None if it does not fit."""
    if tree_is_leaf(tree, is_leaf):
        return [tree] * treespec.num_leaves
    if treespec.type is None:
        return None
    try:
        pairs = zip(_values(tree, treespec), treespec.children, strict=True)
    except ValueError:
        return None
    parts = [_broadcast_to_and_flatten(value, child, is_leaf) for value, child in pairs]
    return None if any(part is None for part in parts) else [leaf for part in parts if part for leaf in part]


# ---- functions of leaves ------------------------------------------------------------------------------------


def tree_map(func: Callable[..., Any], tree: PyTree, *rests: PyTree, is_leaf: _IsLeaf = None) -> PyTree:
    """Return a value of the same structure, whose leaves are those of `func(leaf, *leaves of the others)`."""
    leaves, structure = flatten(tree, is_leaf)
    columns = [leaves, *(_leaves_up_to(each, structure) for each in rests)]
    return structure.unflatten([func(*row) for row in zip(*columns, strict=True)])


def tree_map_(func: Callable[..., Any], tree: PyTree, *rests: PyTree, is_leaf: _IsLeaf = None) -> PyTree:
    """Call `func` for each leaf, and return the value itself."""
    tree_map(func, tree, *rests, is_leaf=is_leaf)
    return tree


def _is_one(leaf: Any, kinds: Any) -> bool:
    return isinstance(leaf, kinds) if isinstance(kinds, (type, tuple)) or not callable(kinds) else bool(kinds(leaf))


def tree_map_only(kinds: Any, func: Callable[[Any], Any], tree: PyTree, is_leaf: _IsLeaf = None) -> PyTree:
    """Return a value whose leaves of some classes, or of which a predicate holds, are replaced by `func(leaf)`."""
    return tree_map(lambda leaf: func(leaf) if _is_one(leaf, kinds) else leaf, tree, is_leaf=is_leaf)


def tree_map_only_(kinds: Any, func: Callable[[Any], Any], tree: PyTree, is_leaf: _IsLeaf = None) -> PyTree:
    """Call `func` for each leaf of some classes, or of which a predicate holds, and return the value itself."""
    tree_map_only(kinds, func, tree, is_leaf)
    return tree


def tree_all(pred: Callable[[Any], bool], tree: PyTree, is_leaf: _IsLeaf = None) -> bool:
    """Return True if a predicate holds of all leaves."""
    return all(map(pred, tree_iter(tree, is_leaf)))


def tree_any(pred: Callable[[Any], bool], tree: PyTree, is_leaf: _IsLeaf = None) -> bool:
    """Return True if a predicate holds of a leaf."""
    return any(map(pred, tree_iter(tree, is_leaf)))


def tree_all_only(kinds: Any, pred: Callable[[Any], bool], tree: PyTree, is_leaf: _IsLeaf = None) -> bool:
    """Return True if a predicate holds of all leaves of some classes."""
    return all(pred(leaf) for leaf in tree_iter(tree, is_leaf) if _is_one(leaf, kinds))


def tree_any_only(kinds: Any, pred: Callable[[Any], bool], tree: PyTree, is_leaf: _IsLeaf = None) -> bool:
    """Return True if a predicate holds of a leaf of some classes."""
    return any(pred(leaf) for leaf in tree_iter(tree, is_leaf) if _is_one(leaf, kinds))


# ---- paths --------------------------------------------------------------------------------------------------


def _keys(tree: Any, container: Container) -> Iterable[Any]:
    if hasattr(tree, "_fields"):
        return [GetAttrKey(name) for name in tree._fields]
    if isinstance(tree, dict):
        return [MappingKey(key) for key in tree]
    if container.keys is not None:
        return container.keys(tree)
    return [SequenceKey(place) for place in range(len(list(container.flatten(tree)[0])))]


def tree_leaves_with_path(tree: PyTree, is_leaf: _IsLeaf = None) -> list[tuple[tuple[Any, ...], Any]]:
    """Return each leaf with its path: the keys that lead to it."""
    container = None if tree_is_leaf(tree, is_leaf) else container_of(type(tree))
    if container is None:
        return [((), tree)]
    pairs = zip(_keys(tree, container), container.flatten(tree)[0], strict=True)
    return [((key, *path), leaf) for key, value in pairs for path, leaf in tree_leaves_with_path(value, is_leaf)]


def tree_flatten_with_path(tree: PyTree, is_leaf: _IsLeaf = None) -> tuple[list[tuple[tuple[Any, ...], Any]], TreeSpec]:
    """Return each leaf of a nested value with its path, and the structure."""
    return tree_leaves_with_path(tree, is_leaf), tree_structure(tree, is_leaf)


def tree_map_with_path(func: Callable[..., Any], tree: PyTree, *rests: PyTree, is_leaf: _IsLeaf = None) -> PyTree:
    """Return a value of the same structure, whose leaves are those of `func(path, leaf, *leaves of the others)`."""
    pairs, structure = tree_flatten_with_path(tree, is_leaf)
    columns = [[path for path, _ in pairs], [leaf for _, leaf in pairs]]
    columns += [_leaves_up_to(each, structure) for each in rests]
    return structure.unflatten([func(*row) for row in zip(*columns, strict=True)])


def keystr(kp: Iterable[Any]) -> str:
    """Return a path as text."""
    return "".join(map(str, kp))
