"""The table of functions: what its columns say of the core's headers, and of the functions' algebra, is so."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from codegen.dtypes import DTYPES
from codegen.expr import FUNCTIONS, Function, evaluate, parse
from codegen.expr.functions import FOREIGN_NAMES

ROOT = Path(__file__).resolve().parents[2]
ROWS = tuple(FUNCTIONS.values())
VALUES = np.array([0.37, -0.21, 1.9, -2.5, 0.0, 3.3, -0.06, 5.0, -1.3, 2.5])
INTEGERS = np.array([0, 1, -1, 2, -2, 3, 7, -8, 12, 30], np.int32)


def header(name: str) -> str:
    return next(ROOT.glob(f"runtime/core/**/{name}.h")).read_text()


def has(text: str, pattern: str) -> bool:
    return re.search(pattern, text) is not None


def value(function: Function, *operands: np.ndarray) -> np.ndarray:
    text = f"{function.name}({', '.join(function.params)})"
    return evaluate(parse(text), dict(zip(function.params, operands, strict=True)))


def test_libmvec_has_what_the_kernels_declare() -> None:
    declared = re.findall(r"^OW_SIMD_MATH[12]\((\w+)\)$", header("kernel"), re.M)
    assert sorted(declared) == sorted(each.c or "" for each in ROWS if each.libmvec)


def test_avx512_has_functions_of_a_register() -> None:
    declared = set(re.findall(r"__m512 ow_(\w+)_16\(__m512 \w+\) \{", header("avx512")))
    assert {each.name for each in ROWS if each.avx512} <= declared


def test_half_has_functions_of_lanes_and_signs() -> None:
    text = header("half")
    by_macros = {f"ow_{name}_lanes" for name in re.findall(r"^OW_\w+\((\w+), ", text, re.M)}  # by macros
    written = {each.lanes for each in ROWS if each.lanes and has(text, rf"\b{each.lanes}\(")}
    missing = {each.lanes for each in ROWS if each.lanes} - by_macros - written
    assert not missing
    assert all(has(text, rf"\bow_{each.name}_signs\(") for each in ROWS if each.signs)


@pytest.mark.parametrize("function", [each for each in ROWS if each.c_integer], ids=lambda each: each.name)
def test_helpers_of_integers(function: Function) -> None:
    """One that may fail takes the address of the error, and no other does."""
    helpers = re.findall(rf"\bow_{function.c_integer}_(?:##suffix|[iu]\d+)\(([^)]*)\) {{", header("kernel"))
    assert helpers
    assert {"int *err" in parameters for parameters in helpers} == {function.may_fail}


def test_names_lead_to_one_function() -> None:
    foreign = [name for each in ROWS for name in each.foreign]
    assert len(foreign) == len(set(foreign)) == len(FOREIGN_NAMES)
    assert not FUNCTIONS.keys() & set(foreign)
    assert all(column in DTYPES for each in ROWS for column in (*each.native, *each.blocks))


def domain(function: Function) -> np.ndarray:
    """Operands that the function takes: integers where its rule says so."""
    return INTEGERS if function.rule.value in ("bitwise", "shift") else VALUES


@pytest.mark.parametrize("function", [each for each in ROWS if each.arity == 2], ids=lambda each: each.name)
def test_which_functions_commute(function: Function) -> None:
    if function.is_special:
        pytest.importorskip("scipy")
    x, y = (each.ravel() for each in np.meshgrid(domain(function), domain(function)))
    same = np.array_equal(value(function, x, y), value(function, y, x), equal_nan=True)
    assert same == function.commutative


@pytest.mark.parametrize("function", [each for each in ROWS if each.associative], ids=lambda each: each.name)
def test_which_functions_associate(function: Function) -> None:
    x, y, z = (each.ravel() for each in np.meshgrid(*[domain(function)] * 3))
    left, right = value(function, value(function, x, y), z), value(function, x, value(function, y, z))
    np.testing.assert_allclose(left, right, rtol=1e-13 if function.rounds else 0)


@pytest.mark.parametrize("function", [each for each in ROWS if not each.rounds], ids=lambda each: each.name)
def test_what_rounds_nothing_gives_numbers_that_the_format_holds(function: Function) -> None:
    """Numbers of five digits, as those of a half format are of eleven or eight."""
    operands = [each.ravel() for each in np.meshgrid(*[domain(function)] * function.arity)]
    if domain(function) is VALUES:
        operands = [np.ldexp(np.round(np.ldexp(each, 3)), -3) for each in operands]
    result = value(function, *operands)
    parts = np.concatenate([np.real(result), np.imag(result)])
    assert np.all(np.isin(np.abs(parts), np.abs(np.concatenate(operands))) | (parts == np.round(parts)))
