"""NumPy's arrays and numbers beside tensors: in operators they are operands, and gradients never get lost in NumPy."""

from __future__ import annotations

import copy
import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import opweave
import pytest

ARITHMETIC = {
    "add": [3.0, 6.0, 9.0],
    "sub": [-1.0, -2.0, -3.0],
    "mul": [2.0, 8.0, 18.0],
    "truediv": [0.5, 0.5, 0.5],
    "floordiv": [0.0, 0.0, 0.0],
    "mod": [1.0, 2.0, 3.0],
    "pow": [1.0, 16.0, 729.0],
}
BITS = {"and_": [0, 0, 2], "or_": [3, 6, 7], "xor": [3, 6, 5], "lshift": [4, 32, 192], "rshift": [0, 0, 0]}
COMPARISONS = {
    "eq": [False, True, False], "ne": [True, False, True], "lt": [True, False, False],
    "le": [True, True, False], "gt": [False, False, True], "ge": [False, True, True],
}  # fmt: skip


def both_ways(name: str, left: Any, right: Any) -> list[Any]:
    """The operator with the left operand a tensor, and with the right one."""
    function = getattr(operator, name)
    return [function(opweave.as_tensor(left), right), function(left, opweave.as_tensor(right))]


@pytest.mark.parametrize("name", ARITHMETIC)
def test_arithmetic_with_arrays(name: str) -> None:
    for result in both_ways(name, np.float32([1, 2, 3]), np.float32([2, 4, 6])):
        assert type(result) is opweave.Tensor
        assert result.dtype is opweave.float32
        assert result.tolist() == ARITHMETIC[name]


@pytest.mark.parametrize("name", BITS)
def test_bits_of_arrays(name: str) -> None:
    for result in both_ways(name, np.array([1, 2, 3]), np.array([2, 4, 6])):
        assert result.dtype is opweave.int64
        assert result.tolist() == BITS[name]


@pytest.mark.parametrize("name", COMPARISONS)
def test_comparisons_with_arrays_are_elementwise(name: str) -> None:
    for result in both_ways(name, np.array([1.0, 2.0, 3.0]), np.array([2.0, 2.0, 2.0])):
        assert type(result) is opweave.Tensor
        assert result.tolist() == COMPARISONS[name]


def test_matrix_products_with_arrays() -> None:
    matrix, vector = np.float32([[1, 2], [3, 4]]), np.float32([1, -1])
    assert (opweave.as_tensor(matrix) @ vector).tolist() == [-1.0, -1.0]
    assert (matrix @ opweave.as_tensor(vector)).tolist() == [-1.0, -1.0]
    # Between tensors the dtypes must agree; an array takes part in promotion, as it does in the other operators.
    product = opweave.ones(2) @ np.array([0.1, 0.2])
    assert product.dtype is opweave.float64
    assert product.item() == 0.1 + 0.2
    with pytest.raises(RuntimeError, match="at least 1D"):
        opweave.ones(2) @ np.array(1.0)


def test_a_dtype_follows_from_both_operands() -> None:
    x = opweave.tensor([1.0, 2.0])
    assert (x * np.array([1.0, 2.0])).dtype is opweave.float64
    assert (np.array([1, 2]) * x).dtype is opweave.float32
    assert (x * np.array(2.0)).dtype is opweave.float32
    assert (opweave.tensor(1.0) * np.array(2.0)).dtype is opweave.float64
    assert (x * np.float64(2)).dtype is opweave.float32
    assert (np.float64(2) * x).dtype is opweave.float32
    assert (x.long() * np.float16(2)).dtype is opweave.float32
    assert (x * np.complex64(1j)).tolist() == [1j, 2j]


def test_in_place_with_arrays() -> None:
    x = opweave.tensor([1.0, 2.0])
    same = x
    x += np.array([1.0, 1.0])
    x *= np.array([[3.0, 3.0]])[0]
    x -= np.float32(1)
    assert same is x
    assert x.dtype is opweave.float32
    assert x.tolist() == [5.0, 8.0]
    with pytest.raises(RuntimeError, match="doesn't match the broadcast shape"):
        x += np.ones((2, 2))
    counts = opweave.tensor([1, 2])
    with pytest.raises(RuntimeError, match="can't be cast"):
        counts += np.array([0.5, 0.5])


def test_memory_that_both_share() -> None:
    values = np.arange(4.0)
    x = opweave.from_numpy(values)
    with pytest.raises(RuntimeError, match="single memory location"):
        x[1:] += values[:-1]


@pytest.mark.parametrize(
    "array",
    [
        np.array([1.0, 2.0, 3.0], dtype=">f8"),
        np.array([3.0, 2.0, 1.0])[::-1],
        np.frombuffer(b"\0" + np.array([1.0, 2.0, 3.0]).tobytes(), dtype="f8", offset=1),
        np.array([(0, 1.0), (0, 2.0), (0, 3.0)], dtype=np.dtype([("a", "i1"), ("b", "f8")]))["b"],
        np.broadcast_to(np.array([1.0, 2.0, 3.0]), (3,)),
    ],
    ids=["byte order", "backwards", "not aligned", "odd strides", "not writable"],
)
def test_operands_may_lie_in_memory_as_they_like(array: Any) -> None:
    x = opweave.tensor([1.0, 1.0, 1.0], dtype=opweave.float64)
    assert (x + array).tolist() == [2.0, 3.0, 4.0]
    assert (array + x).tolist() == [2.0, 3.0, 4.0]


@pytest.mark.parametrize("name", ["add", "eq", "lt"])
@pytest.mark.parametrize("array", [np.array(["a"]), np.array([None]), np.array(["2020"], dtype="M8[D]")])
def test_arrays_of_what_is_no_number_are_refused(name: str, array: Any) -> None:
    function = getattr(operator, name)
    for left, right in ((opweave.ones(1), array), (array, opweave.ones(1))):
        with pytest.raises(TypeError, match="can't convert"):
            function(left, right)


def test_scalars_of_what_is_no_number_are_no_operands() -> None:
    x = opweave.ones(1)
    assert (x == np.str_("a")) is False
    # In nanoseconds these are ints for Python.
    for value in (np.datetime64("2020", "ns"), np.timedelta64(3, "ns")):
        with pytest.raises(TypeError):
            x + value


def test_long_doubles_are_numbers() -> None:
    x = opweave.tensor([1.0, 2.0])
    assert (x * np.longdouble(2)).tolist() == [2.0, 4.0]
    assert (np.longdouble(2) * x).tolist() == [2.0, 4.0]
    assert (x * np.clongdouble(2j)).tolist() == [2j, 4j]


def test_masked_elements_are_refused() -> None:
    masked = np.ma.array([1.0, 2.0], mask=[False, True])
    for left, right in ((opweave.ones(2), masked), (masked, opweave.ones(2))):
        with pytest.raises(TypeError, match="masked elements"):
            left + right
    assert (opweave.ones(2) + np.ma.array([1.0, 2.0])).tolist() == [2.0, 3.0]


def test_other_classes_implement_operators_themselves() -> None:
    class Quantity(np.ndarray):
        __array_priority__ = 10000

        def __radd__(self, other: Any) -> Any:
            return "mine"

    class Measurement:
        def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
            return np.ones(2)

        def __radd__(self, other: Any) -> Any:
            return "mine"

    assert opweave.ones(2) + np.ones(2).view(Quantity) == "mine"
    assert opweave.ones(2) + Measurement() == "mine"


def test_subclasses_stay_what_they_are() -> None:
    class Mine(opweave.Tensor):
        pass

    x = opweave.ones(2).as_subclass(Mine)
    for result in (x * np.ones(2), np.ones(2) * x, x == np.ones(2), np.ones(2) @ x):
        assert type(result) is Mine


def test_membership() -> None:
    x = opweave.tensor([1.0, 2.0])
    assert np.float32(2) in x
    assert 1 + 0j in x
    with pytest.raises(RuntimeError, match="only supports Tensor or scalar"):
        np.array([1.0, 5.0, 6.0]) in x  # noqa: B015
    assert x[0] in np.array([1.0, 2.0])


def test_arrays_as_indices_and_values() -> None:
    x = opweave.arange(4.0)
    assert x[np.array([0, 2], dtype=">i8")].tolist() == [0.0, 2.0]
    assert x[np.array([3, 1])[::-1]].tolist() == [1.0, 3.0]
    x[:] = np.array([5.0, 6.0, 7.0, 8.0], dtype=">f8")
    assert x.tolist() == [5.0, 6.0, 7.0, 8.0]
    x[np.array([True, False, False, True])] = np.float32(1)
    assert x.tolist() == [1.0, 6.0, 7.0, 1.0]
    with pytest.raises(TypeError, match="masked elements"):
        x[:2] = np.ma.array([1.0, 2.0], mask=[False, True])


# ---- gradients ----------------------------------------------------------------------------------------------


def test_gradients_go_through_operators_with_arrays() -> None:
    factors = np.float32([1, 2, 3])
    w = opweave.ones(3, requires_grad=True)
    ((w * w).sum() + (w * factors).sum()).backward()
    assert w.grad.tolist() == [3.0, 4.0, 5.0]

    forms: list[Callable[[Any], Any]] = [
        lambda w: factors * w, lambda w: w @ factors, lambda w: factors @ w, lambda w: -(factors - w) + factors,
        lambda w: factors / w, lambda w: w / factors, lambda w: w**factors, lambda w: (factors + 1) ** w,
    ]  # fmt: skip
    expected = [
        [1, 2, 3], [1, 2, 3], [1, 2, 3], [1, 1, 1],
        [-1, -2, -3], [1, 1 / 2, 1 / 3], [1, 2, 3], [2 * np.log(2), 3 * np.log(3), 4 * np.log(4)],
    ]  # fmt: skip
    for form, gradient in zip(forms, expected, strict=True):
        w = opweave.ones(3, requires_grad=True)
        form(w).sum().backward()
        np.testing.assert_allclose(w.grad.numpy(), gradient, rtol=1e-6)


def test_in_place_operators_with_arrays_are_recorded() -> None:
    w = opweave.ones(3, requires_grad=True)
    x = w * 1
    x *= np.float32([1, 2, 3])
    x += np.float32([1, 1, 1])
    x.sum().backward()
    assert w.grad.tolist() == [1.0, 2.0, 3.0]


def test_backward_does_not_depend_on_what_the_array_becomes() -> None:
    factors = np.float32([1, 2, 3])
    w = opweave.ones(3, requires_grad=True)
    product = w * factors
    x = w * 1
    x *= factors
    factors[:] = 100
    (product + x).sum().backward()
    assert w.grad.tolist() == [2.0, 4.0, 6.0]


REQUIRES_GRAD = {
    "asarray": np.asarray,
    "array of several": lambda w: np.array([w, w]),
    "a universal function": np.sin,
    "one of two operands": lambda w: np.multiply(np.ones(3), w),
    "matmul": lambda w: np.matmul(w, np.ones(3)),
    "dot": lambda w: np.ones(3).dot(w),
    "assignment": lambda w: np.ones(3).__setitem__(slice(None), w),
    "concatenate": lambda w: np.concatenate([w, np.ones(3)]),
    "norm": np.linalg.norm,
    "reduce": np.add.reduce,
}


@pytest.mark.parametrize("use", REQUIRES_GRAD)
def test_numpy_does_not_get_what_requires_gradients(use: str) -> None:
    leaf = opweave.ones(3, requires_grad=True)
    for w in (leaf, leaf * 2, leaf.detach().requires_grad_()[:]):
        with pytest.raises(RuntimeError, match="Can't call numpy"):
            REQUIRES_GRAD[use](w)


def test_a_leaf_is_not_written_through_numpy() -> None:
    w = opweave.ones(3, requires_grad=True)
    with pytest.raises(RuntimeError, match="Can't call numpy"):
        np.asarray(w)[0] = 9
    with pytest.raises(BufferError):
        memoryview(w)
    base = opweave.ones(3)
    view = base[:2]
    base.requires_grad_()
    with pytest.raises(RuntimeError, match="Can't call numpy"):
        np.asarray(view)
    assert np.asarray(w.detach()).tolist() == [1.0, 1.0, 1.0]


def test_numpy_reads_tensors_where_nothing_is_recorded() -> None:
    w = opweave.ones(3, requires_grad=True)
    for mode in (opweave.no_grad(), opweave.inference_mode()):
        with mode:
            assert np.asarray(w).tolist() == [1.0, 1.0, 1.0]
            assert w.numpy().tolist() == [1.0, 1.0, 1.0]
            assert np.add(w, 1).tolist() == [2.0, 2.0, 2.0]


def test_operators_that_numpy_computes_keep_their_gradients() -> None:
    w = opweave.tensor([3.0, 1.0, 2.0], requires_grad=True)
    opweave.fft.rfft(w).abs().sum().backward()
    assert w.grad is not None
    assert opweave.searchsorted(w.detach().sort()[0], w).tolist() == [2, 0, 1]
    assert copy.copy(w).tolist() == [3.0, 1.0, 2.0]


def test_dtypes_that_functions_of_numpy_ask_for() -> None:
    assert np.result_type(opweave.ones(2)) == np.float32
    assert np.result_type(opweave.ones(2, dtype=opweave.int8), np.int16) == np.int16
    assert np.dtype(opweave.ones(2, dtype=opweave.complex64)) == np.complex64
    with pytest.raises(ValueError, match="NumPy dtype"):
        np.result_type(opweave.ones(2, dtype=opweave.bfloat16))


def test_capsules_are_arrays() -> None:
    x = opweave.arange(3.0)
    shared = opweave.asarray(x.__dlpack__())
    shared[0] = 5.0
    assert x.tolist() == [5.0, 1.0, 2.0]
    assert opweave.asarray(x.__dlpack__(), copy=False).data_ptr() == x.data_ptr()
    assert opweave.asarray(x.__dlpack__(), copy=True).data_ptr() != x.data_ptr()
    assert opweave.asarray(x.__dlpack__(), dtype=opweave.int32).tolist() == [5, 1, 2]
    with pytest.raises(RuntimeError, match="Could not infer dtype of PyCapsule"):
        opweave.tensor(x.__dlpack__())


def test_extrema_by_functions_of_numpy() -> None:
    x = opweave.tensor([[1.0, 5.0], [7.0, 3.0]])
    assert np.max(x, axis=0).tolist() == [7, 5]
    assert np.min(x, axis=1, keepdims=True).tolist() == [[1], [3]]
    assert np.max(x, axis=(0, 1)).item() == np.max(x).item() == 7
    assert np.min(x, axis=None).item() == 1
    assert np.max(x, axis=0, out=opweave.zeros(2)).tolist() == [7, 5]
    assert x.max(axis=0).indices.tolist() == [1, 0]  # torch's method by NumPy's name alone
    with pytest.raises(TypeError):
        np.max(x, axis=0, initial=3)
