"""Indexing with tensors, against NumPy for random shapes, layouts and indices; and what must not be."""

from __future__ import annotations

import gc
from typing import Any

import numpy as np
import opweave
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

SHAPES = st.lists(st.integers(0, 4), max_size=4).map(tuple)


@st.composite
def arrays(draw: Any) -> np.ndarray:
    shape = draw(SHAPES)
    array = np.arange(int(np.prod(shape)), dtype=draw(st.sampled_from(["int64", "float32", "uint8", "int16"])))
    array = array.reshape(shape).transpose(draw(st.permutations(range(len(shape)))))
    steps = [slice(None, None, draw(st.sampled_from([1, 2]))) for _ in shape]
    return array[(*steps, Ellipsis)]


@st.composite
def indices(draw: Any, shape: tuple[int, ...]) -> tuple[Any, ...]:
    """Index arrays of shapes that broadcast, masks, slices, None and `...`; some indices are out of range.

    No integers: NumPy counts them among the arrays, and then puts dimensions elsewhere."""
    parts: list[Any] = []
    common = draw(st.sampled_from([(), (1,), (3,), (2, 3), (0,)]))
    dim = 0
    while dim < len(shape) and draw(st.integers(0, 9)):
        size = shape[dim]
        kind = draw(st.sampled_from(["index", "index", "mask", "slice", "none"]))
        if kind == "index":
            own = tuple(draw(st.sampled_from([1, n])) for n in common)[draw(st.integers(0, len(common))) :]
            beyond = draw(st.integers(0, 30)) == 0
            positions = st.integers(-size - beyond, max(size - 1, -size) + beyond)
            count = int(np.prod(own))
            values = draw(st.lists(positions, min_size=count, max_size=count))
            parts.append(np.array(values, dtype=draw(st.sampled_from(["int64", "int32"]))).reshape(own or (1,)))
            dim += 1
        elif kind == "mask":
            covered = shape[dim : dim + draw(st.integers(1, 2))]
            count = int(np.prod(covered))
            parts.append(np.array(draw(st.lists(st.booleans(), min_size=count, max_size=count)), bool).reshape(covered))
            dim += len(covered)
        elif kind == "slice":
            limit = st.none() | st.integers(-size - 1, size + 1)
            parts.append(slice(draw(limit), draw(limit), draw(st.sampled_from([None, 1, 2]))))
            dim += 1
        else:
            parts.append(None)
    if draw(st.booleans()):
        # Between arrays it parts them in NumPy even where it stands for no dimension. It must not move a mask to
        # another dimension: NumPy takes empty masks for dimensions of one position.
        moves_masks = dim < len(shape) and any(isinstance(part, np.ndarray) and part.dtype == bool for part in parts)
        parts.insert(len(parts) if moves_masks else draw(st.sampled_from([0, len(parts)])), Ellipsis)
    return tuple(parts)


def has_elements(array: np.ndarray, index: tuple[Any, ...]) -> bool:
    """Do its slices leave something of the array? Otherwise torch does not look at the other indices."""
    sliced: list[Any] = []
    for part in index:
        is_array = isinstance(part, np.ndarray)
        sliced += [slice(None)] * (part.ndim if part.dtype == bool else 1) if is_array else [part]
    return bool(array[tuple(sliced)].size)


def of_opweave(index: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple(opweave.from_numpy(part) if isinstance(part, np.ndarray) else part for part in index)


def check_reading(data: Any) -> None:
    array = data.draw(arrays())
    index = data.draw(indices(array.shape))
    tensor = opweave.from_numpy(array)
    try:
        expected = array[index]
    except IndexError:
        if has_elements(array, index):
            with pytest.raises(IndexError):
                tensor[of_opweave(index)]
        return
    result = tensor[of_opweave(index)]
    assert result.dtype is tensor.dtype
    np.testing.assert_array_equal(result.numpy(), expected, strict=True)


def check_writing(data: Any) -> None:
    array = data.draw(arrays()).copy("K")
    index = data.draw(indices(array.shape))
    tensor = opweave.from_numpy(array.copy("K"))
    try:
        selected = array[index]
    except IndexError:
        if has_elements(array, index):
            with pytest.raises(IndexError):
                tensor[of_opweave(index)] = 1
        np.testing.assert_array_equal(tensor.numpy(), array)
        return
    value: Any = data.draw(st.integers(0, 9))
    if data.draw(st.booleans()):
        shape = tuple(data.draw(st.sampled_from([1, size])) for size in selected.shape)
        shape = shape[data.draw(st.integers(0, len(shape))) :]
        value = np.arange(100, 100 + int(np.prod(shape)), dtype=array.dtype).reshape(shape)
    array[index] = value
    tensor[of_opweave(index)] = opweave.from_numpy(value) if isinstance(value, np.ndarray) else value
    np.testing.assert_array_equal(tensor.numpy(), array)


@settings(max_examples=75)
@given(st.data())
def test_reading(data: Any) -> None:
    check_reading(data)


@settings(max_examples=75)
@given(st.data())
def test_writing(data: Any) -> None:
    check_writing(data)


@pytest.mark.slow
@settings(max_examples=20_000, derandomize=False)
@given(st.data())
def test_reading_at_length(data: Any) -> None:
    check_reading(data)


@pytest.mark.slow
@settings(max_examples=20_000, derandomize=False)
@given(st.data())
def test_writing_at_length(data: Any) -> None:
    check_writing(data)


@pytest.mark.parametrize("shape", [(200_000,), (50_000, 3), (3, 50_000), (500, 400), (40, 50, 60)])
@pytest.mark.parametrize("dtype", ["uint8", "int16", "float32", "float64"])
def test_large(shape: tuple[int, ...], dtype: str) -> None:
    """What several threads do together, for every size of element, and duplicates: the last one wins."""
    rng = np.random.default_rng(0)
    array = rng.integers(0, 100, shape).astype(dtype)
    for dim in range(len(shape)):
        index = (slice(None),) * dim + (rng.integers(-shape[dim], shape[dim], 2 * shape[dim]),)
        np.testing.assert_array_equal(opweave.from_numpy(array)[of_opweave(index)].numpy(), array[index])
        values = rng.integers(0, 100, array[index].shape).astype(dtype)
        expected, tensor = array.copy(), opweave.tensor(array)
        expected[index] = values
        tensor[of_opweave(index)] = opweave.from_numpy(values)
        np.testing.assert_array_equal(tensor.numpy(), expected)
    mask = array > 50
    np.testing.assert_array_equal(opweave.from_numpy(array)[opweave.from_numpy(mask)].numpy(), array[mask])


@pytest.mark.parametrize("threads", [1, 2, 7])
def test_threads_do_not_matter(threads: int) -> None:
    rng = np.random.default_rng(1)
    before = opweave.get_num_threads()
    indices, values = rng.integers(0, 300, 100_000), rng.standard_normal(100_000).astype("float32")
    expected = np.zeros(300, "float32")
    expected[indices] = values
    opweave.set_num_threads(threads)
    try:
        tensor = opweave.zeros(300)
        tensor[opweave.from_numpy(indices)] = opweave.from_numpy(values)
    finally:
        opweave.set_num_threads(before)
    np.testing.assert_array_equal(tensor.numpy(), expected)


@pytest.mark.parametrize("dtype", ["bool", "uint8", "int16", "float32", "int64", "float64", "complex64", "complex128"])
def test_rows_that_one_number_fills(dtype: str) -> None:
    """Of items of any size, in blocks of several."""
    value: Any = True if dtype == "bool" else 7
    rows = opweave.tensor([0, 2])
    want = np.zeros((3, 4), dtype)
    want[[0, 2]] = value
    by_index, by_mask = (opweave.zeros(3, 4, dtype=getattr(opweave, dtype)) for _ in range(2))
    by_index[rows] = value
    by_mask[opweave.tensor([True, False, True])] = value
    places = opweave.tensor([[0], [2]]).expand(2, 4)
    scattered = opweave.zeros(3, 4, dtype=getattr(opweave, dtype)).scatter(0, places, value)
    filled = opweave.zeros(3, 4, dtype=getattr(opweave, dtype)).index_fill(0, rows, value)
    for each in (by_index, by_mask, scattered, filled):
        np.testing.assert_array_equal(each.numpy(), want)


@pytest.mark.parametrize("threads", [1, 2, 3, 12])
@pytest.mark.parametrize("dtype", ["bool", "int16", "float32", "float64", "complex128"])
@pytest.mark.parametrize("step", [1, 2])
def test_threads_that_share_the_places_of_a_dimension(dtype: str, step: int, threads: int) -> None:
    """Of several values for one place the last one stays; sums add up in the order of the positions."""
    rng = np.random.default_rng(0)
    size, count = 70001, 100003
    indices = rng.integers(-size, size, count)
    values = rng.standard_normal(count).astype(dtype)
    memory = rng.standard_normal(size * step).astype(dtype)
    before = opweave.get_num_threads()
    opweave.set_num_threads(threads)
    try:
        for accumulates in (False, True) if dtype != "bool" else (False,):
            want, target = memory.copy(), opweave.tensor(memory)
            positions, given = opweave.tensor(indices), opweave.tensor(values)
            target[::step].index_put_((positions,), given, accumulate=accumulates)
            if accumulates:
                np.add.at(want[::step], indices, values)
            else:
                want[::step][indices] = values
            assert target.numpy().tobytes() == want.tobytes()
        target[::step][positions] = 1
        want[::step][indices] = 1
        assert target.numpy().tobytes() == want.tobytes()
        with pytest.raises(IndexError):
            target[opweave.cat([positions, opweave.tensor([size * step])])] = 1
    finally:
        opweave.set_num_threads(before)


def test_nothing_is_written_when_one_index_is_wrong() -> None:
    tensor = opweave.zeros(100_000)
    index = opweave.arange(100_000)
    index[99_999] = 100_000
    with pytest.raises(IndexError, match="index 100000 is out of bounds for dimension 0 with size 100000"):
        tensor[index] = 1.0
    assert not tensor.any().item()


def test_values_and_indices_must_not_share_memory_with_the_target() -> None:
    tensor = opweave.arange(4)
    for call in (lambda: tensor.__setitem__(opweave.tensor([1, 2]), tensor[:2]), lambda: tensor.__setitem__(tensor, 1)):
        with pytest.raises(RuntimeError, match="refer to a single memory location"):
            call()
    assert tensor.tolist() == [0, 1, 2, 3]


def test_bytes_are_masks_with_a_warning() -> None:
    tensor = opweave.arange(3)
    with pytest.warns(UserWarning, match="indexing with dtype torch.uint8 is now deprecated"):
        assert tensor[opweave.tensor([1, 0, 2], dtype=opweave.uint8)].tolist() == [0, 2]


def test_read_only_memory_is_refused() -> None:
    array = np.zeros(3)
    array.flags.writeable = False
    with pytest.warns(UserWarning, match="not writable"):
        tensor = opweave.from_numpy(array)
    with pytest.raises(RuntimeError, match="read-only"):
        tensor[opweave.tensor([0])] = 1
    assert not array.any()


def test_too_many_dimensions() -> None:
    index = opweave.zeros((1,) * 40, dtype=opweave.int64)
    with pytest.raises(RuntimeError, match="at most 64 dimensions"):
        opweave.zeros((1,) * 40)[index]


def test_memory_is_given_back() -> None:
    tensor, index, mask = opweave.zeros(4, 4), opweave.tensor([0, 3]), opweave.tensor(np.eye(4)) > 0
    wrong = (index + 9, mask[:2, :2], (index, opweave.arange(3)))

    def use_and_count() -> int:
        for _ in range(20):
            tensor[index], tensor[mask], tensor[:, index], tensor[[1, 2], index], tensor[index, mask[0, :1].any()]
            tensor[index], tensor[mask], tensor[:, index] = 1, opweave.ones(4), opweave.ones(2)
            for each in wrong:
                with pytest.raises(IndexError):
                    tensor[each]
                with pytest.raises(IndexError):
                    tensor[each] = 1
        gc.collect()
        return opweave.cpu.memory_stats()["allocation.all.current"]

    before = use_and_count()
    assert use_and_count() <= before
