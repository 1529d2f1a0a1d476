"""The opcodes of pickles that make data: numbers, texts, containers, and what they are remembered by.

Memory and time are bounded by the length of the pickle, and keys of dictionaries, which are hashed, may be nested only
so far: a tuple of two tuples that are one and the same, and so on, has few bytes and takes for ever to go through.
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
from .._base.types import Size, qscheme
from .._tensor.tensor import Tensor

__all__ = ["DATA_OPCODES", "PickleData", "shown"]

_ATOMS = frozenset((str, int, float, bool, bytes, complex, type(None)))
_DICTIONARIES = (dict, OrderedDict, Counter)
_KEY_NODES, _KEY_DEPTH = 10_000, 100
_STOP = pickle.STOP[0]


class PickleData:
    """Reads a pickle from a place in bytes. Strings of Python 2 are read in `encoding`."""

    def __init__(self, data: bytes, encoding: str, place: int) -> None:
        self._data = data
        self._place = place
        self._encoding = encoding
        self._stack: list[Any] = []
        self._marks: list[list[Any]] = []
        self._memo: dict[int, Any] = {}

    @property
    def place(self) -> int:
        """The end of the pickle, when it has been read."""
        return self._place

    def _spend(self, count: int) -> None:
        """Count work that a pickle can ask for again and again by few bytes."""

    def _is_allowed(self, value: Any) -> bool:
        """True if it is of a class that users have allowed."""
        raise NotImplementedError

    # ---- reading ----

    def run(self, opcodes: dict[int, Callable[[Any], Any]]) -> Any:
        """The object of the pickle, by what each opcode does."""
        data, length = self._data, len(self._data)
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

    def _popped(self) -> list[Any]:
        """Return the objects that were pushed since the last mark, and remove them."""
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
        if not (type(target) in _DICTIONARIES or (isinstance(target, dict) and self._is_allowed(target))):
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
            self._spend(len(level))
            below: list[Any] = []
            for each in level:
                if type(each) in (tuple, frozenset, Size):
                    below += each
                elif type(each) not in _ATOMS and not (
                    isinstance(each, (dtype, device, Tensor)) or self._is_allowed(each)
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


def shown(value: Any) -> str:
    """Return what messages say of a value: its class if it may be nested so that its text has no end."""
    is_flat = type(value) in _ATOMS or isinstance(value, (dtype, device, qscheme))
    return repr(value)[:80] if is_flat else type(value).__name__


def _with(operation: Callable[..., None], argument: Any) -> Callable[[PickleData], None]:
    return lambda self: operation(self, argument)


def _fresh(make: Callable[[], Any]) -> Callable[[PickleData], None]:
    return lambda self: self._stack.append(make())


_D = PickleData
DATA_OPCODES: dict[int, Callable[[PickleData], None]] = {
    code[0]: operation
    for code, operation in (
        (pickle.PROTO, _D._proto),
        (pickle.FRAME, _D._frame),
        (pickle.MARK, _D._mark),
        (pickle.POP, _D._pop),
        (pickle.POP_MARK, lambda self: self._popped() and None),
        (pickle.SHORT_BINUNICODE, _with(_D._text, 1)),
        (pickle.BINUNICODE, _with(_D._text, 4)),
        (pickle.BINUNICODE8, _with(_D._text, 8)),
        (pickle.SHORT_BINBYTES, _with(_D._bytes, 1)),
        (pickle.BINBYTES, _with(_D._bytes, 4)),
        (pickle.BINBYTES8, _with(_D._bytes, 8)),
        (pickle.BYTEARRAY8, lambda self: self._stack.append(bytearray(self._take(self._number(8))))),
        (pickle.SHORT_BINSTRING, _with(_D._string, 1)),
        (pickle.BINSTRING, _with(_D._string, 4)),
        (pickle.BININT1, _with(_D._integer, 1)),
        (pickle.BININT2, _with(_D._integer, 2)),
        (pickle.BININT, _D._signed),
        (pickle.LONG1, _with(_D._long, 1)),
        (pickle.LONG4, _with(_D._long, 4)),
        (pickle.BINFLOAT, _D._float),
        (pickle.NONE, _with(_D._constant, None)),
        (pickle.NEWTRUE, _with(_D._constant, True)),
        (pickle.NEWFALSE, _with(_D._constant, False)),
        (pickle.EMPTY_TUPLE, _with(_D._constant, ())),
        (pickle.EMPTY_LIST, _fresh(list)),
        (pickle.EMPTY_DICT, _fresh(dict)),
        (pickle.EMPTY_SET, _fresh(set)),
        (pickle.TUPLE, _D._tuple),
        (pickle.TUPLE1, _with(_D._tuple_of, 1)),
        (pickle.TUPLE2, _with(_D._tuple_of, 2)),
        (pickle.TUPLE3, _with(_D._tuple_of, 3)),
        (pickle.APPEND, _D._append),
        (pickle.APPENDS, _D._appends),
        (pickle.SETITEM, _D._setitem),
        (pickle.SETITEMS, _D._setitems),
        (pickle.ADDITEMS, _D._additems),
        (pickle.FROZENSET, _D._frozenset),
        (pickle.BINPUT, _with(_D._put, 1)),
        (pickle.LONG_BINPUT, _with(_D._put, 4)),
        (pickle.MEMOIZE, _D._memoize),
        (pickle.BINGET, _with(_D._get, 1)),
        (pickle.LONG_BINGET, _with(_D._get, 4)),
    )
}
