"""Arguments of operators, chosen by their types and names alone: operators and schemas are those of operators.json."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from operator import attrgetter
from types import ModuleType
from typing import Any

import numpy as np

from codegen.schema import Argument, parse

from .drawn import Drawn

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


def own(value: Any, library: ModuleType) -> Any:
    """The value with its arrays as tensors of a library."""
    if isinstance(value, list):
        return [own(each, library) for each in value]
    return library.from_numpy(value.copy()) if isinstance(value, np.ndarray) else value


def function_of(kind: str, path: str, library: ModuleType) -> Any:
    """What is called with the arguments, the receiver of a method first."""
    if kind == "function":
        return attrgetter(path)(library)
    return lambda receiver, *rest: getattr(receiver, path)(*rest)


def call(kind: str, path: str, given: list[Any], separate: bool, library: ModuleType) -> Any:
    return function_of(kind, path, library)(*own(given[0] if separate else given, library))


def calls_of(operator: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """As functions and as methods of torch."""
    for path in (*operator["functions"], *operator["submodules"]):
        yield "function", path
    for path in operator["methods"]:
        yield "method", path
