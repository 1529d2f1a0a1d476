"""Conversions between all pairs of dtypes: every value of the small ones, every order of magnitude of the others."""

from __future__ import annotations

import numpy as np
import pytest
from harness.arrays import Array, array, cast, from_memory, holder, opweave_dtype, stored_dtype, tensor
from harness.compare import check_same
from harness.extremes import extremes

from codegen.dtypes import DTYPES, DType

pytestmark = pytest.mark.filterwarnings("ignore:Casting complex values to real")


def many_values(dtype: DType) -> Array:
    if dtype.is_bool:
        return np.array([False, True] * 20)
    if dtype.itemsize < 4 and dtype.numpy is None:
        return from_memory(np.arange(2**dtype.bits, dtype=stored_dtype(dtype)), dtype)
    if dtype.itemsize < 4:
        return np.arange(2**dtype.bits, dtype=f"uint{dtype.bits}").view(holder(dtype))
    if dtype.is_complex:
        return extremes(dtype)
    random = np.frombuffer(np.random.default_rng(7).bytes(20_000 * dtype.itemsize), holder(dtype))
    powers = np.ldexp(1.0, np.arange(-200, 66))
    near = np.concatenate([powers, -powers, powers * (1 + 2.0**-20), powers * (1 - 2.0**-25), powers + 1])
    if dtype.is_integer:
        near = near[np.abs(near) < dtype.highest]
    return np.concatenate([extremes(dtype), random, cast(near, dtype)])


def representable(values: Array, dtype: DType, to: DType) -> Array:
    """Where an integer dtype has the value, cut to an integer. Beyond that the result is defined, but no one's."""
    if dtype.is_complex:
        return representable(values.real, dtype.to_real, to)
    if not dtype.is_floating or not to.is_integer:
        return np.ones(values.shape, bool)
    with np.errstate(all="ignore"):
        wide = values.astype(np.float64)
        return np.asarray((np.trunc(wide) >= to.lowest) & (wide < float(to.highest) + (to.bits < 64)))


@pytest.mark.parametrize("target", DTYPES)
@pytest.mark.parametrize("source", DTYPES)
def test_values(source: str, target: str) -> None:
    source_facts, to = DTYPES[source], DTYPES[target]
    values = many_values(source_facts)
    inside = representable(values, source_facts, to)
    got, want = array(tensor(values, source_facts).to(opweave_dtype(target))), cast(np.where(inside, values, 0), to)
    wrong = inside & (got != want) & ~((got != got) & (want != want))
    assert not wrong.any(), f"{values[wrong][:3]} became {got[wrong][:3]}, expected {want[wrong][:3]}"
    if to.is_floating:
        zeros = inside & (got == 0) & ~np.isnan(want)
        assert np.array_equal(np.signbit(got[zeros]), np.signbit(want[zeros]))


@pytest.mark.parametrize("target", DTYPES)
@pytest.mark.parametrize("source", DTYPES)
def test_layouts(source: str, target: str) -> None:
    """Strided and short conversions give what long contiguous ones give, out of range too."""
    source_facts, to = DTYPES[source], opweave_dtype(target)
    values = many_values(source_facts)
    x = tensor(values, source_facts)
    result = x.to(to)
    check_same(tensor(np.repeat(values, 2), source_facts)[::2].to(to), result, "in steps of two")
    check_same(tensor(values[:, None].repeat(3, 1), source_facts)[:, 1].contiguous().to(to), result, "a column")
    for count in (1, 3, 17):
        check_same(x[:count].to(to), result[:count], f"{count} elements")


@pytest.mark.parametrize("target", ["uint8", "int8", "int16", "int32", "int64"])
@pytest.mark.parametrize("source", [name for name, dtype in DTYPES.items() if dtype.is_floating and dtype.promotes])
def test_out_of_range(source: str, target: str) -> None:
    """As x86 converts, and torch on it: the smallest int32 or int64, of which narrower integers keep the low bits."""
    facts, to = DTYPES[source], DTYPES[target]
    values = cast(np.array([np.nan, np.inf, -np.inf] * 7), facts)
    want = to.lowest if to.bits >= 32 else 0
    assert array(tensor(values, facts).to(opweave_dtype(target))).tolist() == [want] * len(values)
