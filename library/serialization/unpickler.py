"""Reads pickles without running anything that is not on a list.

An interpreter of pickle's opcodes. It calls what `allowed.py` lists and nothing else, and sets attributes on nothing
but OrderedDicts and what users have allowed. What calls copy or go through, which the pickle has once, is counted
(`_spend`), so that memory and time are bounded by the length of the file.
"""

from __future__ import annotations

import pickle
from collections import Counter, OrderedDict
from collections.abc import Callable
from pickle import UnpicklingError
from types import FunctionType
from typing import Any

from .._tensor.tensor import Tensor
from .allowed import CALLS, OBJECTS, user_globals
from .pickle_data import DATA_OPCODES, PickleData
from .rebuild import READING

__all__ = ["WeightsUnpickler", "full_name"]

_COPIED = 16
"""The number of times that the length of the file may be copied, or gone through."""
# Names of Python 2, which protocol 2 has.
_PYTHON_2 = {"__builtin__": "builtins", "copy_reg": "copyreg"}


class WeightsUnpickler(PickleData):
    """Reads the pickle at a place in bytes, of a file of so many. `persistent_load` answers references."""

    def __init__(
        self, data: bytes, persistent_load: Callable[[Any], Any], encoding: str, place: int, size_of_file: int
    ) -> None:
        super().__init__(data, encoding, place)
        self._persistent_load = persistent_load
        self._left = _COPIED * size_of_file + (1 << 16)
        self._users = user_globals()
        self._user_calls = {id(each) for each in self._users.values()}
        self._user_classes = tuple(each for each in self._users.values() if isinstance(each, type))

    def load(self) -> Any:
        """The object of the pickle."""
        return self.run(_OPCODES)

    def _spend(self, count: int) -> None:
        self._left -= count
        if self._left < 0:
            raise UnpicklingError("the pickle copies its contents more often than files of tensors do")

    def _persistent(self) -> None:
        self._stack.append(self._persistent_load(self._stack.pop()))

    def _global(self) -> None:
        module, name = self._line(), self._line()
        self._stack.append(self._find(module, name))

    def _stack_global(self) -> None:
        name, module = self._stack.pop(), self._stack.pop()
        if not (type(module) is str and type(name) is str):
            raise UnpicklingError("STACK_GLOBAL requires str")
        self._stack.append(self._find(module, name))

    def _find(self, module: str, name: str) -> Any:
        full = full_name(module, name)
        if full in OBJECTS:
            return OBJECTS[full]
        if full in self._users:
            return self._users[full]
        raise UnpicklingError(
            f"Unsupported global: GLOBAL {full} was not an allowed global by default. Please use "
            f"`opweave.serialization.add_safe_globals([{name}])` or the `opweave.serialization.safe_globals([{name}])` "
            "context manager to allowlist this global if you trust this class/function."
        )

    def _is_allowed(self, value: Any) -> bool:
        return bool(self._user_classes) and isinstance(value, self._user_classes)

    def _reduce(self) -> None:
        arguments, function = self._stack.pop(), self._stack[-1]
        self._stack[-1] = self._call(function, arguments, {})

    def _newobj(self) -> None:
        arguments, kind = self._stack.pop(), self._stack[-1]
        self._stack[-1] = self._make(kind, arguments, {})

    def _newobj_ex(self) -> None:
        keywords, arguments, kind = self._stack.pop(), self._stack.pop(), self._stack[-1]
        if type(keywords) is not dict:
            raise UnpicklingError("the pickle is damaged: an object has no keyword arguments")
        self._stack[-1] = self._make(kind, arguments, keywords)

    def _make(self, kind: Any, arguments: Any, keywords: dict[str, Any]) -> Any:
        if id(kind) in self._user_calls and isinstance(kind, type):
            return kind.__new__(kind, *arguments, **keywords)
        return self._call(kind, arguments, keywords)

    def _call(self, function: Any, arguments: Any, keywords: dict[str, Any]) -> Any:
        if type(arguments) is not tuple:
            raise UnpicklingError("the pickle is damaged: a call has no arguments")
        if id(function) in self._user_calls:
            return function(*arguments, **keywords)
        call = CALLS.get(id(function))
        if call is None or keywords:
            raise UnpicklingError(f"Trying to call reduce for unrecognized function {_name_of(function)}")
        inner = arguments[0] if arguments else None  # what makes the tensor that gets attributes
        self._spend_on(arguments, any(each is function or each is inner for each in READING))
        if call in _HASHING:
            for each in arguments:
                self._check_elements(each, function is OrderedDict)
        return call(*arguments)

    def _spend_on(self, arguments: tuple[Any, ...], are_read: bool) -> None:
        """Count what a call goes through: containers, and, if the elements of tensors `are_read`, their bytes."""
        waiting: list[Any] = [arguments]
        while waiting:
            each = waiting.pop()
            if isinstance(each, (str, bytes, bytearray, list, tuple, dict)):
                self._spend(len(each))
                if isinstance(each, tuple):  # of arguments, or of the tensors that a tensor consists of
                    waiting += each
            elif are_read and isinstance(each, Tensor):
                self._spend(each.nbytes)

    def _check_elements(self, elements: Any, pairs: bool) -> None:
        if isinstance(elements, (list, tuple, dict)):
            for each in elements:
                self._check_key(each[0] if pairs and isinstance(each, (list, tuple)) and each else each)

    def _build(self) -> None:
        state = self._stack.pop()
        target = self._stack[-1]
        if type(target) is OrderedDict:
            if not (type(state) is dict and all(type(name) is str for name in state)):
                raise UnpicklingError("the attributes of an OrderedDict in the file are damaged")
            self._spend(len(state))
            target.__dict__.update(state)
        elif self._is_allowed(target):
            _set_state(target, state)
        else:
            raise UnpicklingError(f"Can only build OrderedDict and allowed classes, but got {type(target).__name__}")


def full_name(module: str, name: str) -> str:
    """A name as the list has it."""
    module = _PYTHON_2.get(module, module)
    package, dot, below = module.partition(".")
    return f"{'torch' if package == _OWN else package}{dot}{below}.{name}"


def _name_of(function: Any) -> str:
    return str(function.__name__) if isinstance(function, (type, FunctionType)) else type(function).__name__


def _set_state(target: Any, state: Any) -> None:
    """The state of an object of a class that users have allowed, as pickle sets it."""
    if hasattr(target, "__setstate__"):
        target.__setstate__(state)
        return
    slots = None
    if isinstance(state, tuple) and len(state) == 2:
        state, slots = state
    if state:
        target.__dict__.update(state)
    for name, value in (slots or {}).items():
        setattr(target, name, value)


_OWN = __name__.partition(".")[0]
_HASHING = tuple(CALLS[id(each)] for each in (OrderedDict, Counter, set))


_U = WeightsUnpickler
_OPCODES: dict[int, Callable[[Any], None]] = {
    **DATA_OPCODES,
    **{
        code[0]: operation
        for code, operation in (
            (pickle.BINPERSID, _U._persistent),
            (pickle.GLOBAL, _U._global),
            (pickle.STACK_GLOBAL, _U._stack_global),
            (pickle.REDUCE, _U._reduce),
            (pickle.NEWOBJ, _U._newobj),
            (pickle.NEWOBJ_EX, _U._newobj_ex),
            (pickle.BUILD, _U._build),
        )
    },
}
