"""The slow path of every call: who answers it.

The core answers calls of dense tensors by itself (core/python/operator_call.c). Every other call comes here as
`(op, args, out, mode)`, with its arguments in schema order. The dispatch keys of its tensors are asked one after the
other: a handler that is registered for the operator and the key, else the fallback of the key. Where no key has either,
the call is one of dense tensors, and kernels.py runs it; a composite is then decomposed into calls that come here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeAlias

from .._base.devices import CPU
from .._base.keys import KEY_BITS
from .._base.keys import new_key as _new_bit
from .._base.notes import explained
from .._handle import keys as keys_of
from .._handle import set_answered
from . import kernels
from .op import NEW, Op
from .placement import is_laid_out, is_transfer, made_on, require_one_device

Handler: TypeAlias = Callable[[Op, Sequence[Any], Any, int], Any]
"""Called as `handler(op, args, out, mode)`; its result is that of the call. NotImplemented stands for classes that all
decline."""

_ORDER = (
    "function_mode",
    "subclass",
    "profiler",
    "named",
    "autocast",
    "autograd",
    "dispatch_mode",
    "python",
    "conj",
    "sparse",
    "quantized",
    "meta",
)
KEYS = {key: KEY_BITS[key] for key in _ORDER}
"""The bits of tensors' keys."""

_asked = tuple(KEYS.items())
"""Keys and bits in the order in which they are asked."""

_added: set[str] = set()
"""Keys that programs have added."""

_devices = {"meta"}
"""Keys of devices but the CPU's: the core makes views of any memory, moves elements, and infers what results are."""

_runs: dict[str, frozenset[str]] = {}
"""The families of operators that a device runs, by its key."""

_of_devices: dict[Op, Handler] = {}
"""The handlers of operators for registered devices that have none of their own, before their fallbacks."""

_handlers: dict[str, dict[Op, Handler]] = {key: {} for key in KEYS}
_fallbacks: dict[str, tuple[Handler, bool]] = {}


def register(key: str, handler: Handler, operator: Op | None = None, *, composites: bool = True) -> None:
    """Register `handler(op, args, out, mode)` for calls with tensors that carry the dispatch key.

    `operator`: the only operator that it is for; None: it answers all that have no handler of their own,
    and with `composites=False` those alone that are not composites, which are decomposed instead.

    Raises ValueError for an unknown key, and where there is a handler already.
    """
    bit_of(key)
    if (key in _fallbacks) if operator is None else (operator in _handlers[key]):
        what = "a fallback" if operator is None else f"a handler of {operator.name}()"
        raise ValueError(f"the dispatch key {key!r} has {what} already")
    if operator is None:
        _fallbacks[key] = handler, composites
    else:
        _handlers[key][operator] = handler
    _tell_core()


def register_for_devices(handler: Handler, operator: Op) -> None:
    """Has a handler answer an operator for all registered devices but those that have one of their own."""
    _of_devices[operator] = handler


def _tell_core() -> None:
    """Tell the core the keys whose calls need not come here: of devices for which no operator of the core has a
    handler."""
    keys = [key for key in _devices if not any(op.index >= 0 for op in _handlers[key])]
    set_answered(sum(KEYS[key] for key in keys if key != "meta" or key not in _fallbacks))


def _add(key: str, bit: int, place: int) -> None:
    """Add a new key at a place in the order."""
    global _asked
    KEYS[key] = bit
    _handlers[key] = {}
    order = (*_asked[:place], (key, bit), *_asked[place:])
    _BELOW.update(_below(order))
    _asked = order


def new_key(name: str, *, after: str) -> None:
    """Add a dispatch key, which tensors can carry and which is asked after another one.

    Raises:
        ValueError: there is a key of the name, or none that it could come after.
        RuntimeError: tensors have no bits for another key.
    """
    place = [key for key, _ in _asked].index(after) + 1 if bit_of(after) else 0
    if name in KEY_BITS:
        raise ValueError(f"there is a dispatch key {name!r} already")
    if place == len(_asked):
        raise ValueError(f"the key {after!r} is asked last: what it does not answer is the core's")
    _add(name, _new_bit(name), place)
    _added.add(name)


def added_keys() -> frozenset[str]:
    """The keys that programs have added."""
    return frozenset(_added)


def add_device(name: str, families: Iterable[str]) -> None:
    """Add the key of a registered device, before that of `meta`.

    Before its fallback, the core is asked for the families of operators that the device runs.
    """
    _add(name, KEY_BITS[name], len(_asked) - 1)
    _devices.add(name)
    _runs[name] = frozenset(families)
    _tell_core()


def bit_of(key: str) -> int:
    """The bit of a dispatch key. Raises ValueError where there is none of that name."""
    if key not in KEYS:
        raise ValueError(f"unknown dispatch key {key!r}; there are {', '.join(KEYS)}")
    return KEYS[key]


def unregister(key: str, operator: Op | None = None) -> None:
    """Takes a registration back."""
    if operator is None:
        _fallbacks.pop(key, None)
    else:
        _handlers[key].pop(operator, None)
    _tell_core()


def call(op: Op, args: Sequence[Any], out: Any = None, mode: int = NEW) -> Any:
    """Return the result of a call with its arguments in schema order, whoever answers it."""
    return _answer(op, args, out, mode, _keys(op, args, out))


def redispatch(op: Op, args: Sequence[Any], out: Any = None, mode: int = NEW, *, below: str) -> Any:
    """The same as for a handler of the key `below`, which has done its part: the keys after it are asked."""
    return _answer(op, args, out, mode, _keys(op, args, out) & _BELOW[below])


def _keys(op: Op, args: Sequence[Any], out: Any) -> int:
    """The keys of all tensors. A call that makes some of nothing has those of their device and their layout, where a
    handler wants them."""
    keys = keys_of(args, out)
    if op in _handlers["sparse"] and is_laid_out(op, args):
        keys |= KEYS["sparse"]
    if "device" in op.names or op.family == "factory":
        where = made_on(op, args, out) or CPU
        keys |= KEYS.get(where.type, 0)
    return keys


def _answer(op: Op, args: Sequence[Any], out: Any, mode: int, keys: int) -> Any:
    for key, bit in _asked if keys else ():
        if not keys & bit:
            continue
        handler = _handlers[key].get(op)
        if handler is None and op.family in _runs.get(key, ()):
            try:
                return kernels.run(op, args, out, mode)
            except NotImplementedError:
                if key not in _fallbacks:
                    raise
        handler = handler or _fallback(op, args, key)
        if handler is not None:
            if key in _devices:
                require_one_device(op, args, out)
            return handler(op, args, out, mode)
    return kernels.run(op, args, out, mode)


def _fallback(op: Op, args: Sequence[Any], key: str) -> Handler | None:
    """None: the call is decomposed, or the core's."""
    if key in _runs and op in _of_devices:
        return _of_devices[op]
    handler, composites = _fallbacks.get(key, (None, False))
    makes_alike = key in _added and "device" in op.names  # what a tensor of nothing would not know of the key
    if op.is_decomposable and not composites and not makes_alike:
        return None
    if key in _devices:
        return None if op.view or is_transfer(op, args) else handler
    if handler is None:
        text = (
            f"{op.name}() has no implementation for {key} tensors; register one with "
            f"@opweave.library.register({op.qualified!r}, {key!r})"
        )
        raise explained(NotImplementedError(text), "docs/dispatch.md")
    return handler


def _below(order: Sequence[tuple[str, int]]) -> dict[str, int]:
    return {key: sum(bit for _, bit in order[place + 1 :]) for place, (key, _) in enumerate(order)}


_BELOW = _below(_asked)
"""The bits of the keys that are asked after a key, by that key."""

_tell_core()
