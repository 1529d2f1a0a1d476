"""Names of NumPy and of torch that are not there: their AttributeErrors say what to write."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NoReturn

METHODS: Mapping[str, str] = {
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

FUNCTIONS: Mapping[str, str] = {
    "append": "opweave.cat([a, b])",
    "apply_along_axis": "opweave.vmap(function, in_dims=dim)(x)",
    "argpartition": "opweave.argsort(x) or opweave.topk(x, k)",
    "around": "opweave.round(x)",
    "array": "opweave.tensor(values)",
    "array_equal": "opweave.equal(a, b)",
    "array_split": "opweave.tensor_split(x, sections)",
    "asanyarray": "opweave.asarray(values)",
    "ascontiguousarray": "x.contiguous()",
    "asfortranarray": "x.t().contiguous().t()",
    "astype": "x.to(dtype)",
    "average": "opweave.mean(x), or (x * weights).sum() / weights.sum()",
    "bartlett": "opweave.bartlett_window(size)",
    "bitwise_count": "opweave.bitwise_and(x, 1), for each bit",
    "bitwise_invert": "opweave.bitwise_not(x)",
    "blackman": "opweave.blackman_window(size)",
    "block": "opweave.cat of opweave.cat",
    "bool_": "opweave.bool",
    "broadcast_arrays": "opweave.broadcast_tensors(a, b)",
    "byte": "opweave.int8",
    "cbrt": "opweave.pow(x, 1 / 3)",
    "common_type": "opweave.result_type(a, b)",
    "compress": "x[condition]",
    "conjugate": "opweave.conj(x)",
    "convolve": "opweave.nn.functional.conv1d",
    "copy": "x.clone()",
    "copyto": "x.copy_(source)",
    "correlate": "opweave.nn.functional.conv1d",
    "csingle": "opweave.complex64",
    "cumulative_prod": "opweave.cumprod(x, dim)",
    "cumulative_sum": "opweave.cumsum(x, dim)",
    "degrees": "opweave.rad2deg(x)",
    "delete": "x[keep], with a mask or indices",
    "diag_indices": "x.diagonal()",
    "digitize": "opweave.bucketize(x, boundaries)",
    "divmod": "opweave.floor_divide(a, b) and opweave.remainder(a, b)",
    "ediff1d": "opweave.diff(x.flatten())",
    "expand_dims": "opweave.unsqueeze(x, dim)",
    "extract": "x[condition]",
    "fabs": "opweave.abs(x)",
    "fill_diagonal": "x.fill_diagonal_(value)",
    "flatnonzero": "x.flatten().nonzero().flatten()",
    "float128": "opweave.float64",
    "fromfile": "opweave.from_file(name, size=count, dtype=dtype)",
    "fromfunction": "opweave.meshgrid, and operators",
    "fromiter": "opweave.tensor([*values])",
    "fromstring": "opweave.tensor([*values])",
    "genfromtxt": "opweave.from_numpy(numpy.genfromtxt(file))",
    "geomspace": "opweave.logspace",
    "hamming": "opweave.hamming_window(size)",
    "hanning": "opweave.hann_window(size)",
    "identity": "opweave.eye(n)",
    "indices": "opweave.meshgrid",
    "inexact": "x.is_floating_point()",
    "insert": "opweave.cat([a, b])",
    "int_": "opweave.int64",
    "intc": "opweave.int32",
    "interp": "opweave.searchsorted(x, values) and opweave.lerp",
    "intersect1d": "a[opweave.isin(a, b)].unique()",
    "intp": "opweave.int64",
    "invert": "opweave.bitwise_not(x)",
    "iscomplex": "opweave.is_complex(x)",
    "iscomplexobj": "opweave.is_complex(x)",
    "isdtype": "dtype.is_floating_point or dtype.is_complex",
    "isrealobj": "opweave.is_floating_point(x)",
    "isscalar": "x.ndim == 0",
    "issubdtype": "dtype.is_floating_point or dtype.is_complex",
    "ix_": "opweave.meshgrid, or x[rows][:, columns]",
    "kaiser": "opweave.kaiser_window(size)",
    "left_shift": "opweave.bitwise_left_shift(a, b)",
    "lexsort": "opweave.argsort(x, stable=True), from the last key on",
    "loadtxt": "opweave.from_numpy(numpy.loadtxt(file))",
    "matrix": "opweave.tensor(rows)",
    "matrix_transpose": "opweave.transpose(x, -2, -1)",
    "matvec": "opweave.mv(matrix, x)",
    "may_share_memory": "a.untyped_storage().data_ptr() == b.untyped_storage().data_ptr()",
    "memmap": "opweave.from_file(name, shared=True, size=count)",
    "mgrid": "opweave.meshgrid",
    "mod": "opweave.remainder(a, b)",
    "modf": "opweave.frac(x) and opweave.trunc(x)",
    "nanargmax": "opweave.nan_to_num(x, -opweave.inf).argmax()",
    "nanargmin": "opweave.nan_to_num(x, opweave.inf).argmin()",
    "nancumprod": "opweave.nan_to_num(x, 1).cumprod(dim)",
    "nancumsum": "opweave.nan_to_num(x).cumsum(dim)",
    "nanmax": "x[~x.isnan()].max()",
    "nanmin": "x[~x.isnan()].min()",
    "nanpercentile": "opweave.nanquantile(x, percent / 100)",
    "nanprod": "opweave.nan_to_num(x, 1).prod()",
    "nanstd": "x[~x.isnan()].std()",
    "nanvar": "x[~x.isnan()].var()",
    "ndarray": "opweave.Tensor",
    "ndenumerate": "enumerate(x.flatten())",
    "ndim": "x.ndim",
    "ndindex": "itertools.product of ranges",
    "object_": "a list",
    "ogrid": "opweave.meshgrid",
    "pad": "opweave.nn.functional.pad(x, (left, right))",
    "partition": "opweave.sort(x) or opweave.topk(x, k)",
    "percentile": "opweave.quantile(x, percent / 100)",
    "permute_dims": "opweave.permute(x, dims)",
    "place": "x.masked_scatter_(mask, values)",
    "polyfit": "opweave.linalg.lstsq(opweave.vander(x), y)",
    "polyval": "opweave.matmul(opweave.vander(x, len(p)), p)",
    "power": "opweave.pow(a, b)",
    "ptp": "x.amax() - x.amin()",
    "put_along_axis": "x.scatter_(dim, index, values)",
    "putmask": "x.masked_fill_(mask, value)",
    "radians": "opweave.deg2rad(x)",
    "ravel_multi_index": "sums of indices times x.stride()",
    "repeat": "opweave.repeat_interleave(x, repeats)",
    "resize": "x.resize_(size)",
    "right_shift": "opweave.bitwise_right_shift(a, b)",
    "rint": "opweave.round(x)",
    "rollaxis": "opweave.movedim(x, source, destination)",
    "savetxt": "numpy.savetxt(file, x)",
    "savez": "numpy.savez(file, x=x), or opweave.save",
    "savez_compressed": "numpy.savez_compressed(file, x=x)",
    "setdiff1d": "a[~opweave.isin(a, b)].unique()",
    "shape": "x.shape",
    "shares_memory": "a.untyped_storage().data_ptr() == b.untyped_storage().data_ptr()",
    "single": "opweave.float32",
    "size": "x.numel(), or x.size(dim)",
    "spacing": "opweave.nextafter(x, opweave.tensor(opweave.inf)) - x",
    "take_along_axis": "opweave.take_along_dim(x, index, dim)",
    "tri": "opweave.ones(n, m).tril()",
    "tril_indices_from": "opweave.tril_indices(*x.shape)",
    "triu_indices_from": "opweave.triu_indices(*x.shape)",
    "ubyte": "opweave.uint8",
    "union1d": "opweave.cat([a, b]).unique()",
    "unique_values": "opweave.unique(x)",
    "unstack": "opweave.unbind(x)",
    "vecdot": "opweave.linalg.vecdot(a, b)",
    "vecmat": "opweave.matmul(x, matrix)",
    "vectorize": "opweave.vmap(function)",
}
"""Advice by the name of a function or a dtype of the module."""


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

ABSENT: Mapping[str, str] = {**{name: f"write {advice}" for name, advice in METHODS.items()}, **TORCH_METHODS}
"""Advice by the name of any attribute that tensors do not have."""


class _Absent:
    """An attribute that is not there: `hasattr` and `getattr` with a default find none."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name

    def __get__(self, tensor: Any, owner: type) -> NoReturn:
        text = f"{owner.__name__!r} object has no attribute {self.name!r}; {ABSENT[self.name]}"
        raise AttributeError(text, name=self.name, obj=tensor)


class NumpyHabits:
    """Mixed into Tensor: the attributes of NumPy's arrays and torch's tensors that it does not have."""

    __slots__ = ()
    __module__ = "opweave"

    def __dir__(self) -> list[str]:
        return [each for each in object.__dir__(self) if each not in ABSENT]


for _name in ABSENT:
    setattr(NumpyHabits, _name, _Absent(_name))
