"""The array API standard beside array-api-strict, which follows it to the letter, and libraries written for it."""

from __future__ import annotations

import inspect
import itertools
from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np
import opweave as ow
import opweave.array_api as xp
import pytest

INTEGERS = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]
DTYPES = ["bool", *INTEGERS, "float32", "float64", "complex64", "complex128"]
SHAPES = [(), (3,), (0,), (2, 3), (3, 0), (2, 1, 3)]
AXES = [None, 0, -1, (0,), (0, -1), ()]

REFUSALS = (
    AttributeError,
    IndexError,
    NotImplementedError,
    OverflowError,
    TypeError,
    ValueError,
    np.linalg.LinAlgError,
)

strict: Any = pytest.importorskip("array_api_strict")
rng = np.random.default_rng(0)


def numbers(dtype: str, shape: tuple[int, ...]) -> Any:
    if dtype == "bool":
        return rng.integers(0, 2, shape).astype(bool)
    if dtype in INTEGERS:
        return rng.integers(1 if dtype[0] == "u" else -5, 6, shape).astype(dtype)
    found = rng.normal(size=shape)
    return np.asarray(found + 1j * rng.normal(size=shape) if dtype.startswith("c") else found).astype(dtype)


def plain(value: Any) -> Any:
    if isinstance(value, (tuple, list)):
        return [plain(each) for each in value]
    if type(value).__module__.startswith("array_api_strict") and hasattr(value, "__array_namespace__"):
        return np.array(value._array)
    if isinstance(value, ow.Tensor):
        assert type(value) is xp.Array
        return value.numpy()
    return value


def check(expected: Any, found: Any) -> None:
    if isinstance(expected, list):
        assert len(expected) == len(found)
        for a, b in zip(expected, found, strict=True):
            check(a, b)
    elif isinstance(expected, np.ndarray):
        assert (found.dtype, found.shape) == (expected.dtype, expected.shape)
        np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-5)
    else:
        assert found == expected


def compare(function: Callable[..., Any], *arrays: Any) -> bool:
    """The same result as that of array-api-strict; False where that refuses the call."""
    try:
        expected = plain(function(strict, *[strict.asarray(each.copy()) for each in arrays]))
    except (
        AttributeError,
        IndexError,
        NotImplementedError,
        OverflowError,
        TypeError,
        ValueError,
        np.linalg.LinAlgError,
    ):
        return False
    found = function(xp, *[xp.asarray(each.copy()) for each in arrays])
    check(expected, plain(found))
    return True


def members(of: ModuleType) -> list[str]:
    skipped = {"ArrayAPIStrictFlags", "Device", "__version__"}
    return [name for name in of.__all__ if name not in skipped and "strict_flags" not in name]  # type: ignore[attr-defined]


@pytest.mark.parametrize("module", ["", "linalg", "fft"])
def test_signatures(module: str) -> None:
    theirs, ours = (getattr(each, module) if module else each for each in (strict, xp))
    count = 0
    for name in members(theirs):
        function = getattr(ours, name)
        if not inspect.isfunction(getattr(theirs, name)):
            continue
        expected, found = (inspect.signature(each).parameters for each in (getattr(theirs, name), function))
        assert [(each.name, each.kind) for each in found.values()] == [(e.name, e.kind) for e in expected.values()], (
            name
        )
        for parameter in found.values():
            default = expected[parameter.name].default
            assert parameter.default == (None if "UNDEF" in repr(default) else default), (name, parameter)
        count += 1
    assert count > 10


UNARY = [
    "abs", "acos", "acosh", "asin", "asinh", "atan", "atanh", "bitwise_invert", "ceil", "conj", "cos", "cosh", "exp",
    "expm1", "floor", "isfinite", "isinf", "isnan", "log", "log10", "log1p", "log2", "logical_not", "negative",
    "positive", "real", "imag", "reciprocal", "round", "sign", "signbit", "sin", "sinh", "sqrt", "square", "tan",
    "tanh", "trunc",
]  # fmt: skip
BINARY = [
    "add", "atan2", "bitwise_and", "bitwise_left_shift", "bitwise_or", "bitwise_right_shift", "bitwise_xor", "copysign",
    "divide", "equal", "floor_divide", "greater", "greater_equal", "hypot", "less", "less_equal", "logaddexp",
    "logical_and", "logical_or", "logical_xor", "maximum", "minimum", "multiply", "nextafter", "not_equal", "pow",
    "remainder", "subtract",
]  # fmt: skip


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("name", UNARY)
def test_functions_of_one_array(name: str) -> None:
    def function(module: Any, x: Any) -> Any:
        return getattr(module, name)(x)

    assert sum(compare(function, numbers(dtype, shape)) for dtype in DTYPES for shape in SHAPES) >= len(SHAPES)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("name", BINARY)
def test_functions_of_two_arrays(name: str) -> None:
    def function(module: Any, x: Any, y: Any) -> Any:
        return getattr(module, name)(x, y)

    done = 0
    for first, second in itertools.product(DTYPES, repeat=2):
        for left, right in (((), ()), ((3,), ()), ((), (3,)), ((2, 1), (1, 3)), ((0,), ())):
            x, y = numbers(first, left), numbers(second, right)
            if name in ("floor_divide", "remainder") and second in INTEGERS:
                y[y == 0] = 1
            done += compare(function, x, y)
    assert done >= 5


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize(
    "operator", ["+", "-", "*", "/", "**", "&", "|", "^", "<<", ">>", "==", "!=", "<", "<=", ">", ">=", "@"]
)
def test_operators(operator: str) -> None:
    function = eval(f"lambda module, x, y: x {operator} y")
    scalar = eval(f"lambda module, x: (x {operator} 2, 2 {operator} x)")
    done = 0
    for first, second in itertools.product(DTYPES, repeat=2):
        for left, right in (((3,), ()), ((), (3,)), ((2, 3), (3,)), ((3, 3), (3, 3))):
            done += compare(function, numbers(first, left), numbers(second, right))
        done += compare(scalar, numbers(first, (3,)))
    assert done >= 5


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize(
    "name", ["all", "any", "argmax", "argmin", "count_nonzero", "max", "mean", "min", "prod", "std", "sum", "var"]
)
@pytest.mark.parametrize("keepdims", [False, True])
def test_reductions(name: str, keepdims: bool) -> None:
    done = 0
    for dtype, shape, axis in itertools.product(DTYPES, SHAPES, AXES):
        if shape == () and axis is not None:
            continue

        def function(module: Any, x: Any, axis: Any = axis) -> Any:
            return getattr(module, name)(x, axis=axis, keepdims=keepdims)

        done += compare(function, numbers(dtype, shape))
    assert done >= 2 * len(AXES)


CALLS: dict[str, Callable[[Any, Any], Any]] = {
    "concat": lambda m, x: m.concat([x, x], axis=0),
    "concat of elements": lambda m, x: m.concat([x, x], axis=None),
    "stack": lambda m, x: m.stack([x, x], axis=-1),
    "flip": lambda m, x: m.flip(x),
    "roll": lambda m, x: m.roll(x, 2),
    "roll of an axis": lambda m, x: m.roll(x, 1, axis=0),
    "expand_dims": lambda m, x: m.expand_dims(x, axis=-1),
    "squeeze": lambda m, x: m.squeeze(x, axis=1),
    "permute_dims": lambda m, x: m.permute_dims(x, tuple(range(x.ndim))[::-1]),
    "moveaxis": lambda m, x: m.moveaxis(x, 0, -1),
    "tile": lambda m, x: m.tile(x, (2, 2)),
    "repeat": lambda m, x: m.repeat(x, 2, axis=0),
    "unstack": lambda m, x: m.unstack(x),
    "broadcast_to": lambda m, x: m.broadcast_to(x, (2, *x.shape)),
    "broadcast_arrays": lambda m, x: m.broadcast_arrays(x, x[..., None]),
    "reshape": lambda m, x: m.reshape(x, (-1,), copy=True),
    "sort": lambda m, x: m.sort(x, descending=True),
    "argsort": lambda m, x: m.argsort(x, axis=0),
    "searchsorted": lambda m, x: m.searchsorted(m.sort(m.reshape(x, (-1,))), x, side="right"),
    "nonzero": lambda m, x: m.nonzero(x),
    "take": lambda m, x: m.take(x, m.asarray([0, -1]), axis=0),
    "take_along_axis": lambda m, x: m.take_along_axis(x, m.zeros(x.shape, dtype=m.int64)),
    "diff": lambda m, x: m.diff(x),
    "cumulative_sum": lambda m, x: m.cumulative_sum(x, axis=0, include_initial=True),
    "cumulative_prod": lambda m, x: m.cumulative_prod(x, axis=-1),
    "unique_all": lambda m, x: m.unique_all(x),
    "unique_counts": lambda m, x: m.unique_counts(x),
    "isin": lambda m, x: m.isin(x, x[..., :1]),
    "where": lambda m, x: m.where(m.astype(x, m.bool), x, x),
    "clip": lambda m, x: m.clip(x, -1, m.ones((1,), dtype=x.dtype)),
    "tril": lambda m, x: m.tril(x, k=1),
    "matmul": lambda m, x: m.matmul(x, m.matrix_transpose(x)),
    "tensordot": lambda m, x: m.tensordot(x, x, axes=((0,), (0,))),
    "vecdot": lambda m, x: m.vecdot(x, x, axis=-1),
    "outer": lambda m, x: m.linalg.outer(x, x),
    "trace": lambda m, x: m.linalg.trace(x),
    "diagonal": lambda m, x: m.linalg.diagonal(x, offset=1),
    "vector_norm": lambda m, x: m.linalg.vector_norm(x, axis=0, keepdims=True, ord=1),
    "reversed": lambda m, x: x[::-1],
    "masked": lambda m, x: x[x == x],
    "new axes": lambda m, x: x[None, ..., ::-2],
    "transposed": lambda m, x: x.T,
    "astype": lambda m, x: [m.astype(x, getattr(m, dtype)) for dtype in ("float64", "complex64")],
    "full_like": lambda m, x: m.full_like(x, 1),
    "fftshift": lambda m, x: m.fft.fftshift(x, axes=0),
    "fft": lambda m, x: m.fft.fft(x, n=4, norm="ortho"),
    "rfftn": lambda m, x: m.fft.rfftn(x, s=(3,), axes=(-1,)),
    "irfft": lambda m, x: m.fft.irfft(x),
}


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("name", CALLS)
def test_other_functions(name: str) -> None:
    # NumPy, on which array-api-strict stands, has an axis 0 of what has no dimensions.
    assert sum(compare(CALLS[name], numbers(dtype, shape)) for dtype in DTYPES for shape in SHAPES if shape) >= 2


def test_array_api_compat() -> None:
    compat = pytest.importorskip("array_api_compat")
    x = ow.ones(2, 3)
    assert compat.array_namespace(x, xp.ones(2)) is xp
    assert compat.is_array_api_obj(x)
    assert compat.size(x) == 6
    assert compat.device(x) == ow.device("cpu")
    assert compat.to_device(x, "cpu") is x


def test_array_api_extra() -> None:
    extra = pytest.importorskip("array_api_extra")
    x = xp.asarray([[1.0, 2.0, 3.0], [3.0, 2.0, 5.0]])
    assert extra.atleast_nd(x[0], ndim=2).shape == (1, 3)
    np.testing.assert_allclose(extra.cov(x).numpy(), np.cov(x.numpy()), rtol=1e-6)
    assert extra.pad(x, 1).shape == (4, 5)
    assert extra.one_hot(xp.asarray([0, 2]), 3).tolist() == [[1, 0, 0], [0, 0, 1]]
    assert int(extra.nunique(x)) == 4
    assert extra.kron(x, x).shape == (4, 9)
    assert extra.setdiff1d(xp.asarray([1, 2, 3]), xp.asarray([2])).tolist() == [1, 3]
    assert extra.create_diagonal(x[0]).shape == (3, 3)
    assert extra.isclose(x, x + 1e-9).tolist() == [[True] * 3] * 2
    assert extra.sinc(x).dtype is xp.float32
    assert extra.at(x, (slice(None), 0)).set(7).tolist() == [[7, 2, 3], [7, 2, 5]]


def test_hypothesis() -> None:
    from hypothesis import given
    from hypothesis.extra.array_api import make_strategies_namespace

    strategies = make_strategies_namespace(xp, api_version="2023.12")

    @given(strategies.arrays(strategies.scalar_dtypes(), strategies.array_shapes()))
    def every_array(x: Any) -> None:
        assert isinstance(x, xp.Array)
        assert xp.reshape(x, (-1,)).shape == (x.size,)

    every_array()
