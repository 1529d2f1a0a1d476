"""The slow path of every call: who answers it.

The core answers calls of dense tensors by itself (core/python/operator_call.c). Every other call comes here as
`(op, args, out, mode)`, with its arguments in schema order. The dispatch keys of its tensors are asked one after the
other: a handler that is registered for the operator and the key, else the fallback of the key. Where no key has either,
the call is one of dense tensors, and kernels.py runs it; a composite is then decomposed into calls that come here.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from .._base.devices import META
from .._base.keys import KEY_BITS
from .._handle import keys as keys_of
from . import kernels
from .op import NEW, Op
from .placement import is_laid_out, is_made_on

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
    "cuda",
    "meta",
)
KEYS = {key: KEY_BITS[key] for key in _ORDER}
"""The bits of tensors' keys, in the order in which they are asked."""

_INFERRED = frozenset({"meta"})
"""Keys of tensors about which the core answers itself what the result is."""

_handlers: dict[str, dict[Op, Handler]] = {key: {} for key in KEYS}
_fallbacks: dict[str, tuple[Handler, bool]] = {}


def register(key: str, handler: Handler, operator: Op | None = None, *, composites: bool = True) -> None:
    """Has `handler(op, args, out, mode)` answer calls with tensors that carry the dispatch key.

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


def call(op: Op, args: Sequence[Any], out: Any = None, mode: int = NEW) -> Any:
    """The result of a call, whoever answers it."""
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
    return keys | KEYS["meta"] if op in _handlers["meta"] and is_made_on(META, op, args, out) else keys


def _answer(op: Op, args: Sequence[Any], out: Any, mode: int, keys: int) -> Any:
    if keys:
        for key, bit in KEYS.items():
            if keys & bit:
                handler = _handlers[key].get(op) or _fallback(op, key)
                if handler is not None:
                    return handler(op, args, out, mode)
    return kernels.run(op, args, out, mode)


def _fallback(op: Op, key: str) -> Handler | None:
    """None: the call is decomposed, or the core's."""
    handler, composites = _fallbacks.get(key, (None, False))
    if (op.is_decomposable and not composites) or (handler is None and key in _INFERRED):
        return None
    if handler is None:
        raise NotImplementedError(
            f"{op.name}() has no implementation for {key} tensors; register one with "
            f"@opweave.library.register({op.qualified!r}, {key!r})"
        )
    return handler


def _below(key: str) -> int:
    later = list(KEYS)[list(KEYS).index(key) + 1 :]
    return sum(KEYS[each] for each in later)


_BELOW = {key: _below(key) for key in KEYS}
