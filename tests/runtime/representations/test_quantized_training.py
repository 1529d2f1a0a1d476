# ruff: noqa: E501, N812 (tables of what torch gives, calls that name the library)
"""opweave.ao: observers, rounding with gradients, quantized arithmetic and modules. The numbers are those of torch 2.13."""

from __future__ import annotations

import copy
import io
import math
from collections.abc import Callable
from typing import Any

import opweave as L
import opweave.ao.quantization as Q
import pytest
from opweave.ao.nn import quantized as nnq
from opweave.ao.nn.quantized import functional as QF

inf, nan = math.inf, math.nan
F, G = L.fake_quantize_per_tensor_affine, L.fake_quantize_per_channel_affine
VALUES = [nan, inf, -inf, -1.05, 0.05, 0.15, 0.25, 1.0, 13.0, 1e30]
ROUNDED = [-0.1, 12.6, -0.1, -0.1, 0.0, 0.2, 0.2, 1.0, 12.6, 12.6]

# ---- rounding with gradients --------------------------------------------------------------------------------


def test_fake_quantize() -> None:
    x = L.tensor(VALUES, requires_grad=True)
    y = F(x, 0.1, 1, 0, 127)
    y.backward(L.arange(1.0, 11.0))
    assert y.tolist() == pytest.approx(ROUNDED)
    assert x.grad.tolist() == [0, 0, 0, 0, 5, 6, 7, 8, 0, 0]
    assert F(x.detach(), L.tensor(0.1), L.tensor([1]), 0, 127).tolist() == pytest.approx(ROUNDED)
    assert F(L.tensor([0.5, 1.5, 2.5]), 1.0, 1, 0, 255).tolist() == [0.0, 2.0, 2.0]
    assert F(x.detach(), 0.1, 1, -128, 127)[0].item() == pytest.approx(-12.9)


@pytest.mark.parametrize("dtype", [L.float64, L.float16, L.bfloat16])
def test_fake_quantize_of_other_dtypes(dtype: L.dtype) -> None:
    y = F(L.tensor([-1.05, 0.3, 13.0], dtype=dtype), 0.1, 1, 0, 127)
    assert y.dtype is dtype
    assert y.tolist() == pytest.approx([-0.1, 0.3, 12.6], rel=4e-3)


def test_fake_quantize_by_channel() -> None:
    x = L.tensor([[-1.05, 0.05, 0.25], [1.0, 13.0, 0.25]], requires_grad=True)
    scale, zero_point = L.tensor([0.1, 0.2]), L.tensor([1, 2], dtype=L.int32)
    y = G(x, scale, zero_point, 0, 0, 60)
    y.backward(L.arange(1.0, 7.0).view(2, 3))
    assert y.tolist() == [pytest.approx([-0.1, 0.0, 0.2]), pytest.approx([1.0, 11.6, 0.2])]
    assert x.grad.tolist() == [[0, 2, 3], [4, 0, 6]]
    assert G(x.detach().t(), scale, zero_point, 1, 0, 60).t().tolist() == y.tolist()
    assert G(x.detach().double(), scale, zero_point, 0, 0, 60).dtype is L.float64
    assert G(x.detach(), scale, L.tensor([1.5, 2.0]), 0, 0, 60)[0].tolist() == pytest.approx(
        [-0.15, 0.05, 0.25], abs=0.06
    )


def test_fake_quantize_and_quantize_agree() -> None:
    x = L.linspace(-3, 3, 1001)
    q = L.quantize_per_tensor(x, 0.02, 130, L.quint8)
    assert (F(x, 0.02, 130, 0, 255) - q.dequantize()).abs().max().item() < 0.021


x = L.ones(2, 3)
two, zeros = L.tensor([0.1, 0.2]), L.tensor([1, 2], dtype=L.int32)

REFUSALS: list[tuple[Callable[[], Any], type[Exception], str]] = [
    (lambda: F(x, 0.1, 1, 10, 5), RuntimeError, "`quant_min` should be less than or equal to `quant_max`.*10 and 5"),
    (lambda: F(x, 0.1, 300, 0, 127), RuntimeError, "`zero_point` must be between `quant_min` and `quant_max`.*300"),
    (lambda: F(x, 0.0, 1, 0, 127), RuntimeError, "`scale` must be a finite number above zero"),
    (lambda: F(x, nan, 1, 0, 127), RuntimeError, "`scale`"),
    (lambda: F(x.int(), 0.1, 1, 0, 127), NotImplementedError, "not implemented for 'Int'"),
    (lambda: G(x, two, zeros.long(), 0, 0, 127), RuntimeError, "Zero-point must be Int32, Float or Half, found Long"),
    (lambda: G(x, two.double(), zeros, 0, 0, 127), RuntimeError, "Scale must be Float or BFloat16, found Double"),
    (lambda: G(x, two[:1], zeros[:1], 0, 0, 127), RuntimeError, "not consistent with input tensor.*2, but got 1"),
    (lambda: G(x, two, zeros[:1], 0, 0, 127), RuntimeError, "the same dimensions, but got 2 and 1"),
    (lambda: G(x, two, zeros, 2, 0, 127), IndexError, "Dimension out of range"),
    (lambda: G(x, two, zeros, -2, 0, 127), RuntimeError, "`axis` must be between 0 .* got -2"),
    (lambda: G(x, two, 300 * zeros, 0, 0, 127), RuntimeError, "`zero_point` must be between"),
    (lambda: G(x, two[None], zeros, 0, 0, 127), RuntimeError, "scale should be a 1-D tensor"),
    (lambda: G(x, two, zeros, 0, 10, 1), RuntimeError, "`quant_min` should be"),
    (lambda: G(x, -two, zeros, 0, 0, 127), RuntimeError, "above zero, but got"),
    (lambda: Q.MinMaxObserver(qscheme=L.per_channel_affine), NotImplementedError, "qscheme only support"),
    (lambda: Q.MinMaxObserver(quant_min=3, quant_max=5), AssertionError, "must include 0, but got 3 to 5"),
    (lambda: Q.MinMaxObserver(dtype=L.float32), AssertionError, "Default Observer only works for"),
    (lambda: Q.HistogramObserver(qscheme=L.per_channel_affine), NotImplementedError, "qscheme only support"),
    (lambda: Q.FakeQuantize(quant_min=-1, quant_max=255), AssertionError, "quant_min out of bound: -1"),
    (lambda: Q.QConfig(Q.MinMaxObserver(), None), ValueError, "observer instance"),
    (
        lambda: Q.quantize_dynamic(L.nn.LSTM(2, 3), {L.nn.LSTM}),
        NotImplementedError,
        "LSTM has no dynamically quantized",
    ),
    (lambda: Q.quantize_dynamic(L.nn.Linear(2, 3), dtype=L.float16), ValueError, "float16"),
    (lambda: QF.add(x, x, 0.1, 0), NotImplementedError, "'quantized::add'"),
    (lambda: QF.linear(x, x), ValueError, "Input to 'quantized.linear' must be quantized!"),
    (lambda: L._int_mm(x, x), RuntimeError, "int_mm_out_cpu: Expected mat2 dtype to be of type int8 but got"),
    (lambda: L._int_mm(x, x.char()), RuntimeError, "Expected self dtype to be int8 or uint8 but got float"),
    (lambda: L._int_mm(x.char(), x.char()), RuntimeError, r"needs to match mat2.size\(0\) but got 3 and 2"),
    (lambda: L._int_mm(x[0].char(), x.char()), RuntimeError, "Expected self to be of dimension 2 but got 1"),
]


@pytest.mark.parametrize(("call", "error", "text"), REFUSALS)
def test_refusals(call: Callable[[], Any], error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        call()


# ---- observers ----------------------------------------------------------------------------------------------

DATA = [[[-1.0, 0.5, 2.0], [0.25, -0.75, 3.0]], [[-2.0, 0.5, 1.0], [0.125, 0.0, 4.0]]]
OBSERVERS: list[tuple[Callable[[], Any], list[float], list[float], L.dtype]] = [
    (lambda: Q.MinMaxObserver(), [0.0235294122248888], [85], L.int32),
    (lambda: Q.MinMaxObserver(dtype=L.qint8, qscheme=L.per_tensor_symmetric), [0.0313725508749485], [0], L.int64),
    (lambda: Q.MinMaxObserver(qscheme=L.per_tensor_symmetric), [0.0313725508749485], [128], L.int64),
    (lambda: Q.MinMaxObserver(reduce_range=True), [0.04724409431219101], [42], L.int32),
    (lambda: Q.MinMaxObserver(quant_min=0, quant_max=127), [0.04724409431219101], [42], L.int32),
    (lambda: Q.MovingAverageMinMaxObserver(averaging_constant=0.25), [0.01764705963432789], [71], L.int32),
    (lambda: Q.PerChannelMinMaxObserver(), [0.01568627543747425, 0.018627451732754707], [127, 40], L.int32),
    (
        lambda: Q.PerChannelMinMaxObserver(dtype=L.qint8, qscheme=L.per_channel_symmetric, ch_axis=1),
        [0.01568627543747425, 0.0058823530562222, 0.0313725508749485],
        [0, 0, 0],
        L.int64,
    ),
    (
        lambda: Q.PerChannelMinMaxObserver(qscheme=L.per_channel_affine_float_qparams),
        [0.01568627543747425, 0.018627451732754707],
        [127.49999237060547, 40.26315689086914],
        L.float32,
    ),
    (
        lambda: Q.MovingAveragePerChannelMinMaxObserver(averaging_constant=0.25),
        [0.0117647061124444, 0.014950980432331562],
        [106, 38],
        L.int32,
    ),
    (lambda: Q.default_observer(), [0.04724409431219101], [42], L.int32),
    (lambda: Q.default_weight_observer(), [0.0313725508749485], [0], L.int64),
    (lambda: Q.weight_observer_range_neg_127_to_127(), [0.031496062874794006], [0], L.int64),
    (lambda: Q.default_fixed_qparams_range_neg1to1_observer(), [0.0078125], [128], L.int32),
]


@pytest.mark.parametrize(("make", "scales", "zero_points", "dtype"), OBSERVERS)
def test_observers(make: Callable[[], Any], scales: list[float], zero_points: list[float], dtype: L.dtype) -> None:
    observer = make()
    for each in DATA:
        given = L.tensor(each)
        assert observer(given) is given
    scale, zero_point = observer.calculate_qparams()
    assert scale.tolist() == scales
    assert zero_point.tolist() == zero_points
    assert zero_point.dtype is dtype
    again = make()
    again.load_state_dict(observer.state_dict())
    assert again.calculate_qparams()[0].tolist() == scales


@pytest.mark.parametrize(
    ("bins", "first", "later"),
    [
        (16, (0.1985294073820114, 136), (0.2977941036224365, 133)),
        (64, (0.2084558755159378, 130), (0.3126838207244873, 126)),
        (2048, (0.21166130900382996, 128), (0.3156307339668274, 125)),
    ],
)
def test_histogram(bins: int, first: tuple[float, int], later: tuple[float, int]) -> None:
    observer, given = Q.HistogramObserver(bins=bins), L.linspace(-3, 3, 500).pow(3)
    observer(given)
    scale, zero_point = observer.calculate_qparams()
    assert (scale.item(), zero_point.item()) == (pytest.approx(first[0]), first[1])
    observer(given * 1.5 + 1)
    observer(given * 0.5)
    scale, zero_point = observer.calculate_qparams()
    assert (scale.item(), zero_point.item()) == (pytest.approx(later[0]), later[1])
    assert observer.histogram.sum().item() == 1500


def test_observers_without_tensors_warn() -> None:
    for observer in (Q.MinMaxObserver(), Q.PerChannelMinMaxObserver(), Q.HistogramObserver()):
        with pytest.warns(UserWarning, match="must run observer before calling calculate_qparams"):
            assert observer.calculate_qparams()[0].item() == 1.0
    assert repr(Q.MinMaxObserver()) == "MinMaxObserver(min_val=inf, max_val=-inf)"
    assert repr(Q.PlaceholderObserver(dtype=L.quint8)) == "PlaceholderObserver(dtype=opweave.quint8, is_dynamic=False)"


def test_arguments_fixed_beforehand() -> None:
    made = Q.MinMaxObserver.with_args(quant_min=0, quant_max=15).with_args(dtype=L.qint8)()
    assert (made.quant_min, made.quant_max, made.dtype) == (0, 15, L.qint8)
    numbers = iter(range(5))
    factory = Q.MinMaxObserver.with_callable_args(quant_max=lambda: 7 + next(numbers)).with_args(quant_min=0)
    assert [factory().quant_max, factory().quant_max] == [7, 8]


def test_fake_quantize_module() -> None:
    module, given = Q.FakeQuantize(), L.tensor(DATA[0], requires_grad=True)
    out = module(given)
    out.sum().backward()
    assert out.tolist() == [
        [-1.003921627998352, 0.501960813999176, 1.992156982421875],
        [0.250980406999588, -0.7529412508010864, 2.9960784912109375],
    ]
    assert given.grad.tolist() == [[1, 1, 1], [1, 1, 1]]
    assert (module.scale.tolist(), module.zero_point.tolist()) == ([0.01568627543747425], [64])
    again = copy.deepcopy(module)
    again.apply(Q.disable_observer)
    again(given * 100)
    assert again.scale.item() == module.scale.item()
    again.apply(Q.disable_fake_quant)
    assert again(given) is given
    by_channel = Q.default_per_channel_weight_fake_quant()
    assert by_channel(L.tensor(DATA[1])).tolist() == [
        [-1.992156982421875, 0.501960813999176, 1.003921627998352],
        [0.125490203499794, 0.0, 3.98431396484375],
    ]
    fresh = Q.default_per_channel_weight_fake_quant()
    fresh.load_state_dict(by_channel.state_dict())
    assert fresh.scale.tolist() == [0.01568627543747425, 0.0313725508749485]


# ---- arithmetic ---------------------------------------------------------------------------------------------

A = L.quantize_per_tensor(L.tensor([[1.0, 2.0], [-0.5, 0.25]]), 0.05, 40, L.quint8)
B = L.quantize_per_tensor(L.tensor([[0.5, -1.0], [1.5, 0.75]]), 0.05, 60, L.quint8)
WEIGHT = L.tensor([[0.3, -0.2], [0.1, 0.4], [-0.5, 0.25]])
BIAS = L.tensor([0.5, -0.25, 0.1])
LINEAR, LINEAR_ALONE = [[43, 52, 33], [40, 23, 44]], [[27, 60, 30], [23, 32, 40]]


@pytest.mark.parametrize(
    ("name", "integers"),
    [
        ("add", [[35, 30], [30, 30]]),
        ("mul", [[25, 0], [12, 22]]),
        ("add_relu", [[35, 30], [30, 30]]),
        ("matmul", [[55, 25], [21, 27]]),
    ],
)
def test_arithmetic(name: str, integers: list[list[int]]) -> None:
    got = getattr(QF, name)(A, B, 0.1, 20)
    assert (got.int_repr().tolist(), got.q_scale(), got.q_zero_point()) == (integers, 0.1, 20)
    module = nnq.QFunctional()
    module.scale, module.zero_point = 0.1, 20
    assert L.equal(getattr(module, name)(A, B), got)
    assert L.equal(
        getattr(nnq.FloatFunctional(), name)(L.ones(2, 2), L.ones(2, 2)), L.full((2, 2), float(name != "mul") + 1)
    )


def test_linear() -> None:
    weight = L.quantize_per_tensor(WEIGHT, 0.01, 0, L.qint8)
    by_row = L.quantize_per_channel(WEIGHT, L.tensor([0.01, 0.02, 0.005]), L.tensor([0, 0, 0]), 0, L.qint8)
    for each in (weight, by_row):
        assert QF.linear(A, each, BIAS, 0.03, 30).int_repr().tolist() == LINEAR
    assert QF.linear(A, weight, None, 0.03, 30).int_repr().tolist() == LINEAR_ALONE
    assert QF.linear(A[None], weight, None, 0.02, 30).shape == (1, 2, 3)
    module = nnq.Linear(2, 3)
    module.set_weight_bias(weight, BIAS)
    module.scale, module.zero_point = 0.03, 30
    assert module(A).int_repr().tolist() == LINEAR
    again = nnq.Linear(2, 3)
    again.load_state_dict(module.state_dict())
    assert L.equal(again(A).int_repr(), module(A).int_repr())


def test_functions_with_a_scale() -> None:
    assert QF.elu(A, 0.05, 20).int_repr().tolist() == [[40, 60], [12, 25]]
    assert QF.celu(A, 0.05, 20).int_repr().tolist() == [[40, 60], [12, 25]]
    assert QF.hardswish(A, 0.05, 20).int_repr().tolist() == [[33, 53], [16, 23]]
    assert QF.leaky_relu(A, 0.2, scale=0.1, zero_point=10).int_repr().tolist() == [[20, 30], [9, 12]]
    images = L.quantize_per_tensor(L.arange(16.0).view(1, 1, 4, 4) / 8 - 1, 0.02, 50, L.quint8)
    kernels = L.quantize_per_tensor(L.tensor([[[[0.5, -0.25], [0.1, 0.3]]]]), 0.01, 0, L.qint8)
    got = QF.conv2d(images, kernels, L.tensor([0.2]), padding=1, scale=0.02, zero_point=60)
    assert got.int_repr()[0, 0].tolist() == [
        [55, 52, 54, 57, 67],
        [75, 48, 52, 56, 54],
        [76, 64, 68, 72, 69],
        [78, 80, 84, 88, 84],
        [64, 75, 76, 78, 92],
    ]


def float_model() -> L.nn.Module:
    model = L.nn.Sequential(L.nn.Linear(4, 3), L.nn.ReLU())
    weight = L.tensor([[0.3, -0.2, 0.1, 0.7], [0.1, 0.4, -0.9, 0.2], [-0.5, 0.25, 0.6, -0.3]])
    model.load_state_dict({"0.weight": weight, "0.bias": BIAS})
    return model


INPUT = L.tensor([[1.0, 2.0, -3.0, 0.5], [0.1, -0.2, 0.3, -0.4]])


def test_dynamic_linear() -> None:
    model = float_model()
    quantized = Q.quantize_dynamic(model, {L.nn.Linear})
    assert isinstance(model[0], L.nn.Linear)
    assert repr(quantized[0]) == (
        "DynamicQuantizedLinear(in_features=4, out_features=3, dtype=opweave.qint8, qscheme=opweave.per_tensor_affine)"
    )
    weight = quantized[0].weight()
    assert weight.int_repr().tolist() == [[43, -28, 14, 99], [14, 57, -128, 28], [-71, 35, 85, -43]]
    assert weight.q_scale() == pytest.approx(0.0070588234812021255)
    assert quantized(INPUT).tolist() == [
        pytest.approx([0.46387216448783875, 3.459772825241089, 0.0]),
        pytest.approx([0.33075499534606934, 0.0, 0.30064845085144043]),
    ]
    by_channel = Q.quantize_dynamic(model, {"0": Q.per_channel_dynamic_qconfig})
    assert by_channel[0](INPUT)[0].tolist() == pytest.approx(
        [0.46152541041374207, 3.459772825241089, -1.8325614929199219]
    )
    assert list(quantized.state_dict()) == [
        "0.scale",
        "0.zero_point",
        "0._packed_params.dtype",
        "0._packed_params._packed_params",
    ]


def test_dynamic_linear_in_files() -> None:
    quantized = Q.quantize_dynamic(float_model())
    file = io.BytesIO()
    L.save(quantized.state_dict(), file)
    file.seek(0)
    again = Q.quantize_dynamic(L.nn.Sequential(L.nn.Linear(4, 3), L.nn.ReLU()))
    again.load_state_dict(L.load(file))
    assert L.equal(again(INPUT), quantized(INPUT))


def test_stubs() -> None:
    wrapped = Q.QuantWrapper(L.nn.Linear(4, 3))
    assert wrapped(INPUT).shape == (2, 3)
    assert isinstance(wrapped.quant, Q.QuantStub)
    assert nnq.DeQuantize()(nnq.Quantize(0.1, 3, L.quint8)(L.tensor([1.0]))).tolist() == [1.0]


# ---- products of bytes --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "sizes", [(1, 1, 1), (5, 7, 3), (64, 64, 64), (33, 70, 129), (9, 40, 1000), (0, 3, 4), (3, 4, 0)]
)
@pytest.mark.parametrize("dtypes", [("int8", "int8"), ("uint8", "int8"), ("int8", "uint8"), ("uint8", "uint8")])
def test_products_of_bytes(sizes: tuple[int, int, int], dtypes: tuple[str, str]) -> None:
    n, p, m = sizes
    a, b = (
        L.randint(iinfo.min, iinfo.max + 1, shape, dtype=getattr(L, name), generator=L.Generator().manual_seed(3))
        for name, shape in zip(dtypes, ((n, m), (m, p)), strict=True)
        for iinfo in (L.iinfo(getattr(L, name)),)
    )
    zeros = L.randint(-128, 256, (p,), dtype=L.int32)
    expected = (a.long() - 7) @ (b.long() - zeros)
    got = L._byte_product(a, b, zeros, 7)
    assert got.dtype is L.int32
    assert L.equal(got.long(), expected)
    across = L._byte_product(a.t().contiguous().t(), b.t().contiguous().t(), None, 0)
    assert L.equal(across.long(), a.long() @ b.long())
    if dtypes[1] == "int8":
        assert L.equal(L._int_mm(a[:, ::2], b[::2]).long(), a.long()[:, ::2] @ b.long()[::2])


def test_products_of_bytes_wrap() -> None:
    lowest = L.full((1, 1 << 18), -128, dtype=L.int8)
    assert L._int_mm(lowest, lowest.t()).item() == 0
    assert L._int_mm(lowest[:, : 1 << 17], lowest[:, : 1 << 17].t()).item() == -(1 << 31)
    assert L._int_mm(L.empty(2, 3, dtype=L.int8, device="meta"), L.empty(3, 4, dtype=L.int8, device="meta")).shape == (
        2,
        4,
    )
