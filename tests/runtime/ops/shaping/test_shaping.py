"""Joins, repetition, sorting and einsum without torch: misuse, and properties that hold for every shape."""

from __future__ import annotations

import numpy as np
import opweave
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

SHAPES = arrays.array_shapes(min_dims=1, max_dims=4, min_side=0, max_side=5)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda x: opweave.cat([]), ValueError, "non-empty list"),
        (lambda x: opweave.cat([x, x[:, :2]]), RuntimeError, "Expected size 3 but got size 2 for tensor number 1"),
        (lambda x: opweave.cat([x, x], 2), IndexError, "range of \\[-2, 1\\], but got 2"),
        (lambda x: opweave.cat([x, x], "0"), TypeError, "must be int"),
        (lambda x: opweave.cat([x, x], out=opweave.zeros(2, dtype=opweave.int64)), RuntimeError, "can't be cast"),
        (lambda x: opweave.stack([x, x[0]]), RuntimeError, "got \\[2, 3\\] at entry 0 and \\[3\\] at entry 1"),
        (lambda x: x.repeat(2**62, 4), RuntimeError, "overflow"),
        (lambda x: x.repeat(-1, 1), RuntimeError, "negative dimension"),
        (lambda x: x.topk(4), RuntimeError, "out of range"),
        (lambda x: x.sort(2), IndexError, "out of range"),
        (lambda x: opweave.sort(x, out=x), TypeError, "tuple of Tensors"),
        (lambda x: opweave.sort([1]), TypeError, "must be Tensor"),
        (lambda x: opweave.bincount(x), NotImplementedError, "Float"),
        (lambda x: opweave.einsum("ij,jk", x, x), RuntimeError, "does not broadcast"),
    ],
)
def test_misuse(call, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        call(opweave.ones(2, 3))


@given(st.data())
def test_cat_is_numpys(data: st.DataObject) -> None:
    shape = data.draw(SHAPES)
    dim = data.draw(st.integers(-len(shape), len(shape) - 1))
    values = np.arange(np.prod(shape), dtype=np.int32).reshape(shape)
    # One operand is shorter along the dimension, the other runs through memory in another order.
    parts = [values, np.ascontiguousarray(values.T).T, values.take(range(shape[dim] // 2), dim)]
    joined = opweave.cat([opweave.from_numpy(part) for part in parts], dim)
    assert np.array_equal(joined.numpy(), np.concatenate(parts, dim))
    stacked = opweave.stack([opweave.from_numpy(part) for part in parts[:2]], dim)
    assert np.array_equal(stacked.numpy(), np.stack(parts[:2], dim))


@given(
    arrays.arrays(
        st.sampled_from((np.bool_, np.uint8, np.int8, np.int16, np.int64, np.float16, np.float32, np.float64)), SHAPES
    ),
    st.data(),
)
def test_sort_is_stable_and_complete(values: np.ndarray, data: st.DataObject) -> None:
    dim = data.draw(st.integers(-values.ndim, values.ndim - 1))
    result = opweave.from_numpy(values).sort(dim, stable=True)
    want = np.argsort(values, dim, kind="stable")
    assert np.array_equal(result.indices.numpy(), want)
    assert np.array_equal(
        result.values.numpy(), np.take_along_axis(values, want, dim), equal_nan=values.dtype.kind == "f"
    )


@pytest.mark.parametrize("count", [47, 48, 49, 255, 257, 3000])
@pytest.mark.parametrize("dtype", ["uint8", "int16", "float32", "float64"])
def test_top_of_many_equal_values(count: int, dtype: str) -> None:
    """Of equal values the first ones, whatever the way they are found."""
    values = np.random.default_rng(count).integers(0, 40, count).astype(dtype)
    for k in {0, 1, count // 5, count}:
        result = opweave.from_numpy(values).topk(k, largest=False)
        assert np.array_equal(result.indices.numpy(), np.argsort(values, kind="stable")[:k])


@given(SHAPES, st.data())
def test_flip_roll_and_repeat_are_numpys(shape: tuple[int, ...], data: st.DataObject) -> None:
    values = np.arange(np.prod(shape)).reshape(shape)
    tensor = opweave.from_numpy(values)
    dims = data.draw(st.lists(st.integers(0, len(shape) - 1), unique=True))
    assert np.array_equal(tensor.flip(dims).numpy(), np.flip(values, dims))
    shifts = data.draw(st.lists(st.integers(-7, 7), min_size=len(dims), max_size=len(dims)))
    if dims:
        assert np.array_equal(tensor.roll(shifts, dims).numpy(), np.roll(values, shifts, dims))
    repeats = data.draw(st.lists(st.integers(0, 3), min_size=len(shape), max_size=len(shape) + 1))
    assert np.array_equal(tensor.repeat(repeats).numpy(), np.tile(values, repeats))


@pytest.mark.parametrize(
    "subscripts",
    ["ijk,k->ij", "ijk,j->ik", "ijk,i->jk", "ijk,jk->i", "ijk,ij->k", "ijk,kl->ijl", "ijk,il->jkl", "ijk,lkj->il",
     "ijk,ijk->", "kji,ijk->jk", "ijk,k", "i...,i...->...", "...jk,k->...j"],
)  # fmt: skip
def test_einsum_is_numpys(subscripts: str) -> None:
    sizes = dict(zip("ijkl", (3, 4, 5, 2), strict=True))
    generator = np.random.default_rng(0)
    operands = []
    for text in subscripts.split("->")[0].split(","):
        shape = [sizes[letter] for letter in text.replace("...", "jk" if "i" in text else "i")]
        operands.append(generator.random(shape))
    tensors = [opweave.from_numpy(operand) for operand in operands]
    want = np.einsum(subscripts, *operands)
    assert np.allclose(opweave.einsum(subscripts, *tensors).numpy(), want)
    reordered = [opweave.from_numpy(np.asfortranarray(operand)) for operand in operands]
    assert np.allclose(opweave.einsum(subscripts, *reordered).numpy(), want)


def test_circular_margins_repeat_what_negative_ones_leave() -> None:
    x = opweave.arange(5.0).reshape(1, 5)
    for margins, want in (((-1, 2), [1, 2, 3, 4, 1, 2]), ((2, -1), [2, 3, 0, 1, 2, 3]), ((-3, 3), [3, 4, 3, 4, 3])):
        assert opweave.nn.functional.pad(x, margins, mode="circular").tolist() == [want]


def test_dimensions_are_counted_before_memory_is_touched() -> None:
    """NumPy has 64 dimensions as well; torch has more of them, with which it does little."""
    most, too_many = [1] * 64, [1] * 65
    x = opweave.ones(most)
    assert (x + 1).sum(0).ndim == 63
    assert x.numpy().ndim == 64
    for call in (
        lambda: opweave.ones(too_many),
        lambda: opweave.rand(too_many),
        lambda: opweave.ones(1).view(too_many),
        lambda: opweave.ones(1).expand(too_many),
        lambda: opweave.ones(1).as_strided(too_many, too_many),
        lambda: opweave.ones(1).repeat(too_many),
        lambda: opweave.ones(1).resize_(too_many),
        lambda: opweave.ones(1)[(None,) * 64],
        lambda: x.unsqueeze(0),
        lambda: opweave.stack([x]),
        lambda: x.unfold(0, 1, 1),
        lambda: opweave.diag_embed(x),
        lambda: opweave.tensordot(opweave.ones([1] * 40), opweave.ones([1] * 40), 0),
        lambda: opweave.view_as_real(opweave.ones(most, dtype=opweave.complex64)),
    ):
        with pytest.raises(RuntimeError, match="64"):
            call()
    nested: object = 1.0
    for _ in range(65):
        nested = [nested]
    with pytest.raises(ValueError, match="too many dimensions 'list'"):
        opweave.tensor(nested)


@pytest.mark.parametrize("dims", [([0, 0], [0, 1]), ([0, 1], [0, 0]), ([0, -2], [0, 1]), ([1, 1], [1, 1])])
def test_a_contraction_names_each_dimension_once(dims: tuple[list[int], list[int]]) -> None:
    x = opweave.ones(2, 2)
    for contract in (opweave.tensordot, opweave.linalg.tensordot):
        with pytest.raises(RuntimeError, match="appears multiple times in the list of dims"):
            contract(x, x, dims)


def test_kronecker_products_of_many_dimensions() -> None:
    x, y = opweave.tensor([1, 2]), opweave.tensor([3, 4, 5])
    many = opweave.kron(x.reshape([1] * 63 + [2]), y.reshape([3] + [1] * 39))
    assert many.shape == (1,) * 24 + (3,) + (1,) * 38 + (2,)
    assert many.flatten().tolist() == [3, 6, 4, 8, 5, 10]
    assert opweave.kron(x.reshape([1] * 63 + [2]), y).flatten().tolist() == [3, 4, 5, 6, 8, 10]


def test_margins_of_numbers_beyond_64_bits() -> None:
    pad = opweave.nn.functional.pad
    assert pad(opweave.ones(1), (1, 0), value=2**64).tolist() == [2.0**64, 1.0]
    assert pad(opweave.ones(1, dtype=opweave.int64), (1, 0), value=2**63 - 1).tolist() == [2**63 - 1, 1]
    with pytest.raises(RuntimeError, match="value cannot be converted to type int64_t without overflow"):
        pad(opweave.ones(1, dtype=opweave.int64), (1, 0), value=2**64)


def test_einsum_of_one_operand_sums_integers_in_int64() -> None:
    numbers = opweave.tensor([[200, 100], [3, 4]], dtype=opweave.uint8)
    assert opweave.einsum("ij->i", numbers).tolist() == [300, 7]
    assert opweave.einsum("ii", numbers).dtype is opweave.einsum("ij->", numbers > 3).dtype is opweave.int64
    assert opweave.einsum("ij->ji", numbers).dtype is opweave.uint8
    assert opweave.einsum("ij,jk->ik", numbers, numbers).dtype is opweave.uint8


def test_results_of_another_dtype_than_out() -> None:
    out = (opweave.empty(0, dtype=opweave.float64), opweave.empty(0, dtype=opweave.float64))
    with pytest.raises(RuntimeError, match="Expected out tensor to have dtype float, but got double instead"):
        opweave.aminmax(opweave.ones(3), out=out)


def test_ways_to_compute_distances() -> None:
    x, y = opweave.arange(6.0).view(3, 2), opweave.ones(2, 2)
    ways = ("use_mm_for_euclid_dist", "donot_use_mm_for_euclid_dist", "use_mm_for_euclid_dist_if_necessary")
    for way in ways:
        assert opweave.allclose(opweave.cdist(x, y, compute_mode=way), opweave.cdist(x, y))
    for wrong in ("mm", 1, None):
        with pytest.raises(ValueError, match=f"{wrong} is not a valid value for compute_mode"):
            opweave.cdist(x, y, compute_mode=wrong)
