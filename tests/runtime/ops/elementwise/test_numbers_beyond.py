"""Python numbers beyond the range of a dtype: infinite where torch makes them so, refused where it refuses them."""

import math

import opweave
import pytest
from opweave.nn import functional

HALF, BFLOAT, F32 = opweave.float16, opweave.bfloat16, opweave.float32
MASK = [True, False]


def pair(dtype):
    return opweave.tensor([1, 2], dtype=dtype)


@pytest.mark.parametrize(
    ("dtype", "number", "want"),
    [(HALF, -1e9, -math.inf), (HALF, 70000, math.inf), (HALF, 1e50, math.inf), (BFLOAT, -1e50, -math.inf)],
)
def test_where(dtype, number, want):
    mask = opweave.tensor(MASK)
    assert opweave.where(mask, pair(dtype), number).tolist() == [1, want]
    assert opweave.where(mask, number, pair(dtype)).tolist() == [want, 2]
    assert pair(dtype).where(mask, number).dtype is dtype


@pytest.mark.parametrize(("dtype", "number"), [(F32, 1e50), (opweave.uint8, 300), (opweave.int32, 2**40)])
def test_where_refuses(dtype, number):
    with pytest.raises(RuntimeError, match="without overflow"):
        opweave.where(opweave.tensor(MASK), pair(dtype), number)


def test_nan_to_num():
    for dtype in (HALF, BFLOAT, F32):
        x = opweave.tensor([math.inf, -math.inf, math.nan, 1], dtype=dtype)
        assert x.nan_to_num(1e50, 1e50, -1e50).tolist() == [math.inf, -math.inf, math.inf, 1]
        assert x.nan_to_num(2**70, posinf=10**30).tolist()[2:] == [2.0**70 if dtype is not HALF else math.inf, 1]
    assert pair(opweave.int64).nan_to_num(1e50, math.inf).tolist() == [1, 2]
    assert pair(opweave.uint8).nan_to_num(-1.5, 300).tolist() == [1, 2]
    with pytest.raises(TypeError, match="must be float, not complex"):
        pair(F32).nan_to_num(1j)
    with pytest.raises(OverflowError):
        pair(F32).nan_to_num(10**400)


def test_orders_of_norms():
    x = opweave.tensor([3.0, -4.0])
    assert x.norm(1e50).item() == opweave.linalg.vector_norm(x, 2**70).item() == 4
    assert x.norm(-1e50).item() == 3
    assert x.norm(10000.0).item() == pytest.approx(4)
    assert opweave.tensor([0.5, 0.5]).norm(300.0).item() == pytest.approx(0.5 * 2 ** (1 / 300))
    assert opweave.cdist(x[None], 0 * x[None], 1e50).item() == opweave.dist(x, 0 * x, 1e50).item() == 4
    assert opweave.pdist(opweave.stack([x, 0 * x]), 2**70).item() == 4
    assert opweave.renorm(x[None], 1e50, 0, 2.0).tolist()[0] == pytest.approx([1.5, -2])


def test_powers():
    for x in (pair(F32), pair(F32).double()):
        assert (x**1e50).tolist() == [1, math.inf]
        assert (x**-1e50).tolist() == [1, 0]
        assert (1e50**x)[0].item() == (math.inf if x.dtype is F32 else 1e50)
    assert pair(F32).pow_(1e50).tolist() == [1, math.inf]
    assert (pair(opweave.int64) ** 1e50).tolist() == [1, math.inf]
    with pytest.raises(RuntimeError, match="without overflow"):
        pair(opweave.uint8) ** 300


def test_filling_with_a_tensor_converts_it():
    assert pair(F32).fill_(opweave.tensor(1e50, dtype=opweave.float64)).tolist() == [math.inf, math.inf]
    assert pair(HALF).fill_(opweave.tensor(70000)).tolist() == [math.inf, math.inf]
    assert pair(opweave.uint8).fill_(opweave.tensor(300)).tolist() == [44, 44]
    x = pair(F32)
    assert x.fill_(x[1]).tolist() == [2, 2]


@pytest.mark.parametrize(
    ("dtype", "number"), [(F32, 1e50), (HALF, 70000), (opweave.uint8, 300), (opweave.int64, 2**63)]
)
def test_filling_refuses(dtype, number):
    for function in (
        lambda: pair(dtype).fill_(number),
        lambda: opweave.full((2,), number, dtype=dtype),
        lambda: opweave.full_like(pair(dtype), number),
        lambda: pair(dtype).masked_fill(opweave.tensor(MASK), number),
    ):
        with pytest.raises((RuntimeError, ValueError), match=r"without overflow|Overflow"):
            function()


def test_the_only_element_of_halves_becomes_infinite():
    assert pair(HALF)[:1].fill_(7e4).tolist() == [math.inf]
    assert pair(opweave.bfloat16)[0].fill_(-1e39).item() == -math.inf
    for number in (1e50, 1j):
        with pytest.raises(RuntimeError, match="without overflow"):
            pair(F32)[:1].fill_(number)
    with pytest.raises(RuntimeError, match="without overflow"):
        pair(HALF)[:1].fill_(1j)


def test_integers_of_64_bits_fit_floats():
    assert pair(F32).fill_(2**63).tolist() == [2.0**63, 2.0**63]
    assert opweave.full_like(pair(F32), 2**64 - 1).tolist() == [2.0**64, 2.0**64]
    assert opweave.linspace(0, 2**63, 3).tolist() == [0, 2.0**62, 2.0**63]
    assert pair(opweave.bool).fill_(2**63).tolist() == [True, True]


def test_losses_and_limits():
    x = pair(F32)
    assert functional.huber_loss(x, x + 1, delta=1e50).item() == 0.5
    assert functional.smooth_l1_loss(x, x + 1, beta=1e50).item() == 0
    assert functional.huber_loss(x, x + 1, delta=2**70).item() == 0.5
    assert opweave.logit(opweave.tensor([0.5]), 1e-50).item() == 0


def test_searching_for_numbers_beyond():
    small = pair(opweave.uint8)
    assert opweave.isin(small, 300).tolist() == [False, False]
    assert not opweave.isin(2**63, small)
    assert opweave.bucketize(300, small).item() == opweave.searchsorted(small, 257).item() == 2
    assert opweave.bucketize(2, opweave.tensor([False, True])).item() == 2
    assert opweave.isin(small, 2).tolist() == [False, True]


def test_modes_of_missing_values():
    nan = math.nan
    for dtype in (HALF, F32):
        for values, want, index in (
            ([nan, 1, nan], nan, 2),
            ([nan, 1, 1], 1, 2),
            ([nan, 1, 2], 1, 1),
            ([nan, 3, nan, 3, nan, 2], nan, 4),
            ([nan, nan], nan, 1),
        ):
            got, at = opweave.mode(opweave.tensor(values, dtype=dtype))
            assert (got.item(), at.item()) == (pytest.approx(want, nan_ok=True), index)


def test_an_empty_list_of_dimensions():
    x = opweave.tensor([[1.0, 0.0, 2.0]])
    for dims in ([], ()):
        assert opweave.all(x, dim=dims).tolist() == x.any(dims).tolist() == [[True, False, True]]
        assert opweave.any(x, dim=dims, keepdim=True).shape == (1, 3)
        assert opweave.sum(x, dim=dims).item() == 3
    assert x.to(opweave.uint8).all(dim=[]).tolist() == [[1, 0, 1]]
    out = opweave.zeros(1, 3, dtype=opweave.bool)
    assert opweave.any(x, dim=[], out=out).tolist() == [[True, False, True]]
    assert opweave.all(opweave.tensor(2.0), dim=()).item()
    assert not opweave.all(x).item()


def test_resize_in_a_memory_format():
    x = opweave.arange(16.0)
    data = x.data_ptr()
    assert x.resize_(1, 2, 2, 4, memory_format=opweave.channels_last).stride() == (16, 1, 8, 2)
    assert x.data_ptr() == data
    assert x[0, :, 0, 1].tolist() == [2, 3]
    assert x.resize_(1, 2, 2, 4).stride() == (16, 1, 8, 2)
    assert x.resize_(1, 2, 2, 4, memory_format=opweave.contiguous_format).stride() == (16, 8, 4, 1)
    like = x.contiguous(memory_format=opweave.channels_last)
    assert opweave.zeros(3).resize_as_(like, memory_format=opweave.preserve_format).stride() == (16, 1, 8, 2)
    assert opweave.zeros(3).resize_as_(like).stride() == (16, 8, 4, 1)
    assert x.resize_(1, 2, 2, 2, 2, memory_format=opweave.channels_last_3d).stride() == (16, 1, 8, 4, 2)
    with pytest.raises(RuntimeError, match="required rank 4 tensor to use channels_last format"):
        x.resize_(4, 4, memory_format=opweave.channels_last)
    with pytest.raises(RuntimeError, match="preserve"):
        x.resize_(4, memory_format=opweave.preserve_format)


@pytest.mark.parametrize("dtype", [HALF, BFLOAT])
def test_filling_one_half(dtype):
    one = opweave.zeros(1, dtype=dtype)
    for number in (1e40, -7e38):
        want = [math.copysign(math.inf, number)]
        fills = (
            *(opweave.full((1,), number, dtype=dtype), opweave.full((), number, dtype=dtype).reshape(1)),
            *(one.new_full((1,), number), opweave.full_like(one, number), one.clone().fill_(number)),
            *(opweave.scalar_tensor(number, dtype=dtype)[None], opweave.full((1,), 0, out=one.clone()).fill_(number)),
        )
        assert [each.tolist() for each in fills] == [want] * len(fills)
        with pytest.raises(RuntimeError, match="without overflow"):
            opweave.full((2,), number, dtype=dtype)
        with pytest.raises(RuntimeError, match="without overflow"):
            one.masked_fill(opweave.tensor([True]), number)
    for call in (lambda: opweave.full((1,), 1j, dtype=dtype), lambda: one.fill_(1j)):
        with pytest.raises(RuntimeError, match="type double without overflow"):
            call()


@pytest.mark.parametrize("number", [1e40, -1e40, 1e40j, 1 + 1e40j, complex(math.inf, 1e40)])
def test_complex_numbers(number):
    """Each part has to be in the range, unless it is infinite."""
    zeros = opweave.zeros(2, dtype=opweave.complex64)
    for call in (
        lambda: zeros.fill_(number),
        lambda: opweave.full((1,), number, dtype=opweave.complex64),
        lambda: zeros.masked_fill(opweave.tensor(MASK), number),
        lambda: opweave.where(opweave.tensor(MASK), number, zeros),
        lambda: zeros.index_fill(0, opweave.tensor([0]), number),
        lambda: zeros.__setitem__(0, number),
    ):
        with pytest.raises(RuntimeError, match="type c10::complex<float> without overflow"):
            call()
    with pytest.raises(RuntimeError, match="type c10::complex<c10::Half> without overflow"):
        opweave.zeros(1, dtype=opweave.complex32).fill_(7e4)
    assert zeros.fill_(complex(math.inf, -math.inf)).tolist() == [complex(math.inf, -math.inf)] * 2
    assert zeros.to(opweave.complex128).fill_(1e40j)[0].item() == 1e40j


_HALVES = {
    "add(alpha=)": lambda x, n: opweave.add(x, x, alpha=n),
    "add_(alpha=)": lambda x, n: x.clone().add_(1, alpha=n),
    "sub(alpha=)": lambda x, n: opweave.sub(x[::2], x[1::2], alpha=n),
    "rsub(alpha=)": lambda x, n: opweave.rsub(x, x, alpha=n),
    "pow": lambda x, n: x**n,
    "clamp(min)": lambda x, n: x.clamp(n),
    "clamp(max=)": lambda x, n: x.clamp(max=n),
    "clamp of rows": lambda x, n: x.expand(3, 2).clamp(n, 2),
    "clamp_min": opweave.clamp_min,
    "clamp_max_": lambda x, n: x.clone().clamp_max_(n),
    "hardtanh": lambda x, n: functional.hardtanh(x, -abs(n), abs(n)),
    "threshold(value)": lambda x, n: functional.threshold(x, 0, n),
    "hardshrink": functional.hardshrink,
    "softshrink": lambda x, n: functional.softshrink(x, abs(n)),
    "logit": opweave.logit,
    "addmv(beta=)": lambda x, n: opweave.addmv(x, x.expand(2, 2), x, beta=n),
    "addmv(alpha=)": lambda x, n: opweave.addmv(x, x.expand(2, 2), x, alpha=n),
    "addr(beta=)": lambda x, n: opweave.addr(x, x, x, beta=n),
    "addr(alpha=)": lambda x, n: opweave.addr(x, x, x, alpha=n),
    "linspace": lambda x, n: opweave.linspace(0, n, 3, dtype=x.dtype),
    "logspace": lambda x, n: opweave.logspace(n, 0, 3, dtype=x.dtype),
    "histc": lambda x, n: opweave.histc(x, 4, -abs(n), abs(n)),
    "normalize(eps=)": lambda x, n: functional.normalize(x, dim=0, eps=abs(n)),
}


def test_halves_hold_the_numbers_that_torch_converts_to_them():
    for name, call in _HALVES.items():
        for dtype, number in ((HALF, 1e5), (HALF, -65520), (BFLOAT, 1e39)):
            try:
                found = call(pair(dtype), number)
            except RuntimeError as error:
                found = str(error)
            assert "without overflow" in str(found), f"{name} of {dtype} and {number}: {found}"


def test_beside_halves_other_numbers_are_computed_in_float32():
    x = pair(HALF)
    assert functional.threshold(x, 1e5, 0).tolist() == [0, 0]
    assert (x / 1e5 * 1e5).tolist() == pytest.approx([1, 2], rel=1e-2)
    assert x.clamp(-math.inf, math.inf).tolist() == [1, 2]
    assert opweave.add(x, -x, alpha=math.inf).tolist() == [-math.inf, -math.inf]
    assert opweave.addmm(x.expand(2, 2), x.expand(2, 2), x.expand(2, 2), beta=1e5).isinf().all()
    assert (1e5**x).tolist() == [math.inf, math.inf]
    assert opweave.lerp(x, x, 1e5).tolist() == functional.elu(x, 1e5).tolist() == [1, 2]
    assert functional.softshrink(x, 60000).tolist() == [0, 0]


_COMPUTED = {
    "lerp": lambda x, n: opweave.lerp(x, x + 1, n),
    "lerp_": lambda x, n: x.clone().lerp_(x[1:], n),
    "baddbmm(beta=)": lambda x, n: opweave.baddbmm(x[None, None], x[None, :, None], x[None, None], beta=n),
    "baddbmm(alpha=)": lambda x, n: opweave.baddbmm(x[None, None], x[None, :, None], x[None, None], alpha=n),
    "cosine_similarity(eps=)": lambda x, n: functional.cosine_similarity(x, x, 0, abs(n)),
    "logit": opweave.logit,
}


def test_no_number_is_beyond_the_dtype_of_computation():
    """That of halves is float32; positions of `arange` are computed in float64 of other dtypes."""
    calls = [(name, call, dtype) for name, call in _COMPUTED.items() for dtype in (HALF, BFLOAT, F32)]
    arange = {
        "arange(end)": lambda x, n: opweave.arange(0, n, n / 2, dtype=x.dtype),
        "arange(step)": lambda x, n: opweave.arange(0, math.copysign(4, n), n, dtype=x.dtype),
    }
    calls += [(name, call, dtype) for name, call in arange.items() for dtype in (HALF, BFLOAT)]
    for name, call, dtype in calls:
        for number in (1e39, -1e39):
            try:
                found = call(pair(dtype), number)
            except RuntimeError as error:
                found = str(error)
            assert "without overflow" in str(found), f"{name} of {dtype} and {number}: {found}"
    assert opweave.arange(0, 1e39, 5e38).tolist() == [0, math.inf]


def test_numbers_that_halves_do_not_hold():
    x = pair(HALF)
    assert functional.cosine_similarity(x, x, 0, 7e4).item() == 0
    assert opweave.baddbmm(x[None, None], x[None, None, :1], x[None, None], beta=1e5).isinf().all()
    for dtype, smallest in ((HALF, 1e-8), (HALF, 1e-50), (F32, 1e-50), (opweave.float64, 1e-320)):
        x = pair(dtype).requires_grad_()
        loss = functional.smooth_l1_loss(x, opweave.tensor([1, 4], dtype=dtype), reduction="none", beta=smallest)
        loss.sum().backward()
        assert (loss.tolist(), x.grad.tolist()) == ([0, 2], [0, -1])
    x, zero = pair(F32).requires_grad_(), pair(F32) * 0
    functional.smooth_l1_loss(x, zero, reduction="sum", beta=1.5).backward()
    assert x.grad.tolist() == pytest.approx([1 / 1.5, 1])


def test_nan_is_in_no_range():
    x = pair(F32)
    rows, nan = x.expand(2, 2), math.nan
    for call, message in (
        (lambda: opweave.isclose(x, x, rtol=nan), "rtol must be greater than or equal to zero"),
        (lambda: opweave.allclose(x, x, atol=nan), "atol must be greater than or equal to zero"),
        (lambda: opweave.renorm(rows, nan, 0, 1.0), "non-positive-norm not supported"),
        (lambda: opweave.renorm(rows, 2, 0, nan), "expected maxnorm to be >= 0"),
        (lambda: opweave.cdist(rows, rows, nan), "only supports non-negative p values"),
        (lambda: opweave.pdist(rows, nan), "only supports non-negative p values"),
        (lambda: functional.huber_loss(x, x, delta=nan), "non-positive values for delta"),
        (lambda: functional.smooth_l1_loss(x, x, beta=nan), "negative values for beta"),
        (lambda: functional.cosine_similarity(x, x, 0, nan), "eps must be non-negative, got: nan"),
        (lambda: functional.cosine_similarity(x, x, 0, -1), "eps must be non-negative, got: -1"),
        (lambda: functional.rrelu(x, nan, 1), "lower bound must be finite, got nan"),
        (lambda: functional.rrelu(x, 0, math.inf), "upper bound must be finite, got inf"),
    ):
        with pytest.raises(RuntimeError, match=message):
            call()
