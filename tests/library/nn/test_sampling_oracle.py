"""grid_sample, unpooling and fractional pooling, which is `max_pool_at` drawn places: values, first and second
gradients, options and errors, beside torch's."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import opweave
import pytest
from harness.programs import LIKE, check
from opweave.nn.functional import grid_sample

PADDINGS = ("zeros", "border", "reflection")
SAMPLES = [*product(("bilinear", "nearest"), PADDINGS, (2, 3)), *product(("bicubic",), PADDINGS, (2,))]


@pytest.mark.parametrize(("mode", "padding", "dims"), SAMPLES)
def test_samples_and_gradients(mode: str, padding: str, dims: int) -> None:
    """Of places within and far beyond the edges."""
    shape = ", ".join(map(str, (2, 2, *(5, 4, 6)[:dims])))
    places = ", ".join(map(str, (2, *(3, 4, 2)[:dims], dims)))
    check(
        f"""
a = g({shape}, dtype='float64')
results = []
for align in (False, True):
    p = (x({places}, dtype='float64', step=0.9) * 2.3 + 0.05).requires_grad_()
    y = F.grid_sample(a, p, {mode!r}, {padding!r}, align)
    first = L.autograd.grad((y * y * x(*y.shape, dtype='float64', step=0.3)).sum(), (a, p), create_graph=True)
    weights = [x({shape}, dtype='float64', step=0.5), x({places}, dtype='float64', step=0.6)]
    second = L.autograd.grad(sum((u * v).sum() for u, v in zip(first, weights)), (a, p))
    results += [y, *first, *second]
results
""",
        replace(LIKE, grad=False),  # here the zeros that are the gradient of places in `nearest` have no history
    )


BACK = """
F.max_unpool1d(*F.max_pool1d(a[0, :, 0], 2, return_indices=True), 2)
F.max_unpool2d(*F.max_pool2d(a, 2, return_indices=True), 2)
F.max_unpool2d(*F.max_pool2d(a, 3, 2, 1, return_indices=True), 3, 2, 1, output_size=(6, 10))
F.max_unpool3d(*F.max_pool3d(a, 2, return_indices=True), 2, output_size=(3, 6, 10))
F.fractional_max_pool2d(a, 2, (3, 5), _random_samples=r(2, 3, 2))
F.fractional_max_pool2d(a[0], (3, 2), output_ratio=(0.5, 0.7), _random_samples=r(1, 3, 2))
F.fractional_max_pool3d(a.reshape(2, 3, 3, 4, 5), (1, 1, 3), (2, 3, 2), _random_samples=r(2, 3, 3))
"""


@pytest.mark.parametrize("call", BACK.strip().splitlines())
def test_chosen_elements_and_gradients(call: str) -> None:
    check(
        f"""
r = lambda *shape: x(*shape, dtype='float64').abs()
a = g(2, 3, 6, 10, dtype='float64')
y = {call}
first, = L.autograd.grad((y * y * x(*y.shape, dtype='float64', step=0.3)).sum(), a, create_graph=True)
second, = L.autograd.grad((first * x(2, 3, 6, 10, dtype='float64', step=0.5)).sum(), a)
y, first, second
"""
    )


CALLS = """
F.grid_sample(x(1, 2, 40, 30), x(1, 50, 7, 2, step=0.01), align_corners=True)
F.grid_sample(x(2, 4, 5, 6).transpose(0, 1), x(4, 3, 2, 2).transpose(1, 2), 'nearest', align_corners=True)
F.grid_sample(x(1, 1, 4, 4), F.affine_grid(x(1, 2, 3), (1, 1, 3, 5), align_corners=False), align_corners=False)
F.grid_sample(x(1, 0, 4, 4), x(1, 3, 3, 2), align_corners=False)
F.grid_sample(x(0, 1, 4, 4), x(0, 3, 3, 2), align_corners=False)
F.grid_sample(x(1, 1, 1, 1), x(1, 3, 3, 2), 'bilinear', 'reflection', True)
F.grid_sample(x(1, 1, 1, 1), x(1, 3, 3, 2), 'bicubic', 'reflection', True)
F.grid_sample(x(1, 1, 4, 4), L.tensor([[[[L.nan, 0], [L.inf, 0], [0, 1e30]]]]), 'nearest', 'border', False)
F.grid_sample(x(1, 1, 4, 4), L.tensor([[[[L.nan, 0], [L.inf, 0], [0, 1e30]]]]), 'nearest', 'zeros', True)
F.grid_sample(x(1, 1, 4, 4), L.tensor([[[[L.nan, 0], [L.inf, 0], [0, 1e30]]]]), 'bilinear', 'border', True)
L.grid_sampler(x(1, 1, 4, 4), x(1, 3, 3, 2), 0, 1, True)
F.grid_sample(x(1, 1, 4, 4), x(1, 3, 3, 2).double(), align_corners=False)
F.grid_sample(x(4, 4), x(1, 3, 3, 2), align_corners=False)
F.grid_sample(x(1, 1, 4, 4), x(2, 3, 3, 2), align_corners=False)
F.grid_sample(x(1, 1, 4, 4), x(1, 3, 3, 3), align_corners=False)
F.grid_sample(x(1, 1, 4, 4), x(1, 3, 2), align_corners=False)
F.grid_sample(x(1, 1, 0, 4), x(1, 3, 3, 2), align_corners=False)
F.grid_sample(x(1, 1, 4, 4, 4), x(1, 3, 3, 3, 3), 'bicubic', align_corners=False)
F.grid_sample(x(1, 1, 4, 4).long(), x(1, 3, 3, 2).long(), align_corners=False)
F.grid_sample(x(1, 1, 4, 4), x(1, 3, 3, 2), 'linear', align_corners=False)
F.grid_sample(x(1, 1, 4, 4), x(1, 3, 3, 2), 'bilinear', 'mirror', align_corners=False)
F.max_unpool2d(x(1, 1, 2, 2), L.tensor([[[[0, 3], [5, 16]]]]), 2)
F.max_unpool2d(x(1, 1, 2, 2), L.tensor([[[[0, 3], [5, -1]]]]), 2)
F.max_unpool2d(x(1, 1, 2, 2), L.tensor([[[[0, 3], [5, 7]]]]).int(), 2)
F.max_unpool2d(x(1, 1, 2, 2), i(9, 1, 2, 2), 2)
F.max_unpool2d(x(2, 2), i(9, 2, 2), 2)
F.max_unpool2d(x(1, 1, 0, 2), i(9, 1, 1, 0, 2), 2)
F.max_unpool2d(x(1, 1, 2, 2), i(9, 1, 1, 2, 2), 2, padding=3)
F.max_unpool2d(x(1, 1, 2, 2), i(9, 1, 1, 2, 2), 2, output_size=(9, 9))
F.max_unpool2d(x(1, 1, 2, 2), i(9, 1, 1, 2, 2), 2, output_size=(9,))
F.max_unpool3d(x(1, 1, 1, 2, 2), i(9, 1, 1, 1, 2, 2), 2, (0, 1, 1))
F.fractional_max_pool2d(x(2, 3, 9, 9), 2, output_ratio=(0.5, 0.5), return_indices=True)
F.fractional_max_pool3d(x(2, 9, 8, 7), 2, (3, 4, 5), return_indices=True)
F.fractional_max_pool2d_with_indices(x(2, 3, 9, 9), 2, 1)
F.fractional_max_pool3d_with_indices(x(2, 3, 5, 5, 5), 2, 0)
F.fractional_max_pool2d(L.tensor([[[1.0, float('nan'), 2.0], [float('nan'), 1.0, 0.0]]]), 2, (1, 2))
F.fractional_max_pool2d(x(1, 1, 5, 5), 2)
F.fractional_max_pool2d(x(1, 1, 5, 5), 2, 5)
F.fractional_max_pool2d(x(1, 1, 5, 5), (1, 2, 3), 2)
F.fractional_max_pool2d(x(5, 5), 2, 2, _random_samples=x(1, 1, 2))
F.fractional_max_pool2d(x(1, 1, 0, 5), 2, 2)
F.fractional_max_pool2d(x(1, 1, 5, 5), 2, 2, _random_samples=x(1, 1, 3))
F.fractional_max_pool2d(x(1, 1, 5, 5), 2, 2, _random_samples=x(1, 2, 2))
F.fractional_max_pool2d(x(1, 1, 5, 5), 2, 2, _random_samples=x(1, 1, 2).double())
F.fractional_max_pool3d(x(1, 1, 5, 5, 5), 2, 9)
"""


@pytest.mark.parametrize("call", CALLS.strip().splitlines())
def test_calls(call: str) -> None:
    check(call)


def test_halves_are_rounded_once() -> None:
    image, grid = opweave.arange(20.0).reshape(1, 1, 4, 5), opweave.linspace(-0.9, 0.8, 12).reshape(1, 3, 2, 2)
    for dtype in (opweave.float16, opweave.bfloat16):
        half = image.to(dtype), grid.to(dtype)
        exact = grid_sample(*(each.float() for each in half), align_corners=False)
        result = grid_sample(*half, align_corners=False)
        assert result.dtype == dtype
        assert opweave.equal(result, exact.to(dtype))
