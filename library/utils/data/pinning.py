"""Batches in pinned memory: whatever has tensors somewhere within it."""

from __future__ import annotations

import copy
from collections.abc import Mapping, MutableMapping, MutableSequence, Sequence
from typing import Any

__all__ = ["pin_memory"]


def pin_memory(data: Any, device: Any = None) -> Any:
    """Return the same with all tensors, and objects with a method `pin_memory`, in memory of the accelerator's choice.

    Mappings, sequences and named tuples are copied; what has no tensors stays. `device` is without effect, as in torch.
    """
    if hasattr(data, "pin_memory"):
        return data.pin_memory()
    if isinstance(data, (str, bytes)):
        return data
    if isinstance(data, Mapping):
        return _of_mapping(data)
    if isinstance(data, tuple):
        parts = [pin_memory(each) for each in data]
        return type(data)(*parts) if hasattr(data, "_fields") else type(data)(parts)
    return _of_sequence(data) if isinstance(data, Sequence) else data


def _of_mapping(data: Any) -> Any:
    pinned = {key: pin_memory(each) for key, each in data.items()}
    try:
        if not isinstance(data, MutableMapping):
            return type(data)(pinned)
        clone = copy.copy(data)  # with what else the mapping has
        clone.update(pinned)
    except TypeError:  # it takes no others than its own
        return pinned
    return clone


def _of_sequence(data: Any) -> Any:
    pinned = [pin_memory(each) for each in data]
    try:
        if not isinstance(data, MutableSequence):
            return type(data)(pinned)
        clone = copy.copy(data)
        for place, each in enumerate(pinned):
            clone[place] = each
    except TypeError:
        return pinned
    return clone
