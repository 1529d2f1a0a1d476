"""Results that lie within the range of a dtype where sums, squares or differences on the way do not."""

import math

import opweave
import pytest
from opweave.nn import functional

F32, F64, BFLOAT = opweave.float32, opweave.float64, opweave.bfloat16
SCALES = [
    (F32, 1e20),
    (F32, 1e-25),
    (F32, 1e-38),
    (F32, 1e38),
    (BFLOAT, 1e25),
    (F64, 1e200),
    (F64, 1e-200),
    (F64, 1e-300),
]


def scaled(values, dtype, scale):
    return opweave.tensor([each * scale for each in values], dtype=dtype)


def close(dtype):
    return {"rel": 4 * opweave.finfo(dtype).eps, "abs": 0}


@pytest.mark.parametrize(("dtype", "scale"), SCALES)
def test_norms(dtype, scale):
    x = scaled([0.3, -0.4], dtype, scale)
    for got in (
        x.norm(),
        opweave.linalg.vector_norm(x),
        x.norm(2, 0),
        x.norm(dim=0, keepdim=True),
        x.reshape(1, 2).norm(dim=1),
    ):
        assert got.item() / scale == pytest.approx(0.5, **close(dtype))
    assert opweave.linalg.matrix_norm(x.reshape(1, 2)).item() / scale == pytest.approx(0.5, **close(dtype))
    assert x.norm(3).item() / scale == pytest.approx(
        0.091 ** (1 / 3), rel=1e-6 if dtype is F32 else close(dtype)["rel"]
    )
    assert x.norm(-2).item() / scale == pytest.approx(0.24, **close(dtype))
    assert opweave.dist(x, opweave.zeros_like(x)).item() / scale == pytest.approx(0.5, **close(dtype))
    assert functional.pairwise_distance(x[None], 0 * x[None], eps=0.0).item() / scale == pytest.approx(
        0.5, **close(dtype)
    )


@pytest.mark.parametrize(("dtype", "scale"), SCALES)
def test_deviations(dtype, scale):
    x = scaled([0.1, 0.2, 0.3], dtype, scale)
    for std, mean in ((x.std(), x.mean()), opweave.std_mean(x), opweave.std_mean(x.reshape(1, 3).expand(5, 3), 1)):
        assert std.flatten()[0].item() / scale == pytest.approx(0.1, rel=16 * opweave.finfo(dtype).eps)
        assert mean.flatten()[0].item() / scale == pytest.approx(0.2, rel=4 * opweave.finfo(dtype).eps)
    columns = x.reshape(3, 1).expand(3, 40).contiguous().std(0)
    assert columns[17].item() / scale == pytest.approx(0.1, rel=16 * opweave.finfo(dtype).eps)


def test_variances():
    assert opweave.tensor([1e18, 2e18, 3e18]).var().item() == pytest.approx(1e36)
    assert opweave.tensor([1e20, 2e20, 3e20]).var().item() == math.inf
    assert opweave.tensor([3e38, 3e38]).var().item() == 0
    assert [each.item() for each in opweave.std_mean(opweave.tensor([3e38, 3.2e38]), correction=0)] == pytest.approx(
        [1e37, 3.1e38]
    )
    assert opweave.tensor([math.inf, 1.0]).std().isnan()
    assert opweave.tensor([1.0, math.nan]).norm().isnan()
    assert opweave.tensor([math.inf, 1.0]).norm().item() == math.inf
    assert opweave.zeros(3).norm().item() == opweave.zeros(3).std().item() == 0
    assert opweave.full((5,), 1e-3).std().item() == pytest.approx(0, abs=1e-10)


def test_each_row_by_itself():
    rows = opweave.tensor([[3.0, 4.0], [3e30, 4e30], [0.0, 0.0], [3e-30, 4e-30], [math.nan, 1.0]])
    got = rows.norm(dim=1).tolist()
    assert got[:4] == pytest.approx([5, 5e30, 0, 5e-30], rel=1e-6, abs=0)
    assert math.isnan(got[4])
    assert rows.T.contiguous().norm(dim=0).tolist()[:4] == got[:4]
    long = opweave.full((3, 5000), 1e-30).norm(dim=1)
    assert long.tolist() == pytest.approx([1e-30 * 5000**0.5] * 3, rel=1e-6)


def test_out_of_any_order():
    out = opweave.zeros(4)[::2]
    opweave.norm(opweave.tensor([[3e30, 4e30], [3.0, 4.0]]), dim=1, out=out)
    assert out.tolist() == pytest.approx([5e30, 5])


def test_cosines_and_unit_vectors():
    x, y = opweave.tensor([3e20, 4e20]), opweave.tensor([4e25, 3e25])
    assert opweave.cosine_similarity(x, y, 0).item() == pytest.approx(0.96)
    assert functional.normalize(x, dim=0).tolist() == pytest.approx([0.6, 0.8])


@pytest.mark.parametrize(("dtype", "scale"), [(opweave.float16, 1.5e4), (F32, 8e37), (F64, 4e307)])
def test_unit_vectors_of_norms_beyond_the_range(dtype, scale):
    x = opweave.tensor([[3.0 * scale, 4.0 * scale], [3.0, 4.0]], dtype=dtype, requires_grad=True)
    y = functional.normalize(x)
    assert y.flatten().tolist() == pytest.approx([0.6, 0.8] * 2, rel=1e-3)
    assert opweave.cosine_similarity(x, opweave.tensor([4.0, 3.0], dtype=dtype)).tolist() == pytest.approx(
        [0.96] * 2, rel=1e-3
    )
    (slope,) = opweave.autograd.grad(y[:, 0].sum(), x)  # (0.64, -0.48) divided by the norm
    assert slope[1].tolist() == pytest.approx([0.128, -0.096], rel=1e-3)
    assert slope[0].mul(scale).tolist() == pytest.approx([0.128, -0.096], rel=1e-2)


@pytest.mark.parametrize(("dtype", "scale"), [(F32, 1e20), (F32, 1e-25), (F64, 1e200), (F64, 1e-200)])
def test_layer_norms(dtype, scale):
    x = scaled([1.0, 2.0, 3.0], dtype, scale).requires_grad_()
    result = functional.layer_norm(x, (3,), eps=0.0)
    assert result.tolist() == pytest.approx([-math.sqrt(1.5), 0.0, math.sqrt(1.5)], **close(dtype))
    (slope,) = opweave.autograd.grad(result[2], x)  # sqrt(1.5) times (1, -2, 1) / 6
    want = [each * math.sqrt(1.5) / 6 / scale for each in (1.0, -2.0, 1.0)]
    assert slope.tolist() == pytest.approx(want, rel=1e-5)


@pytest.mark.parametrize("count", [2, 17, 64])
def test_rms_norm_of_infinity(count):
    row = opweave.ones(count)
    row[0] = math.inf
    found = functional.rms_norm(row, [count], eps=1e-6).tolist()
    assert math.isnan(found[0])
    assert found[1:] == [0.0] * (count - 1)


def test_layer_norm_of_equal_numbers():
    x = opweave.full((4,), 3.0, requires_grad=True)
    functional.layer_norm(x, (4,)).sum().backward()
    assert x.grad.tolist() == [0.0] * 4


@pytest.mark.parametrize(("count", "scale"), [(3, 1e30), (30, 1e30), (30, 1e-30), (30, 1.0)])
def test_distances(count, scale):
    points = opweave.arange(count, dtype=F32).reshape(count, 1) * opweave.tensor([3.0, 4.0]) * scale
    got = opweave.cdist(points, points)
    assert got[0].tolist() == pytest.approx([5 * scale * k for k in range(count)], rel=1e-5)
    got = opweave.cdist(points.double() * 1e160, points.double() * 1e160)
    assert got[0, count - 1].item() == pytest.approx(5e160 * scale * (count - 1), rel=1e-5)


def test_sequences():
    assert opweave.linspace(-3e38, 3e38, 3).tolist() == pytest.approx([-3e38, 0, 3e38])
    assert opweave.linspace(-3e38, 3e38, 4).tolist() == pytest.approx([-3e38, -1e38, 1e38, 3e38])
    assert opweave.linspace(-1.5e308, 1.5e308, 3, dtype=F64).tolist() == [-1.5e308, 0, 1.5e308]
    assert opweave.linspace(-3e38, 3e38, 2).tolist() == pytest.approx([-3e38, 3e38])
    assert opweave.linspace(-60000, 60000, 3, dtype=opweave.float16).tolist() == [-60000, 0, 60000]


def test_sequences_of_more_halves_than_count():
    # The number of steps and the positions are no halves here: they are rounded, as torch does.
    x = opweave.linspace(0.1, 1.0, 300, dtype=BFLOAT)
    assert [x[k].item() for k in (0, 3, 12, 299)] == [0.10009765625, 0.10888671875, 0.1357421875, 1]


@pytest.mark.parametrize(
    ("values", "q", "want"),
    [
        ([0, math.inf], 1.0, math.inf),
        ([0, math.inf], 0.0, 0),
        ([0, math.inf], 0.5, math.inf),
        ([-math.inf, 0], 0.5, -math.inf),
        ([-math.inf, -math.inf, 0], 0.25, -math.inf),
        ([math.inf, math.inf, math.inf], 0.3, math.inf),
        ([-math.inf, 1, math.inf], 0.5, 1),
        ([-3e38, 3e38], 0.5, 0),
        ([-math.inf, math.inf], 0.5, math.nan),
        ([math.nan, 1], 0.5, math.nan),
    ],
)
def test_quantiles(values, q, want):
    x = opweave.tensor(values, dtype=F32)
    assert opweave.quantile(x, q).item() == pytest.approx(want, nan_ok=True)
    if not any(map(math.isnan, values)):
        assert opweave.nanquantile(x, q).item() == pytest.approx(want, nan_ok=True)


def test_histograms():
    x = opweave.tensor([-3e38, 0, 2e38, 3e38])
    assert opweave.histc(x, 3).tolist() == [1, 1, 2]
    assert opweave.histc(x, 3, -3e38, 3e38).tolist() == [1, 1, 2]
    assert opweave.histc(opweave.tensor([1e-40, 2e-40, 3e-40]), 3).tolist() == [1, 1, 1]
    assert opweave.histc(opweave.tensor([-1.5e308, 0, 1.5e308], dtype=F64), 3).tolist() == [1, 1, 1]
    counts, edges = opweave.histogram(opweave.tensor([-3e38, 1.0, 3e38]), 3)
    assert counts.tolist() == [1, 1, 1]
    assert edges.tolist() == pytest.approx([-3e38, -1e38, 1e38, 3e38])


def test_histograms_of_nothing():
    nothing = opweave.tensor([])
    assert opweave.histc(nothing, 3).tolist() == [0, 0, 0]
    counts, edges = opweave.histogram(nothing, 4)
    assert (counts.tolist(), edges.tolist()) == ([0, 0, 0, 0], [0, 0.25, 0.5, 0.75, 1])
    counts, edges = opweave.histogram(nothing, 2, range=(3.0, 3.0))
    assert (counts.tolist(), edges.tolist()) == ([0, 0], [2.5, 3, 3.5])


def test_histograms_of_halves():
    counts, edges = opweave.histogram(opweave.tensor([0.0, 0.25, 1.0], dtype=BFLOAT), 2)
    assert (counts.dtype, counts.tolist(), edges.dtype, edges.tolist()) == (BFLOAT, [2, 1], BFLOAT, [0, 0.5, 1])
    counts, edges = opweave.histogram(opweave.tensor([1.0, 1.5]), 3, range=(1.0, 1.0))
    assert counts.tolist() == [0, 1, 1]
    assert edges.tolist() == pytest.approx([0.5, 5 / 6, 7 / 6, 1.5])
