"""Calls of transforms that a thread is within (`vmap`, forward derivatives), and the tensors that only these know.

Such a tensor is a handle without memory; its payload has the tensors that it stands for, and the level that it belongs
to. Calls with it are answered by the innermost level, outside which it makes calls with what the payloads hold.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Protocol, TypeVar

from .._base.devices import device_of, number_of
from .._base.handles import shape_of, strides_of, tensors_in
from .._base.keys import KEY_BITS
from .._base.tensor_class import Tensor
from .._C import lib
from .._handle import describe, excluded, make_results, needs_grad, payload, with_keys
from .dispatcher import bit_of, new_key, redispatch, register
from .modes import include_key
from .op import INPLACE, Op
from .ops import ops

KEY = "batched"

new_key(KEY, after="autograd")
_BIT = bit_of(KEY)
_AUTOGRAD, _RECORDING = KEY_BITS["autograd"], KEY_BITS["recording"]

_Result = TypeVar("_Result")


class Level:
    """One call of a transform.

    Attributes:
        is_recorded: whether what its tensors stand for has a graph, which they do not show.
        takes_all: whether it answers some calls with none of its tensors as well.
        differentiates: whether it computes derivatives of the results of calls.
    """

    __slots__ = ("is_recorded",)

    takes_all = differentiates = False

    def __init__(self, is_recorded: bool) -> None:
        self.is_recorded = is_recorded

    def answer(self, outer: tuple[Level, ...], op: Op, args: Sequence[Any], out: Any, mode: int) -> Any:
        """The result of a call with tensors of this level, within the others."""
        raise NotImplementedError

    def makes(self, op: Op) -> bool:
        """Return whether it answers calls of an operator with none of its tensors."""
        return False

    def decomposes(self, op: Op, args: Sequence[Any]) -> bool:
        """Return whether a composite is answered by the calls that its body makes."""
        raise NotImplementedError

    def after_end(self, op: Op, tensor: Any) -> Any:
        """Return the value of a tensor of this level in calls after it has ended. Raises RuntimeError where it has
        none."""
        raise NotImplementedError


class Payload(Protocol):
    """The value that a tensor of a level stands for, and the level that it belongs to."""

    @property
    def level(self) -> Level: ...


class _State(threading.local):
    def __init__(self) -> None:
        self.levels: tuple[Level, ...] = ()
        self.is_included = False


_state = _State()


def levels() -> tuple[Level, ...]:
    """The levels of this thread, from the outermost on."""
    return _state.levels


def set_levels(active: tuple[Level, ...]) -> None:
    """Makes these the levels of this thread."""
    _state.levels = active


def is_recorded() -> bool:
    """Return whether tensors of the levels that this thread is within stand for others with a graph."""
    return any(level.is_recorded for level in _state.levels)


def is_differentiated(*tensors: Any) -> bool:
    """Return whether derivatives by one of these tensors are computed: it has a graph, or a tangent."""
    if needs_grad(*tensors):
        return True
    return any(level.differentiates for level in _state.levels) and any(held_by(each) is not None for each in tensors)


def alias_of(tensor: Any) -> Any:
    """Another tensor without a graph, which stands for the same as this one does."""
    return with_keys(0, _BIT, tensor.detach)


def within(active: tuple[Level, ...], function: Callable[..., _Result], *args: Any) -> _Result:
    """The result of a function that is called within these levels, and no others."""
    before = _state.levels
    _state.levels = active
    try:
        if not active:
            return with_keys(0, _BIT, function, *args)
        takes_all = not _state.is_included and any(level.takes_all for level in active)
        return with_keys(_BIT, 0, partial(_included, function) if takes_all else function, *args)
    finally:
        _state.levels = before


def _included(function: Callable[..., _Result], *args: Any) -> _Result:
    """The result of a function of which all calls come to the handler, also those with no tensors of a level."""
    include_key(KEY, True)
    _state.is_included = True
    try:
        return function(*args)
    finally:
        _state.is_included = False
        include_key(KEY, False)


# ---- tensors of a level -------------------------------------------------------------------------------------


def stand_in(geometry: Any, leading: int, held: Payload) -> Any:
    """A tensor that stands for what a payload holds: with the dtype, device, sizes and strides of another one, but for
    its leading dimensions."""
    handle = geometry._h
    sizes, strides = tuple(shape_of(handle))[leading:], tuple(strides_of(handle))[leading:]
    return describe(Tensor, lib.dtype(handle), sizes, strides, 0, number_of(device_of(geometry)), _BIT, held)


def held_by(value: Any) -> Any:
    """The payload of a tensor of a level; None: it is any other value."""
    return payload(value) if isinstance(value, Tensor) and lib.keys(value._h) & _BIT else None


def level_of(value: Any) -> Level | None:
    """The level that a tensor belongs to; None: it is any other value."""
    held: Payload | None = held_by(value)
    return None if held is None else held.level


def view_like(tensor: Any, whole: Any, leading: int = 0) -> Any:
    """The view of a whole tensor that has the place in it that a tensor of a level has in its own memory, but for
    leading dimensions of the whole one."""
    handle = tensor._h
    sizes, strides, offset = tuple(shape_of(handle)), tuple(strides_of(handle)), lib.storage_offset(handle)
    shape, steps = tuple(shape_of(whole._h)), tuple(strides_of(whole._h))
    if not offset and sizes == shape[leading:] and strides == steps[leading:]:
        return whole
    start = lib.storage_offset(whole._h) + offset
    return whole.as_strided((*shape[:leading], *sizes), (*steps[:leading], *strides), start)


def with_each(values: Any, change: Callable[[Any], Any]) -> Any:
    """Values with other tensors in place of those among them, and in lists of them."""
    if isinstance(values, (list, tuple)):
        return [with_each(value, change) for value in values]
    return change(values) if isinstance(values, Tensor) else values


# ---- calls --------------------------------------------------------------------------------------------------


def handle(op: Op, args: Sequence[Any], out: Any, mode: int) -> Any:
    """The handler of the key: the innermost level answers, where the call is one for it."""
    active = _state.levels
    found = {*map(level_of, tensors_in([*args, out]))} - {None}
    if not found.issubset(active):
        ended = found.difference(active)
        args, out = with_each([args, out], partial(_after_end, op, ended))
        found -= ended
    if not active:
        return redispatch(op, args, out, mode, below=KEY)
    *others, level = active
    outer = tuple(others)
    if op.is_decomposable and level.decomposes(op, args):
        return redispatch(op, args, out, mode, below=KEY)
    if level not in found and not level.makes(op):
        return within(outer, partial(redispatch, op, args, out, mode, below="autograd"))
    return level.answer(outer, op, args, out, mode)


def _after_end(op: Op, ended: set[Level | None], tensor: Any) -> Any:
    level = level_of(tensor)
    return tensor if level is None or level not in ended else level.after_end(op, tensor)


def unrecorded(function: Callable[[], _Result]) -> _Result:
    """The result of a function that makes calls with what tensors stand for. Where the call of these is recorded
    further up, that of the others is another one."""
    return with_keys(_AUTOGRAD, 0, function) if excluded() & (_AUTOGRAD | _RECORDING) == _AUTOGRAD else function()


def run(op: Op, values: Sequence[Any]) -> Any:
    """The result of a call for a new tensor, with arguments in schema order."""
    count = op.positional
    rest = zip(op.names[count:], values[count:], op.defaults[count:], strict=True)
    return op.function(*values[:count], **{name: value for name, value, standard in rest if value is not standard})


def written(target: Any) -> Any:
    """The target of a call in place, which counts as written to: graphs compare that with what they saved."""
    if level_of(target) is not None:
        make_results(ops.zero_, (target,), None, INPLACE, True)
    return target


def viewed(op: Op, args: Sequence[Any], mode: int, copied: Callable[[Any, Sequence[int]], Any]) -> Any:
    """A view of a tensor of a level, which the core takes of its handle; of `reshape` perhaps a copy, for which
    `copied(tensor, sizes)` is called."""
    target = args[op.target]
    result = redispatch(op, args, None, mode, below=KEY)
    if mode == INPLACE or lib.storage_of(result._h) == lib.storage_of(target._h):
        return result
    return copied(target, result.shape)


register(KEY, handle)
