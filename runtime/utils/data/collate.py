"""Batches of elements."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping, MutableMapping, MutableSequence, Sequence
from typing import Any

from ..._base.dtypes import EXPORTS
from ..._base.tensor_class import Tensor
from ..._operators import stack
from ..._tensor.construct import as_tensor, tensor

__all__ = ["default_collate", "default_convert"]


def _is_array(value: Any) -> bool:
    return type(value).__module__ == "numpy"


def _rebuilt(like: Any, pairs: Any) -> Any:
    """A mapping of the kind of `like` with these values."""
    values = dict(pairs)
    if isinstance(like, MutableMapping):
        made = copy.copy(like)
        made.update(values)
        return made
    try:
        return type(like)(values)
    except TypeError:
        return values


def default_convert(data: Any) -> Any:
    """Return data with tensors in the place of NumPy's arrays and numbers, also within sequences and mappings."""
    if isinstance(data, (Tensor, str, bytes)):
        return data
    if _is_array(data):
        return data if data.dtype.kind in "SUaO" else as_tensor(data)
    if isinstance(data, Mapping):
        return _rebuilt(data, ((key, default_convert(value)) for key, value in data.items()))
    if isinstance(data, tuple) and hasattr(data, "_fields"):
        return type(data)(*map(default_convert, data))
    if isinstance(data, tuple):
        return [default_convert(each) for each in data]
    if isinstance(data, Sequence) and not isinstance(data, range):
        try:
            return type(data)([default_convert(each) for each in data])  # type: ignore[call-arg]
        except TypeError:
            return [default_convert(each) for each in data]
    return data


def default_collate(batch: Any) -> Any:
    """Return a batch of elements: tensors are stacked, numbers and NumPy's arrays become tensors, and mappings and
    sequences are made of batches.

    Args:
        batch (sequence): the elements.

    Raises:
        TypeError: an element is of another kind.
        RuntimeError: shapes or lengths differ.
    """
    return collate(batch, default_collate)


def collate(batch: Any, each: Callable[[Any], Any]) -> Any:
    """The same, with `each` called for parts."""
    first = batch[0]
    if isinstance(first, Tensor):
        return stack(list(batch), 0)
    if _is_array(first):
        if first.dtype.kind in "SUaO":
            raise TypeError(
                f"default_collate: batch must contain tensors, numpy arrays, numbers, dicts or lists; found "
                f"{first.dtype}"
            )
        return each([as_tensor(value) for value in batch]) if first.shape else as_tensor(batch)
    if isinstance(first, float):
        return tensor(batch, dtype=EXPORTS["float64"])
    if isinstance(first, int):
        return tensor(batch)
    if isinstance(first, (str, bytes)):
        return batch
    if isinstance(first, Mapping):
        return _rebuilt(first, ((key, each([part[key] for part in batch])) for key in first))
    if isinstance(first, tuple) and hasattr(first, "_fields"):
        return type(first)(*(each(parts) for parts in zip(*batch, strict=True)))
    if isinstance(first, Sequence):
        if any(len(part) != len(first) for part in batch):
            raise RuntimeError("each element in list of batch should be of equal size")
        parts = [each(values) for values in zip(*batch, strict=True)]
        if isinstance(first, tuple):
            return parts
        if isinstance(first, MutableSequence):
            made = copy.copy(first)
            made[:] = parts
            return made
        try:
            return type(first)(parts)  # type: ignore[call-arg]
        except TypeError:
            return parts
    raise TypeError(
        f"default_collate: batch must contain tensors, numpy arrays, numbers, dicts or lists; found {type(first)}"
    )
