"""The slow path of operators with an `indexing` body: argument types, numbers in the place of tensors, words, errors.

As in dispatcher.py, the generated functions settle the common case themselves.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

from .._base import histories
from .._base.handles import OVERFLOW, plain_number
from .._base.histories import needs_grad
from .._C import lib
from .._handle import adopt
from . import dispatcher
from .arguments import Arguments, integer, type_name
from .dispatcher import Op


@dataclass(frozen=True)
class _Details:
    """What an operator's entry says besides its name and tensors."""

    names: tuple[str, ...]
    ints: tuple[str, ...]
    numbers: tuple[str, ...]
    word: str | None
    words: dict[str | None, int]
    refusal: str | None


_details: dict[str, _Details] = {}


def describe(
    op: Op,
    names: tuple[str, ...],
    ints: tuple[str, ...],
    numbers: tuple[str, ...],
    word: str | None,
    words: dict[str | None, int],
    refusal: str | None,
) -> None:
    """Names of all arguments, of the integers and the word among them, of tensors that may be numbers, of the word."""
    _details[op.name] = _Details(names, ints, numbers, word, words, refusal)


def call(op: Op, inputs: tuple[Any, ...], params: tuple[Any, ...], ints: tuple[Any, ...], out: Any, mode: int) -> Any:
    """A new result, `out`, or the first input, by `mode`."""
    if needs_grad(inputs, out):
        run = partial(call, op, inputs, params, ints, out, mode)
        every = (*inputs, *params, *ints)
        if mode == dispatcher.INPLACE:
            return histories.recording.call_inplace(op, out, every, run)
        return histories.recording.call(op, every, run, out)
    details = _details[op.name]
    arguments = Arguments()
    try:
        tensors = [_tensor(op, details, arguments, place, value) for place, value in enumerate(inputs)]
        numbers = [arguments.param(op, place, value) for place, value in enumerate(params)]
        values = [_integer(op, details, name, value) for name, value in zip(details.ints, ints, strict=True)]
        target = arguments.out(op, out)
        i, j, k = [*values, 0, 0, 0][:3]
        try:
            param = numbers[0] if numbers else 0.0
            handle = lib.indexing(op.index, *dispatcher.pad3(tensors), param, i, j, k, target, mode)
        except OverflowError:
            raise ValueError(OVERFLOW) from None
        if not handle:
            return dispatcher.decline(op, [*tensors, target], inputs, params, ints, out, mode)
        return out if mode else arguments.result(handle)
    finally:
        arguments.release()


def number(op: Op, replaced: str, tensor: Any, name: str, value: Any) -> Any:
    """A number that was given by its own name in the place of a tensor."""
    if tensor is not None:
        raise TypeError(f"{op.name}(): '{replaced}' and '{name}' exclude one another")
    if isinstance(value, dispatcher.Tensor):
        if value.ndim:
            raise TypeError(f"{op.name}(): argument '{name}' must be Number, not {type_name(value)}")
        return value.item()
    return value


def number_tensor(value: Any) -> Any:
    """A tensor that stands for a plain number, which spares it the slow path; anything else as it is."""
    handle = plain_number(value)
    if not handle:
        return value
    return adopt(handle, dispatcher.Tensor)


def _tensor(op: Op, details: _Details, arguments: Arguments, place: int, value: Any) -> float:
    name = op.inputs[place]
    if not isinstance(value, dispatcher.Tensor) and (name not in details.numbers or value is None):
        position = details.names.index(name) + 1
        raise TypeError(f"{op.name}(): argument '{name}' (position {position}) must be Tensor, not {type_name(value)}")
    return arguments.tensor(op, place, value)


def _integer(op: Op, details: _Details, name: str, value: Any) -> int:
    """The int that the core is given for an int, a bool or the word."""
    if name == details.word:
        return _word(op, details, name, value)
    return int(value) if isinstance(value, bool) else integer(op, name, value)


def _word(op: Op, details: _Details, name: str, value: Any) -> int:
    if not isinstance(value, str) and (value is not None or None not in details.words):
        position = details.names.index(name) + 1
        raise TypeError(f"{op.name}(): argument '{name}' (position {position}) must be str, not {type_name(value)}")
    if value not in details.words:
        raise RuntimeError((details.refusal or "unknown word {word}").format(word=value))
    return details.words[value]
