"""Attributes of NumPy's arrays and of torch's tensors that tensors do not have: AttributeErrors say what to write."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NoReturn

from .._base.notes import explained

FROM_NUMPY = "docs/coming-from.md#from-numpy"
FROM_TORCH = "docs/coming-from.md#from-torch"
"""The sections of the documentation that list what to write."""

NUMPY_METHODS: Mapping[str, str] = {
    "argpartition": "x.argsort() or x.topk(k)",
    "astype": "x.to(opweave.float32)",
    "base": "x._base",
    "choose": "opweave.where(condition, a, b)",
    "compress": "x[condition]",
    "conjugate": "x.conj()",
    "copy": "x.clone()",
    "ctypes": "x.data_ptr()",
    "dump": "opweave.save(x, file)",
    "dumps": "opweave.save(x, file)",
    "fill": "x.fill_(value)",
    "flags": "x.is_contiguous()",
    "flat": "x.flatten()",
    "getfield": "x.view(dtype)",
    "partition": "x.sort() or x.topk(k)",
    "resize": "x.resize_(size)",
    "searchsorted": "opweave.searchsorted(x, values)",
    "setfield": "x.view(dtype)[...] = value",
    "strides": "x.stride(), which counts elements and not bytes",
    "tobytes": "x.numpy().tobytes()",
    "tofile": "x.numpy().tofile(file)",
}
"""Advice by the name of a method or an attribute of arrays, for a tensor `x`."""

TORCH_METHODS: Mapping[str, str] = {
    "const_data_ptr": "write x.data_ptr()",
    "index": "write x[indices]",
    "ipu": "tensors live on the CPU; leave it out",
    "is_distributed": "write opweave.distributed.is_initialized()",
    "map2_": "write x.map_(other, function)",
    "module_load": "write x.copy_(other)",
    "mtia": "tensors live on the CPU; leave it out",
    "name": "write x.names",
    "record_stream": "there are no streams; leave it out",
    "reinforce": "draw from opweave.distributions, whose log_prob has a gradient",
    "resize_as": "write x.resize_(other.shape)",
    "resize_as_sparse_": "write x.resize_as_(other)",
    "slice_inverse": "write opweave.slice_scatter(x, source, dim, start, end)",
    "storage_type": "write x.type()",
    "to_mkldnn": "tensors have one layout; leave it out",
    "to_padded_tensor": "tensors are rectangular; leave it out",
    "volatile": "write x.requires_grad",
}
"""Advice by the name of an attribute of torch's tensors, for a tensor `x`."""

ABSENT: Mapping[str, str] = {**{name: f"write {advice}" for name, advice in NUMPY_METHODS.items()}, **TORCH_METHODS}
"""Advice by the name of any attribute that tensors do not have."""


class _Absent:
    """An attribute that is not there: `hasattr` and `getattr` with a default find none."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name

    def __get__(self, tensor: Any, owner: type) -> NoReturn:
        text = f"{owner.__name__!r} object has no attribute {self.name!r}; {ABSENT[self.name]}"
        error = AttributeError(text, name=self.name, obj=tensor)
        raise explained(error, FROM_NUMPY if self.name in NUMPY_METHODS else FROM_TORCH)


class AbsentNames:
    """Mixed into Tensor: the attributes of NumPy's arrays and torch's tensors that it does not have."""

    __slots__ = ()
    __module__ = "opweave"

    def __dir__(self) -> list[str]:
        return [each for each in object.__dir__(self) if each not in ABSENT]


for _name in ABSENT:
    setattr(AbsentNames, _name, _Absent(_name))
