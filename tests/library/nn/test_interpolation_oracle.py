"""Interpolation in every mode, which is `resample` for each dimension: values, first and second gradients, and errors,
beside torch's."""

from __future__ import annotations

from itertools import product

import pytest
from harness.programs import check

MODES = {
    "linear": 1, "bilinear": 2, "bicubic": 2, "trilinear": 3, "nearest": 2, "nearest-exact": 3, "area": 2, "lanczos": 2,
}  # fmt: skip
ANTIALIAS = {"bilinear": (False, True), "bicubic": (False, True), "lanczos": (True,)}
SIZES = ("size={size}", "scale_factor=2", "scale_factor=0.6", "scale_factor=1.7, recompute_scale_factor=True")


@pytest.mark.parametrize(("mode", "size"), [*product(MODES, SIZES)])
def test_values_and_gradients(mode: str, size: str) -> None:
    dims = MODES[mode]
    shape = ", ".join(map(str, (2, 1, *(7, 6, 5)[:dims])))
    calls = []
    for align in ("None", "True") if mode.endswith(("linear", "cubic")) else ("None",):
        for antialias in ANTIALIAS.get(mode, (False,)):
            given = f"mode={mode!r}, align_corners={align}, antialias={antialias}"
            calls.append(f"F.interpolate(a, {size.format(size=(9, 4, 8)[:dims])}, {given})")
    check(
        f"""
a = g({shape}, dtype='float64')
results = []
for y in [{", ".join(calls)}]:
    first, = L.autograd.grad((y * y * x(*y.shape, dtype='float64', step=0.3)).sum(), a, create_graph=True)
    second, = L.autograd.grad((first * x({shape}, dtype='float64', step=0.5)).sum(), a)
    results += [y, first, second]
results
"""
    )


CALLS = """
F.interpolate(x(1, 2, 6, 6), scale_factor=(2, 0.5), mode='bilinear')
F.interpolate(x(1, 1, 30, 70), 20, mode='bilinear')
F.interpolate(x(1, 1, 4, 4).bfloat16(), 6, mode='nearest')
F.interpolate(x(1, 2, 4), 3, mode='area')
F.upsample_nearest(x(1, 1, 2, 2), scale_factor=2)
F.interpolate(x(1, 1, 4, 4))
F.interpolate(x(1, 1, 4, 4), 2, 2)
F.interpolate(x(1, 1, 4, 4), (2, 2, 2))
F.interpolate(x(1, 1, 4, 4), 2, align_corners=True)
F.interpolate(x(1, 1, 4, 4), 2, mode='nearest', antialias=True)
F.interpolate(x(1, 1, 4, 4), 2, recompute_scale_factor=True)
F.interpolate(x(3, 4, 4), (2, 2), mode='bilinear')
F.interpolate(x(3, 4, 4), scale_factor=(2, 2), mode='bilinear')
F.interpolate(x(3, 4, 4), 2, mode='bilinear')
F.interpolate(x(1, 3, 4, 4), 2, mode='linear')
F.interpolate((x(1, 2, 9, 7).abs() * 90).to(L.uint8), (5, 11), mode='lanczos', antialias=True)
F.interpolate((x(2, 3, 4, 9).abs() * 90).to(L.uint8), (9, 4), mode='lanczos', antialias=True)
F.interpolate(x(1, 1, 4, 4), 2, mode='lanczos')
F.interpolate(x(1, 1, 4, 4), 2, mode='lanczos', align_corners=True, antialias=True)
F.interpolate(x(1, 4, 4), 2, mode='lanczos', antialias=True)
"""


@pytest.mark.parametrize("call", CALLS.strip().splitlines())
def test_calls(call: str) -> None:
    check(call)
