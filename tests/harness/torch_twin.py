"""The same tensors for opweave and for torch, and the comparison of what an operator makes of them.

Only tests against torch import this module; it skips them where torch is absent.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from types import ModuleType
from typing import Any

import numpy as np
import opweave
import pytest

from codegen.dtypes import DTYPES, DType

from .arrays import Array, flat_tensor, from_memory, holder, stored_dtype, to_memory
from .arrays import array as opweave_array
from .compare import check_values
from .layouts import Layout
from .spec import Spec

torch = pytest.importorskip("torch")

Pair = tuple[Any, Any]
"""What opweave and what torch have."""


def place(values: Array, layout: Layout, dtype: DType) -> Pair:
    """Two tensors with these values and this layout."""
    memory = layout.memory(np.broadcast_to(values, layout.shape).astype(holder(dtype)))
    geometry = (layout.shape, layout.strides, layout.offset)
    return flat_tensor(memory, dtype).as_strided(*geometry), torch_flat(memory, dtype).as_strided(*geometry)


def torch_flat(values: Array, dtype: DType) -> Any:
    stored = to_memory(values, dtype)
    if not stored.size:
        return torch.empty(0, dtype=getattr(torch, dtype.name))
    return torch.frombuffer(bytearray(stored.tobytes()), dtype=getattr(torch, dtype.name))


def torch_array(tensor: Any) -> Array:
    tensor = tensor.detach().resolve_conj()
    dtype = DTYPES[str(tensor.dtype).removeprefix("torch.")]
    if dtype.numpy is None:
        words = tensor.contiguous().view(torch.int16 if dtype.itemsize == 2 else torch.int32)
        return from_memory(words.numpy().view(stored_dtype(dtype)), dtype)
    return np.asarray(tensor.numpy())


def outcome(call: Callable[[ModuleType], Any], library: ModuleType) -> Any:
    """The result, or the exception."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return call(library)
    except Exception as error:
        return error


def is_known(spec: Spec) -> bool:
    """Has torch the operator at all?"""
    return not isinstance(outcome(spec.find, torch), Exception)


TORCH_LACKS = ("not implemented for", "Promotion for uint16, uint32, uint64 types is not supported")


def compare(
    call: Callable[[ModuleType], Any], what: str, ulp: float = 0, bound: Any = None, signed_zeros: bool = True
) -> None:
    """The same dtype, shape, strides and values, or an exception of the same type. What torch has not got a kernel
    or a common dtype for is opweave's own affair."""
    got, want = outcome(call, opweave), outcome(call, torch)
    if isinstance(want, Exception):
        if any(reason in str(want) for reason in TORCH_LACKS) and isinstance(got, (RuntimeError, opweave.Tensor)):
            return
        assert type(got).__name__ == type(want).__name__, f"{what}: got {got!r}, expected {want!r}"
        return
    assert not isinstance(got, Exception), f"{what}: {got!r}, torch gives {want!r}"
    compare_tensors(got, want, what, ulp, bound, signed_zeros)


def compare_tensors(
    got: Any, want: Any, what: str, ulp: float = 0, bound: Any = None, signed_zeros: bool = True
) -> None:
    dtype = str(want.dtype).removeprefix("torch.")
    assert str(got.dtype) == f"opweave.{dtype}", f"{what}: dtype {got.dtype}, torch has {want.dtype}"
    assert tuple(got.shape) == tuple(want.shape), f"{what}: shape {got.shape}, torch has {want.shape}"
    assert strides(got) == strides(want), f"{what}: strides {got.stride()}, torch has {want.stride()}"
    check_values(opweave_array(got), torch_array(want), DTYPES[dtype], ulp, what, bound, signed_zeros)


def strides(tensor: Any) -> list[int]:
    """Those that matter: a stride is never used in a dimension of fewer than two positions."""
    if not tensor.numel():
        return []
    return [stride for size, stride in zip(tensor.shape, tensor.stride(), strict=True) if size > 1]


def named(values: Mapping[str, Pair], library: ModuleType) -> dict[str, Any]:
    """The members of the pairs that belong to the library."""
    return {name: pair[library is torch] for name, pair in values.items()}


def translate(arguments: Mapping[str, Any], library: ModuleType) -> dict[str, Any]:
    """Names of dtypes become the library's dtypes."""
    return {n: getattr(library, v) if n == "dtype" and v else v for n, v in arguments.items()}
