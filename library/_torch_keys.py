"""torch's dispatch keys by name, in sets, and blocks in which those that opweave has are not looked at."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ._base.keys import KEY_BITS
from ._handle import ModeBase

__all__ = ["DispatchKey", "DispatchKeySet"]

_OWN = {"Autocast": "autocast", "Autograd": "autograd", "Python": "dispatch_mode"}
"""The keys of opweave by the beginning of the names of torch's keys; for others there is none."""


class _Keys(type):
    """A namespace of torch's keys: every name that begins as one of them does is a key."""

    def __getattr__(cls, name: str) -> DispatchKey:
        if name.startswith("_") or not name[:1].isupper():
            raise AttributeError(f"type object 'DispatchKey' has no attribute {name!r}")
        return DispatchKey(name)


class DispatchKey(str, metaclass=_Keys):
    """A dispatch key of torch, `DispatchKey.AutocastCPU`: its name."""

    __slots__ = ()

    @property
    def name(self) -> str:
        """The name of the key."""
        return str(self)

    @property
    def bit(self) -> int:
        """The bit of the key that opweave has for it, 0 where it has none."""
        own = next((own for start, own in _OWN.items() if self.startswith(start)), "")
        return KEY_BITS.get(own, 0)

    def __repr__(self) -> str:
        return f"DispatchKey.{self}"


class DispatchKeySet:
    """A set of dispatch keys.

    Args:
        keys: one key, several, or nothing.
    """

    def __init__(self, keys: DispatchKey | Iterable[DispatchKey] = ()) -> None:
        self._keys = frozenset([keys] if isinstance(keys, DispatchKey) else keys)

    def __or__(self, other: DispatchKeySet) -> DispatchKeySet:
        return DispatchKeySet(self._keys | other._keys)

    def __and__(self, other: DispatchKeySet) -> DispatchKeySet:
        return DispatchKeySet(self._keys & other._keys)

    def __sub__(self, other: DispatchKeySet) -> DispatchKeySet:
        return DispatchKeySet(self._keys - other._keys)

    def __iter__(self) -> Iterator[DispatchKey]:
        return iter(sorted(self._keys))

    def add(self, key: DispatchKey) -> DispatchKeySet:
        """Return the set with one more key."""
        return DispatchKeySet({*self._keys, key})

    def has(self, key: DispatchKey) -> bool:
        """Return whether a key is among them."""
        return key in self._keys

    def __eq__(self, other: object) -> bool:
        return isinstance(other, DispatchKeySet) and self._keys == other._keys

    def __hash__(self) -> int:
        return hash(self._keys)

    def __repr__(self) -> str:
        return f"DispatchKeySet({', '.join(self)})"


class _ExcludeDispatchKeyGuard(ModeBase):
    """A block in which keys are not looked at, as far as opweave has them: within that of autocast nothing is cast."""

    def __init__(self, keyset: DispatchKeySet) -> None:
        self._cleared, self._set = 0, 0
        for key in keyset:
            self._set |= key.bit
