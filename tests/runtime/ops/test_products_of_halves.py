"""Products of matrices of bfloat16, beside those of the same numbers in double precision."""

from __future__ import annotations

import opweave
import pytest

SIZES = [(16, 256, 16), (17, 255, 49), (48, 90, 47), (8, 64, 200), (129, 300, 97), (64, 1, 1200)]


def _numbers(*shape: int) -> opweave.Tensor:
    return opweave.randn(*shape).to(opweave.bfloat16)


def _check(found: opweave.Tensor, expected: opweave.Tensor) -> None:
    """A rounding to bfloat16, and those of sums in float32."""
    assert found.dtype == opweave.bfloat16
    assert ((found.double() - expected).abs() <= expected.abs() * 2.0**-8 + 1e-4).all()


@pytest.mark.parametrize("sizes", SIZES)
def test_products(sizes: tuple[int, int, int]) -> None:
    opweave.manual_seed(0)
    rows, inner, columns = sizes
    bias, scale = _numbers(columns), inner**-0.5
    for a in (_numbers(rows, inner), _numbers(inner, rows).t(), _numbers(rows, 2 * inner)[:, ::2]):
        for b in (_numbers(inner, columns), _numbers(columns, inner).t(), _numbers(2 * inner, columns)[::2]):
            exact = a.double() @ b.double()
            _check(opweave.mm(a, b), exact)
            _check(opweave.addmm(bias, a, b), bias.double() + exact)
            _check(opweave.addmm(bias, a, b, beta=0.5, alpha=scale), 0.5 * bias.double() + scale * exact)
            _check(opweave.mm(a, b, out=opweave.empty(columns, rows, dtype=opweave.bfloat16).t()), exact)
            _check(opweave.nn.functional.linear(a, b.t()), exact)
    batch, other = _numbers(3, rows, inner), _numbers(3, columns, inner).mT
    _check(opweave.bmm(batch, other), batch.double() @ other.double())


def test_results_do_not_depend_on_threads() -> None:
    before = opweave.get_num_threads()
    a, b = _numbers(150, 333), _numbers(333, 170)
    try:
        found = []
        for threads in (1, 2, 3):
            opweave.set_num_threads(threads)
            found.append(opweave.mm(a, b))
        assert opweave.equal(found[0], found[1])
        assert opweave.equal(found[0], found[2])
    finally:
        opweave.set_num_threads(before)


def test_what_is_no_number_stays_in_its_row_and_column() -> None:
    a, b = _numbers(40, 80), _numbers(80, 60)
    a[3, 5] = float("nan")
    b[7, 9] = float("inf")
    found = opweave.mm(a, b).isfinite()
    assert not found[3].any()
    assert not found[:, 9].any()
    assert found.sum() == 39 * 59
