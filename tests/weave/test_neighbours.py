"""The operators of examples/neighbours.yaml compute what they say, also their gradients."""

from __future__ import annotations

from pathlib import Path

import pytest
from folders import shared_folder, written
from scripts import OWN_LEVEL, script
from weaving import RAISES, entries, weave_unoptimized

pytest.importorskip("opweave")

from opweave._weave.weave import Woven

EXAMPLES = Path(__file__).parents[2] / "examples" / "neighbours.yaml"
HEAD = """
import numpy as np
import opweave as ow
import neighbours as ops

rng = np.random.default_rng(5)

def near(got, want, rtol=1e-12):
    np.testing.assert_allclose(got.detach().numpy() if hasattr(got, "detach") else got, want, rtol=rtol, atol=rtol)

check = ow.autograd.gradcheck
check_again = ow.autograd.gradgradcheck
"""


@pytest.fixture(scope="module")
def woven(tmp_path_factory: pytest.TempPathFactory) -> Woven:
    return weave_unoptimized(EXAMPLES, out=shared_folder(tmp_path_factory, "neighbours"))


@pytest.fixture(scope="module")
def products(tmp_path_factory: pytest.TempPathFactory) -> Woven:
    folder = shared_folder(tmp_path_factory, "products")
    return weave_unoptimized(
        written(folder / EXAMPLES.name, entries(EXAMPLES.read_text(), "correlate")), out=folder, all_levels=True
    )


def run(woven: Woven, code: str, **environment: str) -> None:
    script(HEAD + RAISES + code, cwd=woven.folder.parent, **environment)


def test_sides_that_are_joined(woven: Woven) -> None:
    run(
        woven,
        """
for shape in ((3, 3), (37, 53), (5, 200), (0, 4)):
    board = (rng.random(shape) < 0.4).astype("int32")
    around = sum(np.roll(board, (-i, -j), (0, 1)) for i in (-1, 0, 1) for j in (-1, 0, 1)) - board
    got = ops.life(ow.from_numpy(board))
    assert got.dtype == ow.bool and (got.numpy() == ((around == 3) | ((board == 1) & (around == 2)))).all()
""",
    )


def test_borders_that_are_mirrored(woven: Woven) -> None:
    run(
        woven,
        """
from scipy.ndimage import uniform_filter
for shape, radius in (((9, 40), (1, 2)), ((6, 7), (5, 3)), ((100, 3), (0, 1))):
    image = rng.random(shape)
    near(ops.blur(ow.from_numpy(image), radius), uniform_filter(image, [2 * r + 1 for r in radius], mode="mirror"))
image = rng.random((2, 3, 8, 9))
near(ops.blur(ow.from_numpy(image), 1)[1, 2], uniform_filter(image[1, 2], 3, mode="mirror"))
near(ops.blur(ow.from_numpy(image).transpose(2, 3), 1)[1, 2], uniform_filter(image[1, 2].T, 3, mode="mirror"))
""",
    )


@pytest.mark.parametrize("level", ["x86-64", "x86-64-v3", "x86-64-v4"])
def test_products_and_their_gradients(products: Woven, level: str) -> None:
    run(
        products,
        OWN_LEVEL
        + """
from opweave._C import lib
for length, width in ((1, 1), (3, 5), (7, 2), (40, 3), (70, 9)):
    signal, weight = rng.standard_normal((2, length)), rng.standard_normal(width)
    padded = np.pad(signal, ((0, 0), (width // 2, width)))
    want = sum(padded[:, j : j + length] * weight[j] for j in range(width))
    near(ops.correlate(ow.from_numpy(signal), ow.from_numpy(weight)), want, 1e-11)
    leaves = [ow.from_numpy(each).requires_grad_() for each in (signal[:, :9], weight)]
    assert check(ops.correlate, leaves) and check_again(ops.correlate, leaves)
""",
        OPWEAVE_ISA=level,
    )


def test_results_do_not_depend_on_threads(woven: Woven) -> None:
    run(
        woven,
        """
signal = ow.from_numpy(rng.standard_normal((300, 1000)).astype("float32")).requires_grad_()
weight = ow.from_numpy(rng.standard_normal(7).astype("float32")).requires_grad_()
found = []
for threads in (1, 2, 3):
    ow.set_num_threads(threads)
    result = ops.correlate(signal, weight)
    found.append([result.detach(), *ow.autograd.grad(result.sin().sum(), [signal, weight])])
assert all((a == b).all() for other in found[1:] for a, b in zip(found[0][:2], other[:2]))
""",
    )


def test_places_that_are_data(woven: Woven) -> None:
    run(
        woven,
        """
from scipy.ndimage import map_coordinates
image, places = rng.random((9, 11)), rng.uniform(-2, 12, (6, 7, 2))
want = map_coordinates(image, places.reshape(-1, 2).T, order=1, mode="nearest").reshape(6, 7)
leaf = ow.from_numpy(places).requires_grad_()
near(ops.sample_bilinear(ow.from_numpy(image), leaf), want)
assert check(lambda p: ops.sample_bilinear(ow.from_numpy(image), p), leaf)
table, index = rng.random((5, 3)), np.array([4, 0, 4, 2])
near(ops.lookup(ow.from_numpy(table), ow.from_numpy(index)), table[index])
near(ops.lookup(ow.from_numpy(table), ow.from_numpy(index.astype("int16"))), table[index])
raises(IndexError, "lookup(): an index is out of range", ops.lookup, ow.ones(5, 3), ow.tensor([5]))
raises(IndexError, "out of range", ops.lookup, ow.ones(5, 3), ow.tensor([-1]))
rows, columns, square = np.array([0, 2, 3]), np.array([1, 2]), rng.random((5, 5))
got = ops.squares_from(*map(ow.from_numpy, (square, rows, columns)))
near(got, square[np.ix_((rows - 1) ** 2, (columns - 1) ** 2)])
raises(RuntimeError, "is read as int64, which does not hold float32", ops.lookup, ow.ones(5, 3), ow.tensor([1.0]))
""",
    )


def test_pairs_and_positions(woven: Woven) -> None:
    run(
        woven,
        """
places = rng.uniform(0, 4, (20, 3))
apart = places[:, None] - places[None]
square = (apart**2).sum(-1) + np.eye(20)
want = ((24 * (2 * square**-7 - square**-4) * (1 - np.eye(20)))[:, :, None] * apart).sum(1)
near(ops.forces(ow.from_numpy(places)), want, 1e-9)
x = rng.integers(0, 9, (3, 30)).astype("float64")
x[1, 4] = np.nan
windows = np.lib.stride_tricks.sliding_window_view(x, 4, -1)
values, positions = ops.widest(ow.from_numpy(x), 4)
near(values, windows.max(-1))
assert (positions.numpy() == np.argmax(windows, -1)).all() and positions.dtype == ow.int64
near(ops.triangle_sums(ow.from_numpy(x[:, :3] * 0 + 2)), np.full((3,), 0) + np.array([2, 4, 6]))
""",
    )


def test_several_positions_of_one_element(woven: Woven) -> None:
    run(
        woven,
        """
x = ow.from_numpy(rng.random((2, 5))).requires_grad_()
near(ops.upsample(x, 3), np.repeat(x.detach().numpy(), 3, -1))
assert check(lambda a: ops.upsample(a, 3), x) and check_again(lambda a: ops.upsample(a, 3), x)
near(ops.upsample(x.detach().bfloat16(), 2).float(), np.repeat(x.detach().bfloat16().float().numpy(), 2, -1))
""",
    )


def test_sizes_that_do_not_fit(woven: Woven) -> None:
    run(
        woven,
        """
raises(RuntimeError, "self must have 2 dimensions, but has shape [3]", ops.life, ow.ones(3, dtype=ow.int32))
raises(RuntimeError, "places must have 3 dimensions", ops.sample_bilinear, ow.ones(2, 2), ow.ones(2, 2))
raises(RuntimeError, "places must have size 2 in dimension -1, but has shape [2, 2, 1]",
       ops.sample_bilinear, ow.ones(2, 2), ow.ones(2, 2, 1))
raises(RuntimeError, "would be -2", ops.widest, ow.ones(3), 6)
raises(RuntimeError, "overflow", ops.upsample, ow.ones(3), 2**62)
raises(RuntimeError, "upsample(): an index is divided by 0, which is not positive", ops.upsample, ow.ones(3), 0)
raises(RuntimeError, "divided by -1", ops.upsample, ow.ones(0), -1)
raises(RuntimeError, "radius must be one integer or 2, but got 3", ops.blur, ow.ones(3, 3), (1, 2, 3))
raises(NotImplementedError, "not implemented for 'Long'", ops.blur, ow.ones(3, 3, dtype=ow.int64), 1)
assert ops.widest(ow.ones(3), 4).values.shape == (0,)
x = ow.zeros(2, 3, 10**6, device="meta")
assert ops.correlate(x, ow.zeros(5, device="meta")).shape == x.shape
out = ow.empty(0)
assert ops.correlate(ow.ones(4), ow.ones(3), out=out) is out and out.tolist() == [2, 3, 3, 2]
""",
    )


def test_gradients_are_added_where_indices_lead(woven: Woven) -> None:
    run(
        woven,
        """
def recorded(*shape):
    return ow.from_numpy(rng.standard_normal(shape)).requires_grad_()

table, index = recorded(5, 3), ow.tensor([4, 0, 4, 4])
ops.lookup(table, index).backward(ow.ones(4, 3, dtype=ow.float64) * 2)
assert table.grad.tolist() == [[2.0] * 3, [0.0] * 3, [0.0] * 3, [0.0] * 3, [6.0] * 3]
rows = ow.from_numpy(rng.integers(-1, 6, (2, 4, 3)))
places = ow.from_numpy(rng.uniform(-2, 7, (4, 3, 2))).requires_grad_()
for function, tensors in (
    (lambda t: ops.lookup(t, index), (recorded(5, 3),)),
    (ops.sample_bilinear, (recorded(5, 6), places)),
    (lambda t, w: ops.bag(t, rows, w), (recorded(5, 2), recorded(2, 4, 3))),
    (lambda t, w: ops.bag(t, rows, w), (recorded(5, 2), recorded(4, 3))),
    (lambda t: ops.blur(t, (1, 2)), (recorded(4, 5),)),
    (lambda t: ops.spread(t, 2), (recorded(9),)),
):
    assert check(function, tensors), function
    assert check_again(function, tensors), tensors[0].shape
""",
    )


def test_gradients_go_to_the_first_of_equal_values(woven: Woven) -> None:
    run(
        woven,
        """
x = ow.tensor([1.0, 3.0, 3.0, 2.0, 5.0], requires_grad=True)
ops.spread(x, 1).backward(ow.tensor([1.0, 10.0, 100.0, 1000.0, 10000.0]))
assert x.grad.tolist() == [-11.0, 111.0, 0.0, -11100.0, 11000.0]
ops.widest(x, 2).values.sum().backward()
assert x.grad.tolist() == [-11.0, 113.0, 1.0, -11100.0, 11001.0]
""",
    )


def test_ranges_whose_bounds_are_data(woven: Woven) -> None:
    run(
        woven,
        """
dense = np.where(rng.random((7, 9)) < 0.4, rng.standard_normal((7, 9)), 0)
dense[3] = 0
places = np.nonzero(dense)
starts, columns, values = np.r_[0, np.cumsum(np.bincount(places[0], minlength=7))], places[1], dense[places]
for width in (1, 3, 20, 70):
    other = rng.standard_normal((9, width))
    given = [ow.from_numpy(each) for each in (starts, columns, values, other)]
    near(ops.compressed_product(*given), dense @ other)
    near(ops.compressed_product(given[0].to(ow.int32), *given[1:]), dense @ other)
two = [ow.tensor(each) for each in ([0, 1, 2], [0, 1], [2, 3], [[4], [5]])]
assert ops.compressed_product(*two).tolist() == [[8], [15]]
assert ops.compressed_product(ow.tensor([0]), *two[1:]).shape == (0, 1)

# A range that would leave a tensor is left out, and an error.
for wrong in ([0, 3], [-1, 2], [0, 2**62], [-(2**62), 2**62]):
    given = (ow.tensor(wrong), *two[1:])
    raises(IndexError, "compressed_product(): an index is out of range", ops.compressed_product, *given)
for columns, rows in ([0, 2], 2), ([0, -1], 2), ([0, 0], 0):
    raises(IndexError, "out of range", ops.compressed_product, two[0], ow.tensor(columns), two[2], ow.ones(rows, 3))
assert ops.compressed_product(ow.tensor([2, 1, -5, -7]), *two[1:]).tolist() == [[0]] * 3

signal = ow.tensor([0.0, 1.0, 4.0, 2.0, 2.5])
assert ops.widest_step(ow.tensor([0, 1, 3]), ow.tensor([2, 9, 4]), signal).tolist() == [3.0, 3.0, 0.5]
raises(IndexError, "out of range", ops.widest_step, ow.tensor([-1]), ow.tensor([2]), signal)
""",
    )


def test_lanes_along_a_range(woven: Woven) -> None:
    run(
        woven,
        """
for length in (1, 7, 8, 9, 40):
    left, right = rng.standard_normal((5, length)), rng.standard_normal((6, length))
    rows, columns = rng.integers(0, 5, 11), rng.integers(0, 6, 11)
    given = [ow.from_numpy(each) for each in (rows, columns, left, right)]
    near(ops.dots(*given), (left[rows] * right[columns]).sum(1))
    whole = [(each * 8).to(ow.int8) for each in given[2:]]
    expected = whole[0].numpy()[rows] * whole[1].numpy()[columns]
    assert ops.dots(*given[:2], *whole).tolist() == expected.sum(1, "int8").tolist()
    assert ow.autograd.gradcheck(lambda a, b: ops.dots(*given[:2], a, b), [each.requires_grad_() for each in given[2:]])
assert ops.dots(ow.tensor([0]), ow.tensor([1]), ow.ones(1, 0), ow.ones(2, 0)).tolist() == [0.0]
raises(IndexError, "out of range", ops.dots, ow.tensor([0]), ow.tensor([2]), ow.ones(1, 3), ow.ones(2, 3))
""",
    )


def test_products_of_many_and_of_neighbours(woven: Woven) -> None:
    run(
        woven,
        """
x = ow.tensor([[1.0, 2, 3, 4], [2, 0, 0, 5]], dtype=ow.float64, requires_grad=True)
assert ops.window_products(x, 3).tolist() == [[6, 24], [0, 0]]
ops.window_products(x, 2).sum().backward()
assert x.grad.tolist() == [[2, 4, 6, 3], [0, 2, 5, 0]]
near(ops.vandermonde(x), [12, 0])
near(ops.vandermonde(x)[0], np.linalg.det(np.vander([1.0, 2, 3, 4], increasing=True)))
assert ops.steps_between(x).tolist() == [[2, 6, 12], [0, 0, 0]]
for function in (lambda x: ops.window_products(x, 3), ops.vandermonde, ops.steps_between):
    assert check(function, x) and check_again(function, x)
""",
    )


def test_tables(woven: Woven) -> None:
    run(
        woven,
        """
steps = [(0, 0), (0, 1), (1, 0), (0, -1), (-1, 0), (1, 1), (1, -1), (-1, -1), (-1, 1)]
for shape in ((5, 7), (40, 70), (1, 1), (0, 3)):
    populations = rng.random((*shape, 9))
    want = np.stack([np.roll(populations[..., q], step, (0, 1)) for q, step in enumerate(steps)], -1)
    assert (ops.streamed(ow.from_numpy(populations)).numpy() == want).all()
image = rng.random((6, 45))
padded = np.pad(image, 1)
cross = [padded[1 + y : 7 + y, 1 + x : 46 + x] for y, x in steps[:5]]
near(ops.stencil(ow.from_numpy(image), 0), sum(cross[1:]) - 4 * cross[0])
near(ops.stencil(ow.from_numpy(image).half(), 1).double(), sum(cross[1:]) / 6 + cross[0] / 3, 2e-3)
for kind in (2, -1):
    raises(IndexError, f"index 0 of 'weight' runs from {kind} to {kind}, but", ops.stencil, ow.ones(2, 2), kind)
got = ops.bits_set(ow.tensor([5, 15, 0]))
assert got.dtype == ow.int64 and got.tolist() == [2, 4, 0]
raises(IndexError, "bits_set(): an index is out of range", ops.bits_set, ow.tensor([3, 16]))
leaves = ow.rand(2, 3, 9, dtype=ow.float64).requires_grad_(), ow.rand(2, 3, dtype=ow.float64).requires_grad_()
for function, leaf in ((ops.streamed, leaves[0]), (lambda x: ops.stencil(x, 1), leaves[1])):
    assert check(function, leaf) and check_again(function, leaf)
""",
    )


def test_random_numbers_belong_to_a_key_and_positions(woven: Woven) -> None:
    run(
        woven,
        """
def mixed(word, position):
    word = (word + position * 0x9E3779B97F4A7C15) % 2**64
    for count, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        word = (word ^ word >> count) * factor % 2**64
    return word ^ word >> 31

ones = ow.ones(50, dtype=ow.float64)
want = [0 if (mixed(12345, n) >> 40) / 2**24 < 0.25 else 4 / 3 for n in range(50)]
near(ops.dropped_by(ones, 12345, 0.25), want)
def normal(key, *positions):
    for each in positions:
        key = mixed(key, each)
    u, v = ((mixed(key, each) >> 40) for each in (1, 2))
    return np.sqrt(-2 * np.log((u + 0.5) / 2**24)) * np.cos(2 * np.pi * v / 2**24)
want = [[np.exp(0.5 * (normal(7, y, x) + normal(7, y, x + 1))) for x in range(5)] for y in range(3)]
near(ops.jittered(ow.ones(3, 5, dtype=ow.float64), 7, 0.5), want)

many = ow.ones(200, 500)
ow.manual_seed(3)
first, second = ops.dropped(many), ops.dropped(many)
ow.manual_seed(3)
ow.set_num_threads(3)
assert ops.dropped(many).equal(first) and not first.equal(second)
assert ops.dropped(many, generator=ow.Generator().manual_seed(3)).equal(first)
assert set(first.unique().tolist()) == {0.0, 2.0} and abs(first.mean().item() - 1) < 0.01
logarithms = ops.jittered(many, 1).log() / 2**0.5
assert abs(logarithms.mean().item()) < 0.02 and abs(logarithms.std().item() - 1) < 0.02

x = ow.from_numpy(rng.uniform(0.5, 1, (3, 4))).requires_grad_()
assert check(lambda x: ops.jittered(x, 9, 0.3), x) and check_again(lambda x: ops.jittered(x, 9, 0.3), x)
ow.manual_seed(5)
(y := ops.dropped(x)).sum().backward()
near(x.grad * x.detach(), y.detach())
""",
    )
