"""opweave.fx.immutable_collections: the lists and dictionaries among the arguments of nodes.

The users of a node are known from the arguments of all nodes, which change by assignment alone for that reason.
"""

from __future__ import annotations

from typing import Any, NoReturn

from .._base.pytree import CONTAINERS, Container

__all__ = ["immutable_dict", "immutable_list"]


def _refuse(self: Any, *args: Any, **kwargs: Any) -> NoReturn:
    raise TypeError(
        f"{type(self).__name__!r} object does not support mutation. If you are attempting to modify the kwargs or args "
        "of an opweave.fx.Node object,\ninstead create a new copy of it and assign the copy to the node:\n\n"
        "    new_args = ...  # copy and mutate args\n"
        "    node.args = new_args\n"
    )


class immutable_list(list[Any]):  # noqa: N801 (torch's name)
    """A list that cannot be changed."""

    append = clear = extend = insert = pop = remove = reverse = sort = _refuse
    __delitem__ = __setitem__ = __iadd__ = __imul__ = _refuse

    def __hash__(self) -> int:  # type: ignore[override]
        return hash(tuple(self))

    def __reduce__(self) -> tuple[Any, ...]:
        return immutable_list, (list(self),)


class immutable_dict(dict[Any, Any]):  # noqa: N801 (torch's name)
    """A dictionary that cannot be changed."""

    clear = pop = popitem = setdefault = update = _refuse
    __delitem__ = __setitem__ = __ior__ = _refuse

    def __hash__(self) -> int:  # type: ignore[override]
        return hash(frozenset(self.items()))

    def __reduce__(self) -> tuple[Any, ...]:
        return immutable_dict, (dict(self),)


CONTAINERS[immutable_list] = Container(lambda value: (list(value), None), lambda values, _: immutable_list(values))
CONTAINERS[immutable_dict] = Container(
    lambda value: (list(value.values()), list(value)),
    lambda values, keys: immutable_dict(zip(keys, values, strict=True)),
)
