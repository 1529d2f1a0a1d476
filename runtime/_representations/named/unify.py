"""Names of several tensors that meet in one: dimensions are matched from the right, as sizes are when they "
"broadcast."""

from __future__ import annotations

from functools import reduce
from typing import Any

from .names import Names, listed, names_of


def unified(names: Names, other: Names, action: str = "broadcast") -> Names:
    """The names of what two tensors are together. Raises RuntimeError where two names are at the same position from the
    right, or one name is at two."""
    size = max(len(names), len(other))
    left, right = ((None,) * (size - len(each)) + each for each in (names, other))
    result: list[str | None] = []
    for mine, others in zip(left[::-1], right[::-1], strict=True):
        if mine is None or others is None:
            _check_aligned(mine, names, other, action)
            _check_aligned(others, other, names, action)
        elif mine != others:
            raise RuntimeError(
                f"Error when attempting to {action} dims {listed(names)} and dims {listed(other)}: dim {mine!r} and "
                f"dim {others!r} are at the same position from the right but do not match."
            )
        result.append(others if mine is None else mine)
    return tuple(result[::-1])


def _check_aligned(name: str | None, names: Names, other: Names, action: str) -> None:
    """A name that meets a dimension without one must not be elsewhere in the other tensor."""
    if name is not None and name in other:
        raise RuntimeError(
            f"Misaligned dims when attempting to {action} dims {listed(names)} and dims {listed(other)}: dim {name!r} "
            "appears in a different position from the right across both lists."
        )


def unified_of(tensors: list[Any], action: str = "broadcast") -> Names:
    """The names of what all these tensors are together."""
    return reduce(lambda names, other: unified(names, other, action), map(names_of, tensors), ())
