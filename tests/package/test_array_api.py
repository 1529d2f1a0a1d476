"""opweave.array_api: what the array API standard 2025.12 says, where torch says something else."""

from __future__ import annotations

import inspect
import math
import pickle
from typing import Any

import numpy as np
import opweave as ow
import opweave.array_api as xp
import pytest

inf, nan = math.inf, math.nan


def array(values: Any, dtype: Any = xp.float64) -> Any:
    return xp.asarray(values, dtype=dtype)


def check(found: Any, values: Any) -> None:
    """The same numbers, with the same signs of zeros."""
    assert type(found) is xp.Array
    numbers = np.asarray(found)
    np.testing.assert_array_equal(numbers, values)
    if not found.dtype.is_complex:
        signs = np.signbit(numbers) != np.signbit(values)
        assert not np.any(signs & ~np.isnan(numbers))


def test_the_namespace_of_a_tensor() -> None:
    t = ow.ones(2, 3)
    assert t.__array_namespace__() is xp
    assert t.__array_namespace__(api_version="2025.12") is xp
    with pytest.raises(ValueError, match=r"'1999\.12' is not supported: expected one of 2021\.12, "):
        t.__array_namespace__(api_version="1999.12")
    assert xp.__array_api_version__ == "2025.12"
    assert t.to_device("cpu") is t
    with pytest.raises(ValueError, match="a stream was given"):
        t.to_device("cpu", stream=1)


SIGNATURES = {
    "add": "(x1, x2, /)", "sin": "(x, /)", "roll": "(x, /, shift, *, axis=None)", "concat": "(arrays, /, *, axis=0)",
    "sum": "(x, /, *, axis=None, dtype=None, keepdims=False)",
    "argsort": "(x, /, *, axis=-1, descending=False, stable=True)",
    "zeros": "(shape, *, dtype=None, device=None)", "clip": "(x, /, min=None, max=None)",
    "eye": "(n_rows, n_cols=None, /, *, k=0, dtype=None, device=None)", "moveaxis": "(x, source, destination, /)",
    "linalg.qr": "(x, /, *, mode='reduced')", "fft.rfftn": "(x, /, *, s=None, axes=None, norm='backward')",
    "linalg.vector_norm": "(x, /, *, axis=None, keepdims=False, ord=2)", "where": "(condition, x1, x2, /)",
}  # fmt: skip


@pytest.mark.parametrize("name", SIGNATURES)
def test_signatures(name: str) -> None:
    function: Any = xp
    for part in name.split("."):
        function = getattr(function, part)
    signature = inspect.signature(function)
    plain = [each.replace(annotation=inspect.Parameter.empty) for each in signature.parameters.values()]
    assert str(inspect.Signature(plain)) == SIGNATURES[name]
    assert function.__name__ == name.rpartition(".")[2]


def test_functions_take_tensors_and_return_arrays() -> None:
    t = ow.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
    result = xp.sum(xp.multiply(t, t), axis=(0, 1), keepdims=True)
    assert type(result) is xp.Array
    assert isinstance(result, ow.Tensor)
    result.backward(ow.ones(1, 1))
    assert t.grad.tolist() == [[2.0, 4.0], [6.0, 8.0]]  # type: ignore[union-attr]
    assert [type(each) for each in xp.linalg.slogdet(t)] == [xp.Array, xp.Array]
    assert type(t.detach() + xp.asarray([1.0, 2.0])) is xp.Array
    assert type(ow.sin(xp.asarray([1.0]))) is xp.Array
    assert type(pickle.loads(pickle.dumps(xp.asarray([1.0])))) is xp.Array


def test_arrays_without_dimensions_take_part_in_promotion() -> None:
    row, number = array([1, 2], xp.float32), array(2, xp.float64)
    for result in (
        row + number,
        number + row,
        xp.add(row, number),
        xp.where(array([True, False], xp.bool), row, number),
    ):
        assert result.dtype is xp.float64
    assert (ow.ones(2) + ow.tensor(2.0, dtype=ow.float64)).dtype is ow.float32  # torch's rule
    assert (row + 2).dtype is (2.5 * row).dtype is xp.float32
    assert xp.add(array([1], xp.uint8), 3).dtype is xp.uint8
    assert xp.concat([array([1], xp.int8), array([2], xp.uint8)]).dtype is xp.int16
    assert xp.result_type(xp.float32, number, 1j) is xp.complex128
    assert xp.can_cast(xp.int8, xp.int16)
    assert not xp.can_cast(xp.int16, xp.int8)
    with pytest.raises(TypeError, match="at least one argument must be an array"):
        xp.add(1, 2)


def test_quotients_and_remainders() -> None:
    x, y = array([inf, -inf, inf, -7, 0.0, -0.0, 6]), array([2, 2, inf, 2, -3, 2, -3])
    check(xp.floor_divide(x, y), [inf, -inf, nan, -4, -0.0, -0.0, -2])
    check(x // y, [inf, -inf, nan, -4, -0.0, -0.0, -2])
    check(xp.remainder(x, y), [nan, nan, nan, 1, -0.0, 0.0, -0.0])
    check(array([5, -5, 5]) % array([-inf, inf, inf]), [-inf, inf, 5])
    x //= 2.0
    check(x[:4], [inf, -inf, inf, -4])
    check(array([7, -7], xp.int32) // array([2, 2], xp.int32), [3, -4])


def test_complex_numbers() -> None:
    found = xp.expm1(array([complex(inf, 0), complex(-inf, 1), complex(nan, 0), 1e-10 + 0j], xp.complex128)).tolist()
    assert found[:2] == [complex(inf, 0), complex(-1, 0)]
    assert math.isnan(found[2].real)
    assert found[2].imag == 0
    assert found[3] == 1.00000000005e-10
    assert xp.asarray([1.0, 2.0]).imag.tolist() == [0, 0]
    check(xp.asarray([1 + 2j]).imag, [2])
    check(xp.round(array([1.5 - 2.5j], xp.complex128)), [2 - 2j])
    check(xp.sign(array([3 + 4j, 0], xp.complex128)), [0.6 + 0.8j, 0])
    values, indices, inverse, counts = xp.unique_all(array([1j, 2, 1j, 1], xp.complex128))
    assert [values.tolist(), indices.tolist(), inverse.tolist()] == [[1j, 1, 2], [0, 3, 1], [0, 2, 0, 1]]
    assert counts.tolist() == [2, 1, 1]


def test_signs_of_nan() -> None:
    check(xp.sign(array([nan, -2.0, 0.0])), [nan, -1, 0])


def test_distinct_values() -> None:
    values, counts = xp.unique_counts(array([2, nan, 1, 2, nan, -0.0, 0.0]))
    check(values, [-0.0, 1, 2, nan, nan])
    assert counts.tolist() == [2, 1, 2, 1, 1]
    assert xp.unique_values(array([], xp.int8)).shape == (0,)
    assert xp.unique_inverse(array([[3, 1]], xp.int8)).inverse_indices.tolist() == [[1, 0]]


@pytest.mark.parametrize(("dtype", "widest"), [("uint8", "uint64"), ("int8", "int64"), ("uint32", "uint64")])
def test_sums_of_integers(dtype: str, widest: str) -> None:
    x = xp.full((300,), 100, dtype=getattr(xp, dtype))
    for result, value in ((xp.sum(x), 30_000), (xp.cumulative_sum(x)[-1], 30_000), (xp.prod(x[:4]), 100_000_000)):
        assert result.dtype is getattr(xp, widest)
        assert int(result) == value
    assert xp.sum(x, dtype=xp.float32).dtype is xp.float32


def test_axes() -> None:
    x = xp.reshape(xp.arange(24, dtype=xp.float64), (2, 3, 4))
    assert xp.sum(x, axis=(0, -1), keepdims=True).shape == (1, 3, 1)
    assert xp.max(x, axis=(0, 2)).tolist() == [15, 19, 23]
    check(xp.sum(x, axis=()), np.asarray(x))
    check(xp.std(x, axis=()), np.zeros((2, 3, 4)))
    assert xp.var(x, correction=0.5).shape == ()
    assert xp.var(array([1, 2, 4]), correction=1.5).tolist() == pytest.approx(14 / 3 / 1.5)
    assert xp.all(xp.asarray([[True], [False]]), axis=(0, 1)).tolist() is False
    assert xp.any(xp.asarray([], dtype=xp.bool)).tolist() is False
    assert xp.count_nonzero(x, axis=0, keepdims=True).shape == (1, 3, 4)
    assert xp.concat([x, x], axis=None).shape == (48,)
    assert xp.expand_dims(x, (0, -1)).shape == (1, 2, 3, 4, 1)
    assert xp.flip(x)[0, 0, 0] == 23
    assert xp.roll(x, 1, axis=(0, 1))[1, 1, 0] == 0
    assert xp.cumulative_sum(array([1, 2]), include_initial=True).tolist() == [0, 1, 3]
    with pytest.raises(ValueError, match="an axis must be given for an array of 3 dimensions"):
        xp.cumulative_prod(x)
    with pytest.raises(ValueError, match="dimension 1 of the shape"):
        xp.squeeze(x, 1)
    with pytest.raises(ValueError, match="an axis must be given"):
        xp.take(x, xp.asarray([0]))
    assert xp.take(x, xp.asarray([-1]), axis=2).shape == (2, 3, 1)


def test_indices() -> None:
    x = xp.reshape(xp.arange(12), (3, 4))
    assert x[::-1, ::2].tolist() == [[8, 10], [4, 6], [0, 2]]
    assert x[..., ::-3].tolist() == [[3, 0], [7, 4], [11, 8]]
    assert x[None, 1, 2:0:-1].tolist() == [[6, 5]]
    assert x[0:2:-1].shape == (0, 4)
    assert x[xp.asarray([True, False, True]), ::-1].tolist() == [[3, 2, 1, 0], [11, 10, 9, 8]]
    x[::-1, 0] = xp.asarray([1, 2, 3])
    assert x[:, 0].tolist() == [3, 2, 1]
    x[1, 3:0:-1] = 7
    assert x[1].tolist() == [2, 7, 7, 7]
    with pytest.raises(ValueError, match="step must be greater than zero"):
        ow.arange(3)[::-1]  # torch's rule
    for shape, mask in (((0, 3), (0,)), ((0, 3), (0, 3)), ((2, 0), (2, 0)), ((0,), (0,))):
        assert 0 in xp.zeros(shape)[xp.zeros(mask, dtype=xp.bool)].shape
    for shape, mask, chosen in (((2, 4), (0,), (0, 4)), ((3, 4), (3, 0), (0,)), ((1, 1, 2), (0, 1), (0, 2))):
        assert xp.ones(shape)[xp.zeros(mask, dtype=xp.bool)].shape == chosen
    for mask in ((0, 3), (3,), (0, 4, 1)):
        with pytest.raises(IndexError):
            xp.ones((2, 4))[xp.zeros(mask, dtype=xp.bool)]
    with pytest.raises(IndexError):
        ow.ones(2, 4)[ow.zeros(0, dtype=ow.bool)]  # torch's rule
    assert xp.asarray(3)[xp.asarray(True)].tolist() == [3]


def test_size_is_a_number_and_a_method() -> None:
    for x in (ow.ones(2, 3), xp.ones((2, 3))):
        size: Any = x.size
        assert size == 6 == int(size)
        assert (size + 1, 2 * size, size // 4, 7 % size, size**2, -size) == (7, 12, 1, 1, 36, -6)
        assert (f"{size:>3d}", str(size), hash(size), bool(size), len(range(size))) == ("  6", "6", 6, True, 6)
        assert pickle.loads(pickle.dumps(size)) == 6
        assert (x.size(), x.size(0), x.size(-1), x.size(dim=1)) == ((2, 3), 2, 3, 3)
        with pytest.raises(IndexError, match="Dimension out of range"):
            x.size(2)
        with pytest.raises(TypeError, match="must be int, not str"):
            size("0")
    assert ow.Tensor.size(ow.ones(2, 3), 1) == 3
    assert ow.Tensor.size.__name__ == "size"
    assert "number of elements" in str(ow.Tensor.size.__doc__)


def test_creation() -> None:
    assert xp.arange(5, 1).shape == (0,)
    assert xp.arange(1, 5, 1.5).dtype is xp.float32
    check(xp.linspace(0, 1, 4, endpoint=False, dtype=xp.float64), [0, 0.25, 0.5, 0.75])
    assert xp.eye(2, 3, k=1).tolist() == [[0, 1, 0], [0, 0, 1]]
    assert xp.eye(2, k=-5).tolist() == [[0, 0], [0, 0]]
    assert xp.full(3, True).dtype is xp.bool
    assert [each.shape for each in xp.meshgrid(xp.arange(2), xp.arange(3))] == [(3, 2), (3, 2)]
    assert xp.meshgrid() == ()
    with pytest.raises(ValueError, match="indexing must be 'xy' or 'ij'"):
        xp.meshgrid(xp.arange(2), indexing="yx")
    x = xp.arange(4)
    assert xp.asarray(x, copy=False).data_ptr() == x.data_ptr() != xp.asarray(x, copy=True).data_ptr()
    assert xp.reshape(x, (2, 2), copy=True).data_ptr() != x.data_ptr()
    with pytest.raises(ValueError, match="view size is not compatible"):
        xp.reshape(xp.reshape(x, (2, 2)).T, (4,), copy=False)
    assert type(xp.from_dlpack(np.ones(2))) is xp.Array


def test_clip() -> None:
    x = array([1, 5, 200], xp.uint8)
    assert xp.clip(x, 2, 300).tolist() == [2, 5, 200]
    assert xp.clip(x, -1).dtype is xp.uint8
    assert xp.clip(x, max=array([0, 9, 9], xp.uint8)).tolist() == [0, 5, 9]
    check(xp.clip(array([1, 2]), nan), [nan, nan])
    check(xp.clip(array([1, 2]), array([[0], [3]]), 2.5), [[1, 2], [2.5, 2.5]])


def test_products() -> None:
    a, b = array([[1, 2], [3, 4]], xp.int32), array([[1, 2], [3, 4]], xp.int64)
    assert (a @ b).dtype is xp.tensordot(a, b).dtype is xp.vecdot(a, b).dtype is xp.int64
    assert xp.tensordot(a, b, axes=((0,), (0,))).tolist() == [[10, 14], [14, 20]]
    check(xp.vecdot(array([1j, 1], xp.complex128), array([1j, 2], xp.complex128)), 3 + 0j)
    with pytest.raises(ValueError, match="vectors of 2 and 3 elements have no product"):
        xp.vecdot(xp.ones(2), xp.ones(3))
    matrix = array([[2, 0], [0, 4]])
    check(xp.linalg.solve(matrix, array([2, 4])), [1, 1])
    # A right-hand side of one dimension less is no batch of vectors.
    check(xp.linalg.solve(xp.broadcast_to(matrix, (2, 2, 2)), array([[2, 4], [4, 8]])), [[[1, 2], [1, 2]]] * 2)
    assert xp.linalg.trace(array([[100, 0], [0, 100]], xp.int8)).tolist() == 200
    assert xp.linalg.vector_norm(array([[3], [4]]), axis=(0, 1)).tolist() == 5
    assert xp.linalg.svd(matrix).S.tolist() == [4, 2]


def test_dtypes() -> None:
    assert np.dtype(ow.float32) == np.dtype("float32")
    assert np.dtype(ow.complex128) == np.dtype("complex128")
    with pytest.raises(TypeError):
        np.dtype(ow.bfloat16)
    assert xp.finfo(xp.complex64).dtype is xp.float32
    assert xp.finfo(xp.ones(1)).eps == 2.0**-23
    assert xp.astype(xp.asarray([1.5]), np.int64).dtype is xp.int64
    assert xp.astype(xp.asarray([1]), np.dtype("float32")).dtype is xp.float32
    assert (xp.iinfo(xp.int8).min, xp.iinfo(xp.int8).dtype) == (-128, xp.int8)
    assert xp.isdtype(xp.int8, ("bool", "signed integer"))
    assert not xp.isdtype(xp.uint8, "signed integer")
    with pytest.raises(ValueError, match="unknown kind 'text' of dtypes"):
        xp.isdtype(xp.uint8, "text")
    info = xp.__array_namespace_info__()
    assert info.dtypes(kind="complex floating") == {"complex64": ow.complex64, "complex128": ow.complex128}
    assert len(info.dtypes()) == 13
    assert info.default_dtypes() == {
        "real floating": ow.float32, "complex floating": ow.complex64, "integral": ow.int64, "indexing": ow.int64,
    }  # fmt: skip
    assert info.devices() == [info.default_device()] == [ow.device("cpu")]
    assert info.capabilities()["max dimensions"] == 64


def test_errors() -> None:
    assert xp.broadcast_shapes((2, 1), (3,)) == (2, 3)
    with pytest.raises(ValueError, match="Attempting to broadcast"):
        xp.broadcast_shapes((2,), (3,))
    with pytest.raises(TypeError):
        xp.sin(x=xp.ones(1))
    with pytest.raises(ValueError, match="nonzero"):
        xp.nonzero(xp.asarray(1))
