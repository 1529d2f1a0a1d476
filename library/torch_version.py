"""opweave.torch_version: a version that compares as one and not as text, as in torch.torch_version."""

from __future__ import annotations

import re
from typing import Any

from .version import __version__ as internal_version

__all__ = ["TorchVersion"]


def _key(version: Any) -> tuple[int, ...]:
    """The numbers of a release; what follows them is left out."""
    if isinstance(version, (tuple, list)):
        return tuple(int(each) for each in version)
    found = re.match(r"\d+(?:\.\d+)*", str(version))
    if found is None:
        raise ValueError(f"{version!r} is no version")
    return tuple(int(each) for each in found[0].split("."))


def _compared(left: Any, right: Any) -> int:
    first, second = _key(left), _key(right)
    length = max(len(first), len(second))
    first, second = (each + (0,) * (length - len(each)) for each in (first, second))
    return (first > second) - (first < second)


class TorchVersion(str):
    """A text such as "2.13.0", which compares with texts and tuples by its numbers."""

    __slots__ = ()

    def __lt__(self, other: Any) -> bool:
        return _compared(self, other) < 0

    def __le__(self, other: Any) -> bool:
        return _compared(self, other) <= 0

    def __gt__(self, other: Any) -> bool:
        return _compared(self, other) > 0

    def __ge__(self, other: Any) -> bool:
        return _compared(self, other) >= 0


__version__ = TorchVersion(internal_version)
