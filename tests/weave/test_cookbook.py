"""The operators of examples/cookbook.yaml compute what they say, also their gradients; docs/cookbook.md names them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from folders import shared_folder, written
from scripts import script
from weaving import weave_unoptimized

pytest.importorskip("opweave")

from opweave._weave.weave import Woven

ROOT = Path(__file__).parents[2]
COOKBOOK = ROOT / "examples" / "cookbook.yaml"
HEAD = """
import numpy as np
import opweave as ow
import cookbook as ops

rng = np.random.default_rng(11)

def drawn(*shape, low=0.5, high=2):
    return ow.tensor(rng.uniform(low, high, shape), requires_grad=True)

def array(x):
    return x.detach().numpy()

def near(got, want):
    np.testing.assert_allclose(array(got), want, rtol=1e-11, atol=1e-11)

def check(function, *tensors):
    assert ow.autograd.gradcheck(function, tensors)
    assert ow.autograd.gradgradcheck(function, tensors)
"""


def in_float64(factory: pytest.TempPathFactory, name: str, derivatives: str) -> Woven:
    """The cookbook in the dtype that values and differences are compared in."""
    folder = shared_folder(factory, name)
    text = COOKBOOK.read_text("utf-8").replace("dtypes: floating", "dtypes: [float64]")
    text = text.replace("derivatives: auto", f"derivatives: {derivatives}")
    return weave_unoptimized(written(folder / "cookbook.yaml", text), out=folder)


@pytest.fixture(scope="module")
def woven(tmp_path_factory: pytest.TempPathFactory) -> Woven:
    """Values alone, which take an eighth of the time to weave."""
    return in_float64(tmp_path_factory, "cookbook_values", "none")


def run(woven: Woven, code: str) -> None:
    script(HEAD + code, cwd=woven.folder.parent)


def test_images(woven: Woven) -> None:
    run(
        woven,
        """
x = drawn(2, 5, 6)
a = array(x)
p = np.pad(a, ((0, 0), (1, 1), (1, 1)), mode="edge")
across = sum(w * (p[:, i : i + 5, 2:] - p[:, i : i + 5, :-2]) for i, w in enumerate((1, 2, 1)))
down = sum(w * (p[:, 2:, j : j + 6] - p[:, :-2, j : j + 6]) for j, w in enumerate((1, 2, 1)))
near(ops.edges(x), np.sqrt(across**2 + down**2 + 1e-12))
low = np.pad(a, ((0, 0), (1, 1), (1, 1)), constant_values=-np.inf)
near(ops.dilated(x), np.max([low[:, i : i + 5, j : j + 6] for i in range(3) for j in range(3)], 0))
near(ops.dilated(x, 9), np.broadcast_to(a.max((1, 2), keepdims=True), a.shape))
r = np.pad(a, ((0, 0), (1, 1), (1, 1)), mode="reflect")
mean = np.mean([r[:, i : i + 5, j : j + 6] for i in range(3) for j in range(3)], 0)
near(ops.sharpened(x, amount=0.7), a + 0.7 * (a - mean))
near(ops.pooled(x), a[:, :4].reshape(2, 2, 2, 3, 2).max((2, 4)))
near(ops.pooled(x, 3, 1), np.lib.stride_tricks.sliding_window_view(a, (3, 3), (1, 2)).max((-1, -2)))
near(ops.luma_and_chroma(ow.tensor([[1.0, 1, 1], [1, 0, 0]], dtype=ow.float64)), [[1, 0, 0], [0.299, -0.168736, 0.5]])
near(ops.tone_mapped(ow.tensor([0.0, 1, 1e9], dtype=ow.float64)), [0, 2.54 / 3.16, 1])
""",
    )


def test_audio(woven: Woven) -> None:
    run(
        woven,
        """
x = drawn(2, 12, low=-1, high=1)
a = array(x)
near(ops.emphasized(x, amount=0.9), a - 0.9 * np.pad(a, ((0, 0), (1, 0)))[:, :-1])
window = 0.5 - 0.5 * np.cos(2 * np.pi * np.arange(4) / 4)
near(ops.frames(x, 4, 3), np.stack([a[:, k : k + 4] * window for k in (0, 3, 6)], 1))
near(ops.autocorrelation(x, 3), np.stack([(a[:, : 12 - k] * a[:, k:]).sum(1) for k in range(3)], 1))
near(ops.power_at(x, ow.arange(6, dtype=ow.float64) / 12), abs(np.fft.fft(a)[:, :6]) ** 2 / 12)
near(ops.overdriven(x), np.tanh(4 * a) / np.tanh(4))
""",
    )


def test_finance(woven: Woven) -> None:
    run(
        woven,
        """
x = drawn(2, 7)
a = array(x)
near(ops.log_returns(x), np.diff(np.log(a)))
windows = np.lib.stride_tricks.sliding_window_view(a, 3, -1)
mean, deviation = windows.mean(-1), windows.std(-1)
for got, want in zip(ops.bands(x, 3), (mean, mean - 2 * deviation, mean + 2 * deviation)):
    near(got, want)
rate = drawn(3, low=0.01, high=0.1)
near(ops.present_value(x, rate), np.stack([(a / (1 + r) ** np.arange(7)).sum(1) for r in array(rate)], 1))
up, discount, chance, strike = 1.1, 0.99, 0.52, 1.2
for n, spot in enumerate(a[0]):
    value = [max(strike - spot * up ** (2 * k - 4), 0) for k in range(5)]
    for t in range(1, 5):
        value = [
            max(strike - spot * up ** (2 * k - 4 + t), discount * (chance * value[k + 1] + (1 - chance) * value[k]))
            for k in range(5 - t)
        ]
    tree = ops.american_put(x[0], 4, strike=strike, up=up, discount=discount, chance=chance)
    near(tree[n], value[0])
""",
    )


def test_physics(woven: Woven) -> None:
    run(
        woven,
        """
x, c = drawn(4, 5), drawn(4, 5)
p = np.pad(array(x), 1, mode="edge")
flow = p[:-2, 1:-1] + p[2:, 1:-1] + p[1:-1, :-2] + p[1:-1, 2:] - 4 * array(x)
near(ops.heat_step(x, c), array(x) + 0.1 * array(c) * flow)
# A tone of the string: sin(pi x / 6) on five places between its ends, which turns by the angle `a` at each step.
tone, half = np.sin(np.pi * np.arange(1, 6) / 6), 0.25 * (1 - np.cos(np.pi / 6))
a = np.arccos(1 - half)
turned = [np.cos(a * t) - np.tan(a / 2) * np.sin(a * t) for t in range(6)]
near(ops.string(ow.tensor(tone), 6), np.outer(turned, tone))
places, mass = drawn(4, 3, low=-1, high=1), drawn(4)
between = np.sqrt(((array(places)[:, None] - array(places)) ** 2).sum(-1) + 0.01)
near(ops.potential(places, mass), -(array(mass) * (1 - np.eye(4)) / between).sum(1))
s = array(x)
want = -(s * (np.roll(s, -1, 0) + np.roll(s, -1, 1) + 0.3)).sum()
near(ops.spin_energy(x, field=0.3), want)
""",
    )


def test_sequences(woven: Woven) -> None:
    run(
        woven,
        """
score = drawn(4, 5, low=-2, high=2)
want = np.zeros((5, 6))
for i in range(1, 5):
    for j in range(1, 6):
        gaps = max(want[i - 1, j], want[i, j - 1]) - 1
        want[i, j] = max(0, want[i - 1, j - 1] + array(score)[i - 1, j - 1], gaps)
near(ops.local_alignment(score), want[1:, 1:])
emissions, transitions = drawn(5, 3), drawn(3, 3)
best = array(emissions)[0]
for row in array(emissions)[1:]:
    best = row + (best[:, None] + array(transitions)).max(0)
near(ops.best_paths(emissions, transitions)[-1], best)
one, other = (ow.tensor([*map(ord, word)]) for word in ("nematode knowledge", "empty bottle"))
assert ops.common_length(one, other)[-1, -1].item() == 7  # "emt ole"
counted = ops.pairs_counted(ow.tensor([0, 1, 1, 2, 0, 1]), 3)
assert counted.tolist() == [[0, 2, 0], [0, 1, 1], [1, 0, 0]]
""",
    )


def test_geometry(woven: Woven) -> None:
    run(
        woven,
        """
square = ow.tensor([[0.0, 0], [2, 0], [2, 2], [0, 2]], dtype=ow.float64)
near(ops.polygon_area(ow.stack([square, square.flip(0)])), [4, -4])
points = ow.tensor([[1.0, 1], [3, 1], [-1, 1], [0.1, 1.9], [1, 5]], dtype=ow.float64)
assert ops.within(points, square).tolist() == [True, False, False, True, False]
some, others = drawn(7, 3), drawn(5, 3)
far = ((array(some)[:, None] - array(others)) ** 2).sum(-1)
assert ops.nearest_of(some, others).tolist() == far.argmin(1).tolist()
t = drawn(6, low=0, high=1)
u, (a, b, c, d) = array(t)[:, None], array(drawn(4, 2))
near(ops.bezier(ow.tensor(np.stack([a, b, c, d])), t),
     (1 - u) ** 3 * a + 3 * (1 - u) ** 2 * u * b + 3 * (1 - u) * u**2 * c + u**3 * d)
""",
    )


def test_learning(woven: Woven) -> None:
    run(
        woven,
        """
x, w = drawn(3, 4), drawn(4)
a = array(x)
near(ops.rms_scaled(x, w), a / np.sqrt((a**2).mean(1, keepdims=True) + 1e-6) * array(w))
logit, target = drawn(6, low=-3, high=3), ow.tensor([0.0, 1, 0, 1, 0, 1], dtype=ow.float64)
chance = 1 / (1 + np.exp(-array(logit) * (2 * array(target) - 1)))
near(ops.focal(logit, target), -((1 - chance) ** 2) * np.log(chance))
y = drawn(3, 4)
b = array(y)
near(ops.alike(x, y), (a * b).sum(1) / np.sqrt((a**2).sum(1) * (b**2).sum(1)))
near(ops.gaussian_kernel(x, y, width=0.8), np.exp(-((a[:, None] - b) ** 2).sum(-1) / 1.28))
weight, gate = drawn(2, 4), drawn(2, 4)
opened = a @ array(gate).T
query, key, values = drawn(4, 3), drawn(5, 3), drawn(5, 2)
chance = np.exp(array(query) @ array(key).T / np.sqrt(3))
near(ops.attended(query, key, values), chance / chance.sum(1, keepdims=True) @ array(values))
near(ops.gated(x, weight, gate), opened / (1 + np.exp(-opened)) * (a @ array(weight).T))
""",
    )


@pytest.mark.slow  # `.ci/run fresh` runs it
def test_gradients(tmp_path_factory: pytest.TempPathFactory) -> None:
    """First and second ones with differences."""
    run(
        in_float64(tmp_path_factory, "cookbook_gradients", "auto"),
        """
for each in (ops.edges, ops.sharpened, ops.dilated):
    check(each, drawn(3, 4))
check(ops.luma_and_chroma, drawn(2, 3))
check(ops.tone_mapped, drawn(4, low=0.1, high=0.9))
check(ops.emphasized, drawn(5))
check(lambda x: ops.frames(x, 4, 3), drawn(10))
check(lambda x: ops.autocorrelation(x, 3), drawn(5))
check(ops.power_at, drawn(2, 5), drawn(3, low=0.05, high=0.4))
check(ops.overdriven, drawn(4, low=-1, high=1))
check(ops.log_returns, drawn(4))
check(lambda x: ops.bands(x, 3), drawn(5))
check(ops.present_value, drawn(4), drawn(3, low=0.01, high=0.1))
check(ops.heat_step, drawn(3, 3), drawn(3, 3))
check(lambda x: ops.string(x, 4), drawn(3))
check(ops.potential, drawn(3, 3, low=-1, high=1), drawn(3))
check(ops.spin_energy, drawn(3, 4))
assert ow.autograd.gradcheck(ops.local_alignment, (drawn(4, 5, low=-2, high=2),))
check(ops.polygon_area, drawn(4, 2))
check(ops.bezier, drawn(4, 2), drawn(3, low=0.1, high=0.9))
check(ops.rms_scaled, drawn(2, 3), drawn(3))
target = ow.tensor([0.0, 1, 0, 1], dtype=ow.float64)
check(lambda x: ops.focal(x, target), drawn(4, low=-3, high=3))
check(ops.alike, drawn(2, 3), drawn(2, 3))
check(ops.gaussian_kernel, drawn(2, 2), drawn(3, 2))
check(ops.pooled, drawn(4, 5))
check(ops.attended, drawn(3, 2), drawn(2, 2), drawn(2, 2))
check(ops.gated, drawn(2, 3), drawn(2, 3), drawn(2, 3))
""",
    )


def test_the_page_names_what_the_files_have() -> None:
    """Each operator once, from a file that has it, all those of the cookbook, and tests run them."""
    page = (ROOT / "docs" / "cookbook.md").read_text("utf-8")
    rows = re.findall(r"^\| `(\w+)` \| .+ \| \[(\w+)\.yaml\]\(\.\./examples/\2\.yaml\) \|$", page, re.MULTILINE)
    assert len(rows) == page.count("\n| `") == len({name for name, _ in rows})
    assert {name for name, file in rows if file == "cookbook"} == set(_operators("cookbook"))
    assert [row for row in rows if row[0] not in _operators(row[1])] == []
    tests = "".join(path.read_text("utf-8") for path in (ROOT / "tests").rglob("*.py"))
    used = {name for pair in re.findall(r"\b(\w+)\(|\.(\w+)\b", tests) for name in pair}
    assert [name for name, _ in rows if name not in used] == []


def _operators(file: str) -> list[str]:
    return re.findall(r"^- func: (\w+)\(", (ROOT / "examples" / f"{file}.yaml").read_text("utf-8"), re.MULTILINE)
