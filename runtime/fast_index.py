"""Views for the indices that are usual: ints, slices, None, `...`, and tuples of them.

Each part is one call of the core on the view before it, which for the few parts of a real index is quicker than to
read the shape and to work out the geometry in Python. Whatever is not usual, and every mistake, gives the handle 0.0:
then indexing.py takes the general way, and knows what to say.
"""

from __future__ import annotations

from typing import Any

from . import handles
from ._C import lib
from .dtypes import EXPORTS
from .errors import take_pending
from .handles import NONE, operator_index

_WHOLE = slice(None)
_SELECTORS = tuple(EXPORTS[name].code for name in ("int64", "int32", "bool"))
_DETACH = operator_index("detach")
_SELECT = operator_index("select")
_SLICE = operator_index("slice")
_UNSQUEEZE = operator_index("unsqueeze")
_view0 = lib.view0
_view1 = lib.view1
_view2 = lib.view2
_view4 = lib.view4
_release = lib.release


def fast_selectors(index: Any) -> list[float] | None:
    """What the core is given for a tuple of index tensors and whole slices; None for anything else."""
    if type(index) is not tuple:
        return None
    found = []
    for part in index:
        if type(part) is handles.Tensor and lib.ndim(part._h) and lib.dtype(part._h) in _SELECTORS:
            found.append(part._h)
        elif type(part) is slice and part == _WHOLE:
            found.append(0.0)
        else:
            return None
    return found if any(found) else None


def fast_view(handle: float, index: Any) -> float:
    """The handle of the view, or 0.0."""
    kind = type(index)
    try:
        if kind is int:
            view = _view2(_SELECT, handle, 0, index)
        elif kind is slice:
            view = _slice(handle, 0, index)
        elif kind is tuple:
            view = _view_of_parts(handle, index)
        elif index is None:
            view = _view1(_UNSQUEEZE, handle, 0)
        elif index is Ellipsis:
            view = _view0(_DETACH, handle)
        else:
            return 0.0
    except OverflowError:
        view = 0.0
    if not view:
        take_pending()
    return view


def _slice(handle: float, dim: int, part: slice) -> float:
    start, stop, step = part.start, part.stop, part.step
    if start is None:
        start = NONE
    elif type(start) is not int:
        return 0.0
    if stop is None:
        stop = NONE
    elif type(stop) is not int:
        return 0.0
    if step is None:
        step = 1
    elif type(step) is not int:
        return 0.0
    return _view4(_SLICE, handle, dim, start, stop, step)


def _view_of_parts(handle: float, index: tuple[Any, ...]) -> float:
    view = handle
    # The dimension that the next part is about; after `...` counted from the end, and so negative.
    dim = 0
    after_ellipsis = False
    # Dimensions that parts have kept or made: the view must have as many, or some part was beyond the last one.
    kept = 0
    for place, part in enumerate(index):
        kind = type(part)
        try:
            if kind is int:
                inner = _view2(_SELECT, view, dim, part)
                dim += after_ellipsis
            elif kind is slice:
                kept += 1
                dim += 1
                if part.start is None and part.stop is None and part.step is None:
                    continue
                inner = _slice(view, dim - 1, part)
            elif part is None:
                kept += 1
                inner = _view1(_UNSQUEEZE, view, dim - after_ellipsis)
                dim += not after_ellipsis
            elif part is Ellipsis and not after_ellipsis:
                after_ellipsis = True
                dim = -sum(later is not None for later in index[place + 1 :])
                continue
            else:
                inner = 0.0
        except OverflowError:
            inner = 0.0
        if view is not handle:
            _release(view)
        if not inner:
            return 0.0
        view = inner
    if kept > lib.ndim(view):
        if view is not handle:
            _release(view)
        return 0.0
    return _view0(_DETACH, handle) if view is handle else view
