"""Numbers for each dimension, and names of state dicts, by PyTorch's names."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from .conv import spread

__all__ = ["consume_prefix_in_state_dict_if_present"]


def _ntuple(n: int, name: str = "parse") -> Callable[[Any], tuple[Any, ...]]:
    """Return what makes a tuple of n of a number, and of a sequence a tuple."""

    def parse(x: Any) -> tuple[Any, ...]:
        return spread(x, n)

    parse.__name__ = name
    return parse


_single = _ntuple(1, "_single")
_pair = _ntuple(2, "_pair")
_triple = _ntuple(3, "_triple")
_quadruple = _ntuple(4, "_quadruple")


def _reverse_repeat_tuple(t: Sequence[Any], n: int) -> tuple[Any, ...]:
    """Return each element n times, the last first: margins as `pad` takes them."""
    return tuple(each for each in reversed(t) for _ in range(n))


def consume_prefix_in_state_dict_if_present(state_dict: Any, prefix: str) -> None:
    """Take a prefix from the names of a state dict that have it, in place, as `module.` of a DataParallel.

    Args:
        state_dict (dict): of a module.
        prefix (str): what the names begin with.
    """
    for name in list(state_dict):
        if name.startswith(prefix):
            state_dict[name[len(prefix) :]] = state_dict.pop(name)
    versions = getattr(state_dict, "_metadata", {})
    for name in list(versions):
        if name and (name == prefix.replace(".", "") or name.startswith(prefix)):
            versions[name[len(prefix) :]] = versions.pop(name)
