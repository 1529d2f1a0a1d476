"""The key `subclass`: calls with tensors of classes that users have derived from Tensor.

The result has the class of the argument that is derived the most, as it has in torch unless a class says otherwise.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from .._base.tensor_class import Tensor
from .._handle import with_keys
from .dispatcher import KEYS, redispatch, register
from .op import INPLACE, Op


def handle(op: Op, args: Sequence[Any], out: Any, mode: int) -> Any:
    kind = _class_of(args)
    result = with_keys(0, KEYS["subclass"], _below, op, args, out, mode)
    if out is not None or mode == INPLACE or kind is Tensor:
        return result
    return _as(kind, result)


def _below(op: Op, args: Sequence[Any], out: Any, mode: int) -> Any:
    return redispatch(op, args, out, mode, below="subclass")


def _class_of(values: Any) -> type:
    """The class of the first tensor, or one derived from it among the later ones."""
    kind: type = Tensor
    for each in _tensors(values):
        if type(each) is not Tensor and issubclass(type(each), kind):
            kind = type(each)
    return kind


def _tensors(values: Any, depth: int = 3) -> Iterator[Any]:
    for each in values:
        if isinstance(each, Tensor):
            yield each
        elif isinstance(each, (list, tuple)) and depth:
            yield from _tensors(each, depth - 1)


def _as(kind: type, result: Any) -> Any:
    if type(result) is Tensor:
        return result.as_subclass(kind)
    if isinstance(result, tuple):
        parts = [_as(kind, each) for each in result]
        return type(result)(parts)
    return [_as(kind, each) for each in result] if isinstance(result, list) else result


register("subclass", handle)
