"""The operators of examples/fields.yaml, as people wrote them, compute what NumPy does; their gradients are right."""

from __future__ import annotations

from pathlib import Path

import pytest
from folders import shared_folder, written
from scripts import script
from weaving import weave_unoptimized

pytest.importorskip("opweave")

from opweave._weave.weave import Woven, read
from opweave.codegen.model.compute import Compute
from opweave.codegen.model.unrolled import by_position

EXAMPLES = Path(__file__).parents[2] / "examples" / "fields.yaml"
HEAD = """
import numpy as np
import opweave as ow
import values as ops

rng = np.random.default_rng(5)

def near(got, want):
    np.testing.assert_allclose(got.numpy(), want, rtol=1e-9, atol=1e-9)

def t(*arrays):
    return map(ow.from_numpy, map(np.ascontiguousarray, arrays))
"""


@pytest.fixture(scope="module")
def woven(tmp_path_factory: pytest.TempPathFactory) -> Woven:
    """The operators without gradients, which would be three hundred kernels."""
    folder = shared_folder(tmp_path_factory, "fields")
    text = (
        EXAMPLES.read_text().replace("derivatives: auto", "derivatives: none").replace("logits: auto", "logits: none")
    )
    return weave_unoptimized(written(folder / "values.yaml", text), out=folder)


def run(woven: Woven, code: str) -> None:
    script(HEAD + code, cwd=woven.folder.parent)


def test_learning(woven: Woven) -> None:
    run(
        woven,
        """
logits, target = rng.standard_normal((4, 7)) * 50, np.array([0, 6, 3, 3])
want = np.log(np.exp(logits - logits.max(1)[:, None]).sum(1)) + logits.max(1) - logits[np.arange(4), target]
near(ops.softmax_cross_entropy(*t(logits, target)), want)

scores, slope = rng.standard_normal((2, 3, 20, 20)), np.array([0.5, 0.25, 0.1])
i, k = np.indices((20, 20))
powers = np.exp(scores - slope[:, None, None] * (i - k)) * (k <= i)
near(ops.alibi_softmax(*t(scores, slope)), powers / powers.sum(-1, keepdims=True))

def at(image, y, x):
    r, s = int(np.floor(y)), int(np.floor(x))
    total = 0
    for a, b, share in ((r, s, (r + 1 - y) * (s + 1 - x)), (r, s + 1, (r + 1 - y) * (x - s)),
                        (r + 1, s, (y - r) * (s + 1 - x)), (r + 1, s + 1, (y - r) * (x - s))):
        if 0 <= a < image.shape[0] and 0 <= b < image.shape[1]:
            total += share * image[a, b]
    return total

image, offset, weight = map(rng.standard_normal, ((2, 5, 6), (9, 2, 5, 6), (3, 2, 3, 3)))
want = np.zeros((3, 5, 6))
for o, y, x, c, n in np.ndindex(3, 5, 6, 2, 9):
    place = y + n // 3 - 1 + offset[n, 0, y, x], x + n % 3 - 1 + offset[n, 1, y, x]
    want[o, y, x] += weight[o, c, n // 3, n % 3] * at(image[c], *place)
near(ops.deform_conv(*t(image, offset, weight)), want)
for wrong in (offset[:8], np.repeat(offset, 2, 0)):
    try:
        ops.deform_conv(*t(image, wrong, weight))
    except (IndexError, RuntimeError) as error:
        assert "offset" in str(error) and "9" in str(error), error
    else:
        raise AssertionError("there are nine offsets")

images, boxes = rng.standard_normal((2, 3, 8, 9)), np.array([[0, 1.0, 2.0, 6.0, 7.5], [1, 0.5, 0.0, 20.0, 5.0]])
want = np.zeros((2, 3, 2, 2))
for b, c, p, q, i, j in np.ndindex(2, 3, 2, 2, 2, 2):
    n, x0, y0, x1, y1 = boxes[b]
    y = np.clip(y0 * 0.5 - 0.5 + (p + (i + 0.5) / 2) * (y1 - y0) * 0.5 / 2, 0, 7)
    x = np.clip(x0 * 0.5 - 0.5 + (q + (j + 0.5) / 2) * (x1 - x0) * 0.5 / 2, 0, 8)
    want[b, c, p, q] += at(np.pad(images[int(n), c], ((0, 1), (0, 1)), "edge"), y, x) / 4
near(ops.roi_align(*t(images, boxes), 2, 0.5), want)
""",
    )


def test_images_and_signals(woven: Woven) -> None:
    run(
        woven,
        """
rows = np.array([[0.0, 1.0, np.nan], [0.0, -2.0, 5.0], [3.0, 0.5, 1.0]])
parts = np.abs(rows[:, None] - rows) / (np.abs(rows)[:, None] + np.abs(rows) + (rows[:, None] == 0) * (rows == 0))
near(ops.canberra(*t(rows, rows)), np.nansum(parts, -1))

image = rng.standard_normal((2, 7, 9))
windows = np.lib.stride_tricks.sliding_window_view(image, (3, 3), (1, 2))
near(ops.median_3x3(*t(image)), np.median(windows, (-2, -1)))

image[0, 3, 4] = np.nan
padded = np.pad(image, ((0, 0), (2, 2), (2, 2)), "reflect")
total, weights = np.zeros(image.shape), np.zeros(image.shape)
for i, j in np.ndindex(5, 5):
    other = padded[:, i : i + 7, j : j + 9]
    weight = np.exp(-((i - 2) ** 2 + (j - 2) ** 2) / 8 - (other - image) ** 2 / (2 * 0.7**2))
    total += np.nan_to_num(weight * other)
    weights += np.where(np.isnan(other), 0, weight)
near(ops.bilateral(*t(image), 2, 2.0, 0.7), total / weights)

time, signal, frequency = rng.uniform(0, 10, 30), rng.standard_normal(30), rng.uniform(0.5, 3, 7)
tau = np.arctan2(np.sin(2 * np.outer(frequency, time)).sum(1), np.cos(2 * np.outer(frequency, time)).sum(1)) / 2
angles = np.outer(frequency, time) - tau[:, None]
c, s = np.cos(angles), np.sin(angles)
want = ((signal * c).sum(1) ** 2 / (c * c).sum(1) + (signal * s).sum(1) ** 2 / (s * s).sum(1)) / 2
near(ops.lomb_scargle(*t(time, signal, frequency)), want)
""",
    )


def test_physics(woven: Woven) -> None:
    run(
        woven,
        """
places, mass = rng.standard_normal((6, 3)), rng.uniform(0.5, 2, 6)
apart = places - places[:, None]
want = (mass[:, None] * apart / ((apart**2).sum(-1, keepdims=True) + 0.25) ** 1.5).sum(1)
near(ops.gravity(*t(places, mass), softening=0.5), want)

u, v, h = rng.standard_normal((3, 5, 6))
flow = lambda velocity, here, there: np.maximum(velocity, 0) * here + np.minimum(velocity, 0) * there
back = lambda a, axis: np.roll(a, 1, axis)
along = flow(u, h, np.roll(h, -1, 1)), flow(v, h, np.roll(h, -1, 0))
want = u - 0.981 * (np.roll(h, -1, 1) - h), v - 0.981 * (np.roll(h, -1, 0) - h)
for got, each in zip(ops.shallow_water(*t(u, v, h), dt=0.1), (
        *want, h - 0.1 * (along[0] - back(along[0], 1)) - 0.1 * (along[1] - back(along[1], 0)))):
    near(got, each)

f, cx, cy = rng.uniform(0.5, 1, (5, 6, 9)), [0, 1, 0, -1, 0, 1, -1, -1, 1], [0, 0, 1, 0, -1, 1, 1, -1, -1]
moved = np.stack([np.roll(f[..., q], (cy[q], cx[q]), (0, 1)) for q in range(9)], -1)
density = moved.sum(-1)
ux, uy = moved @ cx / density, moved @ cy / density
for q in range(9):
    along = 3 * (cx[q] * ux + cy[q] * uy)
    share = (4 / 9, 1 / 9, 1 / 36)[(q > 0) + (q > 4)]
    equal = share * density * (1 + along + along**2 / 2 - 1.5 * (ux**2 + uy**2))
    near(ops.lattice_boltzmann(*t(f), omega=0.7)[..., q], 0.3 * moved[..., q] + 0.7 * equal)
""",
    )


def test_gradients() -> None:
    """Reading compares first and second gradients with differences; none is refused."""
    operators = {each.name: each for each in read(EXAMPLES, "fields")}
    for name in (
        "deform_conv",
        "roi_align",
        "lattice_boltzmann_value",
        "gravity",
        "bilateral_value",
        "alibi_softmax_top",
    ):
        formulas = operators[name].derivatives.values()
        assert formulas, name
        assert all(each.formula is not None for each in formulas), name
    for name in ("deform_conv", "shallow_water"):
        own = operators[name].body
        assert isinstance(own, Compute)
        for each in operators.values():  # gradients demand no sizes that the entries do not
            if each.name.startswith(name) and isinstance(each.body, Compute):
                demanded = by_position(each.body).exact
                inputs = {place: size for place, size in demanded.items() if "grad" not in place[0]}
                assert inputs.items() <= own.exact.items(), each.name
