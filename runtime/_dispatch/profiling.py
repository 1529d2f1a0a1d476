"""The key `profiler`: what a thread records of its calls while one of them is measured.

A recorder that is started includes the dispatch key, so that all calls of the thread come to the dispatcher; without
one calls pay nothing. A call becomes a span, and those that are made within are spans within it. Nodes of the backward
pass (`_autograd/engine.py`) and blocks that users name are spans as well.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from time import perf_counter_ns
from types import FrameType
from typing import Any, TypeVar

from .._base.memory import memory_allocated
from .._base.tensor_class import Tensor
from . import overloads
from .dispatcher import redispatch, register
from .flops import flops_of
from .modes import include_key
from .op import Op

FUNCTION, BACKWARD_FUNCTION, USER_SCOPE = 0, 1, 7
"""The kinds of spans, by the numbers of torch's RecordScope."""

_T = TypeVar("_T")
_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
_FOLDERS = ("_dispatch", "_autograd", "_ops", "_tensor", "autograd")
_INTERNAL = tuple([os.path.join(_PACKAGE, name, "") for name in _FOLDERS])
"""Folders whose code is not the user's."""


class Span:
    """A call that was measured: from `start` to `end`, in nanoseconds of a clock that only goes forward."""

    __slots__ = (
        "end", "flops", "memory", "name", "overload", "parent", "scope", "sequence", "shapes", "stack", "start",
    )  # fmt: skip

    def __init__(self, name: str, scope: int, parent: Span | None) -> None:
        self.name, self.scope, self.parent = name, scope, parent
        self.overload = ""
        self.sequence = -1
        """The number of the node of the graph that it belongs to."""
        self.shapes: list[Any] | None = None
        """The sizes of each argument that is a tensor, lists of them for lists, and `[]` of what is neither."""
        self.stack: list[str] | None = None
        """The lines of the user's code that it was called from, the innermost first."""
        self.memory = 0
        """Bytes that tensors hold after it and did not before."""
        self.flops = 0
        """Additions and multiplications, of the operators of which they are counted."""
        self.start = self.end = 0

    def around(self) -> Iterator[Span]:
        """The spans that it is within."""
        span = self.parent
        while span is not None:
            yield span
            span = span.parent


class Recorder:
    """The record of one thread between `start` and `stop`."""

    def __init__(self, *, shapes: bool, memory: bool, stack: bool, flops: bool = False) -> None:
        self.spans: list[Span] = []
        self._shapes, self._memory, self._stack = shapes, memory, stack
        self.counts_flops = flops
        self.innermost: Span | None = None
        self.started = self.stopped = self.thread = 0

    def start(self) -> None:
        """Raises RuntimeError where this thread has a recorder already."""
        if _thread.recorder is not None:
            raise RuntimeError("Profiler is already enabled on this thread")
        _thread.recorder = self
        self.thread = threading.get_native_id()
        self.started = perf_counter_ns()
        include_key("profiler", True)

    def stop(self) -> None:
        """Raises RuntimeError in a thread in which it does not record."""
        if _thread.recorder is not self:
            raise RuntimeError("Can't disable Kineto profiler when it's not running")
        include_key("profiler", False)
        _thread.recorder = None
        self.end_within(None)
        self.stopped = perf_counter_ns()

    def begin(self, name: str, scope: int = FUNCTION, arguments: Sequence[Any] = ()) -> Span:
        """The span that begins now, within the innermost one."""
        span = Span(name, scope, self.innermost)
        if self._shapes:
            span.shapes = [_sizes(each) for each in arguments]
        if self._stack:
            span.stack = _callers(sys._getframe(1))
        if self._memory:
            span.memory = -memory_allocated()
        self.spans.append(span)
        self.innermost = span
        span.start = perf_counter_ns()
        return span

    def end(self, span: Span) -> None:
        """Ends a span, and those within it that an exception left, unless it has ended with one around it."""
        if not span.end:
            self.end_within(span.parent)

    def end_within(self, outer: Span | None) -> None:
        """Ends all spans within one that goes on; None: all that there are."""
        if outer is not None and outer.end:
            return
        now = perf_counter_ns()
        held = memory_allocated() if self._memory else 0
        while (span := self.innermost) is not None and span is not outer:
            span.end = now
            span.memory += held
            self.innermost = span.parent

    def within(self, name: str, scope: int, arguments: Sequence[Any], call: Callable[[], _T], sequence: int) -> _T:
        """The result of a call, which is a span and belongs to a node of the graph."""
        span = self.begin(name, scope, arguments)
        span.sequence = sequence
        try:
            return call()
        finally:
            self.end(span)


class _Thread(threading.local):
    recorder: Recorder | None = None


_thread = _Thread()


def recorder() -> Recorder | None:
    """Return the recorder of this thread, or None."""
    return _thread.recorder


def _sizes(value: Any) -> list[Any]:
    if isinstance(value, Tensor):
        return list(value.shape)
    return [_sizes(each) for each in value] if type(value) in (list, tuple) and _has_tensor(value) else []


def _has_tensor(values: Sequence[Any]) -> bool:
    return any(isinstance(each, Tensor) for each in values)


def _callers(frame: FrameType | None) -> list[str]:
    lines = []
    while frame is not None:
        code = frame.f_code
        if not code.co_filename.startswith(_INTERNAL):
            lines.append(f"{code.co_filename}({frame.f_lineno}): {code.co_name}")
        frame = frame.f_back
    return lines


def _record(op: Op, args: Sequence[Any], out: Any, mode: int) -> Any:
    current = _thread.recorder
    if current is None:
        return redispatch(op, args, out, mode, below="profiler")
    overload = overloads.of_call(op, mode, out)
    span = current.begin(f"{overload.namespace}::{overload._opname}", FUNCTION, args if out is None else (*args, out))
    span.overload = "" if overload._overloadname == "default" else overload._overloadname
    try:
        result = redispatch(op, args, out, mode, below="profiler")
        if current.counts_flops:
            span.flops = flops_of(overload._opname, args, [each.name.removeprefix("aten::") for each in span.around()])
        first = result[0] if type(result) in (list, tuple) and result else result
        edge = first._edge if isinstance(first, Tensor) else None
        if edge is not None:
            span.sequence = edge[0].number
        return result
    finally:
        current.end(span)


register("profiler", _record)
