"""Class MaskedTensor: a tensor with a mask, which is True for the elements that count.

Its memory has the elements. What a function does is found in three ways: reductions and scans are those of this
package, with the mask; elementwise functions are computed of all elements, and the mask stays; functions that move
elements, such as views, move those of the mask as well. Others that are made of these are taken apart.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeGuard

from .. import _operators as ops
from .._base.dtypes import EXPORTS
from .._dispatch.subclass import disabled
from .._tensor.tensor import Tensor
from . import functions

__all__ = ["MaskedTensor", "as_masked_tensor", "is_masked_tensor", "masked_tensor"]

_DTYPES = ("float16", "float32", "float64", "bool", "int8", "int16", "int32", "int64")
_MOVING = ("cat", "clone", "contiguous", "detach", "flip", "gather", "index", "index_select", "repeat", "roll", "stack")
"""Operators besides views whose result has elements of their arguments."""
_CONVERTING = ("_to_copy", "empty_like", "ones_like", "to", "zeros_like")
"""Operators that are not elementwise, whose result has an element for each one."""


class MaskedTensor(Tensor):
    """A tensor some of whose elements do not count.

    Args:
        data (Tensor): the elements.
        mask (Tensor): which of them count, a bool tensor of the same size.
        requires_grad (bool): whether gradients are recorded.

    Raises:
        TypeError: one is no tensor, or their dtypes are not supported.
        ValueError: the sizes differ.
    """

    _mask: Tensor

    def __new__(cls, data: Any, mask: Any, requires_grad: bool = False) -> MaskedTensor:
        _check(data, mask)
        made: MaskedTensor = _with_mask(data.detach().clone(), mask.clone())
        return made.requires_grad_() if requires_grad else made

    def __init__(self, data: Any, mask: Any, requires_grad: bool = False) -> None:
        pass

    def get_data(self) -> Any:
        """Return all elements as a tensor without a mask, with gradients."""
        return disabled(Tensor.view_as, (), (self, self))

    def get_mask(self) -> Any:
        """Return which elements count."""
        return self._mask

    def to_tensor(self, value: Any) -> Any:
        """Return the elements as a tensor, with `value` in place of those that do not count."""
        return self.get_data().masked_fill(~self._mask, value)

    @property
    def grad(self) -> Any:
        """The gradient, with the mask of the tensor; None where there is none."""
        grad: Any = Tensor.grad.__get__(self)
        return grad if grad is None or isinstance(grad, MaskedTensor) else _with_mask(grad, self._mask)

    @grad.setter
    def grad(self, value: Any) -> None:
        of_base: Any = Tensor.grad
        of_base.__set__(self, value)

    def item(self) -> Any:
        """Return the only element as a number. Raises ValueError if it does not count."""
        if self.numel() == 1 and not bool(self._mask):
            raise ValueError("item(): the element does not count, as its mask is False")
        return self.get_data().item()

    @classmethod
    def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Return what a function does with masked tensors. Raises TypeError if that is not known."""
        op = getattr(func, "op", None)
        kwargs = kwargs or {}
        if isinstance(getattr(func, "__self__", None), property):  # as Tensor.mT
            return _moved(func, args, kwargs)
        if op is None:
            return NotImplemented
        if op.view or op.name in _MOVING:
            return _moved(func, args, kwargs)
        given = _by_name(op, args, kwargs)
        if op.name == "where":
            return _chosen(func, args)
        if op.name in functions.REDUCTIONS:
            return _reduced(op.name, given)
        if op.name in functions.SCANS:
            first, *rest = given.values()
            return _with_mask(getattr(functions, op.name)(first.get_data(), *rest, mask=first.get_mask()), first._mask)
        if op.name in ("all", "any"):
            first, *rest = args
            return _reduced_mask(func, first, rest, kwargs)
        if op.family == "elementwise" or op.name in _CONVERTING:
            return _elementwise(func, args, kwargs)
        if op.is_decomposable:
            values = dict(zip(op.names, op.defaults, strict=True)) | given
            return op.body(*values.values())
        raise TypeError(
            f"{func.__name__}() is not defined for masked tensors: use get_data() or to_tensor(value), which give "
            "tensors without a mask"
        )

    def __repr__(self, *, tensor_contents: str | None = None) -> str:  # type: ignore[override]
        data, mask = self.get_data().detach(), self._mask
        if not self.dim():
            shown = _number(data) if bool(mask) else "--"
            return f"MaskedTensor({shown}, {bool(mask)})"
        lines = _lines(data, mask).split("\n")
        return "\n".join(["MaskedTensor(", *(f"  {line}" for line in lines), ")"])


def is_masked_tensor(obj: Any, /) -> TypeGuard[MaskedTensor]:
    """Return whether it is a MaskedTensor."""
    return isinstance(obj, MaskedTensor)


def masked_tensor(data: Any, mask: Any, requires_grad: bool = False) -> MaskedTensor:
    """Return a MaskedTensor that has copies of elements and mask, and no history."""
    return MaskedTensor(data, mask, requires_grad)


def as_masked_tensor(data: Any, mask: Any) -> MaskedTensor:
    """Return a MaskedTensor whose gradients are those of `data`."""
    _check(data, mask)
    made: MaskedTensor = _with_mask(data.clone(), mask.clone())
    return made


def _check(data: Any, mask: Any) -> None:
    for name, value in (("data", data), ("mask", mask)):
        if is_masked_tensor(value) or not isinstance(value, Tensor):
            raise TypeError(f"{name} must be a Tensor")
    if type(data) is not type(mask):
        raise TypeError(f"data and mask must have the same type. Got {type(data)} and {type(mask)}")
    if mask.dtype is not EXPORTS["bool"]:
        raise TypeError("mask must have dtype bool.")
    if data.dtype not in [EXPORTS[name] for name in _DTYPES]:
        raise TypeError(f"{data.dtype} is not supported in MaskedTensor.")
    if data.dim() != mask.dim():
        raise ValueError("data.dim() must equal mask.dim()")
    if data.shape != mask.shape:
        raise ValueError("data.size() must equal mask.size()")


def _with_mask(data: Any, mask: Any) -> Any:
    made = data.as_subclass(MaskedTensor)
    made._mask = mask
    return made


def _by_name(op: Any, args: Any, kwargs: Any) -> dict[str, Any]:
    return {**dict(zip(op.names, args, strict=False)), **kwargs}


def _mapped(value: Any, change: Callable[[Any], Any]) -> Any:
    if is_masked_tensor(value):
        return change(value)
    return type(value)([_mapped(each, change) for each in value]) if type(value) in (list, tuple) else value


def _applied(func: Any, args: Any, kwargs: Any, change: Callable[[Any], Any]) -> Any:
    return func(*_mapped(tuple(args), change), **{name: _mapped(value, change) for name, value in kwargs.items()})


def _moved(func: Any, args: Any, kwargs: Any) -> Any:
    """The elements and the mask, moved alike."""
    data, mask = (_applied(func, args, kwargs, change) for change in (MaskedTensor.get_data, MaskedTensor.get_mask))
    if isinstance(data, (list, tuple)):
        return type(data)([_with_mask(one, other) for one, other in zip(data, mask, strict=True)])
    if mask.dtype is not EXPORTS["bool"]:
        raise TypeError(f"{func.__name__}() of masked tensors and others: give the others masks by masked_tensor()")
    return _with_mask(data, mask)


def _elementwise(func: Any, args: Any, kwargs: Any) -> Any:
    masks = [each.get_mask() for each in args if is_masked_tensor(each)]
    if any(each.shape != masks[0].shape or not bool((each == masks[0]).all()) for each in masks[1:]):
        raise ValueError("Input masks must match: give both the mask of the elements that count in both")
    data = _applied(func, args, kwargs, MaskedTensor.get_data)
    if masks and args and is_masked_tensor(args[0]) and func.__name__.endswith("_"):
        return args[0]
    return _with_mask(data, masks[0].expand(data.shape))


def _chosen(func: Any, args: Any) -> Any:
    """Return the selection of two masked tensors, as one selects of two tensors; all elements of others count."""
    condition, *values = args
    data = func(condition, *_mapped(tuple(values), MaskedTensor.get_data))
    masks = [each.get_mask() if is_masked_tensor(each) else True for each in values]
    return _with_mask(data, func(condition, *masks).expand(data.shape))


def _reduced(name: str, given: dict[str, Any]) -> Any:
    """Rows of which some element counts do."""
    values = dict(given)
    first = values.pop("input")
    if "p" in values:
        values["ord"] = values.pop("p")
    data = getattr(functions, name)(first.get_data(), mask=first.get_mask(), **values)
    dims = functions._dims(first, values.get("dim"))
    mask = first.get_mask()
    return _with_mask(data, mask.any(dims, values.get("keepdim", False)) if dims else mask)


def _reduced_mask(func: Any, first: Any, rest: Any, kwargs: Any) -> Any:
    neutral = func.__name__ == "all"
    return _with_mask(func(first.to_tensor(neutral), *rest, **kwargs), ops.any(first.get_mask(), *rest, **kwargs))


def _number(element: Any) -> str:
    value = element.item()
    return f"{value:8.4f}" if isinstance(value, float) else str(value)


def _lines(data: Any, mask: Any) -> str:
    if data.dim() > 1:
        parts = [_lines(*each) for each in zip(data.unbind(), mask.unbind(), strict=True)]
        return "[\n" + ",\n".join("  " + part.replace("\n", "\n  ") for part in parts) + "\n]"
    shown, counts = [_number(each) for each in data.unbind()], mask.tolist()
    width = max((len(text) if kept else 8 for text, kept in zip(shown, counts, strict=True)), default=0)
    return "[" + ", ".join(text if kept else "--".rjust(width) for text, kept in zip(shown, counts, strict=True)) + "]"
