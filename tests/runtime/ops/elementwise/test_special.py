"""Special functions at the ends of their range, by identities, and polynomials against exact arithmetic."""

from __future__ import annotations

import math
from collections.abc import Callable
from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import opweave
import pytest
import scipy.special
from opweave import special

INF, NAN = math.inf, math.nan


def values(function: Callable[..., opweave.Tensor], *arguments: list[float]) -> list[float]:
    return function(*(opweave.tensor(each, dtype=opweave.float64) for each in arguments)).tolist()


def check(got: list[float], want: list[float], tolerance: float = 0.0) -> None:
    assert len(got) == len(want)
    for one, other in zip(got, want, strict=True):
        same = (math.isnan(one) and math.isnan(other)) or one == other
        assert same or abs(one - other) <= tolerance * abs(other), (got, want)


# ---- incomplete gamma functions -----------------------------------------------------------------------------


def test_incomplete_gamma_at_the_ends() -> None:
    a = [0, 0, 0, 1, 1, INF, INF, -1, 1, NAN, 1]
    x = [0, 1, INF, 0, INF, 1, INF, 1, -1, 1, NAN]
    lower = [NAN, 1, 1, 0, 1, 0, NAN, NAN, NAN, NAN, NAN]
    check(values(opweave.igamma, a, x), lower)
    check(values(opweave.igammac, a, x), [1 - p for p in lower])


@pytest.mark.parametrize("a", [1, 2, 7, 40, 99, 100, 101, 150, 250])
def test_incomplete_gamma_of_whole_orders(a: int) -> None:
    """1 - P is exp(-x) times the first terms of exp(x); every way of computing it is taken here."""
    points = [0.01, 0.3, 1.0, 1.05, *(ratio * a for ratio in (0.5, 0.65, 0.99, 1.0, 1.01, 1.39, 1.41, 3.0))]
    with localcontext() as context:
        context.prec = 400
        for x in points:
            term = head = Decimal(1)
            for k in range(1, a):
                term *= Decimal(x) / k
                head += term
            upper = head * (-Decimal(x)).exp()
            check(values(opweave.igamma, [a], [x]), [float(1 - upper)], 2e-15)
            check(values(opweave.igammac, [a], [x]), [float(upper)], 2e-15)


def test_incomplete_gamma_of_half() -> None:
    x = [1e-300, 1e-5, 0.1, 0.49, 0.51, 1.0, 1.11, 3.0, 30.0, 600.0]
    half = [0.5] * len(x)
    check(values(opweave.igamma, half, x), [math.erf(math.sqrt(each)) for each in x], 2e-15)
    check(values(opweave.igammac, half, x), [math.erfc(math.sqrt(each)) for each in x], 3e-14)


@pytest.mark.parametrize("a", [1e-300, 1e-12, 1e8, 1e15, 1e300])
def test_incomplete_gamma_of_extreme_orders(a: float) -> None:
    for x in (1e-300, 0.5, 1e8, 1.0001e8, 1e15, 1e300):
        lower, upper = values(opweave.igamma, [a], [x])[0], values(opweave.igammac, [a], [x])[0]
        assert 0 <= lower <= 1
        assert abs(lower + upper - 1) < 1e-15


@pytest.mark.parametrize("name", ["igamma", "igammac"])
def test_incomplete_gamma_of_rows(name: str) -> None:
    """Elements that are computed side by side have the values that each of them has alone, whatever its neighbours."""
    function = getattr(opweave, name)
    exact = getattr(scipy.special, {"igamma": "gammainc", "igammac": "gammaincc"}[name])
    points = [10.0**k * digit for k in range(-6, 4) for digit in (1, 1.7, 3.1, 7)] + [0.0, INF, NAN, -1.0]
    pairs = np.array([(a, x) for a in points for x in points])
    np.random.default_rng(0).shuffle(pairs)
    for dtype, tolerance in ((opweave.float32, 1e-7), (opweave.float64, 2e-13)):
        a, x = opweave.tensor(pairs.T.copy(), dtype=dtype)
        together = function(a, x)
        alone = opweave.stack([function(one, other) for one, other in zip(a, x, strict=True)])
        np.testing.assert_array_equal(together.numpy(), alone.numpy())
        np.testing.assert_allclose(together.numpy(), exact(a.double().numpy(), x.double().numpy()), tolerance, 1e-40)


# ---- Bessel and Airy functions --------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["modified_bessel_k0", "modified_bessel_k1"])
def test_second_kind_at_the_ends(name: str) -> None:
    for function in (getattr(special, name), getattr(special, f"scaled_{name}")):
        check(values(function, [0.0, -0.0, -1.0, -INF, INF, NAN]), [INF, INF, NAN, NAN, 0, NAN])


def test_wronskian_of_modified_bessel_functions() -> None:
    """DLMF 10.28.2."""
    x = [1e-8, 0.1, 0.9, 1.5, 1.999, 2.0, 2.001, 5.0, 30.0, 700.0]
    t = opweave.tensor(x, dtype=opweave.float64)
    for k0, k1, i0, i1 in (
        (special.modified_bessel_k0(t), special.modified_bessel_k1(t), special.i0(t), special.i1(t)),
        (special.scaled_modified_bessel_k0(t), special.scaled_modified_bessel_k1(t), special.i0e(t), special.i1e(t)),
    ):
        check((t * (i0 * k1 + i1 * k0)).tolist(), [1.0] * len(x), 2e-15 * 8)


def test_wronskian_of_bessel_functions() -> None:
    x = opweave.linspace(0.01, 20, 5001, dtype=opweave.float64)  # polynomials below 8, the library beyond
    result = special.bessel_j1(x) * special.bessel_y0(x) - special.bessel_j0(x) * special.bessel_y1(x)
    assert opweave.allclose(result * x, opweave.full_like(x, 2 / math.pi), rtol=2e-14, atol=0)


def test_bessel_functions_of_the_least_number() -> None:
    x = opweave.tensor([5e-324], dtype=opweave.float64)
    assert special.bessel_j0(x).item() == special.bessel_j0(0 * x).item() == 1
    assert special.bessel_y1(x).item() == -math.inf
    logarithm = math.log(5e-324) - math.log(2) + 0.5772156649015329
    assert math.isclose(special.bessel_y0(x).item(), 2 / math.pi * logarithm, rel_tol=1e-15)


def test_quantiles_of_small_probabilities() -> None:
    p = opweave.logspace(-323, -0.5, 3001, dtype=opweave.float64)
    assert opweave.allclose(special.log_ndtr(special.ndtri(p)), p.log(), rtol=1e-13, atol=0)


def test_inverse_error_function() -> None:
    x = 1 - opweave.logspace(-15.9, 0, 3001, dtype=opweave.float64)
    assert opweave.allclose(special.erf(special.erfinv(x)), x, rtol=4e-16, atol=1e-17)
    assert special.erfinv(opweave.tensor([1.0, -1.0, 1.5], dtype=opweave.float64)).tolist()[:2] == [math.inf, -math.inf]


def test_cosine_less_one() -> None:
    x = opweave.tensor([0.0, 1e-8, -1e-200, 1.0, math.pi, math.inf], dtype=opweave.float64)
    expected = [0.0, -5e-17, 0.0, -0.45969769413186023, -2.0, math.nan]
    np.testing.assert_allclose(special.cosm1(x).numpy(), expected, rtol=4e-16)
    z = special.cosm1(opweave.tensor([1e-9j, 1 + 1j], dtype=opweave.complex128))
    np.testing.assert_allclose(z.numpy(), [5e-19, -0.16626997486885087 - 0.9888977057628651j], rtol=4e-16)
    x = opweave.tensor([0.5, -2.0], dtype=opweave.float64, requires_grad=True)
    special.cosm1(x).sum().backward()
    assert x.grad is not None
    np.testing.assert_allclose(x.grad.numpy(), [-0.479425538604203, 0.9092974268256817], rtol=4e-16)


def test_airy_at_the_ends() -> None:
    check(values(special.airy_ai, [INF, -INF, NAN, 1e300, 110.0]), [0, 0, NAN, 0, 0])
    zero = 3 ** (-2 / 3) / math.gamma(2 / 3)
    check(values(special.airy_ai, [0.0, -0.0, 5e-324, -5e-324]), [zero] * 4, 1e-15)


@pytest.mark.parametrize("x", [-4.0, 0.0, 2.0])
def test_airy_where_its_expansions_meet(x: float) -> None:
    below, above = math.nextafter(x, -INF), math.nextafter(x, INF)
    low, here, high = values(special.airy_ai, [below, x, above])
    assert abs(low - here) + abs(high - here) < 3e-15


def test_airys_equation() -> None:
    """Ai'' = x Ai, DLMF 9.2.1, by differences of the fourth order."""
    for x in (-40.0, -9.0, -3.7, -1.0, 1.0, 1.9, 3.0, 9.0):
        h = 1 / 64
        a = values(special.airy_ai, [x + k * h for k in (-2, -1, 0, 1, 2)])
        second = (-a[0] + 16 * a[1] - 30 * a[2] + 16 * a[3] - a[4]) / (12 * h * h)
        assert abs(second - x * a[2]) < 1e-5 * (1 + abs(x) ** 3) * max(map(abs, a))


def test_spherical_bessel() -> None:
    check(values(special.spherical_bessel_j0, [0.0, -0.0, INF, -INF, NAN, 5e-324]), [1, 1, 0, 0, NAN, 1])
    check(values(special.spherical_bessel_j0, [1.0, -2.0]), [math.sin(1), math.sin(2) / 2], 1e-15)


# ---- polynomials ----------------------------------------------------------------------------------------------

Step = Callable[[Fraction, int, Fraction, Fraction], Fraction]


def chebyshev(x: Fraction, k: int, p: Fraction, before: Fraction) -> Fraction:
    return 2 * x * p - before


RECURRENCES: dict[str, tuple[Callable[[Fraction], Fraction], Step]] = {
    "chebyshev_polynomial_t": (lambda x: x, chebyshev),
    "chebyshev_polynomial_u": (lambda x: 2 * x, chebyshev),
    "chebyshev_polynomial_v": (lambda x: 2 * x - 1, chebyshev),
    "chebyshev_polynomial_w": (lambda x: 2 * x + 1, chebyshev),
    "hermite_polynomial_h": (lambda x: 2 * x, lambda x, k, p, before: 2 * (x * p - k * before)),
    "hermite_polynomial_he": (lambda x: x, lambda x, k, p, before: x * p - k * before),
    "laguerre_polynomial_l": (lambda x: 1 - x, lambda x, k, p, before: ((2 * k + 1 - x) * p - k * before) / (k + 1)),
    "legendre_polynomial_p": (lambda x: x, lambda x, k, p, before: ((2 * k + 1) * x * p - k * before) / (k + 1)),
}
SHIFTED = {f"shifted_{name}": name for name in RECURRENCES if name.startswith("chebyshev")}
POLYNOMIALS = (*RECURRENCES, *SHIFTED)


def exact(name: str, x: Fraction, degree: int) -> Fraction:
    if name in SHIFTED:
        return exact(SHIFTED[name], 2 * x - 1, degree)
    first, step = RECURRENCES[name]
    before, now = Fraction(0), Fraction(1)
    for k in range(degree):
        before, now = now, first(x) if k == 0 else step(x, k, now, before)
    return now


@pytest.mark.parametrize("name", POLYNOMIALS)
def test_polynomials(name: str) -> None:
    points = [0.0, 0.25, 0.5, 0.75, 0.96875, 1.0, 1.0625, 1.5, 3.0, 40.0]
    for degree in (0, 1, 2, 3, 7, 15, 16, 17, 18, 19, 20, 33, 64, 101):
        x = [sign * point for point in points for sign in (1, -1)]
        got = values(getattr(special, name), x, [degree] * len(x))
        for point, value in zip(x, got, strict=True):
            want = exact(name, Fraction(point), degree)
            near = exact(name, Fraction(point) * (1 + Fraction(1, 2**60)), degree)
            sensitivity = abs(near - want) * 2**60 + abs(want) + (1 if "shifted" in name else 0)
            assert abs(Fraction(value) - want) <= 40 * Fraction(2) ** -52 * sensitivity * max(1, degree // 8), (
                degree,
                point,
                value,
                float(want),
            )


@pytest.mark.parametrize("name", POLYNOMIALS)
def test_polynomials_of_special_degrees(name: str) -> None:
    """As in torch the fraction of a degree is dropped; unlike torch's, those of no number are NaN."""
    function = getattr(special, name)
    x = [0.25, -2.0, INF, NAN]
    for degree in (-0.75, 0.0, 0.99):
        check(values(function, x, [degree] * 4), [1.0] * 4)
    for degree in (-1.0, -1.5, -1e18, -INF):
        check(values(function, x, [degree] * 4), [0.0] * 4)
    for degree in (NAN, INF):
        check(values(function, x, [degree] * 4), [NAN] * 4)
    check(values(function, x, [3.7] * 4), values(function, x, [3.0] * 4))


@pytest.mark.parametrize("name", POLYNOMIALS)
@pytest.mark.parametrize("degree", [1, 2, 3, 16, 17, 18, 1001, 2**20, 2**20 + 1, 2**60])
def test_polynomials_of_infinity(name: str, degree: int) -> None:
    got = values(getattr(special, name), [INF, -INF, NAN], [degree] * 3)
    sign = 1 if degree % 2 == 0 else -1
    leading = [sign * INF, INF, NAN] if name.startswith("laguerre") else [INF, sign * INF, NAN]
    check(got, leading)


@pytest.mark.parametrize("name", [name for name in POLYNOMIALS if "chebyshev" in name])
def test_huge_degrees_of_chebyshev(name: str) -> None:
    """Closed forms take no longer for them, and the ends are exact."""
    degree = 2.0**60
    at_one = {"t": 1.0, "u": degree + 1, "v": 1.0, "w": 2 * degree + 1}[name[-1]]
    x = [1.0, 1.5, 1e200, 0.3]
    got = values(getattr(special, name), x, [degree] * 4)
    check(got[:3], [at_one, INF, INF])
    assert math.isfinite(got[3])


def test_huge_degrees_of_recurrences() -> None:
    huge = 2.0**60
    check(values(special.legendre_polynomial_p, [1.0, -1.0, -1.0, 0.5], [huge, huge, 2**52 + 1, huge]), [1, 1, -1, NAN])
    check(values(special.laguerre_polynomial_l, [0.0, 0.5], [huge, huge]), [1, NAN])
    check(values(special.hermite_polynomial_h, [0.0, 0.5], [2.0**52 + 1, huge]), [0, NAN])
    # The sign of what overflows is that of the last step.
    check(values(special.hermite_polynomial_h, [0.0, 0.0, 40.0], [1000, 1002, 1000]), [INF, -INF, INF])


def test_small_integers_are_exact() -> None:
    x = [2.0, -3.0, 5.0]
    for name in POLYNOMIALS:
        if name.startswith("l"):
            continue
        for degree in range(10):
            want = [float(exact(name, Fraction(each), degree)) for each in x]
            assert values(getattr(special, name), x, [degree] * 3) == want


# ---- other spellings --------------------------------------------------------------------------------------------


def test_aliases() -> None:
    assert special.gammainc is opweave.igamma
    assert special.gammaincc is opweave.igammac
    assert special.softmax is opweave.softmax
    assert special.log_softmax is opweave.log_softmax
    assert special.logsumexp is opweave.logsumexp
    assert special.modified_bessel_i0 is special.i0
    assert special.modified_bessel_i1 is special.i1


def test_degrees_may_be_numbers_and_named() -> None:
    x = opweave.tensor([1.0, 2.0])
    assert special.chebyshev_polynomial_t(x, 3).tolist() == [1.0, 26.0]
    assert special.hermite_polynomial_h(x, n=2).tolist() == [2.0, 14.0]
    assert special.laguerre_polynomial_l(opweave.tensor([1, 2]), opweave.tensor([1, 1])).tolist() == [0.0, -1.0]


def test_incomplete_gamma_as_methods() -> None:
    a, x = opweave.tensor([1.0, 2.0]), opweave.tensor([1.0, 1.0])
    lower, upper = a.igamma(x), a.igammac(x)
    check((lower + upper).tolist(), [1.0, 1.0], 1e-6)
    assert a.clone().igamma_(x).tolist() == lower.tolist()
    out = opweave.empty(2)
    assert opweave.igammac(a, x, out=out) is out
    assert out.tolist() == upper.tolist()
    with pytest.raises(NotImplementedError):
        opweave.igamma(opweave.tensor([1]), opweave.tensor([1]))
