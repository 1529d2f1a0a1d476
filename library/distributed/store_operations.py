"""The operations on the values of a store: functions of the dictionary of its values and of arguments that are bytes.

A store applies them where its values are: in this process, in that of a server, or to the records of a file.
"""

from __future__ import annotations

from collections.abc import Callable

__all__ = ["OPERATIONS"]

_Values = dict[bytes, bytes]


def _set(values: _Values, key: bytes, value: bytes) -> bytes:
    values[key] = value
    return b""


def _get(values: _Values, key: bytes) -> bytes:
    return values[key]


def _append(values: _Values, key: bytes, value: bytes) -> bytes:
    values[key] = values.get(key, b"") + value
    return b""


def _add(values: _Values, key: bytes, amount: bytes) -> bytes:
    values[key] = b"%d" % (int(values.get(key, b"0")) + int(amount))
    return values[key]


def _compare_set(values: _Values, key: bytes, expected: bytes, desired: bytes) -> bytes:
    if values.get(key, b"") == expected:
        values[key] = desired
    return values.get(key, expected)


def _delete(values: _Values, key: bytes) -> bytes:
    return b"1" if values.pop(key, None) is not None else b""


def _check(values: _Values, *keys: bytes) -> bytes:
    return b"1" if all(key in values for key in keys) else b""


def _count(values: _Values) -> bytes:
    return b"%d" % len(values)


def _keys(values: _Values) -> bytes:
    return b"\n".join(values)


OPERATIONS: dict[bytes, Callable[..., bytes]] = {
    b"set": _set,
    b"get": _get,
    b"append": _append,
    b"add": _add,
    b"compare_set": _compare_set,
    b"delete": _delete,
    b"check": _check,
    b"count": _count,
    b"keys": _keys,
}
