"""The names of a tensor's dimensions: where they are kept, which ones there may be, and how messages write them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, TypeAlias, cast

from ..._base.handles import integer
from ..._base.keys import KEY_BITS
from ..._base.type_names import type_name
from ..._C import lib

Names: TypeAlias = tuple[str | None, ...]
"""A name or None for each dimension."""

NAMED = KEY_BITS["named"]


def has_names(tensor: Any) -> bool:
    """True if a dimension of the tensor has a name."""
    return bool(lib.keys(tensor._h) & NAMED)


def names_of(tensor: Any) -> Names:
    """The names, None for each dimension that has none."""
    names = getattr(tensor, "_names", None) if has_names(tensor) else None
    return (None,) * lib.ndim(tensor._h) if names is None else cast(Names, names)


def set_names(tensor: Any, names: Names | None) -> Any:
    """Gives the tensor these names, which are valid, and returns it. None takes all away."""
    keys = lib.keys(tensor._h)
    if names is not None and any(each is not None for each in names):
        tensor._names = names
        lib.set_keys(tensor._h, keys | NAMED)
    elif keys & NAMED:
        lib.set_keys(tensor._h, keys & ~NAMED)
        vars(tensor).pop("_names", None)
    return tensor


def with_names_of(tensor: Any, other: Any) -> Any:
    """The tensor, which is new, with the names of another of its shape."""
    return set_names(tensor, names_of(other)) if has_names(other) else tensor


def read(function: str, names: Any) -> Names | None:
    """An argument `names`. Raises TypeError for anything but None and a sequence of texts and Nones, RuntimeError for
    texts that are no names."""
    if names is None:
        return None
    if not isinstance(names, (tuple, list)):
        raise TypeError(f"{function}(): argument 'names' must be tuple of names, not {type_name(names)}")
    for place, name in enumerate(names):
        if name is not None and not isinstance(name, str):
            raise TypeError(
                f"{function}(): argument 'names' must be tuple of names, but found element of type {type_name(name)} "
                f"at pos {place}"
            )
    for name in names:
        check_name(name)
    return tuple([name if name is None else str(name) for name in names])


def check_name(name: str | None) -> None:
    """Raises RuntimeError for a text that is no identifier."""
    if name is not None and not (name.isascii() and name.isidentifier()):
        raise RuntimeError(
            "Invalid name: a valid identifier contains only digits, alphabetical characters, and/or underscore and "
            f"starts with a non-digit. got: '{name}'."
        )


def check_fit(ndim: int, names: Names) -> None:
    """Raises RuntimeError unless these can be the names of so many dimensions."""
    if len(names) != ndim:
        raise RuntimeError(
            f"Number of names ({len(names)}) and number of dimensions in tensor ({ndim}) do not match. Attempted to "
            f"create a tensor with names {listed(names)}"
        )
    check_unique(names)


def check_unique(names: Names) -> None:
    """Raises RuntimeError where a name occurs twice."""
    given = [name for name in names if name is not None]
    if len(set(given)) < len(given):
        raise RuntimeError(f"Cannot construct a tensor with duplicate names. Got names: {listed(names)}.")


def rename_to(tensor: Any, names: Names | None) -> Any:
    """Gives the tensor other names, or none. Raises RuntimeError where they do not fit it."""
    if names is not None:
        check_fit(lib.ndim(tensor._h), names)
    return set_names(tensor, names)


def rename_new(tensor: Any, names: Names) -> Any:
    """Gives a new tensor names. Raises RuntimeError where it is a copy of one that has others."""
    check_fit(lib.ndim(tensor._h), names)
    check_same(tensor, names)
    return set_names(tensor, names)


def check_same(target: Any, *computed: Names) -> None:
    """Refuses to write to a tensor whose names are not among those that the result may have."""
    names = names_of(target)
    if has_names(target) and names not in computed:
        fitting = next((each for each in computed if len(each) == len(names)), (None,) * len(names))
        raise RuntimeError(
            f"Name mismatch: specified out tensor with names {listed(names)} are not the same as the computed output "
            f"names {listed(fitting)}. Please rename the out tensor's dims with `Tensor.rename`."
        )


def check_savable(tensor: Any) -> None:
    """Refuses to write a tensor with names to a file or a stream."""
    if has_names(tensor):
        raise RuntimeError(
            "NYI: Named tensors don't support serialization. Please drop names via `tensor = tensor.rename(None)` "
            "before serialization."
        )


def listed(names: Iterable[str | None]) -> str:
    """Return the text of names in messages: `['N', None]`."""
    return str(list(names))


def described(names: Iterable[str | None]) -> str:
    """A tensor, as messages write it: `Tensor['N', None]`."""
    return f"Tensor{listed(names)}"


def position(names: Names, name: str | None) -> int:
    """The dimension of this name. Raises RuntimeError where there is none."""
    if name is None:
        raise RuntimeError("Please look up dimensions by name, got: name = None.")
    check_name(name)
    if name not in names:
        raise RuntimeError(f"Name '{name}' not found in {described(names)}.")
    return names.index(name)


def dimension(function: str, tensor: Any, dim: Any) -> int:
    """The argument `dim` of a function: the position of a dimension, or the name of one where there are names."""
    by_name = isinstance(dim, str) and has_names(tensor)
    return position(names_of(tensor), dim) if by_name else integer(function, "dim", dim)


def without(names: Names, dims: Sequence[int]) -> Names:
    """The names of the other dimensions."""
    return tuple([name for dim, name in enumerate(names) if dim not in dims])
