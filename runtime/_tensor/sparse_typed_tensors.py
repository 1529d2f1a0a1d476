"""The constructors of early PyTorch for sparse tensors, `sparse.FloatTensor(indices, values, size)` and its like, and
what `new` makes beside a sparse tensor."""

from __future__ import annotations

from typing import Any

from .._base import handles
from .._base.dtypes import EXPORTS, dtype
from .._base.types import Size, sparse_coo
from .._base.warn import warn
from .sparse_constructors import sparse_coo_tensor
from .typed_tensors import TENSOR_TYPES, check_sizes, invalid_arguments, is_size, tensortype

__all__ = ["SPARSE_TENSOR_TYPES", "made_beside"]

_PARTS = ("indices", "values", "size")


def made_beside(tensor: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Return the result of `tensor.new(*args, **kwargs)`. Raises RuntimeError for layouts other than `sparse_coo`."""
    if tensor.layout is not sparse_coo:
        raise RuntimeError(f"new() makes no tensors of layout {tensor.layout}: call sparse_compressed_tensor()")
    return _made("SparseTensor.new", tensor.dtype, tensor.device, args, kwargs)


def _made_by_type(dtype: dtype, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    warn(
        "torch.sparse.SparseTensor(indices, values, shape, *, device=) is deprecated.  Please use "
        "torch.sparse_coo_tensor(indices, values, shape, dtype=, device=)."
    )
    return _made("torch.sparse.SparseTensor", dtype, None, args, kwargs)


def _made(function: str, dtype: dtype, device: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """A tensor of a size without elements, or of indices and values, which keep their dtype."""
    given = dict(kwargs)
    device = given.pop("device", device)
    if len(args) == 1 and isinstance(args[0], (list, tuple)) and not isinstance(args[0], Size):
        raise TypeError(
            f"{function}(sequence) only accepts sizes.  Please use torch.sparse_coo_tensor() or construct a strided "
            "tensor and convert it to sparse via to_sparse."
        )
    if not given and (not args or is_size(args[0]) or isinstance(args[0], Size)):
        given["size"] = args[0] if args and isinstance(args[0], Size) else args or (0,)
        check_sizes(given["size"])
    else:
        given |= zip(_PARTS, args, strict=False)
    if given.keys() == {"size"}:
        return sparse_coo_tensor(size=given["size"], dtype=dtype, device=device)
    if len(args) > len(_PARTS):
        raise TypeError(f"new() takes {len(_PARTS)} positional arguments but {len(args)} were given")
    if given.keys() - _PARTS or not all(isinstance(given.get(name), handles.Tensor) for name in _PARTS[:2]):
        raise TypeError(invalid_arguments(args, kwargs))
    return sparse_coo_tensor(**given, device=device)


_FACTS = {"layout": sparse_coo, "is_cuda": False, "is_sparse": True, "_made": staticmethod(_made_by_type)}

SPARSE_TENSOR_TYPES = {
    name: tensortype(name, (), {"__module__": "opweave.sparse", "__doc__": doc, "dtype": kind.dtype, **_FACTS})
    for name, kind in TENSOR_TYPES.items()
    if kind.dtype is not EXPORTS["bool"]
    for doc in (f"Constructor and class of tensors of layout sparse_coo and dtype {kind.dtype}.",)
}
"""The classes by name."""
