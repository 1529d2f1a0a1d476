"""Every operator with complex numbers, against torch: which calls it takes or refuses, and what comes of them.

Operators and schemas are those of operators.json; arguments are chosen by their types and names alone.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator
from operator import attrgetter
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import opweave
import pytest

from codegen.schema import Argument, parse

torch = pytest.importorskip("torch")
from harness.torch_twin import outcome  # noqa: E402  (needs torch)

pytestmark = pytest.mark.oracle

OPERATORS = json.loads((Path(__file__).parent.parent / "generated" / "python" / "operators.json").read_text())
CALLS = [
    pytest.param(kind, path, each["schema"], "varargs" in each["tags"], id=f"{kind} {path}")
    for each in OPERATORS
    for kind, names in (("function", (*each["functions"], *each["submodules"])), ("method", each["methods"]))
    for path in names
]

SHAPES = ((), (3,), (2, 2), (3, 3), (2, 3, 3))
DTYPES = (("complex64", "complex64"), ("complex64", "float32"), ("float32", "complex64"), ("complex128", "complex64"))
INTEGERS = ("index", "indices", "repeats", "sorter")
BOOLS = ("mask", "condition")
WORDS = {"equation": ("i,i->i",), "reduce": ("sum", "prod", "amax", "mean", "multiply")}
NUMBERS = {"int": 1, "SymInt": 1, "float": 0.5, "bool": True}


def values(shape: tuple[int, ...], dtype: str, place: int) -> Any:
    """Small numbers that no function makes very large."""
    random = np.random.default_rng([place, *shape])
    if dtype == "int64":
        return np.zeros(shape, np.int64)
    if dtype == "bool":
        return random.integers(0, 2, shape).astype(bool)
    parts = random.uniform(0.2, 0.9, (2, *shape))
    return np.asarray(parts[0] + 1j * parts[1] if dtype.startswith("complex") else parts[0]).astype(dtype)


def choices(argument: Argument, place: int, shape: tuple[int, ...], dtype: str) -> tuple[Any, ...]:
    """What an argument may be, as functions of the library would take it."""
    base = str(argument.type).rstrip("?")
    if base.startswith("Tensor"):
        own = "int64" if argument.name in INTEGERS else "bool" if argument.name in BOOLS else dtype
        array = values(shape, own, place)
        return ([array, array],) if argument.is_list else (array,)
    if argument.default is not None or base.startswith("str"):
        return WORDS.get(argument.name, ())
    if argument.is_list:
        return ([0],) if argument.name.startswith("dim") else ([*shape],)
    if base == "Scalar":
        return 2, 0.5 + 1j
    return (0 if argument.name.startswith("dim") else NUMBERS[base],)


def arguments(schema: str) -> Iterator[list[Any]]:
    positional = list(parse(schema).positional)
    tensors = [each for each in positional if each.is_tensor or each.is_tensor_list]
    for shape, (first, rest) in itertools.product(SHAPES, DTYPES):
        if len(tensors) < 2 and first != rest:
            continue
        options = []
        for place, each in enumerate(positional):
            found = choices(each, place, shape, first if each is tensors[0] else rest) if tensors else ()
            if not found:
                break
            options.append(found)
        yield from map(list, itertools.product(*options))


def call(kind: str, path: str, given: list[Any], separate: bool, library: ModuleType) -> Any:
    def own(value: Any) -> Any:
        if isinstance(value, list):
            return [own(each) for each in value]
        return library.from_numpy(value.copy()) if isinstance(value, np.ndarray) else value

    mine = own(given[0] if separate else given)
    if kind == "function":
        return attrgetter(path)(library)(*mine)
    return getattr(mine[0], path)(*mine[1:])


def described(value: Any) -> Any:
    """Tensors as NumPy's arrays."""
    if isinstance(value, (tuple, list)):
        return [described(each) for each in value]
    if isinstance(value, (opweave.Tensor, torch.Tensor)):
        value = value.resolve_conj().resolve_neg()
        return np.asarray(value.numpy())
    return value


def alike(got: Any, want: Any) -> bool:
    """Results, or errors about complex numbers: of two mistakes in one call either may be named."""
    if isinstance(want, Exception):
        of_complex = isinstance(want, NotImplementedError) or "complex" in str(want)
        return isinstance(got, type(want) if of_complex else Exception)
    if isinstance(want, (tuple, list)):
        return type(got) is type(want) and len(got) == len(want) and all(map(alike, got, want))
    if isinstance(want, np.ndarray):
        if isinstance(got, Exception) or got.dtype != want.dtype or got.shape != want.shape:
            return False
        return np.allclose(got, want, rtol=1e-4, atol=1e-6, equal_nan=True)
    return bool(got == want)


def has(library: ModuleType, kind: str, path: str) -> bool:
    try:
        attrgetter(path)(library if kind == "function" else library.Tensor)
    except AttributeError:
        return False
    return True


@pytest.mark.parametrize(("kind", "path", "schema", "separate"), CALLS)
def test_like_torch(kind: str, path: str, schema: str, separate: bool) -> None:
    parsed = parse(schema)
    if not has(torch, kind, path) or parsed.argument("generator") is not None or "empty" in path or "eigh" in path:
        pytest.skip("torch has no such name, or its result is not determined: eigenvectors may have any phase")
    wrong = []
    for given in arguments(schema):
        got, want = (
            outcome(lambda lib, given=given: call(kind, path, given, separate, lib), lib) for lib in (opweave, torch)
        )
        if isinstance(want, tuple) and isinstance(got, NotImplementedError) and not given[0].ndim:
            continue  # without dimensions there is nothing to order, and torch does not look at the dtype
        if isinstance(want, RuntimeError) and "scalar type" in str(want):
            continue  # these operators of torch promote nothing, those of opweave do
        if not alike(described(got), described(want)):
            wrong.append(f"{path}({given}): got {got!r}, torch gives {want!r}")
    assert not wrong, "\n".join(wrong[:4])
