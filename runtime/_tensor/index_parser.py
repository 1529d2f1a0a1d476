"""Reads an index: which part of the tensor it names, as a view, and which tensors select from that.

Ints, slices, None, `...` and bools make the view. Sequences and arrays become tensors; tensors with dimensions are
left for the core.
"""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any, TypeAlias

from .._base.devices import CPU
from .._base.dtypes import EXPORTS, dtype
from .._base.handles import OVERFLOW, exact_integer, type_name
from .._base.tensor_class import Tensor
from .._base.warn import warn
from .._C import lib
from .._dispatch.ops import ops

_LARGEST = 2**63 - 1
_WHOLE = slice(None)
_INT64 = EXPORTS["int64"]
_INDEX_DTYPES = tuple(EXPORTS[name] for name in ("int64", "int32", "bool", "uint8"))


Steps: TypeAlias = tuple[list[tuple[Any, ...]], list[Any], bool]
"""The steps of an index: the views one after the other, `("select", dim, index)`, `("slice", dim, start, length, step)`
or `("unsqueeze", dim)`; then the tensors that index the dimensions that are left, from the first on, where None leaves
one whole; and whether the index is a bool."""


def parse(handle: float, index: Any) -> Steps:
    """Raises IndexError for what does not fit the shape of the tensor."""
    items = _items(index, lib.ndim(handle))
    _check_count(items, lib.ndim(handle), index)
    # A bool alone is a new dimension of size one or zero.
    if not isinstance(index, tuple) and type(items[0]) is bool:
        return [("unsqueeze", 0), ("slice", 0, 0, int(items[0]), 1)], [], True
    return _steps(items, handle)


def apply(tensor: Any, index: Any) -> tuple[Any, list[Any], bool]:
    """The view as calls of operators, the tensors that index it, and whether the index is a bool, which makes a copy.

    The index is read before the tensor is looked at: its parts may be objects whose code gives the tensor other memory.
    """
    views, tensors, is_masked = parse(tensor._h, index)
    view = tensor
    for name, dim, *rest in views:
        if name == "slice":
            start, length, step = rest
            view = ops.slice(view, dim, start, start + (length - 1) * step + 1 if length else start, step)
        else:
            view = getattr(ops, name)(view, dim, *rest)
    if view is tensor and not tensors:  # all of it, which is another tensor nevertheless
        view = ops.alias(tensor)
    return view, tensors, is_masked


# ---- parts --------------------------------------------------------------------------------------------------


def _items(index: Any, ndim: int) -> list[Any]:
    """The parts of an index: ints, slices of ints, bools, tensors, None and `...`, with one `...` exactly."""
    parts = index if isinstance(index, tuple) else tuple(index) if _is_like_tuple(index) else (index,)
    parts = tuple(_tensor_of(part) if _is_sequence(part) else part for part in parts)
    _check_count(parts, ndim, index)
    items: list[Any] = []
    has_ellipsis = False
    for part in parts:
        if part is Ellipsis and has_ellipsis:
            continue
        has_ellipsis |= part is Ellipsis
        if type(part) is slice:
            items.append(_plain_slice(part))
        else:
            items.append(part if part is None or type(part) in _PLAIN_TYPES else _selector(part))
    if not has_ellipsis:
        items.append(Ellipsis)
    return items


def lasting(index: Any) -> Any:
    """The index with sequences and arrays replaced by tensors, as others may change them before it is used again."""
    parts = index if isinstance(index, tuple) else tuple(index) if _is_like_tuple(index) else (index,)
    if not any(map(_is_sequence, parts)):
        return index
    return tuple([_tensor_of(part).clone() if _is_sequence(part) else part for part in parts])


def _check_count(parts: Sequence[Any], ndim: int, index: Any) -> None:
    """Refuses parts for more dimensions than there are."""
    if sum(map(_dimensions_of, parts)) > ndim:
        if ndim == 0 and not isinstance(index, tuple):
            _refuse_without_dimensions(parts[0] if type(index) is slice else index)
        raise IndexError(f"too many indices for tensor of dimension {ndim}")


def _is_sequence(part: Any) -> bool:
    """Lists and the like, arrays, and what has elements in other libraries; a string is one as well, but no index."""
    if isinstance(part, (list, tuple, range)):
        return True
    if type(part) in _PLAIN_TYPES or isinstance(part, (Tensor, str, bytes, dict, type)):
        return False
    return hasattr(part, "__len__") and hasattr(part, "__getitem__") and getattr(part, "shape", None) != ()


def _is_like_tuple(index: Any) -> bool:
    """True if a list is read as a tuple of its parts, as NumPy once did and torch still does."""
    if not isinstance(index, (list, range)) or len(index) >= 32:
        return False
    is_tuple = any(
        part is None or part is Ellipsis or isinstance(part, (slice, Tensor)) or _is_sequence(part) for part in index
    )
    if is_tuple:
        warn(
            "Using a non-tuple sequence for multidimensional indexing is deprecated and will be changed in pytorch "
            "2.9; use x[tuple(seq)] instead of x[seq]. In pytorch 2.9 this will be interpreted as tensor index, "
            "x[torch.tensor(seq)], which will result either in an error or a different result"
        )
    return is_tuple


def _tensor_of(values: Any) -> Any:
    """A sequence or an array as a tensor of indices: a mask when it holds bools (or bytes), else int64."""
    from .._base import interchange
    from . import construct

    if interchange.is_array(values):
        result = interchange.elements_of(values)
        return result if _is_mask(result.dtype) else result.to(_INT64)
    if len(values) == 0:
        return construct.tensor(values, dtype=_INT64, device=CPU)
    result = construct.tensor(values, device=CPU)
    return result if _is_mask(result.dtype) else construct.tensor(values, dtype=_INT64, device=CPU)


_PLAIN_TYPES = frozenset((int, bool, type(Ellipsis)))


def _plain_slice(part: slice) -> slice:
    """The same of ints and None alone."""
    bounds = (part.start, part.stop, part.step)
    if not all(bound is None or hasattr(bound, "__index__") for bound in bounds):
        raise TypeError("slice indices must be integers or None or have an __index__ method")
    return slice(*[None if bound is None else exact_integer(bound) for bound in bounds])


def _dimensions_of(part: Any) -> int:
    """Return the number of dimensions that a part of an index consumes: a mask its own, a bool none, others one."""
    if part is None or part is Ellipsis or type(part) is bool:
        return 0
    if isinstance(part, Tensor) and _is_mask(part.dtype):
        return int(part.ndim)
    return 1


def _is_mask(dtype: dtype) -> bool:
    """bool, and uint8, which stood for it before there was bool."""
    return dtype.itemsize == 1 and not dtype.is_signed


def _refuse_without_dimensions(index: Any) -> None:
    """Raises what a single int or slice is told by a tensor without dimensions; returns for other indices."""
    if type(index) is slice:
        _slice_range(index, 0)
        raise IndexError("slice() cannot be applied to a 0-dim tensor.")
    if isinstance(index, int) or (type(index).__module__ == "numpy" and not getattr(index, "shape", ())):
        position = _number(index)
        if not -_LARGEST - 1 <= position <= _LARGEST:
            raise ValueError(OVERFLOW)
        if position:
            raise IndexError(f"index {position} is out of bounds for dimension 0 with size 0")
        raise IndexError(
            "invalid index of a 0-dim tensor. Use `tensor.item()` in Python to convert a 0-dim tensor to a number"
        )


def _selector(part: Any) -> Any:
    """A part of an index of a type less common: a tensor with dimensions, or what stands for an int or a bool."""
    if not isinstance(part, Tensor) or not part.ndim:
        return _number(part)
    if part.dtype not in _INDEX_DTYPES:
        raise IndexError("tensors used as indices must be long, int, byte or bool tensors")
    if _is_mask(part.dtype) and part.dtype.is_integer:
        warn("indexing with dtype torch.uint8 is now deprecated, please use a dtype torch.bool instead.")
    return part


def _number(part: Any) -> int | bool:
    """An int, or a bool, which adds a dimension."""
    if isinstance(part, Tensor):
        if part.dtype.is_floating_point:
            raise IndexError("tensors used as indices must be long, int, byte or bool tensors")
        value: int = part.item()
        return bool(value) if _is_mask(part.dtype) else value
    try:
        return operator.index(part)
    except TypeError:
        pass
    kind = type(part)
    if isinstance(part, (str, bytes)):
        raise TypeError(f"new(): invalid data type '{kind.__name__}'")
    raise IndexError(
        "only integers, slices (`:`), ellipsis (`...`), None and long or byte Variables are valid indices "
        f"(got {type_name(part)})"
    )


# ---- steps --------------------------------------------------------------------------------------------------


def _steps(items: list[Any], handle: float) -> Steps:
    """The steps of the parts of an index. Sizes of dimensions that are left whole are not looked at, as programs that
    are recorded are for any other."""
    views: list[tuple[Any, ...]] = []
    tensors: list[tuple[int, Any]] = []  # where each stands among the dimensions of the view, and the tensor
    dim = to = 0  # the next dimension, and where it is in the view
    ndim = lib.ndim(handle)
    named = sum(_dimensions_of(item) for item in items)
    for position, item in enumerate(items):
        if item is None or type(item) is bool:
            if item is not None:
                tensors.append((to, _bool_index(item)))
            views.append(("unsqueeze", to))
            to += 1
        elif item is Ellipsis or isinstance(item, Tensor):
            if item is not Ellipsis:
                tensors.append((to, item))
            count = ndim - named if item is Ellipsis else _dimensions_of(item)
            dim, to = dim + count, to + count
        elif type(item) is slice:
            if item != _WHOLE:
                size = lib.size(handle, dim)
                start, length, step = _slice_range(item, size)
                if (start, length, step) != (0, size, 1):
                    views.append(("slice", to, start, length, step))
            dim, to = dim + 1, to + 1
        else:
            size = lib.size(handle, dim)
            if not -size <= item < size:
                if not -_LARGEST - 1 <= item <= _LARGEST:
                    raise ValueError(OVERFLOW)
                raise IndexError(f"index {item} is out of bounds for dimension {position} with size {size}")
            views.append(("select", to, item + size if item < 0 else item))
            dim += 1
    return views, _by_dimension(tensors), False


def _bool_index(value: bool) -> Any:
    """A bool selects the one position of a dimension of its own, or none."""
    from . import construct

    return construct.tensor([0] if value else [], dtype=_INT64, device=CPU)


def _by_dimension(tensors: list[tuple[int, Any]]) -> list[Any]:
    """One entry for each dimension up to the last indexed one, a mask standing for all of its own; None: no index."""
    result: list[Any] = []
    dim = 0
    for first, tensor in tensors:
        result += [None] * (first - dim) + [tensor]
        dim = first + _dimensions_of(tensor)
    return result


def _slice_range(part: slice, size: int) -> tuple[int, int, int]:
    """Start, number of positions and step."""
    start, stop, step = part.indices(size)
    if step < 0:
        raise ValueError("step must be greater than zero")
    length = max(0, (stop - start + step - 1) // step)
    return start, length, step if step <= _LARGEST else 1  # a step that 64 bits do not hold leads nowhere
