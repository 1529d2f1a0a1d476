"""Operators written in Python in terms of others: the calls that need more than their body.

A body takes for granted that its arguments have their types and tensors a dtype that the operator accepts, and knows
nothing of `out=`.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from .._base import handles, histories
from .._base.dtypes import BY_CODE
from .._base.errors import raise_pending
from .._base.histories import needs_grad
from .._C import ffi, lib
from .argument_check import check
from .arguments import dtype_code, type_name
from .dispatcher import Op


def composite(op: Op, body: Callable[..., Any], arguments: tuple[Any, ...], dtype: Any, out: Any) -> Any:
    """An operator written in Python: checks what the body takes for granted, stores the result in `out`."""
    if needs_grad(*arguments, out) and (out is not None or histories.recording.derivative(op) is not None):
        run = partial(composite, op, body, arguments, dtype, None)
        return histories.recording.call(op, arguments, run, out)
    checked = check(op, arguments)
    if dtype is not None:
        code = dtype_code(op, dtype)
    else:
        code = lib.dtype(arguments[0]._h) if op.inputs else lib.get_default_dtype()
        if op.promotes:
            code = lib.result_type(arguments[0]._h, arguments[1]._h)
    if code in op.refused:
        of = BY_CODE[code]
        refusal = op.complex_refusal if of.is_complex else op.refusal
        if refusal is not None:
            raise RuntimeError(refusal.replace("{dtype}", of.scalar_name))
        raise NotImplementedError(f'"{op.name}" not implemented for {of.scalar_name!r}')
    result = body(*checked)
    if op.results is not None and not isinstance(result, handles.Tensor):
        return op.results(result if out is None else _store_all(op, result, out))
    if out is not None:
        return store(op, result, out)
    for value in arguments[: len(op.inputs)]:
        if type(value) is not handles.Tensor and isinstance(value, handles.Tensor) and type(result) is handles.Tensor:
            return result.as_subclass(type(value))
    return result


def store(op: Op, result: Any, out: Any, is_exact: bool = False) -> Any:
    """The rule of `out=` for a result, or several, that exists already; of an exact one the dtype must be the same."""
    if isinstance(result, tuple):
        stored = _store_all(op, result, out)
        return stored if op.results is None else op.results(stored)
    if not isinstance(out, handles.Tensor):
        raise TypeError(f"{op.name}(): argument 'out' must be Tensor, not {type_name(out)}")
    if (op.exact_out or is_exact) and out.dtype is not result.dtype:
        wanted, found = (_type_name(each) for each in (result, out))
        raise RuntimeError(f"Expected out tensor to have dtype {wanted}, but got {found} instead")
    if not op.any_out:
        _check_cast(result, out)
    return store_sequence(result, out) if op.sequence else _store_elements(result, out)


def store_sequence(result: Any, out: Any) -> Any:
    """The same for a sequence of values: an `out` of as many elements keeps its shape."""
    return _store_elements(result.view(out.shape) if out.numel() == result.numel() else result, out)


def _store_elements(result: Any, out: Any) -> Any:
    if out.shape != result.shape:
        if out.numel():
            warnings.warn(
                f"an output of shape {tuple(out.shape)} was resized to {tuple(result.shape)}; "
                "pass an empty tensor or one of the right shape",
                stacklevel=4,
            )
        if not lib.resize_(out._h, list(result.shape), result.ndim):
            raise_pending()
    return out.copy_(result)


def _type_name(tensor: Any) -> str:
    """Of the dtype, as C++ has it."""
    name: Any = ffi.string(lib.type_name(lib.dtype(tensor._h)))
    return str(name.decode())


def inplace(function: Callable[..., Any], target: Any, *arguments: Any, **keywords: Any) -> Any:
    """The method in place of an operator: overwrites `target`, one of the arguments, with what the function makes."""
    if needs_grad(*arguments):
        # What the function keeps of the target has to outlive it.
        histories.recording.check_inplace(target)
        before = histories.recording.before_write(target)
        arguments = tuple([before if each is target else each for each in arguments])
    return assign(target, function(*arguments, **keywords))


def assign(target: Any, result: Any) -> Any:
    """The rule of methods in place: the target keeps its shape and dtype."""
    if target.shape != result.shape:
        raise RuntimeError(
            f"output with shape {list(target.shape)} doesn't match the broadcast shape {list(result.shape)}"
        )
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


def tensor_list(tensors: tuple[Any, ...]) -> Sequence[Any]:
    """Tensors given one by one, or as one list."""
    first = tensors[0] if len(tensors) == 1 else None
    if isinstance(first, (tuple, list)) and (not first or isinstance(first[0], handles.Tensor)):
        return first
    return tensors
