"""Names that NumPy's users write out of habit and torch does not have: their AttributeErrors say what to write."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NoReturn

METHODS: dict[str, str] = {
    "astype": "x.to(opweave.float32)",
    "compress": "x[condition]",
    "conjugate": "x.conj()",
    "copy": "x.clone()",
    "dump": "opweave.save(x, file)",
    "fill": "x.fill_(value)",
    "flat": "x.flatten()",
    "partition": "x.sort() or x.topk(k)",
    "searchsorted": "opweave.searchsorted(x, values)",
    "strides": "x.stride(), which counts elements and not bytes",
    "tobytes": "x.numpy().tobytes()",
    "tofile": "x.numpy().tofile(file)",
}
"""Advice by the name of a method or an attribute of arrays, for a tensor `x`."""

FUNCTIONS: Mapping[str, str] = {
    "append": "opweave.cat([a, b])",
    "around": "opweave.round(x)",
    "array": "opweave.tensor(values)",
    "array_equal": "opweave.equal(a, b)",
    "array_split": "opweave.tensor_split(x, sections)",
    "ascontiguousarray": "x.contiguous()",
    "astype": "x.to(dtype)",
    "bool_": "opweave.bool",
    "convolve": "opweave.nn.functional.conv1d",
    "copy": "x.clone()",
    "degrees": "opweave.rad2deg(x)",
    "digitize": "opweave.bucketize(x, boundaries)",
    "expand_dims": "opweave.unsqueeze(x, dim)",
    "fabs": "opweave.abs(x)",
    "flatnonzero": "x.flatten().nonzero().flatten()",
    "fromfile": "opweave.from_file(name, size=count, dtype=dtype)",
    "geomspace": "opweave.logspace",
    "hamming": "opweave.hamming_window(size)",
    "hanning": "opweave.hann_window(size)",
    "identity": "opweave.eye(n)",
    "int_": "opweave.int64",
    "invert": "opweave.bitwise_not(x)",
    "left_shift": "opweave.bitwise_left_shift(a, b)",
    "mod": "opweave.remainder(a, b)",
    "nanstd": "x[~x.isnan()].std()",
    "ndarray": "opweave.Tensor",
    "ndim": "x.ndim",
    "pad": "opweave.nn.functional.pad(x, (left, right))",
    "percentile": "opweave.quantile(x, percent / 100)",
    "power": "opweave.pow(a, b)",
    "put_along_axis": "x.scatter_(dim, index, values)",
    "radians": "opweave.deg2rad(x)",
    "repeat": "opweave.repeat_interleave(x, repeats)",
    "right_shift": "opweave.bitwise_right_shift(a, b)",
    "rint": "opweave.round(x)",
    "shape": "x.shape",
    "single": "opweave.float32",
    "size": "x.numel(), or x.size(dim)",
    "take_along_axis": "opweave.take_along_dim(x, index, dim)",
}
"""Advice by the name of a function or a dtype of the module."""


class _Absent:
    """An attribute that is not there: `hasattr` and `getattr` with a default find none."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name

    def __get__(self, tensor: Any, owner: type) -> NoReturn:
        text = f"{owner.__name__!r} object has no attribute {self.name!r}; write {METHODS[self.name]}"
        raise AttributeError(text, name=self.name, obj=tensor)


class NumpyHabits:
    """Mixed into Tensor: the attributes of NumPy's arrays that it does not have."""

    __slots__ = ()
    __module__ = "opweave"

    def __dir__(self) -> list[str]:
        return [each for each in object.__dir__(self) if each not in METHODS]


for _name in METHODS:
    setattr(NumpyHabits, _name, _Absent(_name))
