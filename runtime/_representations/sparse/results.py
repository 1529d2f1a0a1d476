"""The delivery of a call's result: to a new tensor, to the tensor that is overwritten, or to `out`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NoReturn

from ..._C import lib
from ..._dispatch.dispatcher import call
from ..._dispatch.op import INPLACE, NEW, Op
from .payload import Payload, scalar_name
from .tensor import is_sparse, made, replace_payload

__all__ = ["deliver", "kind_of", "sparse_among", "unsupported"]


def kind_of(tensor: Any) -> str:
    """A tensor's layout, as messages name it."""
    return str(tensor.layout).rpartition(".")[2]


def sparse_among(values: Sequence[Any]) -> list[Any]:
    """The sparse tensors among arguments, those in lists included."""
    found: list[Any] = []
    for each in values:
        if isinstance(each, (list, tuple)):
            found += sparse_among(each)
        elif is_sparse(each):
            found.append(each)
    return found


def unsupported(op: Op, args: Sequence[Any], why: str = "") -> NoReturn:
    """The error of calls that have no rule for sparse tensors."""
    layouts = " and ".join(dict.fromkeys(kind_of(each) for each in sparse_among(args))) or "sparse"
    raise NotImplementedError(
        f"{op.name}() is not implemented for tensors of layout {layouts}{': ' + why if why else ''}; "
        "to_dense() gives a tensor that it takes"
    )


def deliver(op: Op, result: Any, args: Sequence[Any], out: Any, mode: int) -> Any:
    """The result, a tensor or what a sparse one consists of, as the call asks for it."""
    if mode == INPLACE:
        return _assign(op, args[op.target], result)
    if out is not None:
        return _store(op, out, result)
    return result if not hasattr(result, "with_values") else made(result)


def _assign(op: Op, target: Any, result: Any) -> Any:
    is_payload = hasattr(result, "with_values")
    if not is_sparse(target) or not is_payload:
        dense = made(result).to_dense() if is_payload else result
        if is_sparse(target):
            raise RuntimeError(
                f"{op.name}_(): the result is dense and cannot overwrite a tensor of layout {kind_of(target)}; call "
                f"{op.name}() instead"
            )
        return target.copy_(dense)
    if tuple(target.shape) != result.size:
        raise RuntimeError(
            f"output with shape {list(target.shape)} doesn't match the broadcast shape {list(result.size)}"
        )
    _check_cast(result.values, target)
    if target.requires_grad and target.is_leaf and result.values.requires_grad:
        raise RuntimeError("a leaf Variable that requires grad is being used in an in-place operation.")
    return replace_payload(target, result.with_values(result.values.to(target.dtype)))


def _store(op: Op, out: Any, result: Any) -> Any:
    if not hasattr(result, "with_values"):
        if is_sparse(out):
            raise RuntimeError(f"{op.name}(): the result is dense, and `out` has the layout {kind_of(out)}")
        return call_copy(out, result)
    if not is_sparse(out):
        raise RuntimeError(f"{op.name}(): the result has the layout {scalar_name(result.layout)}, and `out` is dense")
    _check_cast(result.values, out)
    return replace_payload(out, result.with_values(result.values.to(out.dtype)))


def call_copy(out: Any, result: Any) -> Any:
    """Writes a dense result to a dense `out`."""
    if out.shape != result.shape:
        out.resize_(result.shape)
    return out.copy_(result)


def _check_cast(values: Any, target: Any) -> None:
    if not lib.can_cast(values.dtype.code, target.dtype.code):
        found, wanted = values.dtype.scalar_name, target.dtype.scalar_name
        raise RuntimeError(f"result type {found} can't be cast to the desired output type {wanted}")


def on_values(op: Op, payload: Payload, args: Sequence[Any], place: int, mode: int = NEW) -> Payload:
    """The call with the values in place of the tensor."""
    given = list(args)
    given[place] = payload.values
    return payload.with_values(call(op, given, None, mode))
