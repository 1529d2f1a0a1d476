"""Reads pickles without running anything that is not on a list.

An interpreter of pickle's opcodes. It calls what `allowed.py` lists and nothing else, sets attributes on nothing but
dictionaries and what users have allowed, and its memory is bounded by the length of the pickle: what copies data that
the pickle has once is counted (`_spend`), and keys of dictionaries, which are hashed, may be nested only so far.
"""

from __future__ import annotations

import pickle
import struct
from collections import Counter, OrderedDict
from collections.abc import Callable
from pickle import UnpicklingError
from typing import Any

from .._base.devices import device
from .._base.dtypes import dtype
from .._base.types import Size
from .._tensor.tensor import Tensor
from .allowed import CALLS, OBJECTS, user_globals

__all__ = ["WeightsUnpickler"]

_ATOMS = frozenset((str, int, float, bool, bytes, complex, type(None)))
_COPIED = 16
"""How many times the length of the pickle may be copied."""
_KEY_NODES, _KEY_DEPTH = 10_000, 100
# Names of Python 2, which protocol 2 has.
_PYTHON_2 = {"__builtin__": "builtins", "copy_reg": "copyreg"}


class WeightsUnpickler:
    """Reads the pickle at a place in bytes.

    `persistent_load` answers references. Strings of Python 2 are read in `encoding`.
    """

    def __init__(self, data: bytes, persistent_load: Callable[[Any], Any], encoding: str, place: int) -> None:
        self._data = data
        self._place = place
        self._persistent_load = persistent_load
        self._encoding = encoding
        self._left = _COPIED * len(data) + (1 << 16)
        self._users = user_globals()
        self._user_calls = {id(each) for each in self._users.values()}
        self._user_classes = tuple(each for each in self._users.values() if isinstance(each, type))

    @property
    def place(self) -> int:
        """Where the pickle ends, when it has been read."""
        return self._place

    def load(self) -> Any:
        """The object of the pickle."""
        self._stack: list[Any] = []
        self._marks: list[list[Any]] = []
        self._memo: dict[int, Any] = {}
        data, length, opcodes = self._data, len(self._data), _OPCODES
        try:
            while True:
                if self._place >= length:
                    raise EOFError("Ran out of input: the pickle is truncated")
                code = data[self._place]
                self._place += 1
                if code == _STOP:
                    return self._stack.pop()
                operation = opcodes.get(code)
                if operation is None:
                    raise UnpicklingError(f"Unsupported operand {code}")
                operation(self)
        except (LookupError, TypeError, AttributeError, ArithmeticError, struct.error, AssertionError) as error:
            raise UnpicklingError(f"the pickle is damaged: {type(error).__name__}: {error}") from error

    # ---- reading ----

    def _take(self, count: int) -> bytes:
        end = self._place + count
        data = self._data[self._place : end]
        if len(data) != count:
            raise EOFError("Ran out of input: the pickle is truncated")
        self._place = end
        return data

    def _number(self, width: int) -> int:
        if width == 1:  # as most are
            place = self._place
            self._place = place + 1
            return self._data[place]
        return int.from_bytes(self._take(width), "little")

    def _line(self) -> str:
        end = self._data.find(b"\n", self._place)
        if end < 0:
            raise EOFError("Ran out of input: the pickle is truncated")
        line = self._data[self._place : end]
        self._place = end + 1
        return line.decode()

    def _spend(self, count: int) -> None:
        self._left -= count
        if self._left < 0:
            raise UnpicklingError("the pickle copies its contents more often than files of tensors do")

    def _popped(self) -> list[Any]:
        """What was pushed since the last mark."""
        items = self._stack
        self._stack = self._marks.pop()
        return items

    # ---- opcodes: what stands behind them ----

    def _proto(self) -> None:
        version = self._number(1)
        if not 2 <= version <= pickle.HIGHEST_PROTOCOL:
            raise UnpicklingError(f"unsupported pickle protocol: {version}")

    def _frame(self) -> None:
        self._take(8)

    def _mark(self) -> None:
        self._marks.append(self._stack)
        self._stack = []

    def _pop(self) -> None:
        if self._stack:
            self._stack.pop()
        else:
            self._popped()

    def _persistent(self) -> None:
        self._stack.append(self._persistent_load(self._stack.pop()))

    def _text(self, width: int) -> None:
        self._stack.append(self._take(self._number(width)).decode("utf-8", "surrogatepass"))

    def _bytes(self, width: int) -> None:
        self._stack.append(self._take(self._number(width)))

    def _string(self, width: int) -> None:
        data = self._take(self._number(width))
        self._stack.append(data if self._encoding == "bytes" else data.decode(self._encoding))

    def _integer(self, width: int) -> None:
        self._stack.append(self._number(width))

    def _signed(self) -> None:
        self._stack.append(int.from_bytes(self._take(4), "little", signed=True))

    def _long(self, width: int) -> None:
        self._stack.append(int.from_bytes(self._take(self._number(width)), "little", signed=True))

    def _float(self) -> None:
        self._stack.append(struct.unpack(">d", self._take(8))[0])

    def _constant(self, value: Any) -> None:
        self._stack.append(value)

    # ---- containers ----

    def _tuple(self) -> None:
        items = self._popped()
        self._stack.append(tuple(items))

    def _tuple_of(self, count: int) -> None:
        stack = self._stack
        if len(stack) < count:
            raise UnpicklingError("the pickle is damaged: a tuple has too few elements")
        stack[-count:] = [tuple(stack[-count:])]

    def _append(self) -> None:
        value = self._stack.pop()
        self._list().append(value)

    def _appends(self) -> None:
        items = self._popped()
        self._list().extend(items)

    def _list(self) -> list[Any]:
        target = self._stack[-1]
        if type(target) is not list:
            raise UnpicklingError(f"elements can be appended to lists alone, not to {type(target).__name__}")
        return target

    def _setitem(self) -> None:
        value, key = self._stack.pop(), self._stack.pop()
        self._set([key, value])

    def _setitems(self) -> None:
        self._set(self._popped())

    def _set(self, items: list[Any]) -> None:
        target = self._stack[-1]
        if not (isinstance(target, dict) and (type(target) in _DICTIONARIES or self._is_users(target))):
            raise UnpicklingError(f"keys can be set in dictionaries alone, not in {type(target).__name__}")
        if len(items) % 2:
            raise UnpicklingError("the pickle is damaged: a key has no value")
        for index in range(0, len(items), 2):
            self._check_key(items[index])
            target[items[index]] = items[index + 1]

    def _additems(self) -> None:
        items = self._popped()
        target = self._stack[-1]
        if type(target) is not set:
            raise UnpicklingError(f"elements can be added to sets alone, not to {type(target).__name__}")
        for item in items:
            self._check_key(item)
            target.add(item)

    def _frozenset(self) -> None:
        items = self._popped()
        for item in items:
            self._check_key(item)
        self._stack.append(frozenset(items))

    def _check_key(self, key: Any) -> None:
        """Refuses keys that take long to hash, or more of the machine's stack than there is."""
        if type(key) in _ATOMS:
            return
        seen, level, depth = 0, [key], 0
        while level:
            depth, seen = depth + 1, seen + len(level)
            if depth > _KEY_DEPTH or seen > _KEY_NODES:
                raise UnpicklingError("the key of a dictionary is nested too deep")
            below: list[Any] = []
            for each in level:
                if type(each) in (tuple, frozenset, Size):
                    below += each
                elif type(each) not in _ATOMS and not (
                    isinstance(each, (dtype, device, Tensor)) or self._is_users(each)
                ):
                    raise UnpicklingError(f"{type(each).__name__} cannot be the key of a dictionary in a file")
            level = below

    # ---- the memo ----

    def _put(self, width: int) -> None:
        self._memo[self._number(width)] = self._stack[-1]

    def _memoize(self) -> None:
        self._memo[len(self._memo)] = self._stack[-1]

    def _get(self, width: int) -> None:
        self._stack.append(self._memo[self._number(width)])

    # ---- names and calls ----

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

    def _is_users(self, value: Any) -> bool:
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
            raise UnpicklingError(
                f"Trying to call reduce for unrecognized function {getattr(function, '__name__', type(function))}"
            )
        for each in arguments:
            if isinstance(each, (str, bytes, bytearray, list, tuple, dict)):
                self._spend(len(each))
        if call in _HASHING:
            for each in arguments:
                self._check_elements(each, function is OrderedDict)
        return call(*arguments)

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
        elif self._is_users(target):
            _set_state(target, state)
        else:
            raise UnpicklingError(f"Can only build OrderedDict and allowed classes, but got {type(target).__name__}")


def full_name(module: str, name: str) -> str:
    """A name as the list has it."""
    module = _PYTHON_2.get(module, module)
    package, dot, below = module.partition(".")
    return f"{'torch' if package == _OWN else package}{dot}{below}.{name}"


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
_DICTIONARIES = tuple(each for each in (dict, *OBJECTS.values()) if isinstance(each, type) and issubclass(each, dict))
_HASHING = tuple(CALLS[id(each)] for each in (OrderedDict, Counter, set))
_STOP = pickle.STOP[0]


def _with(operation: Callable[..., None], argument: Any) -> Callable[[WeightsUnpickler], None]:
    return lambda self: operation(self, argument)


def _fresh(make: Callable[[], Any]) -> Callable[[WeightsUnpickler], None]:
    return lambda self: self._stack.append(make())


_U = WeightsUnpickler
_OPCODES: dict[int, Callable[[WeightsUnpickler], None]] = {
    code[0]: operation
    for code, operation in (
        (pickle.PROTO, _U._proto),
        (pickle.FRAME, _U._frame),
        (pickle.MARK, _U._mark),
        (pickle.POP, _U._pop),
        (pickle.POP_MARK, lambda self: self._popped() and None),
        (pickle.BINPERSID, _U._persistent),
        (pickle.SHORT_BINUNICODE, _with(_U._text, 1)),
        (pickle.BINUNICODE, _with(_U._text, 4)),
        (pickle.BINUNICODE8, _with(_U._text, 8)),
        (pickle.SHORT_BINBYTES, _with(_U._bytes, 1)),
        (pickle.BINBYTES, _with(_U._bytes, 4)),
        (pickle.BINBYTES8, _with(_U._bytes, 8)),
        (pickle.BYTEARRAY8, lambda self: self._stack.append(bytearray(self._take(self._number(8))))),
        (pickle.SHORT_BINSTRING, _with(_U._string, 1)),
        (pickle.BINSTRING, _with(_U._string, 4)),
        (pickle.BININT1, _with(_U._integer, 1)),
        (pickle.BININT2, _with(_U._integer, 2)),
        (pickle.BININT, _U._signed),
        (pickle.LONG1, _with(_U._long, 1)),
        (pickle.LONG4, _with(_U._long, 4)),
        (pickle.BINFLOAT, _U._float),
        (pickle.NONE, _with(_U._constant, None)),
        (pickle.NEWTRUE, _with(_U._constant, True)),
        (pickle.NEWFALSE, _with(_U._constant, False)),
        (pickle.EMPTY_TUPLE, _with(_U._constant, ())),
        (pickle.EMPTY_LIST, _fresh(list)),
        (pickle.EMPTY_DICT, _fresh(dict)),
        (pickle.EMPTY_SET, _fresh(set)),
        (pickle.TUPLE, _U._tuple),
        (pickle.TUPLE1, _with(_U._tuple_of, 1)),
        (pickle.TUPLE2, _with(_U._tuple_of, 2)),
        (pickle.TUPLE3, _with(_U._tuple_of, 3)),
        (pickle.APPEND, _U._append),
        (pickle.APPENDS, _U._appends),
        (pickle.SETITEM, _U._setitem),
        (pickle.SETITEMS, _U._setitems),
        (pickle.ADDITEMS, _U._additems),
        (pickle.FROZENSET, _U._frozenset),
        (pickle.BINPUT, _with(_U._put, 1)),
        (pickle.LONG_BINPUT, _with(_U._put, 4)),
        (pickle.MEMOIZE, _U._memoize),
        (pickle.BINGET, _with(_U._get, 1)),
        (pickle.LONG_BINGET, _with(_U._get, 4)),
        (pickle.GLOBAL, _U._global),
        (pickle.STACK_GLOBAL, _U._stack_global),
        (pickle.REDUCE, _U._reduce),
        (pickle.NEWOBJ, _U._newobj),
        (pickle.NEWOBJ_EX, _U._newobj_ex),
        (pickle.BUILD, _U._build),
    )
}
