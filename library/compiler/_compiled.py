"""Compiled functions: they answer calls by programs that were recorded, where nothing is different but elements.

A call that no program is for runs the function itself, and records a program meanwhile. What cannot be recorded runs
as it is, each time.
"""

from __future__ import annotations

import os
import sys
import threading
import weakref
from collections.abc import Callable, Iterable, Iterator, Sequence, Set
from functools import wraps
from typing import Any, NamedTuple, TypeVar

from .._base.handles import tensors_in
from .._base.pytree import Structure, container_of, flatten
from .._base.tensor_class import Tensor
from .._dispatch.autocast import AUTOCAST, casting
from .._handle import answer, excluded, signature, with_keys
from . import _recording
from ._bound import Unbound, bound
from ._called_modules import CalledModules
from ._graph import Ways
from ._program import Program, Unrecorded
from ._python_state import Guard, PythonState, is_constant, is_own_frame
from ._recording import Recording, Unsupported
from ._watch import Watch

_MOST_PROGRAMS = 8
_MOST_SIZES = 64
"""The number of combinations of sizes whose programs one recording keeps."""
_MOST_UNBOUND = 8
"""The number of combinations of sizes that a recording may not be for before no other is tried."""
_MOST_REFUSALS = 2
"""The number of calls that may fail to be recorded before no other is tried: the first one may fill caches."""

_Called = TypeVar("_Called", bound=Callable[..., Any])


class _Arguments:
    """The arguments of a call: their tensors, and the rest, to which the format of autocast belongs.

    Attributes:
        hidden: the dispatch keys that a program is not to look at, as its calls are cast already.
        is_plain: True if there are tensors alone, by position.
    """

    __slots__ = ("hidden", "is_plain", "others", "structure", "tensors")

    def __init__(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        leaves, self.structure = flatten((args, kwargs))
        self.tensors = tuple([each for each in leaves if isinstance(each, Tensor)])
        casts = casting()
        self.others = (casts, *(each for each in leaves if not isinstance(each, Tensor)))
        self.hidden = 0 if casts is None else AUTOCAST
        self.is_plain = casts is None and not kwargs and all(isinstance(each, Tensor) for each in args)

    def is_same(self, other: _Arguments) -> bool:
        """Return whether they are the very same tensors, and the rest is like it was."""
        are_same = [*map(id, self.tensors)] == [*map(id, other.tensors)]
        return are_same and self.is_like(other)

    def is_like(self, other: _Arguments | _Kept) -> bool:
        """Return whether only tensors are different."""
        pairs = zip(self.others, other.others, strict=False)
        return self.structure == other.structure and all(one is two or _is_same(one, two) for one, two in pairs)


def _is_same(one: Any, other: Any) -> bool:
    """Return whether two numbers or texts are the same in all that a function could tell."""
    is_alike = type(one) is type(other) and isinstance(one, (int, float, str, bytes)) and repr(one) == repr(other)
    return is_alike and is_constant(one)


class Entry:
    """A recording, and the calls that it is for.

    Attributes:
        program: its program.
        for_tensors: the same for the core, to answer calls of tensors alone.
        others: programs for other sizes, by the signatures of tensors.
        unbound: why there is none for some sizes.
        cause: why there is this one besides another; "": it is the first one of its kind.
    """

    def __init__(
        self, arguments: _Arguments, captured: tuple[Any, ...], guard: Guard, ways: Ways, cause: str = ""
    ) -> None:
        tensors = arguments.tensors + captured
        wanted, kinds = signature(tensors, True), signature(tensors, False)
        if wanted is None:
            raise Unsupported("a variable is no plain tensor")
        self.arguments = _Kept(arguments.structure, arguments.others, arguments.is_plain)
        self.captured = captured
        self.ways = ways
        self.cause = cause
        self.program = Program(ways.graph(), excluded())
        ways.release()
        self.others: dict[bytes, Program] = {}
        self.unbound: list[str] = []
        self._guard = guard
        self._kinds = kinds
        self._runs: dict[bytes, Any] = {}
        self.for_tensors = wanted, captured, *guard, self.program.run, self._runs

    def differs_by_sizes(self, arguments: _Arguments) -> bool:
        """Return whether a call is like the recorded one but for sizes."""
        is_like = arguments.is_like(self.arguments) and self._guard.holds()
        return is_like and signature(arguments.tensors + self.captured, False) == self._kinds

    def bind(self, arguments: _Arguments) -> bool:
        """Make a program for the sizes of a call that differs by them. Returns False where none can be made."""
        tensors = arguments.tensors + self.captured
        key = signature(tensors, True)
        if key is None or len(self.unbound) >= _MOST_UNBOUND:
            return False
        if key not in self.others:
            try:
                program = bound(self.ways, tensors, arguments.hidden)
            except Unbound as reason:
                self.unbound.append(str(reason))
                return False
            while len(self.others) >= _MOST_SIZES:
                self.forget(next(iter(self.others.values())))
            self.others[key], self._runs[key] = program, program.run
        return True

    def forget(self, program: Program) -> None:
        """Forget a program for other sizes."""
        for key in [key for key, each in self.others.items() if each is program]:
            del self.others[key], self._runs[key]


class _Kept(NamedTuple):
    """Facts about the arguments of a recorded call, without its tensors, so that these end."""

    structure: Structure
    others: tuple[Any, ...]
    is_plain: bool


class Compiled:
    """The programs of a compiled function.

    Attributes:
        function: the function itself.
        entries: its programs, the last one first.
        for_tensors: those that are for calls of tensors alone, by position, as the core takes them.
        refusals: why calls could not be recorded.
        is_other: whether the last call was not to be recorded, for its tensors or modes.
        modules: what the function calls where it cannot be recorded.
        is_dynamic: whether programs are made for other sizes than those of a recording.
    """

    def __init__(
        self, function: Callable[..., Any], fullgraph: bool, limit: int | None, dynamic: bool | None = None
    ) -> None:
        self.function = function
        self._dynamic = dynamic
        self.is_dynamic = dynamic is not False
        self.entries: tuple[Entry, ...] = ()
        self.for_tensors: tuple[Any, ...] = ()
        self.refusals: list[str] = []
        self.is_other = False
        self.modules = CalledModules(lambda call: compiled(call, False, limit, dynamic))
        self._fullgraph = fullgraph
        self._limit = _MOST_PROGRAMS if limit is None else limit
        self._attempts = 0
        self._lock = threading.Lock()
        _all.add(self)

    def reset(self) -> None:
        """Forget all programs."""
        self._keep(())
        self.refusals, self._attempts = [], 0
        self.modules.compiled.clear()

    def release_after_fork(self) -> None:
        """Forget all programs if another thread was changing them, which is not in this process."""
        if self._lock.locked():
            self._lock = threading.Lock()
            self.reset()

    def _keep(self, entries: Sequence[Entry]) -> None:
        self.entries = tuple(entries)
        self.for_tensors = tuple([each.for_tensors for each in self.entries if each.arguments.is_plain])

    def call(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Return the result of a call that is none of tensors alone, or the first one of its kind."""
        arguments = _Arguments(args, kwargs)
        result = self._answered(arguments)
        if result is NotImplemented and not _is_watched() and with_keys(0, arguments.hidden, self._bind, arguments):
            result = self._answered(arguments)
        if result is not NotImplemented:
            return result
        if self._is_left_alone(arguments):
            if self.is_other or _is_watched() or not (self._is_refused or not self.entries):
                return self.function(*args, **kwargs)
            return self.modules.run(self.function, args, kwargs)
        return self._recorded(arguments, args, kwargs)

    def _answered(self, arguments: _Arguments) -> Any:
        for entry in self.entries:
            if arguments.is_like(entry.arguments):
                result = with_keys(0, arguments.hidden, answer, (entry.for_tensors,), arguments.tensors)
                if result is not NotImplemented:
                    return result
        return NotImplemented

    def _bind(self, arguments: _Arguments) -> bool:
        """Make a program for the sizes of a call, of what was recorded with others."""
        if not self.is_dynamic:
            return False
        with self._lock:
            return any(each.differs_by_sizes(arguments) and each.bind(arguments) for each in self.entries)

    def go_another_way(self, program: Program | None, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Return the result of a call that a program is for, which does not know how the function goes on."""
        if program is None:
            return self.function(*args, **kwargs)
        arguments = _Arguments(args, kwargs)
        if not self._is_left_alone(arguments):
            known = next((each for each in self.entries if each.program is program), None)
            return self._recorded(arguments, args, kwargs, known)  # None: the program is one for other sizes
        if self._attempts >= self._limit:  # what was computed until here would be lost in most calls
            with self._lock:
                self._keep([each for each in self.entries if each.program is not program])
                for each in self.entries:
                    each.forget(program)
            self.refusals.append(f"elements that are read take more than {self._limit} ways")
        return self.function(*args, **kwargs)

    def _is_left_alone(self, arguments: _Arguments) -> bool:
        if _is_watched():
            return True
        if not self._fullgraph and (self._attempts >= self._limit or self._is_refused):
            return True
        is_plain = with_keys(0, arguments.hidden, signature, arguments.tensors, True) is not None
        self.is_other = not is_plain or any(map(vars, arguments.tensors))
        return self.is_other

    @property
    def _is_refused(self) -> bool:
        return len(self.refusals) >= _MOST_REFUSALS

    def _refuse(self, reason: Unsupported) -> None:
        self.refusals.append(str(reason))  # the error itself has the tensors of the call in its traceback
        if self._fullgraph:
            raise reason

    def _recorded(
        self, arguments: _Arguments, args: tuple[Any, ...], kwargs: dict[str, Any], known: Entry | None = None
    ) -> Any:
        """The result of the function itself, during which a program is recorded, or another way of a known one."""
        with self._lock:
            self._attempts += 1
        objects = [each for each in arguments.others if not is_constant(each)]
        try:
            state = PythonState((self.function, *objects), ("the function", *("an argument" for _ in objects)))
        except Unsupported as reason:  # what the function does may be one graph for all that
            self.refusals.append(str(reason))
            return self.function(*args, **kwargs)
        given = (*arguments.tensors, *state.tensors)
        recording = Recording(
            given, is_own_frame, by_memory=True, has_conditions=not self._fullgraph, hidden=arguments.hidden
        )
        recording.raises = self._fullgraph
        others = with_keys(0, arguments.hidden, self._of_other_sizes, arguments) if known is None else []
        if self.is_dynamic:
            recording.note_sizes(bool(self._dynamic or others))
        before, attributes = excluded(), sum(map(len, map(vars, given)))
        result = _recording.record(recording, Watch(recording, state.codes), self.function, *args, **kwargs)
        try:
            if recording.reason is not None:
                raise recording.reason
            if excluded() != before:
                raise Unsupported("the function changes whether gradients are recorded")
            is_unchanged = state.guard(True).holds() and _Arguments(args, kwargs).is_same(arguments)
            if not is_unchanged or sum(map(len, map(vars, given))) != attributes:
                raise Unsupported("the function changes what it reads: a variable, an attribute or a container")
            _check_objects(result, given, {*state.seen, *map(id, _containers_in((args, kwargs)))})
            cause = others[0].unbound[-1] if others and others[0].unbound else ""
            with_keys(0, arguments.hidden, self._add, arguments, state, recording, result, known, cause)
        except Unsupported as reason:
            self._refuse(reason)
        return result

    def _of_other_sizes(self, arguments: _Arguments) -> list[Entry]:
        return [each for each in self.entries if each.differs_by_sizes(arguments)]

    def _add(
        self,
        arguments: _Arguments,
        state: PythonState,
        recording: Recording,
        result: Any,
        known: Entry | None,
        cause: str,
    ) -> None:
        """Add the program of a recording, or a way to that of the program."""
        used = {id(each) for call in recording.calls for each in tensors_in((*call.args, call.out))}
        used |= {id(each) for each in (*flatten(result)[0], *recording.tensors_read)}
        with self._lock:
            if known is not None:  # which another thread may have replaced, or forgotten
                known = next((each for each in self.entries if each.ways is known.ways), None)
                if known is None:
                    return
            captured, ways = ((), Ways()) if known is None else (known.captured, known.ways)
            there = {id(each) for each in arguments.tensors + captured}
            captured += tuple(each for each in state.tensors if id(each) in used and id(each) not in there)
            ways.add(recording, arguments.tensors + captured, result)
            entry = Entry(arguments, captured, state.guard(ways.calls_modules), ways, cause)
            self._keep([entry, *(each for each in self.entries if each is not known)])


def _check_objects(result: Any, given: Iterable[Any], known: Set[int]) -> None:
    """Raise Unsupported where a program would give other objects: for a container that is known, by its identity, or
    has two places in the result, and for a tensor with attributes that was not given."""
    containers = [id(each) for each in _containers_in(result)]
    if len(set(containers)) < len(containers) or not known.isdisjoint(containers):
        raise Unsupported("the result has a list or a dictionary that it has elsewhere as well, or that was given")
    before = {id(each) for each in given}
    if any(isinstance(each, Tensor) and id(each) not in before and vars(each) for each in flatten(result)[0]):
        raise Unsupported("the function sets an attribute of a result")


def _containers_in(value: Any) -> Iterator[Any]:
    """The containers in a nested value that can be told apart from others with the same content, so no tuples."""
    container = container_of(type(value))
    if container is not None:
        if not isinstance(value, tuple):
            yield value
        for each in container.flatten(value)[0]:
            yield from _containers_in(each)


def _is_watched() -> bool:
    """Return whether calls are recorded already, or by a profiler in C, which would not watch after another one had."""
    profiler = sys.getprofile()
    return _recording.active() is not None or not (profiler is None or callable(profiler))


_all: weakref.WeakSet[Compiled] = weakref.WeakSet()


def _after_fork() -> None:
    """Have a child process without the threads that were changing programs when it was made."""
    for each in tuple(_all):
        each.release_after_fork()


os.register_at_fork(after_in_child=_after_fork)


def forget_all() -> None:
    """Forget the programs of all compiled functions."""
    for each in tuple(_all):
        each.reset()


def compiled(function: _Called, fullgraph: bool, limit: int | None, dynamic: bool | None = None) -> _Called:
    """Return the compiled form of a function."""
    known = Compiled(function, fullgraph, limit, dynamic)

    @wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        try:
            result = NotImplemented if kwargs else answer(known.for_tensors, args)
            return known.call(args, kwargs) if result is NotImplemented else result
        except Unrecorded as way:
            program = way.program
        return known.go_another_way(program, args, kwargs)

    call.compiled = known  # type: ignore[attr-defined]
    return call  # type: ignore[return-value]
