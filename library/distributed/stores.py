"""Stores: values under names, by which processes find one another. `HashStore` has them in this process, `PrefixStore`
gives the names of another store a prefix; `TCPStore` and `FileStore` have modules of their own.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from datetime import timedelta

from .errors import DistStoreError
from .store_operations import OPERATIONS

__all__ = ["HashStore", "PrefixStore", "Store"]

DEFAULT = timedelta(seconds=300)


def as_bytes(value: str | bytes) -> bytes:
    """A key or a value as it is kept."""
    return value.encode() if isinstance(value, str) else bytes(value)


class Store:
    """Values under names, all of them bytes. Strings are encoded as UTF-8. Subclasses say in `_apply` and `_wait` where
    the values are, or override the public methods."""

    def __init__(self) -> None:
        self._timeout = DEFAULT

    def _apply(self, operation: bytes, *args: bytes) -> bytes:
        """The result of one of the OPERATIONS."""
        raise NotImplementedError(f"{type(self).__name__} has no operations")

    def _wait(self, keys: Sequence[bytes], seconds: float) -> bool:
        """Wait until all keys are there, at most so many seconds; whether they are."""
        end = time.monotonic() + seconds
        while not self._apply(b"check", *keys):
            if time.monotonic() > end:
                return False
            time.sleep(0.005)
        return True

    @property
    def timeout(self) -> timedelta:
        """The time for which `get` and `wait` wait."""
        return self._timeout

    def set_timeout(self, timeout: timedelta) -> None:
        """Set how long `get` and `wait` wait."""
        self._timeout = timeout

    def set(self, key: str, value: str | bytes) -> None:
        """Set the value of a key, in place of one that it has."""
        self._apply(b"set", as_bytes(key), as_bytes(value))

    def get(self, key: str) -> bytes:
        """Return the value of a key, when it is there.

        Raises:
            DistStoreError: it was not there within the timeout.
        """
        self.wait([key])
        return self._apply(b"get", as_bytes(key))

    def wait(self, keys: Sequence[str], timeout: timedelta | None = None) -> None:
        """Wait until all keys have values.

        Raises:
            DistStoreError: they had none within the timeout.
        """
        seconds = (self._timeout if timeout is None else timeout).total_seconds()
        if not self._wait([as_bytes(key) for key in keys], seconds):
            missing = [key for key in keys if not self.check([key])]
            raise DistStoreError(f"wait timeout after {seconds * 1000:.0f}ms, keys: {', '.join(missing)}")

    def check(self, keys: Sequence[str]) -> bool:
        """Return whether all keys have values."""
        return bool(self._apply(b"check", *map(as_bytes, keys)))

    def add(self, key: str, amount: int) -> int:
        """Add to a counter, which begins with 0, and return its value."""
        return int(self._apply(b"add", as_bytes(key), b"%d" % amount))

    def append(self, key: str, value: str | bytes) -> None:
        """Append to the value of a key, which begins empty."""
        self._apply(b"append", as_bytes(key), as_bytes(value))

    def compare_set(self, key: str, expected_value: str | bytes, desired_value: str | bytes) -> bytes:
        """Set the value of a key that has the expected one, or has none where none (`""`) is expected, and return
        what it is then."""
        return self._apply(b"compare_set", as_bytes(key), as_bytes(expected_value), as_bytes(desired_value))

    def delete_key(self, key: str) -> bool:
        """Remove a key, and return whether it was there."""
        return bool(self._apply(b"delete", as_bytes(key)))

    def num_keys(self) -> int:
        """Return the number of keys."""
        return int(self._apply(b"count"))

    def list_keys(self) -> list[str]:
        """Return the keys."""
        return [key.decode() for key in self._apply(b"keys").split(b"\n") if key]

    def multi_get(self, keys: Sequence[str]) -> list[bytes]:
        """Return the values of several keys, when all are there."""
        self.wait(keys)
        return [self.get(key) for key in keys]

    def multi_set(self, keys: Sequence[str], values: Sequence[str | bytes]) -> None:
        """Set the values of several keys."""
        for key, value in zip(keys, values, strict=True):
            self.set(key, value)

    def has_extended_api(self) -> bool:
        """Return whether there are append, multi_get and multi_set: True."""
        return True


class HashStore(Store):
    """A store in the memory of this process, for its threads."""

    def __init__(self) -> None:
        super().__init__()
        self._values: dict[bytes, bytes] = {}
        self._changed = threading.Condition()

    def _apply(self, operation: bytes, *args: bytes) -> bytes:
        with self._changed:
            result = OPERATIONS[operation](self._values, *args)
            self._changed.notify_all()
        return result

    def _wait(self, keys: Sequence[bytes], seconds: float) -> bool:
        with self._changed:
            return self._changed.wait_for(lambda: all(key in self._values for key in keys), seconds)


class PrefixStore(Store):
    """The names of another store that begin with a prefix."""

    def __init__(self, prefix: str, store: Store) -> None:
        super().__init__()
        self.prefix = prefix
        self.underlying_store = store
        self._timeout = store.timeout

    def _apply(self, operation: bytes, *args: bytes) -> bytes:
        prefix = as_bytes(self.prefix) + b"/"
        if operation == b"check":
            return self.underlying_store._apply(operation, *(prefix + key for key in args))
        return self.underlying_store._apply(operation, *(prefix + key for key in args[:1]), *args[1:])

    def _wait(self, keys: Sequence[bytes], seconds: float) -> bool:
        return self.underlying_store._wait([as_bytes(self.prefix) + b"/" + key for key in keys], seconds)
