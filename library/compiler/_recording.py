"""Records the calls of operators that a function makes while it runs.

Nothing stands in for tensors: the function computes its result as ever, and each call is written down with the tensors
that it had and gave. The calls are those below autocast and above autograd, with operators made of others decomposed.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterable, Sequence
from types import FrameType
from typing import Any, NamedTuple

from .._base.handles import shape_of, strides_of, tensors_in
from .._base.notes import explained
from .._base.tensor_class import Tensor
from .._C import lib
from .._dispatch.autocast import casting
from .._dispatch.dispatcher import bit_of, new_key, redispatch, register
from .._dispatch.levels import level_of
from .._dispatch.modes import RECORDED, include_key
from .._dispatch.op import COMPOSITE, NEW, Op
from .._handle import excluded, needs_grad, set_shape_reader, with_keys
from ._size_reads import SizeReads

NUMBERS = (bool, int, float, complex)
"""The classes of what is read of elements."""

new_key(RECORDED, after="autocast")
_BIT = bit_of(RECORDED)


class Place(NamedTuple):
    """A line of a program."""

    file: str
    line: int

    def __str__(self) -> str:
        return f"{self.file}, line {self.line}"


class Unsupported(RuntimeError):  # noqa: N818 (the name of torch's error)
    """Error: what a function does cannot be recorded to answer its later calls. Its text says why, and where."""

    def __init__(self, reason: str, place: Place | None = None) -> None:
        super().__init__(reason if place is None else f"{reason} ({place})")


class Facts(NamedTuple):
    """Everything known of a tensor but for its elements."""

    dtype: Any
    shape: tuple[int, ...]
    stride: tuple[int, ...]


class Call(NamedTuple):
    """One call of an operator."""

    op: Op
    args: tuple[Any, ...]
    out: Any
    mode: int
    result: Any
    """A tensor, or several; a bool or a number where the call reads an element."""
    excluded: int
    """The dispatch keys that the thread did not look at."""
    is_tracked: bool
    """True if a gradient was recorded."""
    place: Place
    casts: Any = None
    """The format of autocast for what it calls itself; None: there is none."""


class Recording:
    """The calls that a thread makes, in order, until it ends."""

    page = "docs/compile.md#what-is-not-recorded"
    """The section of the documentation that says what is recorded."""
    is_export = False
    """True if they become a program that is run without the function."""

    def __init__(
        self,
        given: Iterable[Any],
        is_own: Callable[[FrameType], bool],
        by_memory: bool = False,
        has_conditions: bool = False,
        hidden: int = 0,
    ) -> None:
        """Begin with no calls. `given` are the tensors that the function is given, `is_own(frame)` is true
        of frames of the package, and with `has_conditions` elements may be read for them. A program will not look at
        the dispatch keys `hidden`."""
        self.calls: list[Call] = []
        self.constants: dict[int, tuple[Any, Any]] = {}
        """Tensors that no recorded call has made, each with a copy from before anything was written to it: what the
        package makes of numbers."""
        self.made: dict[int, Any] = {}
        """Tensors that `opweave.tensor` has made."""
        self.reason: Unsupported | None = None
        """The reason why no program can be made of it; None: one can."""
        self.raises = False
        """True if the first reason is raised at once."""
        self.calls_modules = False
        """True if modules are called, and with them the hooks of all modules."""
        self.is_paused = False
        """True while a call runs, within which nothing is recorded."""
        self.aliases: dict[int, tuple[Any, Any]] = {}
        """Other objects of tensors that are known, and these, where `by_memory` says so: what graphs save."""
        self.sizes: SizeReads | None = None
        """The sizes that Python is told; None: that is not noted."""
        self.keeps_composites = False
        """True if an operator that is made of others is one call where its Python is told sizes."""
        self.has_elements = True
        """False if tensors are described only, to find out what calls give."""
        self._by_memory: dict[Any, Any] | None = {} if by_memory else None
        self._has_conditions = has_conditions
        self._hidden = hidden
        self._draws = False
        """True if random numbers were drawn."""
        self._is_own = is_own
        self._given = {id(each): each for each in given}
        self._versions = self._given_versions()
        self._storages = {int(lib.storage_of(each._h)) for each in self._given.values()}
        self._facts: dict[int, Facts] = {}

    def note_sizes(self, keeps_composites: bool) -> None:
        """Note the sizes that Python is told, and keep composites or not."""
        self.sizes = SizeReads(self.place)
        self.keeps_composites = keeps_composites
        for each in self._given.values():
            self.sizes.know(each)

    @property
    def tensors_read(self) -> list[Any]:
        """The tensors of which Python was told sizes."""
        return [] if self.sizes is None else [each.tensor for each in self.sizes.found.values()]

    def decomposes(self, op: Op, out: Any, mode: int) -> bool:
        """Return whether what is recorded are the calls that a call makes, and not itself."""
        return op.decomposes and mode == NEW and out is None

    def refuse(self, reason: str, frame: FrameType | None = None) -> None:
        """Note why no program can be made of what is recorded."""
        if self.reason is None:
            self.reason = explained(Unsupported(reason, self.place(frame)), self.page)
            if self.raises:
                raise self.reason

    def keep(self, constant: Any) -> Any:
        """Return the copy of a tensor that no recorded call has made."""
        if id(constant) not in self.constants:
            is_number = constant.numel() == 1 and int(lib.storage_of(constant._h)) not in self._storages
            if constant.requires_grad or not (is_number or id(constant) in self.made):
                self.refuse("a tensor has part that no operator has made")
            self.constants[id(constant)] = constant, with_keys(0, _BIT, constant.detach().clone)
        return self.constants[id(constant)][1]

    def place(self, frame: FrameType | None = None) -> Place:
        """Return the line of the program, outside of the package, that is at work."""
        frame = frame or sys._getframe(1)
        while frame.f_back is not None and self._is_own(frame):
            frame = frame.f_back
        return Place(frame.f_code.co_filename, frame.f_lineno)

    def facts(self, tensor: Any) -> Facts:
        """Return what was known of a tensor when it was first recorded."""
        if id(tensor) not in self._facts:
            self._facts[id(tensor)] = Facts(tensor.dtype, tuple(tensor.shape), tensor.stride())
        return self._facts[id(tensor)]

    def note(self, tensor: Any) -> None:
        """Take a tensor for one that is known."""
        self.facts(tensor)
        if self.sizes is not None:
            self.sizes.know(tensor)
        self._storages.add(int(lib.storage_of(tensor._h)))
        if self._by_memory is not None:
            self._by_memory.setdefault(_memory_of(tensor), tensor)

    def _is_alias(self, tensor: Any) -> bool:
        known = None if self._by_memory is None else self._by_memory.get(_memory_of(tensor))
        if known is None or known.requires_grad is not tensor.requires_grad:
            return False
        self.aliases[id(tensor)] = tensor, known
        return True

    def call(self, op: Op, args: Sequence[Any], out: Any, mode: int) -> Any:
        """Return the result of a call, which is recorded."""
        with self.paused():
            return self._call(op, args, out, mode)

    def decomposed(self, op: Op, args: Sequence[Any]) -> Any:
        """Return the result of a call of which the calls that it makes are recorded; or it alone, if its Python is told
        sizes."""
        sizes = self.sizes
        if sizes is None or not self.keeps_composites:
            return redispatch(op, args, None, NEW, below=RECORDED)
        with self.paused():
            self._take(args)
        calls, reads = len(self.calls), len(sizes.found)
        result = redispatch(op, args, None, NEW, below=RECORDED)
        with self.paused():
            is_tensors = bool(_results(result)) and all(isinstance(each, Tensor) for each in _results(result))
            if len(sizes.found) > reads and is_tensors:
                del self.calls[calls:]
                sizes.forget_from(reads)
                self._add(op, args, None, NEW, result, needs_grad(*args), casting())
        return result

    def paused(self) -> _Pause:
        """Return a block in which nothing is recorded."""
        return _Pause(self)

    def _take(self, operands: Iterable[Any]) -> None:
        for each in tensors_in(operands):
            if id(each) not in self._facts and id(each) not in self._given and not self._is_alias(each):
                self.keep(each)
            self.note(each)

    def _call(self, op: Op, args: Sequence[Any], out: Any, mode: int) -> Any:
        is_tracked = needs_grad(*args)
        self._take((*args, out))
        result = redispatch(op, args, out, mode, below=RECORDED)
        self._add(op, args, out, mode, result, is_tracked, casting() if op.family == COMPOSITE else None)
        return result

    def _add(self, op: Op, args: Sequence[Any], out: Any, mode: int, result: Any, is_tracked: bool, casts: Any) -> None:
        """Write down a call that was made."""
        keys = excluded() | self._hidden
        self.calls.append(Call(op, tuple(args), out, mode, result, keys, is_tracked, self.place(), casts))
        for each in _results(result):
            if isinstance(each, Tensor):
                self.note(each)
                if self.facts(each) != Facts(each.dtype, tuple(each.shape), each.stride()):
                    self.refuse(f"{op.name}() changes the shape of a tensor")
            elif self._has_conditions and result is each and isinstance(each, NUMBERS):
                self._refuse_read(op)
            elif each is not None:
                self.refuse(f"{op.name}() reads elements for a number")
        self._draws |= op.random

    def _refuse_read(self, op: Op) -> None:
        """Refuse to read an element where the function could not begin anew, to be recorded on another way."""
        if self._draws or self._given_versions() != self._versions:
            self.refuse(f"{op.name}() reads elements after numbers were drawn, or something outside was written to")

    def _given_versions(self) -> list[int]:
        return [int(lib.version(each._h)) for each in self._given.values()]


def _results(result: Any) -> Sequence[Any]:
    return result if isinstance(result, (tuple, list)) else (result,)


def _memory_of(tensor: Any) -> Any:
    handle = tensor._h
    return lib.storage_of(handle), lib.storage_offset(handle), shape_of(handle), strides_of(handle), tensor.dtype


class _Pause:
    """A block of a recording in which nothing is recorded."""

    __slots__ = ("_recording",)

    def __init__(self, recording: Recording) -> None:
        self._recording = recording

    def __enter__(self) -> None:
        self._recording.is_paused = True
        include_key(RECORDED, False)
        if self._recording.sizes is not None:
            self._recording.sizes.pause()

    def __exit__(self, *error: object) -> None:
        if self._recording.sizes is not None:
            self._recording.sizes.resume()
        include_key(RECORDED, True)
        self._recording.is_paused = False


class _State(threading.local):
    recording: Recording | None = None


_state = _State()


def active() -> Recording | None:
    """Return the recording of this thread."""
    return _state.recording


def record(recording: Recording, watch: Any, function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """Return the result of a function, whose calls are recorded. `watch` is told what Python runs meanwhile."""
    before = sys.getprofile()
    _state.recording = recording
    include_key(RECORDED, True)
    sys.setprofile(watch)
    try:
        if recording.sizes is not None:
            recording.sizes.resume()
        return function(*args, **kwargs)
    finally:
        sys.setprofile(before)
        if recording.sizes is not None:
            recording.sizes.pause()
        include_key(RECORDED, False)
        _state.recording = None


def _answer(op: Op, args: Sequence[Any], out: Any, mode: int) -> Any:
    recording = _state.recording
    if recording is None:
        return redispatch(op, args, out, mode, below=RECORDED)
    of_levels = [level for each in tensors_in((*args, out)) if (level := level_of(each)) is not None]
    if of_levels:  # it makes calls with what these stand for, which are recorded
        if any(each.differentiates and (each.is_recorded or needs_grad(*args)) for each in of_levels):
            recording.refuse("gradients of tangents are recorded")
        return redispatch(op, args, out, mode, below=RECORDED)
    if recording.decomposes(op, out, mode):
        return recording.decomposed(op, args)
    return recording.call(op, args, out, mode)


def _read_shape(tensor: Any) -> None:
    recording = _state.recording
    if recording is not None and recording.sizes is not None:
        with recording.paused():
            recording.sizes.read_shape(tensor, sys._getframe(1))


register(RECORDED, _answer)
set_shape_reader(_read_shape)
