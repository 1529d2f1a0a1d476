"""Forms of calls that torch takes besides its documented ones: numbers alone, None for no dimensions, old names."""

from __future__ import annotations

import copy
import inspect
import pickle
from collections.abc import Callable
from typing import Any

import opweave
import pytest

X = opweave.arange(6.0).view(2, 3)


def out(dtype: opweave.dtype, *sizes: int) -> opweave.Tensor:
    return opweave.empty(sizes, dtype=dtype)


@pytest.mark.parametrize(
    ("call", "expected", "dtype"),
    [
        # Numbers in place of all operands, where torch takes them.
        (lambda: opweave.add(1, 2), 3, opweave.int64),
        (lambda: opweave.add(1, 2, alpha=3), 7, opweave.int64),
        (lambda: opweave.add(True, True), True, opweave.bool),
        (lambda: opweave.add(1j, 2), 2 + 1j, opweave.complex64),
        (lambda: opweave.add(1, 2, out=out(opweave.float32)), 3.0, opweave.float32),
        (lambda: opweave.sub(3, 1), 2, opweave.int64),
        (lambda: opweave.mul(1, 2.5), 2.5, opweave.float32),
        (lambda: opweave.div(3, 2), 1.5, opweave.float32),
        (lambda: opweave.true_divide(3, 2), 1.5, opweave.float32),
        (lambda: opweave.floor_divide(5, 3), 1, opweave.int64),
        # Joins of nothing but empty vectors, whatever the dimension.
        (lambda: opweave.cat([opweave.empty(0)] * 2, 1), [], opweave.float32),
        (lambda: opweave.cat([opweave.empty(0)] * 2, -2), [], opweave.float32),
        # None for lists and flags that have a default.
        (lambda: opweave.roll(X, 1, dims=None), [[5, 0, 1], [2, 3, 4]], opweave.float32),
        (lambda: X.roll(1, None), [[5, 0, 1], [2, 3, 4]], opweave.float32),
        (lambda: opweave.sort(X[0], stable=None)[1], [0, 1, 2], opweave.int64),
        # The values of a factory have the dtype of `out`.
        (lambda: opweave.eye(2, 3, out=out(opweave.int32, 0)), [[1, 0, 0], [0, 1, 0]], opweave.int32),
        (lambda: opweave.linspace(0, 4, 5, out=out(opweave.int64, 5)), [0, 1, 2, 3, 4], opweave.int64),
        (lambda: opweave.logspace(0, 3, 4, out=out(opweave.int32, 4)), [1, 10, 100, 1000], opweave.int32),
        (lambda: opweave.arange(0.0, 3.5, out=out(opweave.int64, 0)), [0, 1, 2], opweave.int64),
        (lambda: opweave.bernoulli(X[0].clamp(max=1), out=out(opweave.int64, 3)), [0, 1, 1], opweave.int64),
    ],
)  # fmt: skip
def test_value(call: Callable[[], opweave.Tensor], expected: Any, dtype: opweave.dtype) -> None:
    result = call()
    assert result.tolist() == expected
    assert result.dtype is dtype


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: opweave.maximum(1, 2), TypeError, "must be Tensor, not int"),
        (lambda: opweave.eq(1, 2), TypeError, "must be Tensor, not int"),
        (lambda: opweave.roll(X, (1, 2), None), RuntimeError, "shifts and dimensions must align"),
        (lambda: opweave.cat([opweave.empty(0), X], 2), IndexError, "Dimension out of range"),
        (lambda: opweave.argsort(X, stable=None), TypeError, "argument 'stable' must be bool, not NoneType"),
        (lambda: opweave.eye(2, dtype=opweave.float32, out=out(opweave.int32, 2, 2)), RuntimeError,
         "dtype Float does not match dtype of out parameter \\(Int\\)"),
        (lambda: opweave.zeros(2, dtype=opweave.float32, out=out(opweave.int32, 2)), RuntimeError,
         "dtype Float does not match dtype of out parameter \\(Int\\)"),
        (lambda: X.as_subclass(int), TypeError, "from a class that does not inherit from Tensor"),
    ],
)  # fmt: skip
def test_refusal(call: Callable[[], Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        call()


@pytest.mark.parametrize(
    ("call", "same"),
    [
        (lambda: opweave.cumsum(X, axis=0), lambda: X.cumsum(0)),
        (lambda: X.cumsum(axis=1), lambda: X.cumsum(1)),
        (lambda: opweave.cat([X, X], axis=1), lambda: opweave.cat([X, X], 1)),
        (lambda: opweave.stack([X, X], axis=1), lambda: opweave.stack([X, X], 1)),
        (lambda: opweave.softmax(X, axis=0), lambda: X.softmax(0)),
        (lambda: X.log_softmax(axis=0), lambda: X.log_softmax(0)),
        (lambda: opweave.sort(X, axis=0, descending=True)[0], lambda: X.sort(0, True)[0]),
        (lambda: opweave.unsqueeze(X, axis=1), lambda: X.unsqueeze(1)),
        (lambda: X.unsqueeze(0).squeeze(axis=0), lambda: X),
        (lambda: opweave.gather(X, axis=0, index=opweave.tensor([[1, 0, 1]])), lambda: opweave.tensor([[3.0, 1, 5]])),
        (lambda: X.topk(1, axis=0)[0], lambda: X[1:]),
        (lambda: opweave.chunk(X, 3, axis=1)[2], lambda: X[:, 2:]),
        (lambda: opweave.fft.fft(X, axis=0), lambda: opweave.fft.fft(X, dim=0)),
        (lambda: opweave.linalg.vecdot(x=X, y=X, axis=0), lambda: (X * X).sum(0)),
        (lambda: X.sum(axis=1, keepdims=True), lambda: X.sum(1, True)),
        (lambda: opweave.max(X, axis=0, keepdims=True)[0], lambda: X[1:]),
        (lambda: opweave.logsumexp(x=X, axis=0), lambda: X.logsumexp(0)),
        (lambda: opweave.add(x1=X, x2=X, alpha=2), lambda: X * 3),
        (lambda: X.sub(x2=1), lambda: X - 1),
        (lambda: opweave.exp(x=X), lambda: X.exp()),
        (lambda: opweave.exp(a=X), lambda: X.exp()),
        (lambda: opweave.nn.functional.softmax(X, dim=1, _stacklevel=5), lambda: X.softmax(1)),
        (lambda: opweave.flip(a=X, dims=[0]), lambda: X.flip(0)),
    ],
)
def test_names_that_numpy_gives_arguments(call: Callable[[], Any], same: Callable[[], Any]) -> None:
    assert call().tolist() == same().tolist()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: X.sum(0, axis=0), "got multiple values for 'dim', also called 'axis'"),
        (lambda: opweave.exp(X, x=X), "got multiple values for 'input'"),
        (lambda: opweave.exp(X, x2=X), "got an unexpected keyword argument 'x2'"),
        (lambda: opweave.exp(X, axes=0), "got an unexpected keyword argument 'axes'"),
        (lambda: opweave.exp(), 'exp.. missing 1 required positional arguments: "input"'),
        (lambda: X.cumsum(), 'cumsum.. missing 1 required positional arguments: "dim"'),
        (lambda: opweave.gather(X, index=X), 'gather.. missing 1 required positional arguments: "dim"'),
        (lambda: opweave.gather(axis=0), 'gather.. missing 2 required positional arguments: "input", "index"'),
        (lambda: opweave.matmul(X), 'missing 1 required positional arguments: "other"'),
    ],
)
def test_names_that_fit_no_argument(call: Callable[[], Any], message: str) -> None:
    with pytest.raises(TypeError, match=message):
        call()


def test_types_by_the_names_that_torch_gives_them() -> None:
    assert X.type("torch.DoubleTensor").dtype is opweave.float64
    assert X.type("opweave.BFloat16Tensor").dtype is opweave.bfloat16
    with pytest.raises(RuntimeError, match="cuda"):
        X.type("torch.cuda.FloatTensor")
    with pytest.raises(ValueError, match="invalid type: 'FloatTensor'"):
        X.type("FloatTensor")


@pytest.mark.parametrize("name", ["eig", "lstsq", "matrix_rank", "solve", "symeig"])
def test_functions_that_torch_removed_name_their_successor(name: str) -> None:
    with pytest.raises(RuntimeError, match=r"is now removed[\s\S]*opweave\.linalg\."):
        getattr(opweave, name)(opweave.eye(2), opweave.eye(2))
    assert name not in opweave.__all__
    assert hasattr(opweave.Tensor, name) == (name != "matrix_rank")


@pytest.mark.parametrize("protocol", [0, pickle.HIGHEST_PROTOCOL])
@pytest.mark.parametrize(
    "function",
    [
        *(opweave.add, opweave.linalg.qr, opweave.fft.rfft, opweave.where, opweave.nn.functional.relu),
        *(opweave.Tensor.add_, opweave.Tensor.where, opweave.Tensor.__radd__, opweave.Tensor.polygamma_),
    ],
)
def test_functions_are_pickled_by_name(function: Any, protocol: int) -> None:
    assert pickle.loads(pickle.dumps(function, protocol)) is function
    assert copy.deepcopy(function) is function


@pytest.mark.parametrize(
    ("function", "signature"),
    [
        (opweave.add, "(input, other, *, alpha=1, out=None)"),
        (opweave.Tensor.add_, "(input, other, *, alpha=1)"),
        (opweave.max, "(input, dim=None, keepdim=False, *, out=None, other=None)"),
        (opweave.scatter, "(input, dim, index, src=None, *, reduce=None, value=None, out=None)"),
        (opweave.nn.functional.elu, "(input, alpha=1.0, inplace=False, *, out=None)"),
        (opweave.Tensor.where, "(input, condition, other, *, out=None)"),
    ],
)
def test_signatures_have_all_arguments(function: Any, signature: str) -> None:
    assert str(inspect.signature(function)) == signature


def test_factories_say_that_they_may_require_gradients() -> None:
    assert inspect.signature(opweave.zeros).parameters["requires_grad"].default is False
