"""Functions of the module that are methods of Tensor by another spelling: `opweave.numel(x)` for `x.numel()`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from .._base import handles
from .._base.handles import type_name
from .._base.types import memory_format, preserve_format

if TYPE_CHECKING:
    from .._operators import Number
    from .tensor import Tensor

__all__ = [
    "clone", "fill_", "index_put", "index_put_", "is_complex", "is_conj", "is_floating_point",
    "is_inference", "is_neg", "is_nonzero", "is_same_size", "is_signed", "numel", "resize_as_", "typename", "zero_",
]  # fmt: skip


def _receiver(function: str, value: Any) -> Any:
    if not isinstance(value, handles.Tensor):
        raise TypeError(f"{function}(): argument 'input' (position 1) must be Tensor, not {type_name(value)}")
    return value


def clone(input: Tensor, *, memory_format: memory_format = preserve_format) -> Tensor:
    """Return a copy of `input` with memory of its own, of the same shape and dtype (`Tensor.clone`)."""
    return _receiver("clone", input).clone(memory_format=memory_format)  # type: ignore[no-any-return]


def fill_(input: Tensor, value: Tensor | Number) -> Tensor:
    """Write one number to all elements of `input` and return it (`Tensor.fill_`)."""
    return _receiver("fill_", input).fill_(value)  # type: ignore[no-any-return]


def index_put(input: Tensor, indices: Sequence[Tensor], values: Tensor, accumulate: bool = False) -> Tensor:
    """Return a copy of `input` after `index_put_` (`Tensor.index_put`)."""
    return _receiver("index_put", input).index_put(indices, values, accumulate)  # type: ignore[no-any-return]


def index_put_(input: Tensor, indices: Sequence[Tensor], values: Tensor, accumulate: bool = False) -> Tensor:
    """Write `values` to the elements of `input` that `indices` select, or add them (`Tensor.index_put_`)."""
    return _receiver("index_put_", input).index_put_(indices, values, accumulate)  # type: ignore[no-any-return]


def zero_(input: Tensor) -> Tensor:
    """Write zero to all elements of `input` and return it (`Tensor.zero_`)."""
    return _receiver("zero_", input).zero_()  # type: ignore[no-any-return]


def resize_as_(input: Tensor, the_template: Tensor) -> Tensor:
    """Give `input` the shape of another tensor and return it (`Tensor.resize_as_`)."""
    return _receiver("resize_as_", input).resize_as_(the_template)  # type: ignore[no-any-return]


def numel(input: Tensor) -> int:
    """Return the number of elements of a tensor. Raises TypeError for anything else."""
    return _receiver("numel", input).numel()  # type: ignore[no-any-return]


def is_same_size(input: Tensor, other: Tensor) -> bool:
    """Return whether both tensors have the same shape."""
    return _receiver("is_same_size", input).is_same_size(other)  # type: ignore[no-any-return]


def is_nonzero(input: Tensor) -> bool:
    """Return whether the only element is not zero. Raises RuntimeError unless there is exactly one element."""
    return bool(_receiver("is_nonzero", input))


def typename(obj: Any, /) -> str:
    """The type of a tensor as `Tensor.type` gives it, and of everything else the class with its module."""
    if isinstance(obj, handles.Tensor):
        return obj.type()  # type: ignore[no-any-return]
    named = obj if hasattr(obj, "__qualname__") or hasattr(obj, "__name__") else type(obj)
    module = getattr(named, "__module__", "") or ""
    name: str = getattr(named, "__qualname__", None) or named.__name__
    return name if module in ("", "builtins") else f"{module}.{name}"


def is_complex(input: Tensor) -> bool:
    """Return whether the dtype of a tensor is complex."""
    return _receiver("is_complex", input).is_complex()  # type: ignore[no-any-return]


def is_floating_point(input: Tensor) -> bool:
    """Return whether the dtype of a tensor is a real floating-point one."""
    return _receiver("is_floating_point", input).is_floating_point()  # type: ignore[no-any-return]


def is_signed(input: Tensor) -> bool:
    """Return whether the dtype of a tensor holds negative numbers."""
    return _receiver("is_signed", input).is_signed()  # type: ignore[no-any-return]


def is_conj(input: Tensor) -> bool:
    """Return whether the elements are to be read as conjugates: always False."""
    return _receiver("is_conj", input).is_conj()  # type: ignore[no-any-return]


def is_neg(input: Tensor) -> bool:
    """Return whether the elements are to be read as negatives: always False."""
    return _receiver("is_neg", input).is_neg()  # type: ignore[no-any-return]


def is_inference(input: Tensor) -> bool:
    """Return whether the memory of a tensor was made in `inference_mode`."""
    return _receiver("is_inference", input).is_inference()  # type: ignore[no-any-return]
