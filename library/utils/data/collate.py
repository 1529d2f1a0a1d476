"""Batches of elements."""

from __future__ import annotations

import copy
import re
from collections.abc import Callable, Mapping, MutableMapping, MutableSequence, Sequence
from typing import Any, TypeAlias

from ..._base.dtypes import EXPORTS
from ..._base.tensor_class import Tensor
from ..._operators import stack
from ..._tensor.construct import as_tensor, tensor

__all__ = ["default_collate", "default_convert"]

CollateMap: TypeAlias = dict[Any, Callable[..., Any]]
np_str_obj_array_pattern = re.compile(r"[SaUO]")
"""The pattern of a dtype of NumPy's arrays that hold texts or objects."""


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
    return collate(batch, collate_fn_map=default_collate_fn_map)


def collate(batch: Any, *, collate_fn_map: CollateMap | None = None) -> Any:
    """Return a batch of elements as `default_collate` does, where functions make those of some classes.

    Args:
        batch (sequence): the elements.
        collate_fn_map (dict): by class, or by a tuple of classes, a function of the elements and of the keyword
            `collate_fn_map`; that of the very class of the first element goes before those of classes it derives from.

    Raises:
        TypeError: an element is of another kind.
        RuntimeError: shapes or lengths differ.
    """
    first = batch[0]
    if collate_fn_map is not None:
        if type(first) in collate_fn_map:
            return collate_fn_map[type(first)](batch, collate_fn_map=collate_fn_map)
        for kind, function in collate_fn_map.items():
            if isinstance(first, kind):
                return function(batch, collate_fn_map=collate_fn_map)

    def each(values: Any) -> Any:
        return collate(values, collate_fn_map=collate_fn_map)

    if _is_array(first):
        if first.dtype.kind in "SUaO":
            raise TypeError(
                f"default_collate: batch must contain tensors, numpy arrays, numbers, dicts or lists; found "
                f"{first.dtype}"
            )
        return each([as_tensor(value) for value in batch]) if first.shape else as_tensor(batch)
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


def collate_tensor_fn(batch: Any, *, collate_fn_map: CollateMap | None = None) -> Any:
    """Return tensors as one, stacked."""
    return stack(list(batch), 0)


def collate_float_fn(batch: Any, *, collate_fn_map: CollateMap | None = None) -> Any:
    """Return numbers as a tensor of float64."""
    return tensor(batch, dtype=EXPORTS["float64"])


def collate_int_fn(batch: Any, *, collate_fn_map: CollateMap | None = None) -> Any:
    """Return numbers as a tensor of int64."""
    return tensor(batch)


def collate_str_fn(batch: Any, *, collate_fn_map: CollateMap | None = None) -> Any:
    """Return texts as they are."""
    return batch


default_collate_fn_map: CollateMap = {
    Tensor: collate_tensor_fn,
    float: collate_float_fn,
    int: collate_int_fn,
    str: collate_str_fn,
    bytes: collate_str_fn,
}
"""The functions of `default_collate` by class; it may be given other classes."""
