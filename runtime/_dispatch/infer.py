"""Inference of a call's result without computing it: for tracing, for `out=`, for other devices."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from .._base.allocation import allocate_strided
from .._base.devices import META, on_device
from .._base.errors import raise_pending
from .._base.handles import shape_of, strides_of, wrap
from .._base.pytree import flatten, tree_map
from .._base.tensor_class import Tensor
from .._C import lib
from .._handle import make_results as _make_results
from .check import check
from .dispatcher import call
from .op import INPLACE, NEW, Op
from .placement import made_on
from .substitutes import Substitutes

_OF_NO_ELEMENT = frozenset({"elementwise", "reduce", "scan", "rows", "extern", "compute"})
"""Families whose drivers look at no element before they have made the results."""


def infer(op: Op, args: Sequence[Any], out: Any = None, mode: int = NEW) -> Any:
    """The result of a call as tensors on the device `meta`: their dtypes, shapes and strides. Raises its errors.

    The call sees its tensors as such ones, which share memory where these do: nothing is computed, nothing is written.
    """
    if mode == NEW and op.family in _OF_NO_ELEMENT:
        return _made(op, args, None, NEW, True)
    described = descriptions()
    return on_device(META, call, op, described.of(args), described.of(out), mode)


def _made(op: Op, args: Sequence[Any], out: Any, mode: int, described: bool) -> Any:
    try:
        return _make_results(op.function, tuple(args), out, mode, described)
    except TypeError:  # of arguments that take a conversion, or are wrong
        return _make_results(op.function, tuple(check(op, args)), out, mode, described)


def descriptions() -> Substitutes:
    """Tensors on the device `meta` in place of others."""
    return Substitutes(_described)


def _described(tensor: Any) -> Any:
    return wrap(lib.storage_described(lib.storage_of(tensor._h)))


def make_results(op: Op, args: Sequence[Any], out: Any = None, mode: int = NEW) -> Any:
    """The result of a call on the device of its tensors, in memory that is not computed: for who computes it there.

    With `out` that has the shape and counts as written to; in place the target does. Raises the errors of the call.
    """
    if op.family in _OF_NO_ELEMENT:
        return _made(op, args, out, mode, False)
    described = infer(op, args, out, mode)
    written = args[op.target] if mode == INPLACE else out
    if written is None:
        return tree_map(partial(on_device, made_on(op, args, out), _undetermined), described)
    for target, result in zip(flatten(written)[0], flatten(described)[0], strict=True):
        if target.shape != result.shape and not lib.resize_(target._h, list(result.shape), result.ndim):
            raise_pending()
        lib.count_write(target._h)
    return written


def _undetermined(like: Any) -> Any:
    """A tensor of the default device with the dtype, the shape and the strides of another one."""
    if not isinstance(like, Tensor):
        return like
    return allocate_strided(shape_of(like._h), strides_of(like._h), like.dtype)
