"""Every operator with real and with complex numbers, against torch: which calls it takes or refuses, and what comes of
them.

Operators and schemas are those of operators.json; arguments are chosen by their types and names alone.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from operator import attrgetter
from types import ModuleType
from typing import Any

import numpy as np
import opweave
import pytest
from harness import oracle
from harness.catalog import described
from harness.drawn import Drawn
from harness.oracle import Like, differences
from harness.outcome import Described, Error, Items, Values, outcome
from harness.recording import current

from codegen.schema import Argument, parse

LIKE = Like(rtol=1e-4, atol=1e-6, strides=False, grad=False, few=8)


SHAPES = ((), (3,), (2, 2), (3, 3), (2, 3, 3))
REAL = (("float64", "float64"), ("float32", "float64"))
COMPLEX = (("complex64", "complex64"), ("complex64", "float32"), ("float32", "complex64"), ("complex128", "complex64"))
INTEGERS = ("index", "indices", "repeats", "sorter")
BOOLS = ("mask", "condition")
ASCENDING = ("sorted_sequence", "boundaries", "bins")
WORDS = {"equation": ("i,i->i",), "reduce": ("sum", "prod", "amax", "mean", "multiply")}
NUMBERS = {"int": 1, "SymInt": 1, "float": 0.5, "bool": True}


def values(shape: tuple[int, ...], dtype: str, position: int) -> Any:
    """Small numbers that no function makes very large."""
    random = Drawn(position, *shape)
    if dtype == "int64":
        return np.zeros(shape, np.int64)
    if dtype == "bool":
        return random.integers(0, 2, shape).astype(bool)
    parts = random.uniform(0.2, 0.9, (2, *shape))
    return np.asarray(parts[0] + 1j * parts[1] if dtype.startswith("complex") else parts[0]).astype(dtype)


def choices(argument: Argument, index: int, shape: tuple[int, ...], dtype: str) -> tuple[Any, ...]:
    """What an argument may be, as functions of the library would take it."""
    base = str(argument.type).rstrip("?")
    if base.startswith("Tensor"):
        own = "int64" if argument.name in INTEGERS else "bool" if argument.name in BOOLS else dtype
        array = values(shape, own, index)
        if argument.name in ASCENDING and shape:
            array = np.sort(array)
        return ([array, array],) if argument.is_list else (array,)
    if argument.default is not None or base.startswith("str"):
        return WORDS.get(argument.name, ())
    if argument.is_list:
        return ([0],) if argument.name.startswith("dim") else ([*shape],)
    if base == "Scalar":
        return 2, 0.5 + 1j if dtype.startswith("complex") else 0.5
    return (0 if argument.name.startswith("dim") else NUMBERS[base],)


def arguments(schema: str, dtypes: Sequence[tuple[str, str]]) -> Iterator[list[Any]]:
    positional = list(parse(schema).positional)
    tensors = [each for each in positional if each.is_tensor or each.is_tensor_list]
    for shape, (first, rest) in itertools.product(SHAPES, dtypes):
        if len(tensors) < 2 and first != rest:
            continue
        options = []
        for index, each in enumerate(positional):
            result = choices(each, index, shape, first if each is tensors[0] else rest) if tensors else ()
            if not result:
                break
            options.append(result)
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


def is_alike(got: Described, want: Described) -> bool:
    """Are these errors about complex numbers? Of two mistakes in one call either may be named."""
    if not isinstance(want, Error):
        return not differences(got, want, LIKE)
    of_complex = want.kind == "NotImplementedError" or "complex" in want.text
    kinds = {want.kind} | ({"NotImplementedError"} if want.kind == "RuntimeError" else set())
    return isinstance(got, Error) and (not of_complex or got.kind in kinds)


def calls_of(operator: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """As functions and as methods of torch."""
    for path in (*operator["functions"], *operator["submodules"]):
        yield "function", path
    for path in operator["methods"]:
        yield "method", path


@pytest.mark.parametrize("dtypes", [REAL, COMPLEX], ids=["real", "complex"])
@pytest.mark.parametrize("operator", described(), ids=lambda operator: operator["name"])
def test_like_torch(operator: dict[str, Any], dtypes: Sequence[tuple[str, str]]) -> None:
    schema, separate = operator["schema"], "varargs" in operator["tags"]
    if parse(schema).argument("generator") is not None:
        return
    for kind, path in calls_of(operator):
        if not oracle.has(path if kind == "function" else f"Tensor.{path}") or "empty" in path or "eigh" in path:
            continue  # torch has no such name, or its result is not determined: eigenvectors may have any phase
        for given in oracle.sweep(arguments(schema, dtypes), 16):
            shown = [each if isinstance(each, (int, float)) else np.shape(each) for each in given]
            compare(kind, path, given, separate, f"{kind} {path} {shown}")


def compare(kind: str, path: str, given: list[Any], separate: bool, what: str) -> None:
    def of(library: ModuleType) -> Any:
        library.manual_seed(0)
        return resolved(call(kind, path, given, separate, library))

    want = oracle.ask(of, what, LIKE)
    got = outcome(of, opweave)
    if isinstance(want, Items) and got.kind == "NotImplementedError" and not given[0].ndim:
        return  # without dimensions there is nothing to order, and torch does not look at the dtype
    if isinstance(want, Error) and any(words in want.text for words in ("scalar type", "should have the same dtype")):
        return  # these operators of torch promote nothing, those of opweave do
    if path.endswith("huber_loss") and isinstance(want, Values) and got.dtype != want.dtype:
        return  # torch's result has the lower precision of the two operands
    if not is_alike(got, want):
        current().failures.append(f"{what}: got {got}, torch gives {want}")


def resolved(value: Any) -> Any:
    return [*value] if isinstance(value, tuple) else value
