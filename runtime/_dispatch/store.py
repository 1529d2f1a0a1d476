"""The rules of `out=`, and of methods in place, for results that exist already."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .._base.errors import raise_pending, take_warning
from .._base.tensor_class import Tensor
from .._base.type_names import type_name
from .._base.warn import warn
from .._C import ffi, lib
from .op import Op


def store(op: Op, result: Any, out: Any, is_exact: bool = False) -> Any:
    """The rule of `out=` for a result, or several, that exists already; of an exact one the dtype must be the same."""
    if isinstance(result, tuple):
        stored = _store_all(op, result, out)
        return tuple(stored) if op.results is None else op.results(stored)
    if not isinstance(out, Tensor):
        raise TypeError(f"{op.name}(): argument 'out' must be Tensor, not {type_name(out)}")
    if (op.out == "exact" or is_exact) and out.dtype is not result.dtype:
        if op.family == "elementwise":
            wanted, found = result.dtype.scalar_name, out.dtype.scalar_name
            raise RuntimeError(
                f"Expected object of scalar type {wanted} but got scalar type {found} for argument 'out'"
            )
        wanted, found = (cpp_name(each) for each in (result, out))
        raise RuntimeError(f"Expected out tensor to have dtype {wanted}, but got {found} instead")
    if op.out != "any":
        _check_cast(result, out)
    if op.out == "same_count" and out.numel() == result.numel():  # a sequence of values fills any shape
        result = result.view(out.shape)
    return _store_elements(result, out, "placement" in op.types)


def _store_elements(result: Any, out: Any, is_factory: bool) -> Any:
    """`is_factory`: nobody is warned when what is filled alone gets another shape."""
    if out.shape != result.shape:
        resize = lib.resize_ if is_factory else lib.resize_out
        if not resize(out._h, list(result.shape), result.ndim):
            raise_pending()
        if text := take_warning():
            warn(text)
    return out.copy_(result)


def cpp_name(tensor: Any) -> str:
    """Return the C++ name of a tensor's dtype."""
    name: Any = ffi.string(lib.type_name(lib.dtype(tensor._h)))
    return str(name.decode())


def assign(target: Any, result: Any) -> Any:
    """The rule of methods in place: the target keeps its shape and dtype."""
    if result is target:
        return target
    if target.shape != result.shape:
        raise RuntimeError(
            f"output with shape {list(target.shape)} doesn't match the broadcast shape {list(result.shape)}"
        )
    if result.dtype is not target.dtype:
        _check_cast(result, target)
    return target.copy_(result)


def _check_cast(result: Any, target: Any) -> None:
    if not lib.can_cast(lib.dtype(result._h), lib.dtype(target._h)):
        found, wanted = result.dtype.scalar_name, target.dtype.scalar_name
        raise RuntimeError(f"result type {found} can't be cast to the desired output type {wanted}")


def _store_all(op: Op, results: Sequence[Any], out: Any) -> list[Any]:
    if not isinstance(out, (tuple, list)) or len(out) != len(results):
        raise TypeError(f"{op.name}(): argument 'out' must be tuple of Tensors, not {type_name(out)}")
    names = getattr(op.results, "_fields", [""] * len(results))
    # Positions are exact: other dtypes do not hold them all.
    each = zip(results, out, names, strict=True)
    return [store(op, result, target, name == "indices") for result, target, name in each]
