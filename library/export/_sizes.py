"""Sizes that a module reads while it is exported: numbers that note what Python decides by them."""

from __future__ import annotations

import operator
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

from .._base.tensor_class import Tensor
from .._base.types import Size
from .._handle import TensorBase
from ..compiler import _recording
from ..compiler._recording import Place

__all__ = ["COMPARISONS", "Read", "noted", "plain"]

COMPARISONS: dict[str, Callable[[Any, Any], bool]] = {
    f"__{each.__name__}__": each
    for each in (operator.eq, operator.ne, operator.lt, operator.le, operator.gt, operator.ge)
}
_FOLLOWED = ("add", "sub", "mul")
"""The operations whose results follow from sizes as programs compute them."""
_LEFT = ("floordiv", "mod", "pow", "truediv", "divmod", "and", "or", "xor", "lshift", "rshift")
"""The operations whose results do so for some sizes only."""
_lock = threading.RLock()
"""The class of tensors is changed while sizes are noted: by one thread at a time."""


class Read(NamedTuple):
    """Fact that Python was told of a size: the result of a comparison, or a number that nothing follows any longer."""

    place: Place
    what: str
    operands: tuple[Any, ...]


class _State(threading.local):
    reads: list[Read] | None = None


_state = _State()


def plain(value: Any) -> Any:
    """Return a number without a note."""
    return int.__pos__(value) if type(value) is ReadSize else value


def _noting() -> Any:
    """The recording for which this thread notes what it reads of sizes; None: it notes nothing."""
    recording = _recording.active()
    return None if _state.reads is None or recording is None or recording.is_paused else recording


def _note(what: str, *operands: Any) -> None:
    recording, reads = _noting(), _state.reads
    if recording is not None and reads is not None:
        reads.append(Read(recording.place(), what, tuple(map(plain, operands))))


def _computing(name: str) -> Callable[..., Any]:
    def compute(self: Any, other: Any) -> Any:
        if not isinstance(other, int):
            _note("number", self)
            return getattr(plain(self), name)(other)
        return ReadSize(getattr(plain(self), name)(plain(other)))

    return compute


def _leaving_both(name: str) -> Callable[..., Any]:
    def leave(self: Any, other: Any, *rest: Any) -> Any:
        _note("number", self, *((other,) if isinstance(other, int) else ()))
        return getattr(plain(self), name)(plain(other), *rest)

    return leave


def _comparing(name: str) -> Callable[..., Any]:
    def compare(self: Any, other: Any) -> Any:
        _note(name, self, other)
        return getattr(plain(self), name)(plain(other))

    return compare


def _leaving(name: str) -> Callable[..., Any]:
    def leave(self: Any) -> Any:
        _note("number", self)
        return getattr(plain(self), name)()

    return leave


def _truth(self: Any) -> bool:
    _note("__ne__", self, 0)
    return bool(plain(self))


_MEMBERS: dict[str, Any] = {
    **{f"__{side}{name}__": _computing(f"__{side}{name}__") for name in _FOLLOWED for side in ("", "r")},
    **{f"__{side}{name}__": _leaving_both(f"__{side}{name}__") for name in _LEFT for side in ("", "r")},
    **{name: _comparing(name) for name in COMPARISONS},
    **{name: _leaving(name) for name in ("__int__", "__float__", "__round__", "__abs__", "__invert__")},
    "__neg__": lambda self: ReadSize(-plain(self)),
    "__bool__": _truth,
    "__hash__": int.__hash__,
    "__format__": lambda self, spec: format(plain(self), spec),
    "__str__": int.__repr__,
    "__module__": __name__,
}
ReadSize: Any = type("ReadSize", (int,), _MEMBERS)


def _changes() -> Iterator[tuple[str, Any]]:
    shape, size = TensorBase.shape, vars(Tensor)["size"]

    def sizes(self: Any) -> Any:
        found = shape.__get__(self)
        return tuple.__new__(Size, map(ReadSize, found)) if _noting() is not None else found

    def size_of(self: Any, *args: Any, **kwargs: Any) -> Any:
        found = size.__get__(self, type(self))(*args, **kwargs)
        if _noting() is None:
            return found
        return ReadSize(found) if isinstance(found, int) else tuple.__new__(Size, map(ReadSize, found))

    yield "shape", property(sizes)
    yield "size", size_of
    for name in ("numel", "nelement"):
        count = getattr(Tensor, name)
        yield name, lambda self, count=count: ReadSize(count(self)) if _noting() is not None else count(self)
    length = Tensor.__len__

    def length_of(self: Any) -> int:
        found: int = length(self)
        _note("number", found)
        return found

    yield "__len__", length_of


@contextmanager
def noted(reads: list[Read]) -> Iterator[None]:
    """A block in which this thread notes what Python is told of sizes while calls are recorded."""
    with _lock:
        before = {name: vars(Tensor).get(name) for name, _ in _changes()}
        try:
            for name, value in [*_changes()]:
                setattr(Tensor, name, value)
            _state.reads = reads
            yield
        finally:
            _state.reads = None
            for name, value in before.items():
                delattr(Tensor, name) if value is None else setattr(Tensor, name, value)
