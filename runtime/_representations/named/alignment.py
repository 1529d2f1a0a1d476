"""Other names and other orders of named dimensions: rename, refine_names, align_to and their relatives."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..._C import lib
from ..._dispatch.ops import ops
from ..._handle import with_keys
from .names import NAMED, Names, check_fit, check_name, check_unique, described, listed, names_of, set_names


def without_names(tensor: Any) -> Any:
    """A view of the tensor whose dimensions have no names, with the same history."""
    return with_keys(0, NAMED, ops.alias, tensor)


def named_view(tensor: Any, names: Names | None) -> Any:
    """A view of the tensor with other names."""
    if names is not None:
        check_fit(lib.ndim(tensor._h), names)
    return set_names(without_names(tensor), names)


# ---- what users give ------------------------------------------------------------------------------------------


def given_names(function: str, names: Sequence[Any]) -> tuple[Any, ...]:
    """Names given one by one or as one list. Raises for what is neither a name, None nor an ellipsis."""
    listed_names = tuple(names[0]) if len(names) == 1 and isinstance(names[0], (tuple, list)) else tuple(names)
    for name in listed_names:
        if name is not None and not isinstance(name, str) and name is not Ellipsis:
            raise TypeError(f"{function}(): names must be str, None or ..., not {type(name).__name__}")
        if isinstance(name, str) and name != "...":
            check_name(name)
    return listed_names


def _ellipsis(function: str, names: Sequence[Any]) -> int | None:
    """The place of `...`; None where there is none."""
    found = [place for place, name in enumerate(names) if name is Ellipsis or name == "..."]
    if len(found) > 1:
        raise RuntimeError(
            f"{function}: More than one Ellipsis ('...') found in names ({tuple(names)}). This function supports up to "
            "one Ellipsis."
        )
    return found[0] if found else None


def expanded(function: str, names: Sequence[Any], of: Names) -> Names:
    """The names with those of a tensor in the place of `...`, by position."""
    place = _ellipsis(function, names)
    if place is None:
        return tuple(names)
    after = len(names) - place - 1
    return (*names[:place], *of[place : len(of) - after], *names[place + 1 :])


# ---- names ----------------------------------------------------------------------------------------------------


def renamed(tensor: Any, function: str, names: Sequence[Any], mapping: Mapping[str, str | None]) -> Names | None:
    """The names that `rename` asks for: all of them, or by their old ones."""
    if names and mapping:
        raise RuntimeError(
            f"{function}: This function takes either positional args or keyword args, but not both. Use "
            f"tensor.{function}(*names) to name dims and tensor.{function}(**rename_map) to rename dims."
        )
    before = names_of(tensor)
    if mapping:
        for old, new in mapping.items():
            if old not in before:
                raise RuntimeError(
                    f"{function}: Tried to rename dim '{old}' to dim {new} in Tensor[{before}] but dim '{old}' does "
                    "not exist"
                )
        given_names(function, list(mapping.values()))
        return tuple([mapping.get(name, name) if name is not None else None for name in before])
    if len(names) == 1 and names[0] is None:
        return None
    return expanded(function, given_names(function, names), before)


def refined(tensor: Any, names: Sequence[Any]) -> Any:
    """The tensor with names for dimensions that have none; those that have one keep it."""
    before = names_of(tensor)
    wanted = expanded("refine_names", given_names("refine_names", names), before)
    start = f"refine_names: cannot coerce {described(before)} to {described(wanted)} because"
    if len(before) != len(wanted):
        raise RuntimeError(
            f"{start} they have a different number of dims ({len(before)} and {len(wanted)} respectively)."
        )
    check_unique(wanted)
    for place, (old, new) in enumerate(zip(before, wanted, strict=True)):
        if old is not None and new is None:
            raise RuntimeError(f"{start} {old!r} is more specific than None at index {place}")
        if old is not None and new != old:
            raise RuntimeError(f"{start} {old!r} is different from {new!r} at index {place}")
    return named_view(tensor, wanted)


# ---- orders ---------------------------------------------------------------------------------------------------


def aligned(tensor: Any, names: Sequence[Any]) -> Any:
    """A view with the dimensions in the order of the names, of which new ones have size one; `...` stands for all that
    are not mentioned."""
    wanted = given_names("align_to", names)
    before = names_of(tensor)
    place = _ellipsis("align_to", wanted)
    if place is None:
        check_unique(wanted)
        for dim, name in enumerate(before):
            if name is None:
                raise RuntimeError(
                    f"align_to: All input dims must be named. Found unnamed dim at index {dim} of {described(before)}"
                )
            if name not in wanted:
                raise RuntimeError(
                    f"align_to: Cannot find dim {name!r} from {described(before)} in desired alignment "
                    f"{listed(wanted)}."
                )
        return _arranged(tensor, [(name, _dimension(before, name)) for name in wanted])
    order = (*wanted[:place], *wanted[place + 1 :])
    if None in order:
        raise RuntimeError(f"align_to: the desired order of dimensions cannot contain a None name, got {listed(order)}")
    check_unique(order)
    mentioned: list[tuple[str | None, int | None]] = [(name, _dimension(before, name)) for name in order]
    rest: list[tuple[str | None, int | None]] = [(name, dim) for dim, name in enumerate(before) if name not in order]
    return _arranged(tensor, [*mentioned[:place], *rest, *mentioned[place:]])


def _dimension(names: Names, name: str | None) -> int | None:
    return names.index(name) if name is not None and name in names else None


def _arranged(tensor: Any, dims: Sequence[tuple[str | None, int | None]]) -> Any:
    """A view with these dimensions: the name of each, and which one of the tensor it is (None: a new one)."""
    kept = [dim for _, dim in dims if dim is not None]
    view = with_keys(0, NAMED, ops.permute, tensor, kept)
    for place, (_, dim) in enumerate(dims):
        if dim is None:
            view = ops.unsqueeze(view, place)
    return set_names(view, tuple([name for name, _ in dims]))


def aligned_together(tensors: Sequence[Any]) -> list[Any]:
    """Views of all tensors with the dimensions of the one that has the most."""
    if not tensors:
        return []
    longest = max(tensors, key=lambda each: lib.ndim(each._h))
    return [_placed(each, names_of(longest)) for each in tensors]


def _placed(tensor: Any, names: Names) -> Any:
    before = names_of(tensor)
    dims: list[tuple[str | None, int | None]] = []
    dim = len(before) - 1
    for place in range(len(names) - 1, -1, -1):
        found = dim >= 0 and before[dim] == names[place]
        if found and names[place] is None and len(before) - dim != len(names) - place:
            raise RuntimeError(
                f"Aligning {described(before)} to `names` {listed(names)} would change the absolute position from the "
                "right of an unnamed dimension. Please name unnamed dimensions to avoid ambiguity."
            )
        dims.append((names[place], dim if found else None))
        dim -= found
    if dim >= 0:
        raise RuntimeError(
            f"Could not align {described(before)} to `names` {listed(names)} because {listed(before)} is not a "
            "subsequence of `names`."
        )
    return _arranged(tensor, dims[::-1])
