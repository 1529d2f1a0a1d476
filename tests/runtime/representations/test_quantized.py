# ruff: noqa: E501, N812 (tables of what torch gives, calls that name the library)
"""Quantized tensors: what is made, what it prints as, what operators give. The integers are those of torch 2.13."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import opweave as L
import opweave.nn.functional as F
import pytest

inf, nan = math.inf, math.nan

VALUES = [
    nan, inf, -inf, 1e30, -1e30, 0.0, 0.04, 0.05, 0.15, 0.25, 0.35, -0.05, -0.25, 12.65, 24.5, 24.55, -1.0, -1.05, 3.14159,
]  # fmt: skip

INTEGERS: dict[tuple[str, float, int], list[int]] = {
    ("qint32", 0.1, 1): [
        -2147483648, 2147483647, -2147483648, 2147483647, -2147483648, 1, 1, 2, 2, 4, 4, 0, -2, 128, 246, 246, -9,
        -10, 32,
    ],
    ("qint32", 0.1, 10): [
        -2147483648, 2147483647, -2147483648, 2147483647, -2147483648, 10, 10, 10, 12, 12, 14, 10, 8, 136, 255, 256,
        0, 0, 41,
    ],
    ("qint32", 0.25, 0): [
        -2147483648, 2147483647, -2147483648, 2147483647, -2147483648, 0, 0, 0, 1, 1, 1, 0, -1, 51, 98, 98, -4, -4,
        13,
    ],
    ("qint32", 1.0, 3): [
        -2147483648, 2147483647, -2147483648, 2147483647, -2147483648, 3, 3, 3, 3, 3, 3, 3, 3, 16, 28, 28, 2, 2, 6,
    ],
    ("qint8", 0.1, 1): [
        127, 127, -128, 127, -128, 1, 1, 2, 2, 4, 4, 0, -2, 127, 127, 127, -9, -10, 32,
    ],
    ("qint8", 0.1, 10): [
        127, 127, -128, 127, -128, 10, 10, 10, 12, 12, 14, 10, 8, 127, 127, 127, 0, 0, 41,
    ],
    ("qint8", 0.25, 0): [
        127, 127, -128, 127, -128, 0, 0, 0, 1, 1, 1, 0, -1, 51, 98, 98, -4, -4, 13,
    ],
    ("qint8", 1.0, 3): [
        127, 127, -128, 127, -128, 3, 3, 3, 3, 3, 3, 3, 3, 16, 28, 28, 2, 2, 6,
    ],
    ("quint8", 0.1, 1): [
        255, 255, 0, 255, 0, 1, 1, 2, 2, 4, 4, 0, 0, 128, 246, 246, 0, 0, 32,
    ],
    ("quint8", 0.1, 10): [
        255, 255, 0, 255, 0, 10, 10, 10, 12, 12, 14, 10, 8, 136, 255, 255, 0, 0, 41,
    ],
    ("quint8", 0.25, 0): [
        255, 255, 0, 255, 0, 0, 0, 0, 1, 1, 1, 0, 0, 51, 98, 98, 0, 0, 13,
    ],
    ("quint8", 1.0, 3): [
        255, 255, 0, 255, 0, 3, 3, 3, 3, 3, 3, 3, 3, 16, 28, 28, 2, 2, 6,
    ],
}  # fmt: skip

RESULTS: dict[str, tuple[Any, Any]] = {
    "q.relu()": ([[10, 12, 14], [20, 35, 10]], [[-3, 0, 1], [7, 22, -3]]),
    "F.relu6(q)": ([[10, 12, 14], [20, 35, 10]], [[-3, 0, 1], [7, 22, -3]]),
    "F.leaky_relu(q, 0.3)": ([[7, 12, 14], [20, 35, 10]], [[-6, 0, 1], [7, 22, -3]]),
    "F.gelu(q)": ([[8, 11, 13], [18, 35, 10]], [[-5, -1, 0], [5, 22, -3]]),
    "F.hardtanh(q, -0.25, 0.35)": ([[8, 12, 14], [14, 14, 10]], [[-6, 0, 0], [0, 0, -3]]),
    "q.clamp(-0.25, 0.35)": ([[8, 12, 14], [14, 14, 10]], [[-6, 0, 0], [0, 0, -3]]),
    "q.clamp(min=0.1)": ([[11, 12, 14], [20, 35, 11]], [[-2, 0, 1], [7, 22, -2]]),
    "F.threshold(q, 0.1, 0.27)": ([[13, 12, 14], [20, 35, 13]], [[0, 0, 1], [7, 22, 0]]),
    "q.sigmoid()": ([[69, 141, 153], [187, 237, 128]], [[-59, 19, 25], [59, 109, 0]]),
    "q.tanh()": ([[31, 153, 177], [225, 254, 128]], [[-97, 37, 49], [97, 126, 0]]),
    "F.hardsigmoid(q)": ([[85, 137, 145], [171, 235, 128]], [[-43, 13, 17], [43, 107, 0]]),
    "q.mean()": (15, 2),
    "q.mean(1)": ([9, 22], [-4, 9]),
    "q.mean(0, keepdim=True)": ([[10, 24, 12]], [[-3, 11, -1]]),
    "q.std()": (22, 9),
    "q.max()": (35, 22),
    "q.min()": (0, -13),
    "q.max(1).values": ([14, 35], [1, 22]),
    "q.sort(1, descending=True).values": ([[14, 12, 0], [35, 20, 10]], [[1, 0, -13], [22, 7, -3]]),
    "q.topk(2).values": ([[14, 12], [35, 20]], [[1, 0], [22, 7]]),
    "q.flip(1)": ([[14, 12, 0], [10, 35, 20]], [[1, 0, -13], [-3, 22, 7]]),
    "L.cat([q, q], 1)": ([[0, 12, 14, 0, 12, 14], [20, 35, 10, 20, 35, 10]], [[-13, 0, 1, -13, 0, 1], [7, 22, -3, 7, 22, -3]]),
    "L.stack([q, q])": ([[[0, 12, 14], [20, 35, 10]], [[0, 12, 14], [20, 35, 10]]], [[[-13, 0, 1], [7, 22, -3]], [[-13, 0, 1], [7, 22, -3]]]),
    "q.repeat(1, 2)": ([[0, 12, 14, 0, 12, 14], [20, 35, 10, 20, 35, 10]], [[-13, 0, 1, -13, 0, 1], [7, 22, -3, 7, 22, -3]]),
    "q.index_select(1, L.tensor([2, 0]))": ([[14, 0], [10, 20]], [[1, -13], [-3, 7]]),
    "q[:, L.tensor([1, 1])]": ([[12, 12], [35, 35]], [[0, 0], [22, 22]]),
    "q[q.int_repr() > 10]": ([12, 14, 20, 35], [22]),
    "q.masked_fill(q.int_repr() > 10, 0.31)": ([[0, 13, 13], [13, 13, 10]], [[-13, 0, 1], [7, 0, -3]]),
    "q.t()": ([[0, 20], [12, 35], [14, 10]], [[-13, 7], [0, 22], [1, -3]]),
    "q[1]": ([20, 35, 10], [7, 22, -3]),
    "q[:, 1:]": ([[12, 14], [35, 10]], [[0, 1], [22, -3]]),
    "q.view(3, 2)": ([[0, 12], [14, 20], [35, 10]], [[-13, 0], [1, 7], [22, -3]]),
    "q.unsqueeze(0)": ([[[0, 12, 14], [20, 35, 10]]], [[[-13, 0, 1], [7, 22, -3]]]),
    "q.expand(2, 2, 3)": ([[[0, 12, 14], [20, 35, 10]], [[0, 12, 14], [20, 35, 10]]], [[[-13, 0, 1], [7, 22, -3]], [[-13, 0, 1], [7, 22, -3]]]),
    "q.permute(1, 0).contiguous()": ([[0, 20], [12, 35], [14, 10]], [[-13, 7], [0, 22], [1, -3]]),
    "F.max_pool2d(q[None, None], 2)": ([[[[35]]]], [[[[22]]]]),
    "F.avg_pool2d(q[None, None], 2)": ([[[[17]]]], [[[[4]]]]),
    "F.adaptive_avg_pool2d(q[None, None], (2, 1))": ([[[[9], [22]]]], [[[[-4], [9]]]]),
    "F.interpolate(q[None, None], scale_factor=2)": ([[[[0, 0, 12, 12, 14, 14], [0, 0, 12, 12, 14, 14], [20, 20, 35, 35, 10, 10], [20, 20, 35, 35, 10, 10]]]], [[[[-13, -13, 0, 0, 1, 1], [-13, -13, 0, 0, 1, 1], [7, 7, 22, 22, -3, -3], [7, 7, 22, 22, -3, -3]]]]),
    "F.interpolate(q[None, None], size=(3, 4), mode='bilinear')": ([[[[0, 8, 13, 14], [10, 18, 19, 12], [20, 29, 26, 10]]]], [[[[-13, -5, 0, 1], [-3, 6, 6, -1], [7, 16, 13, -3]]]]),
    "F.pad(q, (1, 0))": ([[10, 0, 12, 14], [10, 20, 35, 10]], [[-3, -13, 0, 1], [-3, 7, 22, -3]]),
    "L.ones_like(q)": ([[20, 20, 20], [20, 20, 20]], [[7, 7, 7], [7, 7, 7]]),
    "L.full_like(q, 0.73)": ([[17, 17, 17], [17, 17, 17]], [[4, 4, 4], [4, 4, 4]]),
    "q.clone()": ([[0, 12, 14], [20, 35, 10]], [[-13, 0, 1], [7, 22, -3]]),
    "q.diagonal()": ([0, 35], [-13, 22]),
    "q.unfold(1, 2, 1)": ([[[0, 12], [12, 14]], [[20, 35], [35, 10]]], [[[-13, 0], [0, 1]], [[7, 22], [22, -3]]]),
}  # fmt: skip
"""Integers of results of quint8 with the zero point 10, and of qint8 with -3."""


def sample(dtype: str = "quint8", zero_point: int = 10) -> Any:
    return L.quantize_per_tensor(L.tensor([[-1.0, 0.25, 0.4], [1.0, 2.5, 0.0]]), 0.1, zero_point, getattr(L, dtype))


def by_channel() -> Any:
    values = L.tensor([[-1.05, 0.25], [1.0, 2.5]])
    return L.quantize_per_channel(values, L.tensor([0.1, 0.2]), L.tensor([1, 2]), 0, L.quint8)


# ---- making them --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("dtype", "scale", "zero_point"), INTEGERS)
@pytest.mark.parametrize("count", [1, 9])
def test_integers(dtype: str, scale: float, zero_point: int, count: int) -> None:
    q = L.quantize_per_tensor(L.tensor(VALUES * count), scale, zero_point, getattr(L, dtype))
    assert q.int_repr().tolist() == INTEGERS[dtype, scale, zero_point] * count
    assert (q.dtype, q.is_quantized, q.element_size()) == (getattr(L, dtype), True, 4 if dtype == "qint32" else 1)


def test_integers_by_channel_are_those_of_each_scale() -> None:
    values = L.tensor(VALUES)
    rows = values.expand(3, -1).contiguous()
    for axis, given in ((0, rows), (1, rows.t().contiguous())):
        q = L.quantize_per_channel(given, L.tensor([0.1, 0.25, 1.0]), L.tensor([10, 0, 3]), axis, L.qint8)
        got = q.int_repr() if axis == 0 else q.int_repr().t()
        assert got.tolist() == [INTEGERS[("qint8", *each)] for each in ((0.1, 10), (0.25, 0), (1.0, 3))]
        assert (q.qscheme(), q.q_per_channel_axis()) == (L.per_channel_affine, axis)
        assert (q.q_per_channel_scales().dtype, q.q_per_channel_zero_points().tolist()) == (L.float64, [10, 0, 3])
        assert L.equal(q.select(axis, 1).dequantize(), L.quantize_per_tensor(values, 0.25, 0, L.qint8).dequantize())


def test_floating_zero_points() -> None:
    values = L.tensor([[-1.05, 0.25], [1.0, 2.5]])
    q = L.quantize_per_channel(values, L.tensor([0.1, 0.2]), L.tensor([1.5, 2.0]), 0, L.quint8)
    assert q.qscheme() is L.per_channel_affine_float_qparams
    assert q.int_repr().tolist() == [[0, 4], [7, 14]]
    assert L.allclose(q.dequantize(), L.tensor([[-0.15, 0.25], [1.0, 2.4]]))


def test_lists_and_tensors_as_parameters() -> None:
    tensors = [L.tensor([1.0]), L.tensor([2.0, 3.0])]
    first, second = L.quantize_per_tensor(tensors, L.tensor([0.5, 0.25]), L.tensor([1, 2]), L.quint8)
    assert (first.q_scale(), first.q_zero_point(), second.int_repr().tolist()) == (0.5, 1, [10, 14])
    assert [each.tolist() for each in L.dequantize([first, second])] == [[1.0], [2.0, 3.0]]
    q = L.quantize_per_tensor(L.tensor([1.0]), L.tensor(0.5), L.tensor([2]), L.qint8)
    assert (q.q_scale(), q.q_zero_point()) == (0.5, 2)


@pytest.mark.parametrize(
    ("values", "dtype", "reduce_range", "scale", "zero_point"),
    [
        ([-1.0, 2.0, 3.0], "quint8", False, 0.01568627450980392, 64),
        ([-1.0, 2.0, 3.0], "quint8", True, 0.031496062992125984, 32),
        ([-1.0, 2.0, 3.0], "qint8", False, 0.01568627450980392, -64),
        ([1.0, 2.0, 3.0], "qint8", False, 0.011764705882352941, -128),
        ([-1.0, -2.0, -3.0], "qint8", False, 0.011764705882352941, 127),
        ([0.0], "qint8", False, 0.1, 127),
        ([1e-9], "quint8", False, 6.0999998822808266e-05, 0),
        ([-0.37, 1.93, 5.77], "qint8", True, 0.048346456580274685, -56),
    ],
)
def test_dynamic(values: list[float], dtype: str, reduce_range: bool, scale: float, zero_point: int) -> None:
    q = L.quantize_per_tensor_dynamic(L.tensor(values), getattr(L, dtype), reduce_range)
    assert (q.q_scale(), q.q_zero_point()) == (scale, zero_point)


def test_of_integers() -> None:
    q = L._make_per_tensor_quantized_tensor(L.tensor([1, 2], dtype=L.uint8), 0.5, 2)
    assert (q.dtype, q.dequantize().tolist()) == (L.quint8, [-0.5, 0.0])
    scales, zero_points = L.tensor([0.5, 0.25]), L.tensor([1, -2])
    q = L._make_per_channel_quantized_tensor(L.tensor([1, 2], dtype=L.int32), scales, zero_points, 0)
    assert (q.dtype, q.dequantize().tolist()) == (L.qint32, [0.0, 1.0])
    empty = L._empty_affine_quantized([2, 3], scale=0.5, zero_point=3, dtype=L.quint8)
    assert (empty.shape, empty.q_scale(), empty.q_zero_point()) == ((2, 3), 0.5, 3)
    empty = L._empty_per_channel_affine_quantized([2, 3], scales=scales, zero_points=zero_points, axis=0, dtype=L.qint8)
    assert (empty.dtype, empty.q_per_channel_scales().tolist()) == (L.qint8, [0.5, 0.25])
    assert L.empty_quantized([4], sample()).q_scale() == 0.1


def test_memory_order() -> None:
    assert L.quantize_per_tensor(L.ones(2, 3).t(), 1, 1, L.quint8).stride() == (2, 1)
    images = L.zeros(1, 2, 3, 4).to(memory_format=L.channels_last)
    assert L.quantize_per_tensor(images, 1, 1, L.quint8).stride() == (24, 1, 8, 2)


# ---- operators ----------------------------------------------------------------------------------------------

SCALES = {"q.sigmoid()": (2**-8, 0, -128), "F.hardsigmoid(q)": (2**-8, 0, -128), "q.tanh()": (2**-7, 128, 0)}


@pytest.mark.parametrize("call", RESULTS)
@pytest.mark.parametrize(("place", "dtype", "zero_point"), [(0, "quint8", 10), (1, "qint8", -3)])
def test_operators(call: str, place: int, dtype: str, zero_point: int) -> None:
    got = eval(call, {"L": L, "F": F, "q": sample(dtype, zero_point)})
    scale, *zeros = SCALES.get(call, (0.1, 10, -3))
    assert got.int_repr().tolist() == RESULTS[call][place]
    assert (got.q_scale(), got.q_zero_point(), got.dtype) == (scale, zeros[place], getattr(L, dtype))


def test_comparisons_are_of_the_numbers() -> None:
    q, other = sample(), sample("qint8", -3)
    assert (q == other).tolist() == [[True, False, True], [True, True, True]]
    assert (q > 0.3).tolist() == [[False, False, True], [True, True, False]]
    assert (L.zeros(2, 3) < q).tolist() == [[False, True, True], [True, True, False]]
    assert L.equal(q, sample())
    assert not L.equal(q, other)
    assert not L.equal(q, L.quantize_per_tensor(q.dequantize(), 0.2, 10, L.quint8))
    assert not L.equal(q, q.dequantize())


def test_positions() -> None:
    q = sample()
    assert q.sort(1).indices.tolist() == [[0, 1, 2], [2, 0, 1]]
    assert q.topk(1).indices.tolist() == [[2], [1]]
    assert q.max(1).indices.tolist() == [2, 1]
    assert q.argmax().item() == 4


def test_views_share_memory() -> None:
    q = sample()
    q.t()[0, 1] = 0.5
    q[0].fill_(0.31)
    q[1, 1:].copy_(L.tensor([-0.24, 0.05]))
    assert q.int_repr().tolist() == [[13, 13, 13], [15, 8, 10]]


def test_writing() -> None:
    q = sample()
    q[q.int_repr() > 19] = 0.1
    q[L.tensor([0]), L.tensor([0])] = L.tensor(1.0)
    assert q.int_repr().tolist() == [[20, 12, 14], [11, 11, 10]]
    assert q.relu_() is q
    assert q.zero_().int_repr().tolist() == [[10] * 3] * 2
    other = L.quantize_per_tensor(L.ones(2, 3), 0.5, 3, L.quint8)
    assert q.copy_(other).q_scale() == 0.5
    assert q.t_().shape == (3, 2)
    assert q.unsqueeze_(0).is_quantized


def test_data() -> None:
    q, other = sample(), L.quantize_per_tensor(L.ones(3), 0.5, 3, L.quint8)
    assert q.data.q_scale() == 0.1
    q.data = other
    assert (q.q_scale(), q.tolist()) == (0.5, [1.0, 1.0, 1.0])
    plain = L.ones(3)
    for target, value in ((plain, other), (other, plain)):
        with pytest.raises(RuntimeError, match="incompatible tensor type"):
            target.data = value


def test_channels_of_views() -> None:
    q = by_channel()
    assert (q.t().q_per_channel_axis(), q.unsqueeze(0).q_per_channel_axis(), q[None, :, None].q_per_channel_axis()) == (
        1,
        1,
        1,
    )
    assert (q[1].q_scale(), q[1].q_zero_point(), q[1].dequantize().tolist()) == (
        pytest.approx(0.2),
        2,
        pytest.approx([1.0, 2.4]),
    )
    assert (q[:, 0].q_per_channel_axis(), q[:, 1:].q_per_channel_zero_points().tolist()) == (0, [1, 2])
    assert q[::1][1:].q_zero_point() == 2
    assert [each.q_zero_point() for each in q.unbind()] == [1, 2]
    assert L.equal(q.permute(1, 0).dequantize(), q.dequantize().t())
    assert L.equal(q.expand(3, 2, 2).dequantize(), q.dequantize().expand(3, 2, 2))
    assert L.equal(q.clone(), q)
    for refused in (lambda: q.view(-1), lambda: q.as_strided((2,), (1,)), lambda: L.cat([q, q]), lambda: q.mean()):
        with pytest.raises(RuntimeError, match="channel"):
            refused()


def test_cat_of_other_scales_is_quantized_anew() -> None:
    q = L.quantize_per_tensor(L.tensor([1.0, 2.0]), 0.1, 10, L.quint8)
    other = L.quantize_per_tensor(L.tensor([-0.6, 2.6]), 0.2, 3, L.quint8)
    assert L.cat([q, other]).int_repr().tolist() == [20, 30, 4, 36]


def test_out() -> None:
    q, out = sample(), L._empty_affine_quantized([2, 3], scale=1.0, zero_point=0, dtype=L.quint8)
    assert L.clamp(q, 0, 1, out=out) is out
    assert L.cat([q[:1], q[1:]], out=out).int_repr().tolist() == q.int_repr().tolist()
    assert L.eq(q, q, out=L.empty(2, 3, dtype=L.bool)).all()


# ---- Python, text, memory -----------------------------------------------------------------------------------


def test_values_in_python() -> None:
    q = sample()
    assert q[1, 1].item() == 2.5
    assert q[1].tolist() == [1.0, 2.5, 0.0]
    assert (float(q[1, 1]), int(q[1, 1]), bool(q[1, 2])) == (2.5, 2, False)
    assert [each.shape for each in q] == [(3,), (3,)]
    assert q.type() == "opweave.quantized.QUInt8Tensor"
    assert q.storage().dtype is L.quint8
    assert not q.is_floating_point()
    for refused in (q.is_signed, lambda: L.qint8.is_signed):
        with pytest.raises(RuntimeError, match="isSignedType not supported for quantized types"):
            refused()


TEXT = """\
tensor([[-1.0000,  0.2000,  0.4000],
        [ 1.0000,  2.5000,  0.0000]], size=(2, 3), dtype=opweave.quint8,
       quantization_scheme=opweave.per_tensor_affine, scale=0.1, zero_point=10)"""

TEXT_BY_CHANNEL = """\
tensor([[-0.1000,  0.3000],
        [ 1.0000,  2.4000]], size=(2, 2), dtype=opweave.quint8,
       quantization_scheme=opweave.per_channel_affine,
       scale=tensor([0.1000, 0.2000], dtype=opweave.float64),
       zero_point=tensor([1, 2]), axis=0)"""

TEXT_OF_FEW = """\
tensor([], size=(2, 0), dtype=opweave.quint8,
       quantization_scheme=opweave.per_tensor_affine, scale=1.0, zero_point=1)"""

TEXT_OF_MANY = """\
tensor([  0.,   1.,   2.,  ..., 255., 255., 255.], size=(2000,),
       dtype=opweave.quint8, quantization_scheme=opweave.per_tensor_affine,
       scale=1.0, zero_point=0)"""


def test_text() -> None:
    assert repr(sample()) == TEXT
    assert repr(by_channel()) == TEXT_BY_CHANNEL
    assert repr(L.quantize_per_tensor(L.empty(2, 0), 1, 1, L.quint8)) == TEXT_OF_FEW
    assert repr(L.quantize_per_tensor(L.arange(2000.0), 1, 0, L.quint8)) == TEXT_OF_MANY
    assert (repr(L.per_tensor_symmetric), repr(L.quint4x2)) == ("opweave.per_tensor_symmetric", "opweave.quint4x2")


def test_meta() -> None:
    q = sample().to("meta")
    assert (q.is_meta, q.dtype, q.q_scale(), q.t().shape) == (True, L.quint8, 0.1, (3, 2))
    assert (q.relu().q_zero_point(), q.dequantize().shape, (q == q).dtype) == (10, (2, 3), L.bool)
    assert L.quantize_per_tensor(L.empty(3, device="meta"), 0.1, 1, L.qint8).is_meta
    assert repr(q).startswith("tensor(..., device='meta', size=(2, 3), dtype=opweave.quint8,")
    with pytest.raises(NotImplementedError, match="Cannot copy out of meta tensor"):
        q.to("cpu")


def test_to() -> None:
    q = sample()
    assert q.to("cpu") is q
    assert q.to(L.quint8) is q
    assert q.to("cpu", copy=True).q_scale() == 0.1
    for wanted in (L.float32, L.uint8, L.qint8):
        with pytest.raises(RuntimeError, match="quantize"):
            q.to(wanted)
    with pytest.raises(RuntimeError, match=r"Creation of quantized tensor requires quantized dtype .*dequantize"):
        q.float()


# ---- gradients ----------------------------------------------------------------------------------------------


def test_no_gradients() -> None:
    x = L.ones(2, requires_grad=True)
    q = L.quantize_per_tensor(x, 0.1, 0, L.quint8)
    assert not q.requires_grad
    with pytest.raises(RuntimeError, match="element 0 of tensors does not require grad and does not have a grad_fn"):
        q.dequantize().sum().backward()
    with pytest.raises(RuntimeError, match="can require gradients"):
        q.requires_grad_()
    assert L.nn.Parameter(q, requires_grad=False).q_scale() == 0.1


# ---- refusals -----------------------------------------------------------------------------------------------

x = L.tensor([[1.0, 2.0], [3.0, 4.0]])
two, ones = L.tensor([0.1, 0.2]), L.tensor([1, 1])

REFUSALS: list[tuple[Callable[[], Any], type[Exception], str]] = [
    (
        lambda: L.quantize_per_tensor(x, 0.0, 1, L.quint8),
        RuntimeError,
        "scale must be a finite number above zero.*got 0.0",
    ),
    (lambda: L.quantize_per_tensor(x, -0.1, 1, L.quint8), RuntimeError, "got -0.1"),
    (lambda: L.quantize_per_tensor(x, nan, 1, L.quint8), RuntimeError, "got nan"),
    (lambda: L.quantize_per_tensor(x, inf, 1, L.quint8), RuntimeError, "got inf"),
    (lambda: L.quantize_per_tensor(x, 1e-320, 1, L.quint8), RuntimeError, "got 1e-320"),
    (lambda: L.quantize_per_tensor(x, 1e300, 1, L.quint8), RuntimeError, "got 1e\\+300"),
    (lambda: L.quantize_per_tensor(x, 0.1, 300, L.quint8), RuntimeError, "zero_point 300 is above upper bound"),
    (lambda: L.quantize_per_tensor(x, 0.1, -1, L.quint8), RuntimeError, "zero_point -1 is below lower bound"),
    (lambda: L.quantize_per_tensor(x, 0.1, 200, L.qint8), RuntimeError, "zero_point 200 is above upper bound"),
    (lambda: L.quantize_per_tensor(x, 0.1, 1 << 40, L.qint32), RuntimeError, "zero_point 1099511627776 is above"),
    (
        lambda: L.quantize_per_tensor(x, 0.1, 1, L.uint8),
        RuntimeError,
        "ScalarType Byte is not supported in new_qtensor",
    ),
    (lambda: L.quantize_per_tensor(x, 0.1, 1, L.quint4x2), RuntimeError, "quint4x2.*use opweave.quint8"),
    (
        lambda: L.quantize_per_tensor(x.double(), 0.1, 1, L.quint8),
        RuntimeError,
        "only works on Float Tensor, got Double",
    ),
    (
        lambda: L.quantize_per_tensor(x, 0.1, 1.5, L.quint8),
        TypeError,
        "'zero_point' .* must be int or Tensor, not float",
    ),
    (lambda: L.quantize_per_tensor(x, 0.1, 1, 8), TypeError, "'dtype' must be opweave.dtype, not int"),
    (lambda: L.quantize_per_tensor(sample(), 0.1, 1, L.quint8), NotImplementedError, "'QuantizedCPU' backend"),
    (lambda: L.quantize_per_channel(x, two, L.tensor([1]), 0, L.quint8), RuntimeError, "must match, but got 2 and 1"),
    (lambda: L.quantize_per_channel(x, two[:1], ones[:1], 0, L.quint8), RuntimeError, "expected 2 got, 1"),
    (lambda: L.quantize_per_channel(x, two, ones, 2, L.quint8), RuntimeError, r"Got: 2Expected: \[0, 2\)"),
    (lambda: L.quantize_per_channel(x, two, ones, -1, L.quint8), RuntimeError, r"Got: -1Expected: \[0, 2\)"),
    (
        lambda: L.quantize_per_channel(x, two[None], ones, 0, L.quint8),
        RuntimeError,
        "scale tensor must have dimension 1",
    ),
    (lambda: L.quantize_per_channel(x, ones, ones, 0, L.quint8), RuntimeError, "scale tensor must be floating point"),
    (lambda: L.quantize_per_channel(x, -two, ones, 0, L.quint8), RuntimeError, "above zero in float32, but got -0.1"),
    (lambda: L.quantize_per_channel(x, two, 300 * ones, 0, L.quint8), RuntimeError, "zero_point 300 is above"),
    (
        lambda: L.quantize_per_channel(x, [0.1, 0.2], ones, 0, L.quint8),
        TypeError,
        "'scales' .* must be Tensor, not list",
    ),
    (lambda: L.quantize_per_tensor_dynamic(L.tensor([nan]), L.qint8, False), RuntimeError, "min should be less than"),
    (lambda: L.quantize_per_tensor_dynamic(x, L.qint32, False), RuntimeError, "dtype QInt32 not supported"),
    (lambda: L._make_per_tensor_quantized_tensor(x, 0.1, 2), RuntimeError, "requires quantized dtype"),
    (lambda: L._empty_affine_quantized([2]), RuntimeError, "requires quantized dtype"),
    (lambda: x.q_scale(), NotImplementedError, "Could not run 'aten::q_scale' with arguments from the 'CPU' backend"),
    (lambda: x.int_repr(), NotImplementedError, "'aten::int_repr'"),
    (lambda: L.dequantize([x]), NotImplementedError, "'aten::dequantize'"),
    (lambda: by_channel().q_scale(), RuntimeError, "kPerTensorAffine"),
    (lambda: sample().q_per_channel_axis(), RuntimeError, "kPerChannelAffine"),
    (
        lambda: sample() + sample(),
        NotImplementedError,
        "Could not run 'aten::add' .* 'QuantizedCPU' backend.*dequantize",
    ),
    (lambda: sample() * 2, NotImplementedError, "'aten::mul'"),
    (lambda: sample().exp(), NotImplementedError, "'aten::exp'"),
    (lambda: sample() @ sample().t(), NotImplementedError, "'aten::mm'"),
    (lambda: sample().sum(), NotImplementedError, "'aten::sum'"),
    (lambda: L.isclose(sample(), sample()), RuntimeError, "isclose is not supported for quantized inputs"),
    (lambda: x.copy_(sample()), RuntimeError, "Copying from quantized Tensor to non-quantized Tensor is not allowed"),
    (lambda: sample().copy_(L.ones(2, 3).long()), RuntimeError, "only works with kFloat as source Tensor"),
    (lambda: sample().copy_(sample("qint8", 0)), RuntimeError, "opweave.quint8 and opweave.qint8"),
    (lambda: by_channel().copy_(sample()[:, :2]), RuntimeError, "same qscheme"),
    (lambda: L.cat([sample(), sample("qint8", 0)]), RuntimeError, "All dtypes must be the same"),
    (lambda: sample().numpy(), TypeError, "quantized"),
    (lambda: x.to(L.quint8), RuntimeError, "quantize_per_tensor"),
    (lambda: L.zeros(2, dtype=L.quint8), RuntimeError, "quantize_per_tensor"),
    (lambda: sample().new_zeros(2), RuntimeError, "quantize_per_tensor"),
    (lambda: L.promote_types(L.quint8, L.float32), RuntimeError, "offending types: QUInt8 Float"),
    (lambda: bool(sample()), RuntimeError, "ambiguous"),
    (lambda: sample().item(), RuntimeError, "6 elements"),
    (lambda: L.quantize_per_tensor(L.eye(2).to_sparse(), 1.0, 0, L.quint8), NotImplementedError, "opweave.sparse_coo"),
]


@pytest.mark.parametrize(("call", "error", "text"), REFUSALS)
def test_refusals(call: Callable[[], Any], error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        call()


def test_means_of_volumes_have_channels_last() -> None:
    volumes = L.quantize_per_tensor(L.arange(128.0).view(1, 2, 4, 4, 4), 0.5, 3, L.quint8)
    means = F.avg_pool3d(volumes, 2)
    assert (means.shape, means.stride()) == ((1, 2, 2, 2, 2), (16, 1, 8, 4, 2))
    assert means.dequantize()[0, 0, 0, 0].tolist() == [10.5, 12.5]
