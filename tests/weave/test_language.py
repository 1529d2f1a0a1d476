"""The operators of examples/language.yaml compute what they say, also their gradients."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from folders import shared_folder
from scripts import OWN_LEVEL, script
from weaving import weave_unoptimized

pytest.importorskip("opweave")

from opweave._weave.weave import WeaveError, Woven, read, weave

EXAMPLES = Path(__file__).parents[2] / "examples" / "language.yaml"
HEAD = """
import numpy as np
import opweave as ow
import language as ops

rng = np.random.default_rng(5)

def near(got, want, rtol=1e-12):
    np.testing.assert_allclose(got.detach().numpy() if hasattr(got, "detach") else got, want, rtol=rtol, atol=rtol)

def leaf(*shape, low=0.1, high=2.0):
    return ow.from_numpy(rng.uniform(low, high, shape)).requires_grad_()

check = ow.autograd.gradcheck
check_again = ow.autograd.gradgradcheck
"""


@pytest.fixture(scope="module")
def woven(tmp_path_factory: pytest.TempPathFactory) -> Woven:
    return weave_unoptimized(EXAMPLES, out=shared_folder(tmp_path_factory, "language"), all_levels=True)


def run(woven: Woven, code: str, **environment: str) -> None:
    script(HEAD + OWN_LEVEL + code, cwd=woven.folder.parent, **environment)


def test_functions_of_the_file_and_names_for_parts(woven: Woven) -> None:
    run(
        woven,
        """
x = ow.tensor([-1.0, 0.0, 0.25, 0.5, 2.0])
near(ops.smoothstep(x), [0, 0, 0.15625, 0.5, 1])
near(ops.smoothstep(ow.tensor([3.0]), 2, high=4), [0.5])
assert "`t * t * lerp(3, 1, t)` with `t = clamp((self - low) / (high - low), 0, 1)`" in ops.smoothstep.__doc__
x = leaf(4, 5, low=0.1, high=0.9)
assert check(ops.smoothstep, x) and check_again(ops.smoothstep, x)
""",
    )


def test_more_than_three_tensors(woven: Woven) -> None:
    run(
        woven,
        """
zero = ow.zeros(1)
near(ops.haversine(ow.tensor([48.8566]), ow.tensor([2.3522]), ow.tensor([52.52]), ow.tensor([13.405])), [877.46], 1e-4)
near(ops.haversine(zero, zero, zero, ow.tensor([180.0]), radius=1), [np.pi], 1e-6)
a, b, c, d = (leaf(3, 4, low=10, high=40) for _ in range(4))
assert check(ops.haversine, (a, b, c, d)) and check_again(ops.haversine, (a, b, c, d))
rows, columns = leaf(3, 1, low=10, high=40), leaf(4, low=10, high=40)
got = ops.haversine(rows, columns, c, d.t().contiguous().t())
near(got, ops.haversine(rows.expand(3, 4).contiguous(), columns.expand(3, 4).contiguous(), c, d).detach())
for dtype, rtol in ((ow.float32, 1e-5), (ow.float16, 5e-3)):
    near(ops.haversine(*(each.to(dtype) for each in (a, b, c, d))), ops.haversine(a, b, c, d).detach().numpy(), rtol)
""",
    )


def test_several_results(woven: Woven) -> None:
    run(
        woven,
        """
x, y = ow.tensor([7.0, -7.0, 6.0]), ow.tensor([2.0, 2.0, -3.0])
got = ops.euclid(x, y)
assert got._fields == ("quotient", "remainder", "divides")
near(got.quotient, [3, -4, -2]), near(got.remainder, [1, 1, 0])
assert got.divides.dtype is ow.bool and got.divides.tolist() == [False, False, True]
whole = ops.euclid(ow.tensor([7, -7]), ow.tensor([2], dtype=ow.int8))
assert [each.dtype for each in whole] == [ow.int64, ow.int64, ow.bool] and whole.quotient.tolist() == [3, -4]
try:
    ops.euclid(ow.tensor([1]), ow.tensor([0]))
except RuntimeError as error:
    assert "ZeroDivisionError" in str(error)
else:
    raise AssertionError("no error")
out = tuple(ow.empty(3) for _ in range(2)) + (ow.empty(3, dtype=ow.bool),)
ops.euclid(x, y, out=out)
near(out[1], [1, 1, 0])
assert not hasattr(x, "euclid_")
meta = ops.euclid(ow.empty(5, 1, device="meta"), ow.empty(3, device="meta"))
assert [tuple(each.shape) for each in meta] == [(5, 3)] * 3 and meta.divides.dtype is ow.bool
wide = rng.uniform(1, 9, (40, 50)).astype(np.float32)
for view in (ow.from_numpy(wide), ow.from_numpy(wide).t(), ow.from_numpy(wide)[::3, ::2], ow.from_numpy(wide)[1]):
    q, r, _ = ops.euclid(view, ow.tensor(2.5))
    near(q, view.numpy() // np.float32(2.5)), near(r, view.numpy() % np.float32(2.5), 1e-6)
half = ops.euclid(ow.tensor([7.0]).half(), ow.tensor([2.0]).half())
assert half.quotient.dtype is ow.float16 and half.quotient.tolist() == [3.0]
""",
    )


@pytest.mark.parametrize("level", ["x86-64", "x86-64-v3", "x86-64-v4"])
def test_gradients_of_several_results(woven: Woven, level: str) -> None:
    run(
        woven,
        """
price, delta, gamma, vega = ops.black_scholes(*(ow.tensor([v], dtype=ow.float64) for v in (100, 95, 0.03, 0.2, 0.5)))
near(price, [9.251090315022012]), near(delta, [0.7052204487543285])
near(gamma, [0.024389223948472746]), near(vega, [24.38922394847275])
market = [leaf(6, low=low, high=high) for low, high in ((80, 120), (90, 110), (0.01, 0.05), (0.1, 0.4), (0.2, 2))]
result = ops.black_scholes(*market)
by_spot, by_volatility = ow.autograd.grad(result.price.sum(), (market[0], market[3]), retain_graph=True)
near(by_spot, result.delta.detach()), near(by_volatility, result.vega.detach())
near(ow.autograd.grad(result.delta.sum(), market[0])[0], result.gamma.detach())
assert check(ops.black_scholes, tuple(market))
assert check_again(lambda *args: ops.black_scholes(*args).price, tuple(market))

p, v = leaf(7), leaf(7)
step = lambda p, v: tuple(ops.leapfrog(p, v, step=0.1, stiffness=3))
near(step(p, v)[0], (p + 0.1 * (v - 0.15 * p)).detach())
assert check(step, (p, v)) and check_again(step, (p, v))
""",
        OPWEAVE_ISA=level,
    )


def test_more_than_three_parameters(woven: Woven) -> None:
    run(
        woven,
        """
ours = ow.tensor([1.0, -2.0, 0.5], dtype=ow.float64, requires_grad=True)
adam = ow.optim.Adam([ours], lr=0.01, weight_decay=0.1)
p, m, v = ours.detach().clone(), ow.zeros(3, dtype=ow.float64), ow.zeros(3, dtype=ow.float64)
for k in range(1, 4):
    adam.zero_grad()
    (ours * ours * ours).sum().backward()
    gradient = 3 * p * p
    adam.step()
    p, m, v = ops.adam_step(p, gradient, m, v, rate=0.01, decay=0.1, steps=k)
near(p, ours.detach())
""",
    )


@pytest.mark.parametrize("level", ["x86-64", "x86-64-v3", "x86-64-v4"])
def test_loops_for_each_element(woven: Woven, level: str) -> None:
    run(
        woven,
        """
def rounds(x, y, limit):
    z, n = 0j, 0
    while n < limit and z.real * z.real + z.imag * z.imag < 4:
        z, n = complex(z.real * z.real - z.imag * z.imag + x, 2 * z.real * z.imag + y), n + 1
    return n

xs, ys = np.linspace(-2, 1, 37), np.linspace(-1.5, 1.5, 23)[:, None]
want = [[rounds(x, y, 50) for x in xs] for y in ys[:, 0]]
got = ops.mandelbrot(ow.from_numpy(xs), ow.from_numpy(ys))
assert got.dtype is ow.int32 and got.tolist() == want
assert ops.mandelbrot(ow.from_numpy(xs).float(), ow.from_numpy(ys).float(), limit=3).max().item() == 3
assert ops.mandelbrot(ow.zeros(5), ow.zeros(5), limit=0).tolist() == [0] * 5
assert ops.mandelbrot(ow.zeros(2, 1, device="meta"), ow.zeros(3, device="meta")).shape == (2, 3)
assert not hasattr(got, "mandelbrot_")

m, e = leaf(40, low=-3, high=3), leaf(40, low=0, high=0.8)
found = ops.kepler(m, e).detach().numpy()
near(found - e.detach().numpy() * np.sin(found), m.detach().numpy(), 1e-10)
m, e = leaf(6, low=-3, high=3), leaf(6, low=0.1, high=0.8)
assert check(ops.kepler, (m, e)) and check_again(ops.kepler, (m, e))
near(ops.kepler(m.half(), e.half()), ops.kepler(m, e).detach().numpy(), 2e-2)

got = ops.collatz(ow.tensor([1, 6, 27, 97]))
assert got.rounds.dtype is ow.int32 and got.rounds.tolist() == [0, 8, 111, 118]
assert got.highest.dtype is ow.int64 and got.highest.tolist() == [1, 16, 9232, 9232]
assert ops.collatz(ow.arange(1, 100)[::2])[0].tolist() == ops.collatz(ow.arange(1, 100, 2))[0].tolist()
""",
        OPWEAVE_ISA=level,
    )


def test_bits_and_dtypes_of_results(woven: Woven) -> None:
    run(
        woven,
        """
x = ow.tensor([0.25, 1.0, 3.0, 100.0])
near(ops.rsqrt_by_bits(x), 1 / np.sqrt(x.numpy()), 1e-5)
assert abs(ops.rsqrt_by_bits(x, rounds=0) * x.sqrt() - 1).max().item() > 0.01
counter = np.arange(1, 5, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
mixed = ops.mixed_bits(ow.from_numpy(counter)).numpy()
assert mixed.tolist() == [16294208416658607535, 7960286522194355700, 487617019471545679, 17909611376780542444]
a, b = ow.tensor([0, 7, -1, 5]), ow.tensor([0, 8, 0, 4])
assert ops.hamming(a, b).tolist() == [0, 4, 64, 1]
small = ops.hamming(a.to(ow.int8), b.to(ow.int8))
assert small.dtype is ow.int64 and small.tolist() == [0, 4, 8, 1]
assert ops.hamming(a.view(4, 1), b.view(1, 4)[:, ::2]).shape == (4, 2)
bins = ops.bin_of(ow.tensor([-1.0, 0.0, 0.49, 0.5, 1.0, float("nan")]), low=0, high=1, bins=2)
assert bins.dtype is ow.int64 and bins.tolist() == [-1, 0, 0, 1, -1, -1]
assert ops.bin_of(ow.tensor([1.0, 0.5]).half(), low=0, high=1, closed=True).tolist() == [9, 5]
out = ow.empty(2)
assert ops.bin_of(ow.tensor([0.1, 0.9]), low=0, high=1, out=out).tolist() == [1.0, 9.0]
assert ops.hamming(ow.empty(3, device="meta", dtype=ow.int8), ow.tensor(1)).dtype is ow.int64
for wrong in (1.5, None, "a"):
    try:
        ops.bin_of(x, low=0, high=1, bins=wrong)
    except TypeError:
        continue
    raise AssertionError(wrong)
""",
    )


LINES = """
def layouts(array):
    yield ow.from_numpy(array)
    yield ow.from_numpy(np.ascontiguousarray(array.T)).t()
    yield ow.from_numpy(np.repeat(array, 2, 1))[:, ::2]
    yield ow.from_numpy(array).float()
    yield ow.from_numpy(array).half()

def tolerance(x):
    return {ow.float64: 1e-11, ow.float32: 1e-4, ow.float16: 2e-2}[x.dtype]
"""


@pytest.mark.parametrize("level", ["x86-64", "x86-64-v3", "x86-64-v4"])
def test_reductions_with_a_state(woven: Woven, level: str) -> None:
    run(
        woven,
        LINES
        + """
for shape in ((5, 7), (3, 200), (200, 3), (40, 33), (1, 100), (100, 1)):
    array = rng.uniform(-2, 2, shape)
    for x in layouts(array):
        own, rtol = x.double().numpy(), tolerance(x)
        for dim in (0, 1, None, (0, 1)):
            count = own.size if dim is None or dim == (0, 1) else own.shape[dim]
            if count > 1:
                variance, mean = ops.welford(x, dim)
                assert variance.dtype is x.dtype
                near(variance.double(), own.var(dim, ddof=1), rtol), near(mean.double(), own.mean(dim), rtol)
            near(ops.log_of_sum(x, dim).double(), np.log(np.exp(own).sum(dim)), rtol)
        assert ops.welford(x, 1, True).mean.shape == (shape[0], 1)
        assert ops.welford(x, keepdim=True).mean.shape == (1, 1)
    weight = rng.uniform(0.1, 1, (1, shape[1]))
    got = ops.weighted_mean(ow.from_numpy(array), ow.from_numpy(weight), 1)
    near(got, (array * weight).sum(1) / weight.sum())
    near(ops.weighted_mean(ow.from_numpy(array), ow.from_numpy(weight), 0), array.mean(0))

cube = rng.uniform(-2, 2, (4, 5, 6))
for view in (ow.from_numpy(cube), ow.from_numpy(cube).permute(2, 0, 1), ow.from_numpy(cube)[:, ::2]):
    for dim in ((0, 2), (1,), (0, 1), (-1, -2), None):
        near(ops.welford(view, dim, correction=0).variance, view.numpy().var(dim))

long = np.full(300_001, 0.1, np.float32)
long[0] = 1e8
assert abs(ops.exact_sum(ow.from_numpy(long)).item() - 1e8 - 3e4) < 8
assert ops.exact_sum(ow.from_numpy(long)).item() == ops.exact_sum(ow.from_numpy(np.stack([long, long])), 1)[1].item()
assert np.isnan(ops.weighted_mean(ow.empty(0), ow.empty(0)).item())
assert ops.log_of_sum(ow.empty(2, 0), 1).tolist() == [-np.inf] * 2
assert ops.welford(ow.empty(0, 3), 1).mean.shape == (0,)
assert [tuple(each.shape) for each in ops.welford(ow.empty(3, 4, device="meta"), 0)] == [(4,), (4,)]
assert ops.welford(ow.tensor(2.0), correction=0).mean.item() == 2
for wrong in ((ow.ones(2), 3), (ow.ones(2, 2), (0, 0)), (ow.ones(2, dtype=ow.int64),)):
    try:
        ops.welford(*wrong)
    except (IndexError, RuntimeError, NotImplementedError):
        continue
    raise AssertionError("no error")
x = leaf(4, 5)
for dim in (0, 1, None):
    near(ops.geometric_mean(x, dim), np.exp(np.log(x.detach().numpy()).mean(dim)))
    assert check(lambda x: ops.geometric_mean(x, dim, True), x)
    assert dim is None or check(lambda x: ops.running_log_of_sum(x, dim), x)
    assert check(lambda x: tuple(ops.welford(x, dim)), x)
    assert check(lambda x: ops.log_of_sum(x, dim), x) and check(lambda x: ops.exact_sum(x, dim), x)
    for keepdim in (False, True):
        weights = leaf(5)
        assert check(lambda x, w: ops.weighted_mean(x, w, dim, keepdim), (x, weights))
        assert check_again(lambda x, w: ops.weighted_mean(x, w, dim, keepdim), (x, weights))
    assert check_again(lambda x: ops.log_of_sum(x, dim), x) and check_again(lambda x: ops.exact_sum(x, dim), x)
cube = leaf(2, 3, 4)
assert check(lambda x: ops.log_of_sum(x, (0, 2)), cube)
assert check(lambda x, w: ops.weighted_mean(x, w, (-1, 0), True), (cube, leaf(3, 1)))
""",
        OPWEAVE_ISA=level,
    )


def test_reductions_in_order(woven: Woven) -> None:
    run(
        woven,
        """
def kahan(line):
    total = excess = line.dtype.type(0)
    for each in line:
        term = each - excess
        after = total + term
        total, excess = after, after - total - term
    return total

def same(got, want):
    assert got.dtype == ow.float32 and got.numpy().tolist() == want, (got, want)

numbers = (rng.uniform(-1, 1, (3, 5, 70)) * 10.0 ** rng.integers(-6, 6, (3, 5, 70))).astype(np.float32)
x = ow.from_numpy(numbers)
same(ops.compensated_sum(x), kahan(numbers.ravel()))
same(ops.compensated_sum(x, -1), [[kahan(line) for line in page] for page in numbers])
same(ops.compensated_sum(x, 0), [[kahan(numbers[:, j, k]) for k in range(70)] for j in range(5)])
same(ops.compensated_sum(x, [2, 0], True), [[[kahan(numbers[:, j].ravel())] for j in range(5)]])
same(ops.compensated_sum(x.permute(2, 0, 1), [0, 2]), [kahan(numbers[i].T.ravel()) for i in range(3)])
same(ops.compensated_sum(x.flip(0), [0, 1]), [kahan(numbers[::-1, :, k].ravel()) for k in range(70)])
same(ops.compensated_sum(x[:, :0], 1), np.zeros((3, 70)).tolist())
same(ops.compensated_sum(ow.full((), 3.0)), 3.0)
one = ow.cat([ow.ones(1), ow.full((200_000,), 3e-8)])
for threads in (1, 4):
    ow.set_num_threads(threads)
    same(ops.compensated_sum(one), float(np.float32(1.006)))
wide = leaf(3, 4)
near(ops.compensated_sum(wide, 1), wide.detach().numpy().sum(1))
assert check(lambda x: ops.compensated_sum(x, [0, 1]), (wide,))
assert check_again(lambda x: ops.compensated_sum(x, 0), (wide,))

coefficients, point = leaf(3, 4), leaf(3, 1)
want = [np.polyval(*each) for each in zip(coefficients.detach().numpy(), point.detach().numpy()[:, 0])]
near(ops.horner(coefficients, point, 1), want)
near(ops.horner(coefficients.t(), point.t(), 0), want)
assert check(lambda *given: ops.horner(*given, -1), (coefficients, point))
assert check_again(lambda *given: ops.horner(*given, [0, 1]), (coefficients, point))
""",
    )


@pytest.mark.parametrize("level", ["x86-64", "x86-64-v3", "x86-64-v4"])
def test_scans_in_order(woven: Woven, level: str) -> None:
    run(
        woven,
        LINES
        + """
import itertools

def along(function, array, dim):
    return np.stack([function(line) for line in np.moveaxis(array, dim, -1).reshape(-1, array.shape[dim])]).reshape(
        np.moveaxis(array, dim, -1).shape) if array.size else array

def averages(line):
    return np.array(list(itertools.accumulate(line, lambda y, x: y + 0.1 * (x - y))))

b0, b1, b2, a1, a2 = 0.2, 0.3, 0.1, -0.5, 0.25
def filtered(line):
    out, x1, x2, y1, y2 = [], 0, 0, 0, 0
    for x in line:
        y = b0 * x + b1 * x1 + b2 * x2 - a1 * y1 - a2 * y2
        x1, x2, y1, y2 = x, x1, y, y1
        out.append(y)
    return np.array(out)

for shape in ((5, 7), (3, 200), (200, 3), (40, 33), (1, 100), (100, 1), (17, 64)):
    array = rng.uniform(-2, 2, shape)
    for x in layouts(array):
        own, rtol = x.double().numpy(), tolerance(x)
        for dim in (0, 1, -1):
            near(ops.ema(x, dim).double(), np.moveaxis(along(averages, own, dim), -1, dim), 4 * rtol)
            got = ops.biquad(x, dim, b0=b0, b1=b1, b2=b2, a1=a1, a2=a2)
            assert got.dtype is x.dtype
            near(got.double(), np.moveaxis(along(filtered, own, dim), -1, dim), 4 * rtol)

# Dimensions in front that are not one in memory: groups of lines within one of them, and across their end.
part = ow.from_numpy(rng.uniform(-2, 2, (4, 41, 7)))[:, :37, :5]
for x in (part, part.transpose(0, 1), part.permute(2, 0, 1), part[:, :1].expand(4, 37, 5), part[1:2].expand(3, 37, 5)):
    for dim in (0, 1, 2):
        near(ops.ema(x, dim), np.moveaxis(along(averages, x.numpy(), dim), -1, dim), 1e-12)

prices = ow.tensor([[1.0, 2.0, 1.0, 3.0, 1.5, 3.0], [4.0, 2.0, 1.0, 3.0, 5.0, 5.0]])
down = ops.drawdown(prices)
near(down.drawdown, [[0, 0, 0.5, 0, 0.5, 0], [0, 0.5, 0.75, 0.25, 0, 0]])
assert down.peak.tolist() == [[1, 2, 2, 3, 3, 3], [4, 4, 4, 4, 5, 5]]
assert down.age.dtype is ow.int64 and down.age.tolist() == [[0, 0, 1, 0, 1, 0], [0, 1, 2, 3, 0, 0]]
for view in (prices.t().contiguous().t(), prices.repeat(1, 3)[:, :6]):
    assert ops.drawdown(view).age.tolist() == down.age.tolist()
assert ops.drawdown(prices.t(), 0).age.t().tolist() == down.age.tolist()
nan = float("nan")
filled = ops.forward_fill(ow.tensor([nan, 1.0, nan, nan, 4.0]))
assert filled[1:].tolist() == [1, 1, 1, 4] and filled[0].isnan().item()
ones = ow.ones(3, 1, dtype=ow.float64)
h = ops.linear_recurrence(ow.full((4,), 0.5, dtype=ow.float64), ones, ow.zeros(1), 1)
near(h, [[1, 1.5, 1.75, 1.875]] * 3)
assert ops.ema(ow.empty(0, 3)).shape == (0, 3) and ops.ema(ow.tensor(2.0)).item() == 2
assert ops.ema(ow.empty(2, 3, device="meta")).shape == (2, 3)
assert not hasattr(prices, "ema_")
x = leaf(3, 5)
for dim in (0, 1, -1):
    assert check(lambda x: ops.ema(x, dim, weight=0.3), x)
    assert check(lambda x: ops.biquad(x, dim, b0=b0, b1=b1, b2=b2, a1=a1, a2=a2), x)
    assert check(lambda x: ops.drawdown(x, dim)[:2], x)
    assert check(lambda x: ops.forward_fill(x, dim), x)
    start = leaf(1, 5) if dim == 0 else leaf(3, 1)
    assert check(lambda f, t, s: ops.linear_recurrence(f, t, s, dim), (x, leaf(5), start))
    assert check_again(lambda f, t, s: ops.linear_recurrence(f, t, s, dim), (x, leaf(5), start))
    assert check_again(lambda x: ops.drawdown(x, dim)[:2], x) and check_again(lambda x: ops.ema(x, dim), x)
assert check(ops.ema, leaf()) and check(lambda x: ops.drawdown(x).peak, leaf(4))
holes = ow.tensor([1.0, nan, nan, 4.0], dtype=ow.float64, requires_grad=True)
ops.forward_fill(holes).sum().backward()
assert holes.grad.tolist() == [3, 0, 0, 1]
out = ow.empty(2, 6)
assert ops.ema(prices, out=out) is out and out[0, 0].item() == 1
""",
        OPWEAVE_ISA=level,
    )


def test_gradients_that_differ_from_the_derivative(woven: Woven) -> None:
    run(
        woven,
        """
x = ow.tensor([0.2, 0.6, -1.3], requires_grad=True)
y = ops.round_through(x, step=0.5)
near(y, [0, 0.5, -1.5], 1e-6)
y.backward(ow.tensor([1.0, 2.0, 3.0]))
assert x.grad.tolist() == [1, 2, 3]
""",
    )


WRONG = """\
- func: halved(Tensor self, Tensor weight, int[1]? dim=None, bool keepdim=False) -> Tensor
  doc: Doc.
  reduce: {state: {t: 0}, map: {t: self * weight}, combine: {t: t + other_t}, finalize: t}
  dtypes: floating
  derivatives:
    self: unreduce(grad, self.shape, dim, keepdim) * weight
    weight: unreduce(grad, self.shape, dim, keepdim) * self * 2
"""


def test_formulas_of_reductions_with_a_state_are_checked(tmp_path: Path) -> None:
    (tmp_path / "wrong.yaml").write_text(WRONG)
    with pytest.raises(WeaveError, match=r"7:13: error: derivative of 'weight' contradicts the body"):
        weave(tmp_path / "wrong.yaml", out=tmp_path)
    (tmp_path / "meant.yaml").write_text(
        WRONG.replace(
            "weight: unreduce(grad, self.shape, dim, keepdim) * self * 2",
            "weight: {straight_through: 'unreduce(grad, self.shape, dim, keepdim) * self * 2'}",
        )
    )
    assert weave(tmp_path / "meant.yaml", out=tmp_path).operators == ("halved",)


HOSTILE = """
grad.numpy().tofile('PATH')
numpy_bridge.opweave.save(grad, 'PATH')
math.__loader__.load_module('posix').system('touch PATH')
(lambda math: math.__class__)(grad)
[math.__dict__ for math in [total]]
(math := total) is None or math.__globals__
open('PATH', 'w').write('x')
__import__('os').system('touch PATH')
eval('1')
exec('1')
getattr(grad, 'numpy')()
vars(grad)
type(grad).mro()
f'{grad.__class__}'
'{0.__class__}'.format(grad)
(lambda: (yield))().gi_frame.f_globals
total.__globals__['os'].system('touch PATH')
grad.data_ptr()
grad.register_hook(len)
grad.grad_fn.next_functions
grad.untyped_storage().from_file('PATH', True, 8)
METHODS.clear()
[0 for FUNCTIONS['sum'] in [1]]
DERIVATIVES['sum']
dtypes.__dict__
sum.__self__
self.apply_(open)
""".strip().split("\n")


def test_a_formula_that_is_checked_only_computes(tmp_path: Path) -> None:
    """Each is refused: where it only fails when it is evaluated, the name is none that formulas know."""
    path, written, taken = tmp_path / "hostile.yaml", tmp_path / "written", []
    for text in HOSTILE:
        reach = text.replace("PATH", str(written))
        formula = f"unreduce(grad, self.shape, dim, keepdim) * self if ({reach}, 1)[1] else self"
        path.write_text(WRONG.replace("unreduce(grad, self.shape, dim, keepdim) * self * 2", f'"{formula}"'))
        message = ""
        try:
            read(path, "hostile")
        except WeaveError as error:
            message = str(error)
        if not re.search(r"hostile.yaml:7:.* error: .*(is no operator|unknown|NameError)", message) or written.exists():
            taken.append((text, message))
    assert taken == []


def test_loops_in_c(woven: Woven) -> None:
    run(
        woven,
        """
image = ow.full((40, 40), 0.25)
got = ops.dithered(image)
assert set(got.flatten().tolist()) == {0.0, 1.0} and abs(got.mean().item() - 0.25) < 0.02
assert ops.dithered(image.expand(2, 3, 40, 40)).tolist() == [[got.tolist()] * 3] * 2
assert ops.dithered(image.half()).dtype is ow.float16
near(ops.dithered(ow.tensor([[0.75, 0.5]])), [[1, 0]])
x = image.clone().requires_grad_()
ops.dithered(x).sum().backward()
assert x.grad.min().item() == 1

boxes = ow.tensor([[0.0, 0, 2, 2], [0, 0, 2, 1.5], [1, 1, 3, 3], [5, 5, 6, 6]])
assert ops.kept_boxes(boxes).tolist() == [True, False, True, True]
assert ops.kept_boxes(boxes, overlap=0.1).tolist() == [True, False, False, True]
assert ops.kept_boxes(boxes.double().flip(0).repeat(2, 1, 1)).tolist() == [[True, True, True, False]] * 2
assert ops.kept_boxes(ow.empty(0, 4)).shape == (0,)
assert ops.kept_boxes(ow.empty(3, 7, 4, device="meta")).shape == (3, 7)

labels, count = ops.components(ow.tensor([[1, 1, 0, 1], [0, 1, 0, 1], [1, 0, 0, 0]], dtype=ow.uint8))
assert count.item() == 3 and labels.tolist() == [[1, 1, 0, 2], [0, 1, 0, 2], [3, 0, 0, 0]]
assert ops.components(ow.ones(2, 5, 3, 3).bool()[:, ::2])[1].tolist() == [[1, 1, 1]] * 2

sums = ops.histogram_of(ow.tensor([[0.1, 0.6, 0.9], [0.2, 0.3, 2.0]]), ow.tensor([1.0, 2.0, 4.0]), bins=2)
assert sums.tolist() == [[1, 6], [3, 0]]
out = ow.empty(2)
assert ops.histogram_of(ow.tensor([0.7]), ow.ones(1), bins=2, out=out).tolist() == [0, 1]
for call, says in (
    (lambda: ops.kept_boxes(ow.ones(3, 5)), "dimension -1 of argument 1 is 5, but expected is 4 = 4: (n,4)->(n)"),
    (lambda: ops.dithered(ow.ones(3)), "argument 1 has 1 dimensions, but at least 2 are expected: (h,w)->(h,w)"),
    (lambda: ops.histogram_of(ow.ones(3), ow.ones(4), bins=2), "is 4, but expected is n = 3"),
    (lambda: ops.histogram_of(ow.ones(2, 3), ow.ones(3, 3), bins=2), "must match"),
    (lambda: ops.histogram_of(ow.ones(3), ow.ones(3), bins=-2), "a size of the result is negative: -2"),
):
    try:
        call()
    except RuntimeError as error:
        assert says in str(error), error
        continue
    raise AssertionError(says)
""",
    )
