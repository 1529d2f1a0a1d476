"""Lines long enough for several threads to sort, against NumPy: every dtype, narrow and wide ranges, both orders."""

from __future__ import annotations

import numpy as np
import opweave
import pytest

COUNT = 40_000
INTEGERS = ("int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64")
DTYPES = ("bool", *INTEGERS, "float16", "float32", "float64")


def numbers(dtype: str, spread: str) -> np.ndarray:
    random = np.random.default_rng(0)
    np_dtype = np.dtype(dtype)
    if np_dtype.kind == "b":
        return random.integers(0, 2, COUNT).astype(np_dtype)
    if np_dtype.kind == "f":
        values = random.standard_normal(COUNT).astype(np_dtype)
        return values if spread == "wide" else np.round(values * 4) * np.copysign(np_dtype.type(1), values)
    bounds = np.iinfo(np_dtype)
    low, high = (bounds.min, bounds.max) if spread == "wide" else (bounds.min, bounds.min + 90)
    return random.integers(low, high, COUNT, dtype=np_dtype, endpoint=True)


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("spread", ["wide", "narrow"])
@pytest.mark.parametrize("dtype", DTYPES)
def test_sorted(dtype: str, spread: str, threads: int) -> None:
    values = numbers(dtype, spread)
    if values.dtype.kind == "f":
        values[::1000] = np.nan
    before = opweave.get_num_threads()
    opweave.set_num_threads(threads)
    try:
        x = opweave.from_numpy(values)
        for line in (x, opweave.stack((x, x), 1)[:, 1]):
            got, indices = line.sort(stable=True)
            order = np.argsort(values, kind="stable")
            assert np.array_equal(indices.numpy(), order)
            assert got.numpy().tobytes() == values[order].tobytes()
            assert line.unique().numpy().tobytes() == values[order][first_of_equals(values[order])].tobytes()
        _, indices = x.sort(stable=True, descending=True)
        backwards = COUNT - 1 - np.argsort(values[::-1], kind="stable")[::-1]
        assert np.array_equal(indices.numpy(), backwards)
    finally:
        opweave.set_num_threads(before)


def first_of_equals(ordered: np.ndarray) -> np.ndarray:
    return np.concatenate(([True], ordered[1:] != ordered[:-1]))


def of_64_bits(kind: str) -> np.ndarray:
    """Keys that have no room beside a position, and agree in much of what has room."""
    random = np.random.default_rng(0)
    ends = random.integers(0, 60, COUNT)
    return {
        "few doubles": random.integers(-5, 5, COUNT) * 1e15,
        "doubles that end differently": np.repeat([1, 2.0**600], COUNT // 2) * (1 + ends * 2.0**-52),
        "pairs": np.repeat(random.standard_normal(COUNT // 2), 2) * (1 + np.tile([2.0**-52, 0], COUNT // 2)),
        "integers and one far away": np.append(random.integers(0, 1000, COUNT - 1), 2**62),
        "the whole range": random.integers(-(2**63), 2**63 - 1, COUNT),
        "unsigned": random.integers(0, 2**64 - 1, COUNT, dtype="uint64"),
    }[kind]


@pytest.mark.parametrize("threads", [1, 2, 3])
@pytest.mark.parametrize(
    "kind",
    [
        "few doubles", "doubles that end differently", "pairs", "integers and one far away", "the whole range",
        "unsigned",
    ],
)  # fmt: skip
def test_keys_of_64_bits(kind: str, threads: int) -> None:
    values = of_64_bits(kind)
    before = opweave.get_num_threads()
    opweave.set_num_threads(threads)
    try:
        got, indices = opweave.from_numpy(values).sort(stable=True)
    finally:
        opweave.set_num_threads(before)
    order = np.argsort(values, kind="stable")
    assert np.array_equal(indices.numpy(), order)
    assert got.numpy().tobytes() == values[order].tobytes()


def test_all_equal() -> None:
    values, indices = opweave.full((COUNT,), -7).sort()
    assert (values == -7).all()
    assert (indices == opweave.arange(COUNT)).all()


@pytest.mark.parametrize("dtype", DTYPES)
def test_first_of_rows(dtype: str) -> None:
    """A few are kept in order, more are cut down from time to time, most are sorted."""
    values = numbers(dtype, "narrow")
    for length in (5, 16, 33, 250, 257, 1000):
        rows = opweave.from_numpy(values[: 40 * length].reshape(40, length))
        for descending in (False, True):
            wanted, order = rows.sort(stable=True, descending=descending)
            for count in {1, 4, min(32, length), min(40, length), length // 4, length}:
                result, indices = rows.topk(count, largest=descending)
                assert (indices == order[:, :count]).all()
                assert result.numpy().tobytes() == wanted[:, :count].numpy().tobytes()


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("dtype", DTYPES)
def test_first_of_a_line(dtype: str, threads: int) -> None:
    """Those of its pieces, of which each thread has one: the same as those of the sorted line."""
    values = numbers(dtype, "narrow")
    if values.dtype.kind == "f":
        values[::9000] = np.nan
    x = opweave.stack((opweave.from_numpy(values),) * 2, 1)[:, 1]
    before = opweave.get_num_threads()
    opweave.set_num_threads(threads)
    try:
        for descending in (False, True):
            wanted, order = x.sort(stable=True, descending=descending)
            for count in (1, 20, 32, 33, 300, 5000):
                result, indices = x.topk(count, largest=descending)
                assert (indices == order[:count]).all()
                assert result.numpy().tobytes() == wanted[:count].numpy().tobytes()
    finally:
        opweave.set_num_threads(before)
