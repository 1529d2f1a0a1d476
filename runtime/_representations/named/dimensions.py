"""Arguments that say which dimensions are meant: positions in the place of names."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..._base.handles import exact_integer, is_integer, tensors_in
from ..._dispatch.op import Op
from ..._dispatch.rules import dimensions
from .names import Names, names_of, position


def resolved(op: Op, args: Sequence[Any]) -> Sequence[Any]:
    """The arguments with positions in the place of names of dimensions, which are those of the first tensor."""
    tensors = tensors_in(args)
    named = [place for place in dimensions(op) if _is_by_name(op, place, args[place])]
    if not named or not tensors:
        return args
    names = names_of(tensors[0])
    return [_position(names, value) if place in named else value for place, value in enumerate(args)]


def _is_by_name(op: Op, place: int, value: Any) -> bool:
    if isinstance(value, (tuple, list)):
        return any(isinstance(each, str) for each in value)
    return isinstance(value, str) or (value is None and op.defaults[place] is ... and not _may_be_none(op, place))


def _may_be_none(op: Op, place: int) -> bool:
    types = op.types[place]
    return types.endswith("?") or types == "any"


def _position(names: Names, value: Any) -> Any:
    if isinstance(value, (tuple, list)):
        return type(value)([_position(names, each) for each in value])
    return position(names, value) if value is None or isinstance(value, str) else value


def reduced(op: Op, args: Sequence[Any], ndim: int) -> tuple[int, ...]:
    """The dimensions that a reduction is over; all of them where it names none."""
    given = [args[place] for place in dimensions(op)[:1] if args[place] is not None]
    if given and isinstance(given[0], (tuple, list)):
        given = list(given[0])
    if not given:
        return tuple(range(ndim))
    return tuple([exact_integer(each) % ndim for each in given if ndim and is_integer(each)])
