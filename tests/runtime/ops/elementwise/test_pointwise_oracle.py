"""Elementwise composites against torch: values, dtypes, and errors in type and text."""

from __future__ import annotations

from typing import Any

import opweave
import pytest
from harness import oracle
from harness.oracle import Call, Like

LIKE = Like(rtol=2e-6, atol=1e-6)


def check(call: Call) -> None:
    oracle.check(call, like=LIKE)


NUMBERS = (-1.5, -0.25, 0.0, 0.5, 1.0, 3.25, 40.0, float("inf"), float("nan"))


@pytest.mark.parametrize("n", [-1, 0, 2, 3, 6])
def test_polygamma(n: int) -> None:
    check(lambda m: m.polygamma(n, m.tensor((-1.5, -0.25, 0.0, 0.5, 1.0, 3.25, 40.0, float("nan")))))
    check(lambda m: m.special.polygamma(n, m.tensor([1, 2, 3])))


@pytest.mark.parametrize("p", [0, 1, 2, 5])
def test_mvlgamma(p: int) -> None:
    check(lambda m: m.mvlgamma(m.tensor((2.5, 3.0, 40.0), dtype=m.float64), p))
    check(lambda m: m.special.multigammaln(m.tensor([4, 5, 7]), p))
    check(lambda m: m.mvlgamma(m.tensor([True]), p))


@pytest.mark.parametrize("tolerances", [{}, {"rtol": 0, "atol": 0}, {"rtol": 0.3}, {"atol": 1.0}, {"equal_nan": True}])
def test_isclose(tolerances: dict[str, Any]) -> None:
    others = (-1.5, -0.250001, 1e-9, 0.7, 1.0000001, 3.25, 41.0, float("inf"), float("nan"))
    check(lambda m: m.isclose(m.tensor(NUMBERS), m.tensor(others), **tolerances))
    check(lambda m: m.tensor([1, 2, 3]).isclose(m.tensor([1, 3, 5]), **tolerances))
    check(lambda m: m.isclose(m.tensor([True, False]), m.tensor([True, True]), **tolerances))
    check(lambda m: m.isclose(m.tensor([1 + 2j, 3j]), m.tensor([1 + 2.5j, complex("nan")]), **tolerances))


def test_isclose_refuses() -> None:
    check(lambda m: m.isclose(m.tensor([1.0]), m.tensor([1])))
    check(lambda m: m.isclose(m.tensor([1.0]), m.tensor([1.0]), rtol=-1))
    check(lambda m: m.isclose(m.tensor([1.0]), m.tensor([1.0]), atol=-0.5))


def test_ldexp() -> None:
    check(lambda m: m.ldexp(m.tensor([1, 2, 3]), m.tensor([0, -1, 10])))
    check(lambda m: m.tensor([1.5, -2.0], dtype=m.float64).ldexp(m.tensor([3, 4])))


@pytest.mark.parametrize("shape", [(), (3,), (2, 3), (2, 3, 4)])
@pytest.mark.parametrize("count", [1, 2, 3])
def test_prelu(shape: tuple[int, ...], count: int) -> None:
    check(lambda m: m.prelu(-m.ones(shape), m.tensor([0.5, 0.25, 0.125][:count])))


def test_prelu_refuses() -> None:
    check(lambda m: m.prelu(m.ones(3), m.ones(1, dtype=m.float64)))
    check(lambda m: m.nn.functional.prelu(m.tensor([-1.0, 2.0]), m.tensor(0.5)))


def test_polygamma_as_method() -> None:
    check(lambda m: m.tensor([1.0, 2.5]).polygamma(2))
    check(lambda m: m.polygamma(input=m.tensor([1.0, 2.5]), n=1))


@pytest.mark.parametrize("name", ["bessel_j0", "bessel_j1", "bessel_y0", "bessel_y1"])
def test_bessel(name: str) -> None:
    values = (0.0, 1e-8, 0.7, 2.4, 5.0, 25.0, -3.0, float("nan"))
    check(lambda m: getattr(m.special, name)(m.tensor(values, dtype=m.float64)))
    check(lambda m: getattr(m.special, name)(m.tensor([1, 7])))


@pytest.mark.parametrize("other", [(1.0, 2.0), (1.0, 2.5), (1.0, float("nan")), (1.0,), ((1.0, 2.0),)])
def test_equal(other: Any) -> None:
    check(lambda m: m.equal(m.tensor((1.0, 2.0)), m.tensor(other)))
    check(lambda m: m.tensor(other).equal(m.tensor(other)))
    check(lambda m: m.equal(m.tensor([1, 2]), m.tensor(other)))


@pytest.mark.parametrize("options", [{}, {"rtol": 0.1}, {"atol": 0.5}, {"equal_nan": True}])
@pytest.mark.parametrize("other", [(1.0, 2.0), (1.0, 2.1), (float("nan"), 2.0), (1.0, 2.0, 3.0)])
def test_allclose(other: tuple[float, ...], options: dict[str, Any]) -> None:
    check(lambda m: m.allclose(m.tensor((1.0, 2.0)), m.tensor(other), **options))
    check(lambda m: m.tensor(other).allclose(m.tensor(other), **options))
    check(lambda m: m.allclose(m.tensor([1, 2]), m.tensor(other), **options))


@pytest.mark.parametrize("size", [(), (3,), (1,), (2, 1), (1, 1), (2, 3), (4,), (2, 2, 3)])
@pytest.mark.parametrize("dtype", ["float32", "int32", "bool"])
def test_sum_to_size(size: tuple[int, ...], dtype: str) -> None:
    check(lambda m: m.arange(6).reshape(2, 3).to(getattr(m, dtype)).sum_to_size(size))


def test_sum_to_size_of_separate_integers() -> None:
    check(lambda m: m.arange(6).reshape(2, 3).sum_to_size(2, 1))


def wide(pair: Any) -> Any:
    """NumPy has no bfloat16."""
    return pair[0].double(), pair[1]


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64", "int64"])
def test_frexp(dtype: str) -> None:
    values = (1.0, 0.0, -0.0, 1e-42, 5e-324, -3.7, 65504.0, -0.125)
    check(lambda m: wide(m.frexp(m.tensor(values).to(getattr(m, dtype)))))
    check(lambda m: m.tensor((float("inf"), float("nan"), -float("inf"))).frexp())
    check(lambda m: m.tensor(values, dtype=m.float64).frexp())
    check(lambda m: m.tensor([[1.5, -8.0], [3.0, 0.1]]).t().frexp())


@pytest.mark.parametrize("name", ["quantile", "nanquantile"])
@pytest.mark.parametrize("interpolation", ["linear", "lower", "higher", "midpoint", "nearest"])
@pytest.mark.parametrize("keepdim", [False, True])
@pytest.mark.parametrize("dim", [None, 0, 1, -1])
def test_quantile(name: str, interpolation: str, keepdim: bool, dim: int | None) -> None:
    rows = ((3.0, 1.0, 2.0, float("nan")), (5.0, 6.0, 8.0, 7.0), (-1.0, 9.0, 0.25, 4.0))
    options = {"keepdim": keepdim, "interpolation": interpolation}
    for q in (0.0, 0.3, 0.5, 1):
        check(lambda m, q=q: getattr(m, name)(m.tensor(rows), q, dim, **options))
    check(lambda m: getattr(m.tensor(rows), name)(m.tensor([0.1, 0.5, 0.75]), dim, **options))
    check(lambda m: getattr(m, name)(m.tensor(rows), m.tensor(0.6), dim, **options))


def test_quantile_refuses() -> None:
    x = ((0.0, 1.0, 2.0), (3.0, 4.0, 5.0))
    check(lambda m: m.quantile(m.tensor(x), 1.3))
    check(lambda m: m.quantile(m.tensor(x), m.tensor([1.3])))
    check(lambda m: m.quantile(m.tensor(x), m.tensor([0.3], dtype=m.float64)))
    check(lambda m: m.quantile(m.tensor(x), m.ones(2, 2)))
    check(lambda m: m.quantile(m.tensor(x).long(), 0.3))
    check(lambda m: m.quantile(m.tensor(x).half(), 0.3))
    check(lambda m: m.quantile(m.tensor(x), 0.3, interpolation="other"))
    check(lambda m: m.quantile(m.tensor(x), 0.3, 2))
    check(lambda m: m.quantile(m.tensor([]), 0.3))
    check(lambda m: m.quantile(m.tensor(2.5), 0.3, 0, True))


@pytest.mark.parametrize("name", ["abs_", "exp_", "relu_", "clamp_", "neg_", "xlogy_"])
def test_functions_in_place(name: str) -> None:
    def call(m: Any) -> Any:
        x = m.tensor((0.5, 1.0, 2.0))
        assert getattr(m, name)(x, *{"clamp_": (0.75,), "xlogy_": (2.0,)}.get(name, ())) is x
        return x

    check(call)


@pytest.mark.parametrize("name", ["relu_", "elu_", "leaky_relu_", "hardtanh_", "selu_", "celu_"])
def test_activations_in_place(name: str) -> None:
    def call(m: Any) -> Any:
        x = m.tensor((-0.5, 1.0, 2.0))
        assert getattr(m.nn.functional, name)(x) is x
        return x

    check(call)


@pytest.mark.parametrize("limits", [(), (-1, 1), (-1,), (0, 1), (0.5, 3), (3, 200), (2, 300)])
def test_hardtanh_of_unsigned(limits: tuple[float, ...]) -> None:
    """Limits below zero are refused, the defaults among them."""
    # opweave says besides which limits it got.
    bounded = Like(texts=bool(limits) and limits[0] >= 0)
    oracle.check(lambda m: m.nn.functional.hardtanh(m.tensor([0, 1, 2, 250], dtype=m.uint8), *limits), "", bounded)
    for dtype in (opweave.uint16, opweave.uint32, opweave.uint64):
        x = opweave.tensor([0, 1, 2, 250], dtype=dtype)
        if limits and limits[0] >= 0:
            wide = opweave.nn.functional.hardtanh(x.long(), *limits)
            assert opweave.nn.functional.hardtanh(x, *limits).tolist() == wide.tolist()
        else:
            with pytest.raises(RuntimeError, match="negative limits"):
                opweave.nn.functional.hardtanh(x, *limits)


def test_dropout() -> None:
    def call(m: Any, *arguments: Any) -> Any:
        m.manual_seed(3)
        return m.nn.functional.dropout(m.ones(40), *arguments)

    for arguments in ((), (0.25,), (0.25, False), (0,), (1,), (1.5,), (-0.5,), (2,)):
        check(lambda m, arguments=arguments: call(m, *arguments))


def test_dropout_in_place() -> None:
    x = opweave.ones(100)
    assert opweave.nn.functional.dropout(x, inplace=True) is x
    assert sorted(set(x.tolist())) == [0.0, 2.0]


@pytest.mark.parametrize("values", [(True, False, True), (0.0, -0.5), ((1, 0), (2, 3)), 1])
def test_where_with_one_argument(values: Any) -> None:
    check(lambda m: m.where(m.tensor(values)))
    check(lambda m: m.where(condition=m.tensor(values)))


def test_where_needs_both_or_none() -> None:
    condition = opweave.tensor([True, False])
    with pytest.raises(TypeError):
        opweave.where(condition, condition)
    with pytest.raises(TypeError):
        condition.where(condition)


@pytest.mark.parametrize("name", ["median", "nanmedian"])
@pytest.mark.parametrize("keepdim", [False, True])
@pytest.mark.parametrize("dim", [0, 1, -1])
def test_median(name: str, keepdim: bool, dim: int) -> None:
    nan = float("nan")
    for values in (((3.0, nan, 1.0, 7.0), (2.0, nan, 0.0, -9.0)), ((6, 2, 9), (5, 3, 1), (4, 8, 7)), ((nan, 1.0),)):
        check(lambda m, values=values: getattr(m, name)(m.tensor(values), dim, keepdim))
        check(lambda m, values=values: getattr(m.tensor(values), name)())
        check(lambda m, values=values: getattr(m.tensor(values[0]), name)(dim=0, keepdim=keepdim))
    check(lambda m: getattr(m, name)(m.tensor(2.5), 0, keepdim))
    check(lambda m: getattr(m, name)(m.ones(2, 0), dim, keepdim))


def test_median_without_elements() -> None:
    for name in ("float32", "int8", "int32", "int64"):
        check(lambda m, name=name: m.median(m.ones(0, dtype=getattr(m, name))))
        check(lambda m, name=name: m.nanmedian(m.ones(0, dtype=getattr(m, name))))


@pytest.mark.parametrize("keepdim", [False, True])
def test_mode(keepdim: bool) -> None:
    nan = float("nan")
    lines = ((2, 1, 2, 1, 3), (4, 5, 6), (7,), (True, False, True), (0, 3, 3, -1))
    for values in lines:
        check(lambda m, values=values: m.mode(m.tensor(values), keepdim=keepdim))
        check(lambda m, values=values: m.tensor((values, values[::-1])).mode(1, keepdim))
        check(lambda m, values=values: m.tensor((values, values[::-1], values)).mode(0, keepdim))
    # Which of equal values torch names among NaN depends on its way of sorting.
    check(lambda m: m.mode(m.tensor((1.0, nan, 1.0)), keepdim=keepdim)[0])
    check(lambda m: m.mode(m.tensor(2.5), 0, keepdim))
    check(lambda m: m.mode(m.ones(2, 0), 1, keepdim))
    check(lambda m: m.mode(m.ones(2, 0), 0, keepdim))
