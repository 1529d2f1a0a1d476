"""Operators over compressed matrices, by which sparse tensors compute: against dense matrices, and what they refuse."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Any

import numpy as np
import opweave
import pytest
from opweave._dispatch.ops import ops


def compressed(dense: np.ndarray) -> tuple[Any, Any, Any]:
    places = np.nonzero(dense)
    starts = np.r_[0, np.cumsum(np.bincount(places[0], minlength=len(dense)))]
    return tuple(opweave.from_numpy(np.ascontiguousarray(each)) for each in (starts, places[1], dense[places]))


def matrix(seed: int, rows: int, columns: int, density: float = 0.3) -> np.ndarray:
    random = np.random.default_rng(seed)
    return np.where(random.random((rows, columns)) < density, random.integers(-4, 5, (rows, columns)), 0)


def restored(starts: Any, columns: Any, values: Any, width: int) -> np.ndarray:
    result = np.zeros((len(starts) - 1, width), values.numpy().dtype)
    for row in range(len(starts) - 1):
        for place in range(int(starts[row]), int(starts[row + 1])):
            result[row, int(columns[place])] += values[place].numpy()
    return result


@pytest.mark.parametrize("shapes", [(5, 7, 6), (1, 1, 1), (4, 0, 3), (0, 3, 2), (3, 4, 0), (60, 200, 5000)])
def test_the_product_of_two_matrices(shapes: tuple[int, int, int]) -> None:
    rows, inner, columns = shapes
    left, right = matrix(1, rows, inner), matrix(2, inner, columns, 0.02 if columns > 100 else 0.3)
    (crow, col, values), (other_crow, other_col, other_values) = compressed(left), compressed(right)
    starts, places, found = ops.csr_product(crow, col, values, other_crow, other_col, other_values, columns)
    first, second, ends, one, other = ops.csr_product_pattern(crow, col, other_crow, other_col, columns)
    assert opweave.equal(first, starts)
    assert opweave.equal(second, places)
    pairs = values[one] * other_values[other]
    assert [int(pairs[a:b].sum()) for a, b in pairwise(ends.tolist())] == found.tolist()
    assert (restored(starts, places, found, columns) == left @ right).all()
    for row in range(rows):  # the columns of a row ascend
        own = places[int(starts[row]) : int(starts[row + 1])].tolist()
        assert own == sorted(set(own))


def test_the_product_does_not_depend_on_threads() -> None:
    (crow, col, values), (other_crow, other_col, others) = compressed(matrix(3, 300, 80)), compressed(matrix(4, 80, 90))
    values, others = values / 7, others / 11
    threads = opweave.get_num_threads()
    results = []
    for number in (1, 4):
        opweave.set_num_threads(number)
        found = ops.csr_product_pattern(crow, col, other_crow, other_col, 90)
        found += ops.csr_product(crow, col, values, other_crow, other_col, others, 90)
        results.append([each.tolist() for each in found])
    opweave.set_num_threads(threads)
    assert results[0] == results[1]


@pytest.mark.parametrize(
    ("change", "error", "text"),
    [
        ({"crow": [0, 3, 2]}, RuntimeError, "the starts of the left matrix's rows must ascend from 0 to 2"),
        ({"crow": [1, 1, 2]}, RuntimeError, "the starts of the left matrix's rows must ascend from 0 to 2"),
        ({"crow": [0, 2**62, 2]}, RuntimeError, "the starts of the left matrix's rows must ascend from 0 to 2"),
        ({"other_crow": [0, 1, 3]}, RuntimeError, "the starts of the right matrix's rows must ascend from 0 to 2"),
        ({"col": [0, 2]}, IndexError, "column 2 of the left matrix is outside of its 2 columns"),
        ({"other_col": [0, -1]}, IndexError, "column -1 of the right matrix is outside of its 3 columns"),
        ({"columns": -1}, RuntimeError, "a matrix cannot have -1 columns"),
        ({"crow": []}, RuntimeError, "expected the starts of rows and the columns of each matrix as vectors of int64"),
    ],
)
def test_indices_are_checked(change: dict[str, Any], error: type[Exception], text: str) -> None:
    given = {"crow": [0, 1, 2], "col": [0, 1], "other_crow": [0, 1, 2], "other_col": [0, 2], "columns": 3} | change
    tensors = [opweave.tensor(each, dtype=opweave.int64) if isinstance(each, list) else each for each in given.values()]
    with pytest.raises(error, match=re.escape(text)):
        ops.csr_product_pattern(*tensors)
    values = opweave.ones(len(tensors[1])), opweave.ones(len(tensors[3]))
    with pytest.raises(error, match=re.escape(text)):
        ops.csr_product(*tensors[:2], values[0], *tensors[2:4], values[1], tensors[4])


def test_values_are_checked() -> None:
    crow, col, values = compressed(matrix(6, 4, 4))
    with pytest.raises(RuntimeError, match="expected a value for each column, of one dtype"):
        ops.csr_product(crow, col, values[1:], crow, col, values, 4)
    with pytest.raises(RuntimeError, match="one dtype"):
        ops.csr_product(crow, col, values, crow, col, values.double(), 4)


def test_products_with_dense_tensors() -> None:
    dense = matrix(5, 6, 5)
    crow, col, values = compressed(dense)
    other = np.arange(15).reshape(5, 3)
    assert (ops.csr_matmul(crow, col, values, opweave.from_numpy(other)).numpy() == dense @ other).all()
    assert (ops.csr_matvec(crow, col, values, opweave.from_numpy(other[:, 0])).numpy() == dense @ other[:, 0]).all()
    batch = np.stack([other, -other])
    result = ops.csr_matmul(*(each.expand(2, -1) for each in (crow, col, values)), opweave.from_numpy(batch))
    assert (result.numpy() == dense @ batch).all()
    rows = opweave.from_numpy(np.nonzero(dense)[0])
    left = np.arange(12).reshape(6, 2)
    found = ops.sampled_product(rows, col, opweave.from_numpy(left), opweave.from_numpy(other[:, :2]))
    assert (found.numpy() == (left @ other[:, :2].T)[np.nonzero(dense)]).all()
    starts, places = opweave.tensor([0, 2, 2, 3]), opweave.tensor([4, 0, 1])
    assert ops.segment_sum(starts, places, opweave.from_numpy(other)).tolist() == [[12, 14, 16], [0, 0, 0], [3, 4, 5]]


def test_rows_of_tensors_without_rows() -> None:
    """A line of a row that is not there may be longer than the memory that any tensor without elements has."""
    one = opweave.tensor([0])
    for width in (3, 1 << 22):
        with pytest.raises(IndexError, match=r"csr_matmul\(\): an index is out of range"):
            ops.csr_matmul(opweave.tensor([0, 1]), one, opweave.ones(1), opweave.ones(0, width))


@pytest.fixture
def each_number_of_threads() -> Any:
    threads = opweave.get_num_threads()
    yield (1, 4)
    opweave.set_num_threads(threads)


def listed(result: Any) -> list[Any]:
    return [each.tolist() for each in (result if isinstance(result, tuple) else (result,))]


@pytest.mark.parametrize(("n", "count"), [(0, 0), (0, 5), (1, 1), (7, 3), (40_000, 50), (40_000, 30_000), (9, 10_000)])
@pytest.mark.parametrize("dtype", ["int32", "int64"])
def test_places(n: int, count: int, dtype: str, each_number_of_threads: Any) -> None:
    random = np.random.default_rng(n + count)
    columns = random.integers(0, count, n) if n else np.zeros(0, np.int64)
    rows = np.sort(columns)
    starts = np.r_[0, np.cumsum(np.bincount(rows, minlength=count))].astype(np.int64)
    order = np.argsort(columns, kind="stable")
    column, row, start = (opweave.from_numpy(each.astype(dtype)) for each in (columns, rows, starts))
    apart = opweave.stack([column, column], 1)[:, 0]
    both = opweave.stack([row, column])
    for number in each_number_of_threads:
        opweave.set_num_threads(number)
        assert listed(ops.csr_starts(row, count)) == [starts.tolist()]
        assert listed(ops.csr_rows(start, n)) == [rows.tolist()]
        for given in (column, apart):
            assert listed(ops.csr_order(given, count)) == [starts.tolist(), order.tolist()]
        for given in (both, both.t().contiguous().t()):
            assert listed(ops.coo_places(given, [count, count])) == [(rows * count + columns).tolist()]


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        ("csr_starts([0, 2], 2)", IndexError, "sparse index 2 is out of bounds for dimension 0 with size 2"),
        ("csr_starts([-1, 1], 2)", IndexError, "sparse index -1 is out of bounds for dimension 0 with size 2"),
        ("csr_starts([0], 0)", IndexError, "sparse index 0 is out of bounds for dimension 0 with size 0"),
        ("csr_starts([1, 0], 2)", RuntimeError, "must ascend, but row 0 follows row 1"),
        ("csr_starts([0], -1)", RuntimeError, "cannot have -1 rows"),
        ("csr_starts([0], 2 ** 62)", RuntimeError, "cannot have 4611686018427387904 rows"),
        ("csr_starts([[0]], 1)", RuntimeError, "int64 or int32 with 1 dimensions"),
        ("csr_rows([0, 1, 3], 2)", IndexError, "begin with 0, end with 3, and the smallest step is 1"),
        ("csr_rows([1, 1, 2], 2)", IndexError, "begin with 1, end with 2, and the smallest step is 0"),
        ("csr_rows([0, 3, 2], 2)", IndexError, "begin with 0, end with 2, and the smallest step is -1"),
        ("csr_rows([0, 2 ** 62, 2], 2)", IndexError, "the starts of 2 rows must count up from 0 to 2"),
        ("csr_rows([1], 0)", IndexError, "begin with 1, end with 1"),
        ("csr_rows([], 0)", RuntimeError, "expected the starts of rows"),
        ("csr_order([0, 2, 1], 2)", IndexError, "sparse index 2 is out of bounds for dimension 1 with size 2"),
        ("csr_order([-1], 2)", IndexError, "sparse index -1 is out of bounds for dimension 1 with size 2"),
        ("coo_places([[0], [2]], [1, 2])", IndexError, "sparse index 2 is out of bounds for dimension 1 with size 2"),
        ("coo_places([[0], [-2 ** 63]], [1, 2])", IndexError, "sparse index -9223372036854775808 is out of bounds"),
        ("coo_places([[0], [0]], [1])", RuntimeError, "as many sizes as there are rows"),
        ("coo_places([0], [1])", RuntimeError, "int64 or int32 with 2 dimensions"),
    ],
)
def test_places_are_checked(call: str, error: type[Exception], text: str) -> None:
    name, given = call.split("(", 1)
    indices, *rest = eval(f"({given}")
    with pytest.raises(error, match=re.escape(text)):
        getattr(ops, name)(opweave.tensor(indices, dtype=opweave.int64), *rest)


def test_places_on_meta() -> None:
    indices = opweave.empty(2, 5, dtype=opweave.int64, device="meta")
    found = [ops.csr_starts(indices[0], 3), ops.csr_rows(indices[0], 6), *ops.csr_order(indices[0], 2)]
    assert [tuple(each.shape) for each in found] == [(4,), (6,), (3,), (5,)]
    assert tuple(ops.coo_places(indices, [2, 3]).shape) == (5,)


def vector_product(starts: list[int], columns: list[int], values: Any, vector: Any) -> Any:
    return ops.csr_matvec(opweave.tensor(starts), opweave.tensor(columns), values, vector)


@pytest.mark.parametrize("dtype", [opweave.float32, opweave.float64, opweave.float16, opweave.int64])
@pytest.mark.parametrize("rows", [1, 63, 64, 65, 200])
def test_products_with_vectors(rows: int, dtype: Any) -> None:
    """Rows of all lengths, in parts of which the columns are tested at once."""
    dense = matrix(7, rows, 40, 0.2)
    dense[rows // 2] = 1
    dense[rows // 3] = 0
    crow, col, values = compressed(dense)
    vector = np.arange(40) % 5 - 2
    found = ops.csr_matvec(crow, col, values.to(dtype), opweave.tensor(vector).to(dtype))
    assert found.tolist() == (dense @ vector).tolist()
    twice = [opweave.stack([each, each]) for each in (crow, col, values.to(dtype))]
    both = ops.csr_matvec(*twice, opweave.tensor(np.stack([vector, -vector])).to(dtype))
    assert both.tolist() == [(dense @ vector).tolist(), (dense @ -vector).tolist()]


@pytest.mark.parametrize("place", [0, 1, 190, 191, 192, 193, 398, 399])
@pytest.mark.parametrize("column", [-1, 9, -(2**63), 2**63 - 1])
def test_columns_of_vectors_are_checked(place: int, column: int) -> None:
    starts, columns = list(range(0, 401, 2)), [each % 9 for each in range(400)]
    columns[place] = column
    with pytest.raises(IndexError, match=r"csr_matvec\(\): an index is out of range"):
        vector_product(starts, columns, opweave.ones(400), opweave.ones(9))


@pytest.mark.parametrize("bounds", [(-1, 2), (0, 5), (2**62, 2**62), (-(2**63), 2**63 - 1), (2**63 - 2, 2**63 - 1)])
def test_rows_of_vectors_are_checked(bounds: tuple[int, int]) -> None:
    for before in (0, 1, 64):
        with pytest.raises(IndexError, match=r"csr_matvec\(\): an index is out of range"):
            vector_product([0] * before + list(bounds), [0, 1, 2, 0], opweave.ones(4), opweave.ones(3))


def test_columns_of_no_row_mean_nothing() -> None:
    """What lies before, behind or between rows is no element, whatever it is; rows may lie in any order."""
    columns, values, vector = [99, 1, 2, -7, 0, 50], opweave.tensor([7.0, 1, 2, 7, 3, 7]), opweave.tensor([1.0, 2, 4])
    assert vector_product([1, 3], columns, values, vector).tolist() == [10]
    assert vector_product([4, 5, 1, 3], columns, values, vector).tolist() == [3, 0, 10]
    far = opweave.zeros(100_000, dtype=opweave.int64)
    far[500], far[99_990] = 7, 1
    found = ops.csr_matvec(
        opweave.tensor([[0, 2], [99_989, 99_991]]), *(far.expand(2, -1), opweave.ones(2, 100_000)), vector
    )
    assert found.tolist() == [[2], [3]]


def test_products_with_vectors_do_not_depend_on_threads(each_number_of_threads: Any) -> None:
    random = np.random.default_rng(8)
    crow, col, values = compressed(matrix(8, 3000, 50))
    values = values * opweave.rand(len(values))
    vector, found = opweave.from_numpy(random.standard_normal(50)), []
    for number in each_number_of_threads:
        opweave.set_num_threads(number)
        found.append(ops.csr_matvec(crow, col, values, vector).tolist())
    assert found[0] == found[1]
