"""flatten, unflatten and diagonal by name: several dimensions become one with a name, one becomes several."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..._base.handles import integer, shape_of
from ..._base.shapes import wrap_dim
from ..._base.tensor_class import Tensor
from ..._C import lib
from ..._dispatch.ops import ops
from ..._handle import with_keys
from .names import NAMED, check_fit, check_name, described, has_names, listed, names_of, position, read, set_names

UNNAMED_SIZES = "input is a named tensor but no names were given for unflattened sizes"


def _flattened(tensor: Any, first: int, last: int, name: str) -> Any:
    before = names_of(tensor)
    check_name(name)
    names = (*before[:first], name, *before[last + 1 :])
    if first > last:
        raise RuntimeError("flatten() has invalid args: start_dim cannot come after end_dim")
    check_fit(len(names), names)
    return set_names(with_keys(0, NAMED, ops.flatten, tensor, first, last), names)


def flatten_list(tensor: Any, dims: Sequence[Any], name: str) -> Any:
    """`flatten(['H', 'W'], 'features')`"""
    before = names_of(tensor)
    places = [_dim("flatten", tensor, dim) for dim in dims]
    if not places:
        raise RuntimeError("flatten(tensor, dims, out_dim): dims cannot be empty")
    if places != list(range(places[0], places[0] + len(places))):
        raise RuntimeError(
            f"flatten(tensor, dims, out_dim): dims {listed(dims)} must be consecutive in {described(before)}"
        )
    return _flattened(tensor, places[0], places[-1], name)


def flatten_by_name(*args: Any, **named: Any) -> Any:
    """`flatten(start_dim, end_dim, out_dim)`, and lists by keyword."""
    if not args or not isinstance(args[0], Tensor):
        return NotImplemented
    tensor, *rest = args
    given = {**dict(zip(("start_dim", "end_dim", "out_dim"), rest, strict=False)), **named}
    if len(rest) > 3 or len(given) != len(rest) + len(named) or not isinstance(given.get("out_dim"), str):
        return NotImplemented
    name = given.pop("out_dim")
    dims = given.get("dims", given.get("start_dim"))
    if len(given) == 1 and isinstance(dims, (tuple, list)):
        return flatten_list(tensor, dims, name)
    if given.keys() != {"start_dim", "end_dim"}:
        return NotImplemented
    first, last = (_dim("flatten", tensor, given[each]) for each in ("start_dim", "end_dim"))
    return _flattened(tensor, first, last, name)


def _dim(function: str, tensor: Any, dim: Any) -> int:
    """The position of a dimension that is given by its name or its position."""
    if dim is None or isinstance(dim, str):
        return position(names_of(tensor), dim)
    place: int = wrap_dim(integer(function, "dim", dim), lib.ndim(tensor._h))
    return place


def diagonal(input: Any, *args: Any, outdim: Any, **named: Any) -> Any:
    """The diagonal, whose dimension is new and has a name."""
    view = ops.diagonal(input, *args, **named)
    after = (*names_of(view)[:-1], *(read("diagonal", (outdim,)) or ()))
    check_fit(len(after), after)
    return set_names(view, after)


def is_by_name(sizes: Any) -> bool:
    """True if these are names with sizes."""
    is_list = isinstance(sizes, (tuple, list)) and bool(sizes)
    return isinstance(sizes, Mapping) or (is_list and isinstance(sizes[0], (tuple, list)))


def unflatten(input: Any, dim: Any, sizes: Any) -> Any:
    """`unflatten('features', (('H', 2), ('W', 3)))`"""
    if (sizes is None or isinstance(sizes, (tuple, list, Mapping))) and not sizes:
        raise RuntimeError("unflatten: sizes must be non-empty")
    if not is_by_name(sizes):
        if isinstance(dim, str):
            raise TypeError("unflatten(): argument 'dim' (position 1) must be int, not str")
        raise RuntimeError(f"unflatten: {UNNAMED_SIZES}")
    pairs = list(sizes.items()) if isinstance(sizes, Mapping) else list(sizes)
    for each in pairs:
        if not isinstance(each, (tuple, list)) or len(each) != 2:
            raise TypeError(f"unflatten(): argument 'sizes' must be pairs of a name and a size, but found {each!r}")
    names = read("unflatten", [name for name, _ in pairs]) or ()
    numbers = [number for _, number in pairs]
    before, place = names_of(input), _dim("unflatten", input, dim)
    after = (*before[:place], *names, *before[place + 1 :])
    check_fit(len(after), after)
    return set_names(with_keys(0, NAMED, _split, input, place, numbers), after)


def _split(tensor: Any, dim: int, sizes: list[int]) -> Any:
    try:
        return ops.unflatten(tensor, dim, sizes)
    except RuntimeError as error:
        if "multiply up to" not in str(error) or not has_names(tensor):
            raise
        names = names_of(tensor)
        raise RuntimeError(
            f"unflatten: Provided sizes {sizes} don't multiply up to the size of dim {dim} ({names[dim]!r}: "
            f"{shape_of(tensor._h)[dim]}) in {described(names)}"
        ) from None
