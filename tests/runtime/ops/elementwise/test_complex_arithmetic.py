"""Arithmetic of complex numbers: every operator that takes them against its reference in complex128, special values and
refusals against torch, and the views that connect complex numbers with pairs of real ones."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np
import opweave
import pytest
from harness import oracle
from harness.arrays import Array, array, cast, dtype_of, tensor
from harness.catalog import specs
from harness.extremes import precision
from harness.oracle import Like
from harness.reference import numpy_axis, numpy_value
from harness.spec import Spec

from codegen.dtypes import DTYPES, DType

ELEMENTWISE = {spec.name: spec for spec in specs("elementwise") if spec.complex_dtypes and spec.reference}
FOLDS = {spec.name: spec for family in ("reduce", "scan") for spec in specs(family) if spec.complex_dtypes}
PRODUCTS = {spec.name: spec for spec in specs("extern") if spec.complex_dtypes}
# Those of NumPy and SciPy that take no complex numbers.
REFERENCES = {
    "sigmoid": "1 / (1 + np.exp(-self))",
    "silu": "self / (1 + np.exp(-self))",
    "angle": "np.angle(self)",
    "nan_to_num": "self",  # of finite numbers
    # Not the principal value: the logarithm is added to the operand with the larger real part.
    "logaddexp": "np.where(self.real < other.real, other, self) + "
    "np.log(1 + np.exp(np.where(self.real < other.real, self - other, other - self)))",
    "logcumsumexp": "np.log(np.cumsum(np.exp(self), dim))",
}
SHAPES = {"n": 5, "k": 7, "m": 3, "b": 2}


def numbers(dtype: DType, shape: tuple[int, ...], seed: int) -> Array:
    random = np.random.default_rng([seed, dtype.code, *shape])
    return cast(random.normal(size=shape) + 1j * random.normal(size=shape), dtype)


def layouts(values: Array, dtype: DType) -> Iterator[opweave.Tensor]:
    """The same values contiguous, transposed, and with a step."""
    yield tensor(values, dtype)
    yield tensor(np.ascontiguousarray(values.T), dtype).permute(tuple(reversed(range(values.ndim))))
    yield tensor(np.repeat(values, 2, axis=-1), dtype)[..., ::2]


def check_near(got: Any, want: Array, dtype: DType, steps: float, what: str, least: float = 0) -> None:
    """Errors of a complex number are those of its length, but for `least`, in units of the last place of `dtype`."""
    values = array(got)
    assert values.shape == np.shape(want), f"{what}: shape {values.shape}, expected {np.shape(want)}"
    error = np.abs(values.astype(np.complex128) - want)
    bound = steps * 2.0 ** (1 - precision(dtype.to_real)) * np.maximum(np.abs(want), least) + 1e-300
    assert np.all(error <= bound), f"{what}: got {values}, expected {want}"


def result_dtype(spec: Spec, dtype: DType) -> str:
    if spec.promotion == "always_bool":
        return "bool"
    if spec.promotion == "to_double":
        return "complex128"
    return dtype.to_real.name if spec.name in ("abs", "angle") else dtype.name


@pytest.mark.parametrize("name", ELEMENTWISE)
@pytest.mark.parametrize("dtype", ["complex32", "complex64", "complex128"])
def test_elementwise(name: str, dtype: str) -> None:
    spec, facts = ELEMENTWISE[name], DTYPES[dtype]
    for shape in ((3, 4), (2, 700)):
        values = {
            each: np.resize([True, False, True], shape) if each in spec.fixed else numbers(facts, shape, index)
            for index, each in enumerate(spec.inputs)
        }
        wide = {spec.schema_names[n]: v.astype(bool if n in spec.fixed else np.complex128) for n, v in values.items()}
        want = numpy_value(REFERENCES.get(name, spec.reference or ""), {**wide, **spec.params})
        kinds = {each: DTYPES[spec.fixed.get(each, dtype)] for each in spec.inputs}
        for operands in zip(*(layouts(values[each], kinds[each]) for each in spec.inputs), strict=True):
            got = spec.find(opweave)(*operands)
            assert dtype_of(got).name == result_dtype(spec, facts)
            check_near(got, want, facts, 60, f"{name} {dtype}", 1 if spec.magnitude else 0)


@pytest.mark.parametrize("name", FOLDS)
@pytest.mark.parametrize("dtype", ["complex32", "complex64", "complex128"])
def test_folds(name: str, dtype: str) -> None:
    spec, facts = FOLDS[name], DTYPES[dtype]
    for shape, dim in itertools.product(((3, 5), (300, 20), (4, 1200)), (0, 1)):
        values = 1 + numbers(facts, shape, 1) / 50  # sums that do not cancel, products of a moderate size
        values = cast(values, facts)
        names = {"self": values.astype(np.complex128), "dim": numpy_axis(dim), "keepdim": False}
        want = np.asarray(numpy_value(REFERENCES.get(name, spec.reference or ""), names))
        for x in layouts(values, facts):
            got = getattr(opweave, name)(x, dim)
            assert dtype_of(got).name == ("bool" if spec.promotion == "bool" else dtype)
            check_near(
                got, want, facts, 8 * shape[dim] if spec.multiplies or name == "cumsum" else 40, f"{name} {dtype}"
            )


@pytest.mark.parametrize("name", PRODUCTS)
@pytest.mark.parametrize("dtype", ["complex32", "complex64", "complex128"])
def test_products(name: str, dtype: str) -> None:
    spec, facts = PRODUCTS[name], DTYPES[dtype]
    inputs, _ = spec.signature.split("->")
    shapes = [tuple(SHAPES[d] for d in each.strip("()").split(",") if d) for each in inputs.split("),")]
    values = [numbers(facts, shape, index) for index, shape in enumerate(shapes)]
    params = dict.fromkeys(spec.params, 0.5 - 2j)
    names = dict(zip(spec.schema_names.values(), (v.astype(np.complex128) for v in values), strict=False))
    want = np.asarray(numpy_value(spec.reference or "", {**names, **params}))
    for operands in zip(*(layouts(each, facts) for each in values), strict=True):
        got = getattr(opweave, name)(*operands, **params)
        assert dtype_of(got) is facts
        bound = 200 * np.max(np.abs(want)) * 2.0 ** (1 - precision(facts.to_real))
        assert np.all(np.abs(array(got).astype(np.complex128) - want) <= bound), f"{name}: {array(got)}, not {want}"


# ---- promotion, numbers, forms ------------------------------------------------------------------------------


def test_numbers_and_dtypes() -> None:
    x, z = opweave.tensor([1.0, 2.0]), opweave.tensor([1 + 2j, 3 - 1j])
    assert (x * 1j).dtype is opweave.complex64
    assert (x.double() + 1j).dtype is opweave.complex128
    assert (z * x.double()).dtype is opweave.complex128
    assert (x.half() * 1j).dtype is opweave.complex32
    assert (2 - z).tolist() == [1 - 2j, -1 + 1j]
    assert (1j**z).dtype is opweave.complex64
    assert opweave.add(z, z, alpha=1j).tolist() == [-1 + 3j, 4 + 2j]
    with pytest.raises(RuntimeError, match="non-complex input tensors, argument alpha must not be a complex number"):
        opweave.add(x, x, alpha=1j)
    with pytest.raises(RuntimeError, match="result type ComplexFloat can't be cast to the desired output type Float"):
        x.mul_(1j)
    with pytest.raises(RuntimeError, match="In-place abs is not supported for complex tensors"):
        z.abs_()
    z *= 2
    assert z.tolist() == [2 + 4j, 6 - 2j]


def test_assignment() -> None:
    z = opweave.tensor([1 + 2j, 3 - 1j, 0j])
    z[z.real > 2] = 1j
    z[0] = 5 + 1j
    z[opweave.tensor([2])] = 2j
    assert z.tolist() == [5 + 1j, 1j, 2j]


# ---- views --------------------------------------------------------------------------------------------------


def test_parts_are_views() -> None:
    z = opweave.tensor([[1 + 2j, 3 - 1j], [0j, 5j]])
    pairs = opweave.view_as_real(z.t())
    assert pairs.shape == (2, 2, 2)
    assert pairs.data_ptr() == z.data_ptr()
    z.real = opweave.zeros(2, 2)
    assert z.tolist() == [[2j, -1j], [0j, 5j]]
    z.imag[0, 0] = 7
    assert z[0, 0].item() == 7j
    assert opweave.view_as_complex(pairs).t().tolist() == z.tolist()
    x = opweave.tensor([1.0])
    assert x.real is x
    assert x.conj() is x
    assert z.conj().tolist() == [[-7j, 1j], [0j, -5j]]
    assert z.mH.tolist() == [[-7j, 0j], [1j, -5j]]
    with pytest.raises(RuntimeError, match="imag is not implemented for tensors with non-complex dtypes"):
        _ = x.imag


def test_making() -> None:
    re, im = opweave.tensor([1.0, float("inf")]), opweave.tensor([2.0, 0.0])
    assert opweave.complex(re, im).tolist() == [1 + 2j, complex(float("inf"), 0)]
    assert opweave.complex(re.half(), im.half()).dtype is opweave.complex32
    assert abs(opweave.polar(im, re).tolist()[0] - 2 * np.exp(1j)) < 1e-6


# ---- torch --------------------------------------------------------------------------------------------------

SPECIAL = (0.0, -0.0, 1.0, -2.5, float("inf"), float("-inf"), float("nan"))
EXACT = [
    "exp", "log", "sqrt", "sin", "cos", "sinh", "cosh", "tanh", "asin", "acos", "atan", "asinh", "acosh",
    "atanh", "abs", "angle", "sgn", "conj_physical", "isnan", "isinf", "isfinite", "isreal", "logical_not",
]  # fmt: skip
REFUSED = [
    "floor", "ceil", "trunc", "round", "frac", "sign", "relu", "amax", "amin", "erf",
]  # fmt: skip
REFUSED_PAIRS = [
    "maximum", "minimum", "fmax", "fmin", "lt", "gt", "le", "ge", "remainder", "fmod", "floor_divide",
    "atan2", "hypot",
]  # fmt: skip


@pytest.mark.oracle
@pytest.mark.parametrize("name", EXACT)
def test_special_values(name: str) -> None:
    """Infinities, NaN and signed zeros in either part."""
    values = np.array([complex(re, im) for re, im in itertools.product(SPECIAL, repeat=2)])
    # NaN in both or in neither part of a number, and zeros of any sign.
    oracle.check(
        lambda L: L.view_as_real(x) if (x := getattr(L, name)(L.from_numpy(values))).is_complex() else x,
        name,
        Like(rtol=1e-12),
    )


@pytest.mark.oracle
@pytest.mark.parametrize("name", [*REFUSED, *REFUSED_PAIRS])
def test_refusals(name: str) -> None:
    def call(library: Any) -> Any:
        z = library.tensor([1 + 2j, 3j])
        return getattr(library, name)(*((z, z) if name in REFUSED_PAIRS else (z,)))

    with pytest.raises((RuntimeError, NotImplementedError)):
        call(opweave)
    assert oracle.ask(call, name).kind in ("RuntimeError", "NotImplementedError")


@pytest.mark.parametrize(("dtype", "m"), [(opweave.complex64, 2.0**127), (opweave.complex128, 2.0**1023)])
def test_quotients_near_the_largest_number(dtype: opweave.dtype, m: float) -> None:
    """Sums of two parts overflow, the quotient does not."""
    z = opweave.tensor([m + m * 1j, m - m * 1j, m + 0j, complex(0, m), 1 + 1j], dtype=dtype)
    assert (z / z).tolist() == [1] * 5
    assert (z[:2] / z[0]).tolist() == [1, -1j]
    assert (z[:4] / 2).tolist() == [complex(each.real / 2, each.imag / 2) for each in z[:4].tolist()]
    assert (z / z[2]).tolist()[:4] == [1 + 1j, 1 - 1j, 1, 1j]
    assert (z[2:4] / z[0]).tolist() == [0.5 - 0.5j, 0.5 + 0.5j]
    assert opweave.tensor([complex(np.inf, 0)], dtype=dtype).div(2).isinf().item()
