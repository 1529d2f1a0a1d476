"""The dtype table against NumPy and torch."""

from __future__ import annotations

import importlib
import itertools
from typing import Any

import numpy as np
import pytest
from harness.recording import answer

from codegen.dtypes import (
    BFLOAT16,
    BOOL,
    COMPLEX32,
    COMPLEX64,
    COMPUTE_DTYPES,
    DTYPE_CLASSES,
    DTYPES,
    FLOAT16,
    FLOAT32,
    FLOAT64,
    INT8,
    INT16,
    INT64,
    NARROW,
    UINT8,
    DType,
    Kind,
    Promotion,
    lookup,
    lookup_class,
    ordered,
    promote,
    promote_all,
)

ALL = tuple(DTYPES.values())


def test_codes_are_the_order_of_the_enum() -> None:
    assert [dtype.code for dtype in ALL] == list(range(len(ALL)))


@pytest.mark.parametrize("dtype", ALL, ids=str)
def test_facts_agree_with_numpy(dtype: DType) -> None:
    if dtype.numpy is None:
        assert dtype in (BFLOAT16, COMPLEX32, *NARROW)
        return
    other = np.dtype(dtype.numpy)
    assert other.itemsize == dtype.itemsize
    kinds = {"b": Kind.BOOL, "u": Kind.UNSIGNED, "i": Kind.SIGNED, "f": Kind.FLOATING, "c": Kind.COMPLEX}
    assert kinds[other.kind] is dtype.kind
    if dtype.is_integer:
        assert (dtype.lowest, dtype.highest) == (np.iinfo(other).min, np.iinfo(other).max)


def test_names_codes_and_suffixes_are_unique() -> None:
    for fact in ("name", "code", "suffix"):
        assert len({getattr(dtype, fact) for dtype in ALL}) == len(ALL)
    aliases = [alias for dtype in ALL for alias in (dtype.name, *dtype.aliases)]
    assert len(set(aliases)) == len(aliases)


def test_dtypes_without_kernels() -> None:
    assert {dtype for dtype in ALL if not dtype.compute and dtype.is_floating} == {FLOAT16, BFLOAT16, *NARROW}
    assert DTYPE_CLASSES["half"] == {FLOAT16, BFLOAT16}
    for dtype in DTYPE_CLASSES["integer"]:
        assert dtype.opmath.lowest <= dtype.lowest
        assert dtype.opmath.highest >= dtype.highest
    assert FLOAT16.opmath is BFLOAT16.opmath is FLOAT32
    assert all(dtype.opmath is dtype for dtype in COMPUTE_DTYPES)
    assert FLOAT16.c_type == BFLOAT16.c_type == "uint16_t"


def test_classes() -> None:
    assert DTYPE_CLASSES["any"] == set(ALL) - DTYPE_CLASSES["float8"]
    assert DTYPE_CLASSES["all"] == DTYPE_CLASSES["any"] - DTYPE_CLASSES["complex"]
    assert DTYPE_CLASSES["numeric"] == DTYPE_CLASSES["integer"] | DTYPE_CLASSES["floating"]
    assert DTYPE_CLASSES["integral_and_bool"] == DTYPE_CLASSES["integer"] | {BOOL}
    assert BOOL not in DTYPE_CLASSES["integer"]
    assert lookup_class("half") == {FLOAT16, BFLOAT16}  # the class, although half is an alias of float16 too
    assert lookup_class("int64") == lookup_class("long") == {INT64}
    assert lookup_class("quaternion") is None
    assert ordered(frozenset((FLOAT64, BOOL, INT8))) == (BOOL, INT8, FLOAT64)


def test_lookup() -> None:
    assert lookup("half") is FLOAT16
    assert lookup("short") is INT16
    assert lookup("float3") is None


def torch_s(dtype: DType) -> Any:
    return getattr(importlib.import_module("torch"), dtype.name)


def name_of(torch_dtype: Any) -> str:
    return str(torch_dtype).removeprefix("torch.")


@pytest.mark.oracle
def test_aliases_are_torch_s() -> None:
    def ask() -> dict[str, str]:
        torch = importlib.import_module("torch")
        return {alias: name_of(getattr(torch, alias)) for dtype in ALL for alias in (dtype.name, *dtype.aliases)}

    ours = {alias: dtype.name for dtype in ALL for alias in (dtype.name, *dtype.aliases)}
    assert answer("names of dtypes", ask) == ours


def _torch_cannot_promote(first: DType, second: DType) -> bool:
    """It does not combine its newer unsigned integers with others, nor with bool."""
    newer = {DTYPES[name] for name in ("uint16", "uint32", "uint64")}
    return first is not second and bool({first, second} & newer) and not (first.is_floating or second.is_floating)


@pytest.mark.oracle
def test_promote_is_torch_promote_types() -> None:
    def promoted(first: DType, second: DType) -> str:
        try:
            return name_of(importlib.import_module("torch").promote_types(torch_s(first), torch_s(second)))
        except RuntimeError as error:
            return str(error)

    pairs = list(itertools.product(ALL, ALL))
    answers = answer("promote_types of all pairs", lambda: [promoted(*pair) for pair in pairs])
    for (first, second), expected in zip(pairs, answers, strict=True):
        if _torch_cannot_promote(first, second):
            assert expected.startswith("Promotion for uint16, uint32, uint64 types is not supported")
            higher = next((each for each in (first, second) if each.is_complex), None)
            expected = str(higher or np.promote_types(first.name, second.name))
        if first is not second and {first, second} & set(NARROW):
            names = f"{first.scalar_name} and {second.scalar_name}"
            assert expected == f"Promotion for Float8 Types is not supported, attempted to promote {names}"
            with pytest.raises(ValueError, match="do not promote"):
                promote(first, second)
            continue
        assert str(promote(first, second)) == expected, (first, second)


def test_parts_of_complex_dtypes() -> None:
    for dtype in DTYPE_CLASSES["complex"]:
        assert dtype.to_real.to_complex is dtype
        assert 2 * dtype.to_real.itemsize == dtype.itemsize
    assert BFLOAT16.to_complex is COMPLEX64


def test_promote_is_commutative_and_idempotent() -> None:
    for first, second in itertools.product(ordered(DTYPE_CLASSES["any"]), repeat=2):
        assert promote(first, second) is promote(second, first)
        assert promote(promote(first, second), first) is promote(first, second)
    assert promote(UINT8, INT8) is INT16
    assert promote(FLOAT16, BFLOAT16) is FLOAT32
    assert promote_all([BOOL, UINT8, INT8, FLOAT16]) is FLOAT16


@pytest.mark.oracle
@pytest.mark.parametrize("kind", ["DEFAULT", "INT_TO_FLOAT", "ALWAYS_BOOL", "BOOL_TO_LONG"])
def test_promotion_kinds_are_torch_s(kind: str) -> None:
    # torch only stores the others.
    dtypes = [dtype for dtype in ALL if dtype.promotes and (dtype.compute or not dtype.is_integer)]

    def ask() -> list[list[str]]:
        torch, common = (importlib.import_module(name) for name in ("torch", "torch._prims_common"))
        theirs = common.ELEMENTWISE_TYPE_PROMOTION_KIND[kind]
        tensors = [torch.empty(1, dtype=torch_s(dtype)) for dtype in dtypes]
        return [list(map(name_of, common.elementwise_dtypes(tensor, type_promotion_kind=theirs))) for tensor in tensors]

    answers = answer(f"computation and result of {kind}", ask)
    for dtype, expected in zip(dtypes, answers, strict=True):
        assert list(map(str, Promotion[kind].resolve(dtype))) == expected, dtype


@pytest.mark.oracle
def test_promotion_kinds_of_reductions_are_torch_s() -> None:
    dtypes = [dtype for dtype in ALL if dtype.promotes and dtype is not COMPLEX32]  # of which torch has no sum

    def ask() -> list[list[str]]:
        torch = importlib.import_module("torch")
        tensors = [torch.zeros(2, dtype=torch_s(dtype)) for dtype in dtypes]
        return [[name_of(tensor.sum().dtype), name_of(tensor.any().dtype)] for tensor in tensors]

    for dtype, expected in zip(dtypes, answer("dtypes of sum and any", ask), strict=True):
        kinds = (Promotion.INT_TO_LONG, Promotion.BOOL)
        assert [str(kind.resolve(dtype)[1]) for kind in kinds] == expected, dtype


def test_default_floating_dtype_is_a_choice() -> None:
    assert Promotion.INT_TO_FLOAT.resolve(INT8, FLOAT64) == (FLOAT64, FLOAT64)
    assert Promotion.INT_TO_FLOAT.resolve(FLOAT16, FLOAT64) == (FLOAT32, FLOAT16)
    assert Promotion.KEEP.resolve(INT8) == (INT8, INT8)
