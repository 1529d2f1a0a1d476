"""Dimensions whose size may be another in each call, and which dimensions of which arguments they are."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from .._base.pytree import Structure
from .._base.tensor_class import Tensor

__all__ = ["Dim", "dims", "dims_of"]


class _Hint:
    """A word in the place of a dimension."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __repr__(self) -> str:
        return f"DimHint({self.name})"


class Dim:
    """A size that may be another in each call. The same object stands for the same size.

    `Dim.DYNAMIC` in its place is a size of its own, `Dim.AUTO` one if the module allows it, `Dim.STATIC` the example's.

    Args:
        name (str): what it is called, an identifier.
        min (int): the least size; None: 0.
        max (int): the greatest one; None: there is none.

    Raises:
        ValueError: `max` is below `min`, or `name` is no identifier.
    """

    AUTO = _Hint("AUTO")
    DYNAMIC = _Hint("DYNAMIC")
    STATIC = _Hint("STATIC")

    def __init__(self, name: str, *, min: int | None = None, max: int | None = None) -> None:
        self.min: int = 0 if min is None else min
        self.max: float = math.inf if max is None else max
        if self.max <= self.min:
            raise ValueError(f"Cannot create Dim with inconsistent min={min}, max={max}")
        if not name.isidentifier():
            raise ValueError(f"Dim name must be a valid identifier, got {name}")
        self.__name__ = name
        self.is_optional = False

    def __repr__(self) -> str:
        least = f", min={self.min}"
        greatest = "" if self.max == math.inf else f", max={self.max}"
        return f"Dim({self.__name__!r}{least}{greatest})"

    def __str__(self) -> str:
        return self.__name__


def dims(*names: str, min: int | None = None, max: int | None = None) -> tuple[Dim, ...]:
    """Return a dimension for each name, with the same bounds."""
    return tuple(Dim(name, min=min, max=max) for name in names)


def dims_of(spec: Any, structure: Structure, leaves: Sequence[Any], names: Sequence[str]) -> list[dict[int, Dim]]:
    """Return the dimensions of each leaf of the arguments that may have several sizes.

    Args:
        spec: nested like the arguments, or a dictionary by the names of all of them.
        structure (Structure): the nesting of the arguments, `(args, kwargs)`.
        leaves (sequence): the arguments' leaves.
        names (sequence): the names of the positional arguments.

    Raises:
        ValueError: `spec` is not nested like the arguments, or names a size that the example does not have.
    """
    if not spec:
        return [{} for _ in leaves]
    args, kwargs = structure.children
    names = [*names[: len(args.children)], *kwargs.context]
    arguments = dict(zip(names, (*args.children, *kwargs.children), strict=True))
    if isinstance(spec, dict):
        if spec.keys() != arguments.keys():
            raise ValueError(
                "When `dynamic_shapes` is specified as a dict, its top-level keys must be the arg names "
                f"{[*arguments]} of `inputs`, but here they are {[*spec]}."
            )
        parts = [spec[name] for name in arguments]
    else:
        parts = list(spec)
    if len(parts) != len(arguments):
        raise ValueError(
            f"Detected mismatch between the structure of `inputs` and `dynamic_shapes`: `inputs` has {len(arguments)} "
            f"elements, but `dynamic_shapes` has {len(parts)} elements"
        )
    found: list[dict[int, Dim]] = []
    for part, (name, inner) in zip(parts, arguments.items(), strict=True):
        _add(part, inner, leaves, found, name)
    return found


def _add(part: Any, structure: Structure, leaves: Sequence[Any], found: list[dict[int, Dim]], name: str) -> None:
    """Add the dimensions of the leaves of an argument."""
    if part is None:
        found += [{} for _ in range(structure.num_leaves)]
    elif structure.type is None:
        found.append(_of_tensor(part, leaves[len(found)], name))
    else:
        inner = structure.context if structure.type is dict else range(len(structure.children))
        given = part if isinstance(part, dict) else dict(enumerate(part))
        if given.keys() != {*inner}:
            raise ValueError(
                f"Detected mismatch between the structure of `inputs` and `dynamic_shapes`: `inputs[{name!r}]` has "
                f"{[*inner]}, but `dynamic_shapes` has {[*given]}"
            )
        for key, child in zip(inner, structure.children, strict=True):
            _add(given[key], child, leaves, found, f"{name}_{key}")


def _of_tensor(part: Any, leaf: Any, name: str) -> dict[int, Dim]:
    sizes = dict(part) if isinstance(part, dict) else dict(enumerate(part))
    if not isinstance(leaf, Tensor):
        raise ValueError(f"`dynamic_shapes` has sizes for {name}, which is no tensor")
    made: dict[int, Dim] = {}
    for place, each in sizes.items():
        if not -leaf.ndim <= place < leaf.ndim:
            raise ValueError(f"`dynamic_shapes` names dimension {place} of {name}, which has {leaf.ndim}")
        dim, size = place % leaf.ndim, leaf.shape[place]
        if isinstance(each, int) and not isinstance(each, bool) and each != size:
            raise ValueError(f"Static shape constraint of {each} does not match input size of {size}, for {name}")
        if each is Dim.AUTO or each is Dim.DYNAMIC:
            made[dim] = Dim(f"{name}_{dim}")
            made[dim].is_optional = each is Dim.AUTO
        elif isinstance(each, Dim):
            if not each.min <= size <= each.max:
                raise ValueError(f"the example's size {size} of {name} is not within {each!r}")
            made[dim] = each
        elif not (each is None or each is Dim.STATIC or isinstance(each, int)):
            raise ValueError(f"`dynamic_shapes` has {each!r} for dimension {dim} of {name}, which is no Dim")
    return made
