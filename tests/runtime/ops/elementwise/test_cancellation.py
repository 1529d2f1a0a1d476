"""Functions and derivatives whose terms cancel, over the exponents of both formats; values by mpmath with 60 digits."""

import math

import opweave
import pytest
from opweave import special
from opweave.nn import functional

F32, F64 = opweave.float32, opweave.float64


def derivative(function, x, dtype):
    x = opweave.tensor([x], dtype=dtype, requires_grad=True)
    function(x).sum().backward()
    return x.grad.item()


@pytest.mark.parametrize("dtype", [F32, F64])
@pytest.mark.parametrize(
    ("function", "x", "want"),
    [
        (opweave.sinc, 1e-5, -3.2898681333717559e-05),
        (opweave.sinc, -1e-30, 3.2898681336964529e-30),
        (opweave.sinc, 0.0, 0),
        (opweave.sinc, 0.2, -0.63236144706845805),
        (opweave.sinc, 0.3, -0.90202813013888882),
        (special.spherical_bessel_j0, 1e-5, -3.3333333333e-06),
        (special.spherical_bessel_j0, 0.5, -0.16253703063606656),
        (special.i1, 1e-44, 0.5),
        (special.i1, 3.0, 3.5630025133974876),
        (special.i1, 1000.0, math.inf),
        (special.i1e, 1e-44, 0.5),
        (special.i1e, 3.0, -0.019435263567909073),
        (special.i1e, 1e5, -6.3077603415786143e-09),
        (special.i0e, 1e5, -6.307854959639557e-09),
        (special.i0e, -2000.0, 2.2305734954334814e-06),
        (special.bessel_j1, 1e-44, 0.5),
        (special.bessel_j1, 2.0, -0.06447162473720102),
        (special.erfcx, 1000.0, -5.6418873726549667e-07),
        (special.erfcx, 25.0, -0.00090054546344462672),
        (special.erfcx, 1.0, -0.27321201478389857),
        (functional.logsigmoid, 20.0, 2.0611536181902037e-09),
        (functional.logsigmoid, 100.0, 3.720075976020836e-44),
        (functional.logsigmoid, -3.0, 0.9525741268224334),
        (opweave.expm1, -25.0, 1.3887943864964021e-11),
    ],
)
def test_derivatives(dtype, function, x, want):
    # A difference of functions of float32, each rounded, is as far off as their size.
    ulp = {(special.i1e, 3.0): 64, (special.erfcx, 25.0): 2000, (special.erfcx, 1.0): 64}.get((function, x), 24)
    assert derivative(function, x, dtype) == pytest.approx(want, rel=ulp * opweave.finfo(dtype).eps, abs=2e-45)


def test_second_derivatives_stay_defined():
    for function in (opweave.sinc, special.spherical_bessel_j0, special.erfcx, special.i1e, special.i0e, special.i1):
        x = opweave.tensor([0.0, 0.1, 30.0], dtype=F64, requires_grad=True)
        (first,) = opweave.autograd.grad(function(x).sum(), x, create_graph=True)
        (second,) = opweave.autograd.grad(first.sum(), x)
        assert second.isfinite().all(), function


def test_least_numbers():
    assert special.modified_bessel_k0(opweave.tensor([5e-324], dtype=F64)).item() == pytest.approx(744.5560034370396)
    assert special.scaled_modified_bessel_k0(opweave.tensor([6.5e-322], dtype=F64)).item() == pytest.approx(
        739.6732015144533
    )


def test_largest_numbers():
    x = opweave.tensor([1e38, 3e38, -3e38])
    assert functional.hardswish(x).tolist() == [x[0].item(), x[1].item(), 0]
