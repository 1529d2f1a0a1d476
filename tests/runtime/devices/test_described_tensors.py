"""Tensors without memory: a key of a program's own, and a payload that has the elements."""

from __future__ import annotations

import copy
import gc
import io
import pickle
import weakref
from typing import Any

import numpy as np
import opweave as ow
import pytest
from opweave import library

library.new_key("array", after="quantized")

COMPUTED = {
    "add": lambda x, y, alpha: x + alpha * y,
    "sub": lambda x, y, alpha: x - alpha * y,
    "mul": np.multiply,
    "neg": np.negative,
    "exp": np.exp,
    "tanh": np.tanh,
    "sum": lambda x, dim, keepdim, dtype: x.sum(None if dim is None else tuple(dim), keepdims=keepdim),
    "expand": lambda x, size, implicit: np.broadcast_to(x, size),
    "t": np.transpose,
    "clone": lambda x, memory_format: x.copy(),
    "zeros_like": lambda x, *_: np.zeros_like(x),
    "ones_like": lambda x, *_: np.ones_like(x),
    "new_ones": lambda x, size, *_: np.ones(size, x.dtype),
    "new_zeros": lambda x, size, *_: np.zeros(size, x.dtype),
}


def held(array: Any) -> ow.Tensor:
    array = np.asarray(array)
    return library.describe(array.shape, getattr(ow, array.dtype.name), array, key="array")


def arrays(value: Any) -> Any:
    return library.payload(value) if isinstance(value, ow.Tensor) else value


@library.register_fallback("array")
def run(op: Any, args: Any, out: Any, mode: int) -> Any:
    """Computes by NumPy."""
    if op.name == "item":
        return library.payload(args[0]).item()
    if op.name == "detach":  # another tensor of the same storage
        return library.redispatch(op, args, out, mode, below="array")
    if op.name not in COMPUTED:
        raise NotImplementedError(f"{op.name}() is not written for arrays")
    result = COMPUTED[op.name](*map(arrays, args))
    if mode == library.INPLACE:
        library.set_payload(args[op.target], np.asarray(result))
        return args[op.target]
    return held(result)


def test_what_it_says() -> None:
    x = held(np.ones((2, 3), "float32"))
    assert (x.shape, x.dtype, x.device, x.is_meta) == ((2, 3), ow.float32, ow.device("cpu"), False)
    strided = library.describe((2, 3), ow.float64, None, key="array", stride=(1, 2), storage_offset=4, device="meta")
    assert (strided.stride(), strided.storage_offset(), strided.device) == ((1, 2), 4, ow.device("meta"))
    assert held(np.float64(3.0)).item() == 3.0


def test_payloads_are_shared_by_aliases() -> None:
    x = held(np.arange(3.0))
    for alias in (x.detach(), x.data, ow.nn.Parameter(x)):
        assert library.payload(alias) is library.payload(x)
    library.set_payload(x.detach(), np.zeros(3))
    assert library.payload(x).tolist() == [0.0] * 3
    x.add_(2)
    assert library.payload(x.data).tolist() == [2.0] * 3


def test_payloads_are_let_go() -> None:
    class Owner:
        pass

    owner = Owner()
    gone = weakref.ref(owner)
    x = library.describe((2,), ow.float32, owner, key="array")
    alias = x.detach()
    del owner, x
    assert gone() is not None
    del alias
    gc.collect()
    assert gone() is None


def test_cycles_through_payloads_are_collected() -> None:
    payload: list[Any] = []
    x = library.describe((2,), ow.float32, payload, key="array")
    payload.append(x)
    shared = library.describe((2,), ow.float32, cycle := [], key="array")
    cycle += [shared, shared.detach()]
    gone = weakref.ref(x)
    del x, payload
    gc.collect()
    assert gone() is None
    assert library.payload(shared) is cycle  # of several tensors it is not known whose it is
    cycle.clear()


def test_payloads_go_where_the_handle_goes() -> None:
    x, y = held(np.arange(2.0)), ow.ones(3)
    ow.utils.swap_tensors(x, y)
    assert (x.tolist(), library.payload(y).tolist()) == ([1.0] * 3, [0.0, 1.0])
    assert library.payload(y.neg_()).tolist() == [0.0, -1.0]
    library.set_payload(y, np.ones(2))
    assert y._version == 2


def test_gradients() -> None:
    """Of operators whose results are saved, and from a root without a gradient."""
    x = held(np.array([0.5, -1.0])).requires_grad_()
    (x.exp() * x.tanh() + 1).sum().backward()
    assert x.grad is not None
    want = np.exp([0.5, -1.0]) * (np.tanh([0.5, -1.0]) + 1 - np.tanh([0.5, -1.0]) ** 2)
    assert library.payload(x.grad).tolist() == pytest.approx(want.tolist())


def test_tensors_alike_have_the_key() -> None:
    x = held(np.ones((2, 2)))
    for made in (ow.zeros_like(x), ow.ones_like(x), x.new_ones(2), x.new_zeros((1, 2))):
        assert isinstance(library.payload(made), np.ndarray)
    assert library.payload(copy.deepcopy(x)).tolist() == [[1.0, 1.0]] * 2


def test_what_no_other_can_read() -> None:
    x = held(np.ones(2))
    for reads in (
        ow.Tensor.storage,
        ow.Tensor.untyped_storage,
        ow.Tensor.share_memory_,
        pickle.dumps,
        lambda each: ow.save(each, io.BytesIO()),
        lambda each: ow.save({"x": [each]}, io.BytesIO(), _use_new_zipfile_serialization=False),
    ):
        with pytest.raises(NotImplementedError, match="a tensor that stands for others: its payload has them"):
            reads(x)
    with pytest.raises(TypeError, match="can't convert"):
        x.numpy()
    with pytest.raises(BufferError, match="Cannot pack"):
        x.__dlpack__()
    with pytest.raises(BufferError, match="no memory"):
        memoryview(x)


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda: library.payload(ow.ones(1)), TypeError, "takes a tensor that describe"),
        (lambda: library.set_payload(3, None), TypeError, "got no tensor"),  # type: ignore[arg-type]
        (lambda: library.describe((1,), ow.int8, 0, key="sparse"), ValueError, "a key that new_key"),
        (lambda: library.describe((1,), ow.int8, 0, key="array", stride=(1, 1)), RuntimeError, "of strides .2."),
        (lambda: library.describe((-1,), ow.int8, 0, key="array"), RuntimeError, "negative dimension"),
        (lambda: library.describe((2**62, 2**62), ow.int8, 0, key="array"), RuntimeError, "overflow"),
        (lambda: library.describe((1,), ow.int8, 0, key="array", storage_offset=-1), RuntimeError, "is negative"),
        (lambda: library.describe((1,), ow.int8, 0, key="array", device="gpu"), RuntimeError, "device type"),
        (lambda: library.new_key("array", after="named"), ValueError, "there is a dispatch key 'array' already"),
        (lambda: library.new_key("other", after="dense"), ValueError, "unknown dispatch key 'dense'"),
        (lambda: library.new_key("other", after="meta"), ValueError, "is asked last"),
    ],
)
def test_refusals(call: Any, error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        call()
