"""Basic indexing and assignment against NumPy, for random shapes, layouts and indices."""

from __future__ import annotations

import gc
from typing import Any

import numpy as np
import opweave
import pytest
from hypothesis import given
from hypothesis import strategies as st

SHAPES = st.lists(st.integers(0, 4), max_size=4).map(tuple)


@st.composite
def arrays(draw: Any) -> np.ndarray:
    """Arrays of all layouts: transposed, with steps, backwards, broadcast, empty and without dimensions."""
    shape = draw(SHAPES)
    array = np.arange(1, int(np.prod(shape)) + 1, dtype=draw(st.sampled_from(["int64", "float32", "uint8"])))
    array = array.reshape(shape)
    if draw(st.booleans()):
        array = array.transpose(draw(st.permutations(range(array.ndim))))
    steps = tuple(slice(None, None, draw(st.sampled_from([1, 2, -1, -2]))) for _ in array.shape)
    return array[(*steps, Ellipsis)]


@st.composite
def indices(draw: Any, shape: tuple[int, ...]) -> Any:
    """An index of ints, slices, None and `...`, mostly one that fits the shape."""
    parts: list[Any] = []
    for size in shape[: draw(st.integers(0, len(shape)))]:
        limit = st.none() | st.integers(-size - 2, size + 2)
        kinds = [st.builds(slice, limit, limit, st.none() | st.integers(1, 3))]
        if size:
            kinds.append(st.integers(-size, size - 1))
        parts.append(draw(st.one_of(kinds)))
    for _ in range(draw(st.integers(0, 2))):
        parts.insert(draw(st.integers(0, len(parts))), None)
    if draw(st.booleans()):
        # Parts that come after it count from the last dimension, and may not fit there.
        parts.insert(draw(st.integers(0, len(parts))), Ellipsis)
    if len(parts) == 1 and draw(st.booleans()):
        return parts[0]
    return tuple(parts)


def numpy_result(array: np.ndarray, index: Any) -> Any:
    try:
        # An int for each dimension gives a number in NumPy; `...` keeps it a view.
        if isinstance(index, tuple) and Ellipsis not in index:
            return array[(*index, Ellipsis)]
        return array[index] if isinstance(index, tuple) or index is Ellipsis else array[index, ...]
    except IndexError:
        return IndexError


@given(st.data())
def test_view(data: Any) -> None:
    array = data.draw(arrays())
    index = data.draw(indices(array.shape))
    tensor = opweave.from_numpy(array)
    expected = numpy_result(array, index)
    if expected is IndexError or (array.ndim == 0 and isinstance(index, (int, slice))):
        with pytest.raises(IndexError):
            tensor[index]
        return
    view = tensor[index]
    assert tuple(view.shape) == expected.shape
    assert view.dtype is tensor.dtype
    assert view.tolist() == expected.tolist()
    if expected.size:
        assert view.data_ptr() == expected.ctypes.data
        # Strides of single positions are arbitrary.
        for size, mine, theirs in zip(expected.shape, view.stride(), expected.strides, strict=True):
            assert size == 1 or mine * array.itemsize == theirs


@given(st.data())
def test_assignment(data: Any) -> None:
    array = data.draw(arrays())
    index = data.draw(indices(array.shape))
    view = numpy_result(array, index)
    if view is IndexError or (array.ndim == 0 and isinstance(index, (int, slice))):
        return
    value: Any = data.draw(st.integers(0, 9))
    if data.draw(st.booleans()):
        # A value of fewer dimensions, some of them of size one.
        shape = tuple(data.draw(st.sampled_from([1, size])) for size in view.shape)
        shape = shape[data.draw(st.integers(0, len(shape))) :]
        value = np.arange(100, 100 + int(np.prod(shape)), dtype=np.int16).reshape(shape)
    copied = array.copy()
    tensor = opweave.tensor(array)
    if isinstance(index, tuple) or index is Ellipsis:
        copied[index] = value
    else:
        copied[index, ...] = value
    tensor[index] = opweave.from_numpy(value) if isinstance(value, np.ndarray) else value
    np.testing.assert_array_equal(tensor.numpy(), copied)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ([7, 8, 9], [7.0, 8.0, 9.0]),
        ((7, 8.5, True), [7.0, 8.5, 1.0]),
        (range(3), [0.0, 1.0, 2.0]),
        ([[1, 2, 3]], [1.0, 2.0, 3.0]),
        (np.array([1, 2, 3], np.int8), [1.0, 2.0, 3.0]),
        (np.array([3.0, 2.0, 1.0])[::-1], [1.0, 2.0, 3.0]),
        (np.array(5), [5.0, 5.0, 5.0]),
        (np.float64(2.5), [2.5, 2.5, 2.5]),
        (np.bool_(True), [1.0, 1.0, 1.0]),
    ],
)
def test_assigns_sequences_and_arrays(value: Any, expected: list[float]) -> None:
    t = opweave.zeros(2, 3)
    t[1] = value
    assert t.tolist() == [[0.0, 0.0, 0.0], expected]


def test_assigning_does_not_change_a_sequence_that_does_not_fit() -> None:
    t = opweave.zeros(2, 3)
    with pytest.raises(ValueError, match=r"expected sequence of length 2 at dim 1 \(got 1\)"):
        t[0] = [[1, 2], [3]]
    with pytest.raises(RuntimeError, match=r"expanded size of the tensor \(3\) must match the existing size \(2\)"):
        t[0] = [1, 2]
    assert t.tolist() == [[0.0] * 3] * 2


def test_assigning_overlapping_views_reads_before_it_writes() -> None:
    t = opweave.arange(6)
    t[1:] = t[:-1]
    assert t.tolist() == [0, 0, 1, 2, 3, 4]
    t = opweave.arange(6)
    t[:-1] = t[1:]
    assert t.tolist() == [1, 2, 3, 4, 5, 5]


def test_errors_leave_nothing_pending() -> None:
    t = opweave.zeros(2, 3)
    for index in (5, (0, 7), (0, 0, 0), slice(None, None, -1), "x"):
        with pytest.raises((IndexError, ValueError, TypeError)):
            t[index]
        # A pending error of the core would surface here.
        assert t[1].tolist() == [0.0, 0.0, 0.0]


def test_memory_is_given_back() -> None:
    t = opweave.zeros(4, 4)
    gc.collect()  # of other tests
    before = opweave.cpu.memory_stats()["allocation.all.current"]
    for _ in range(100):
        t[1], t[1, 2], t[:, 1], t[..., None], t[1:3], t[True]
        t[1], t[1, 2], t[:, 1:], t[None] = 1, 2.5, opweave.ones(3), [[1] * 4] * 4
        for index in (9, (0, 9), (slice(None), 9), (0, 0, 0)):
            with pytest.raises(IndexError):
                t[index]
        with pytest.raises(RuntimeError):
            t[0] = opweave.ones(5)
    assert opweave.cpu.memory_stats()["allocation.all.current"] == before


def test_huge_steps() -> None:
    t = opweave.arange(12).reshape(3, 4)
    assert t[:: 2**62].tolist() == [[0, 1, 2, 3]]
    assert t[1 :: 2**100, :: 2**63].tolist() == [[4]]


def test_views_of_subclasses_have_their_class() -> None:
    class Special(opweave.Tensor):
        pass

    t = opweave.zeros(2, 3).as_subclass(Special)
    for view in (t[0], t[:, 1], t[None], t[0:1], *t):
        assert type(view) is Special


@pytest.mark.parametrize("dtype", [opweave.uint8, opweave.int32, opweave.int64], ids=str)
def test_counts_of_numbers_in_every_layout(dtype: opweave.dtype) -> None:
    x = opweave.tensor([3, 0, 1, 3, 3, 7, 0, 2, 3], dtype=dtype)
    expected = [2, 1, 1, 4, 0, 0, 0, 1]
    assert opweave.bincount(x).tolist() == expected
    assert opweave.bincount(x, minlength=10).tolist() == [*expected, 0, 0]
    assert opweave.bincount(opweave.stack([x, x], 1)[:, 1]).tolist() == expected
    assert opweave.bincount(x[:0], minlength=2).tolist() == [0, 0]


def test_places_of_a_long_dimension_get_everything_that_meets_there() -> None:
    """More positions and places than one thread is given where there are several."""
    indices = opweave.arange(40_000) * 7919 % 600_000
    indices = opweave.cat([indices, indices.flip(0)])
    expected = opweave.zeros(600_000)
    expected[opweave.arange(40_000) * 7919 % 600_000] = 2
    before = opweave.get_num_threads()
    for threads in (1, 2, 8):
        opweave.set_num_threads(threads)
        try:
            result = opweave.zeros(600_000).scatter_add_(0, indices, opweave.ones(80_000))
        finally:
            opweave.set_num_threads(before)
        assert (result == expected).all()


def test_the_same_by_operators() -> None:
    """Indices of tensors with histories are calls of operators: results are those of other tensors."""
    x = opweave.ones(3, requires_grad=True)
    assert x[...] is not x
    assert x[True].data_ptr() != x.data_ptr()
    assert x[:][:: 2**62].tolist() == [1]
    halves = opweave.ones(2, dtype=opweave.float16).requires_grad_() * 1
    halves[0] = 1e6
    assert halves.tolist() == [float("inf"), 1]
    y = x * 1
    y[False] = opweave.ones(7)
    y[True] = 2
    assert y.tolist() == [2, 2, 2]
