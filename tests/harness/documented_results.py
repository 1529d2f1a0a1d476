"""What docstrings say of shapes and dtypes of results, held against the results of calls.

Shapes are words, or symbols such as `shape (*, n, k) for A (*, n, m), B (*, m, k)`, in which `*` stands for any
dimensions, and in a result for those to which the inputs' broadcast.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import opweave

from .documented import Call, Documented

Shape = tuple[int, ...]


def claims(operator: Documented) -> tuple[str, str]:
    """The shape and the dtype in the docstring, each empty if it does not say it."""
    text = " ".join(operator.doc.partition("Returns:\n")[2].partition("\n\n")[0].split()).rstrip(".")
    rest, _, dtype = text.partition("; dtype: ")
    shape = re.search(r"(?:^Tensor|,) of (.*)", rest)
    return shape[1] if shape else "", dtype


# ---- shapes -------------------------------------------------------------------------------------------------

WORDS: Mapping[str, Callable[[Call, Shape], Shape | None]] = {
    "the shape to which the inputs broadcast, ": lambda call, _: None,
    "the shape to which the inputs broadcast": lambda call, _: tuple(opweave.broadcast_shapes(*_shapes(call))),
    "the input's shape without `dim`": lambda call, shape: _without(shape, call.values.get("dim")),
    "the input's shape, for odd": lambda _, shape: None,
    "the input's shape plus": lambda _, shape: None,
    "the input's shape with": lambda _, shape: None,
    "the input's shape but": lambda _, shape: None,
    "the input's shape times": lambda _, shape: None,
    "the input's shape": lambda _, shape: shape,
}
"""The first that fits counts; None is no claim that is checked."""


def check_shapes(text: str, call: Call, results: list[opweave.Tensor]) -> None:
    found = [tuple(each.shape) for each in results]
    if text.startswith("shape"):
        return _check_symbols(text, call, found)
    if same := re.fullmatch(r"the shape of `(\w+)`", text):
        value = call.values[same[1]]
        return _agree(found, tuple(value.shape) if isinstance(value, opweave.Tensor) else ())
    expected = next((shape for start, shape in WORDS.items() if text.startswith(start)), None)
    shapes = _shapes(call)
    if expected is not None and shapes and (shape := expected(call, shapes[0])) is not None:
        _agree(found, shape)


def _agree(found: list[Shape], shape: Shape) -> None:
    for each in found:
        assert each == shape


def _shapes(call: Call) -> list[Shape]:
    return [tuple(value.shape) for value in call.values.values() if isinstance(value, opweave.Tensor)]


def _without(shape: Shape, dim: int | None) -> Shape:
    return () if dim is None else tuple(size for position, size in enumerate(shape) if position != dim)


def _check_symbols(text: str, call: Call, found: list[Shape]) -> None:
    results, _, inputs = text.partition(" for ")
    known = {name: value for name, value in call.values.items() if value is not None}
    batches: list[Shape] = []
    for name, sizes in re.findall(r"(\w+) \(([^()]*)\)", inputs):
        if isinstance(value := call.values.get(name), opweave.Tensor):
            batches += _match(sizes, tuple(value.shape), known)
    patterns = list(_parenthesized(results))
    for pattern, shape in zip(patterns if len(patterns) > 1 else patterns * len(found), found, strict=False):
        for batch in _match(pattern, shape, known):
            assert not batches or batch == tuple(opweave.broadcast_shapes(*batches)), f"({pattern}) is {shape}"


def _parenthesized(text: str) -> Iterator[str]:
    """The texts in the outermost parentheses."""
    depth = start = 0
    for position, character in enumerate(text):
        if character == "(":
            depth, start = depth + 1, start if depth else position + 1
        elif character == ")":
            depth -= 1
            if not depth:
                yield text[start:position]


def _match(pattern: str, shape: Shape, known: dict[str, Any]) -> list[Shape]:
    """Check the sizes that are known and note the others; return what `*` stands for."""
    sizes = re.split(r", (?![^()]*\))", pattern) if pattern else []
    batch = []
    if sizes[:1] == ["*"]:
        sizes = sizes[1:]
        batch = [shape[: len(shape) - len(sizes)]]
        shape = shape[len(shape) - len(sizes) :]
    assert len(shape) == len(sizes), f"({pattern}) is {shape}"
    for symbol, size in zip(sizes, shape, strict=True):
        try:
            value = eval(symbol, {"min": min, "abs": abs, "len": len}, known)
        except NameError:
            value = size
            if symbol.isidentifier():
                known[symbol] = size
        assert value == size, f"{symbol} of ({pattern}) is {size}, not {value}"
    return batch


# ---- dtypes -------------------------------------------------------------------------------------------------

Dtypes = Callable[[opweave.dtype, opweave.dtype], opweave.dtype]
DTYPES: Mapping[str, Dtypes] = {
    **{
        name: lambda _, __, name=name: getattr(opweave, name)
        for name in ("bool", "uint8", "int32", "int64", "float64", "complex128")
    },
    "that of the input": lambda first, _: first,
    "that of the inputs": lambda first, _: first,
    "that of the tensors": lambda first, _: first,
    "that of the parts": lambda first, _: first.to_real() if first.is_complex else first,
    "the one that the inputs promote to": lambda _, promoted: promoted,
    "the complex one whose parts have the dtype of the input": lambda _, promoted: promoted.to_complex(),
    "the complex one whose parts have the dtype of the inputs": lambda _, promoted: promoted.to_complex(),
    "the complex one of the input's precision": lambda first, _: first.to_complex() if _is_floating(first) else first,
    "the real one of the input's precision": lambda first, _: first.to_real() if first.is_complex else first,
    "the default floating dtype": lambda *_: opweave.get_default_dtype(),
    "the default dtype": lambda *_: opweave.get_default_dtype(),
    "that of the default dtype": lambda *_: opweave.get_default_dtype().to_complex(),
}
CLAUSES: Mapping[str, Callable[[opweave.dtype], bool]] = {
    r"for integers and bool (?P<dtype>.*)": lambda dtype: not _is_floating(dtype),
    r"(?P<dtype>\w+) for integers and bool": lambda dtype: not _is_floating(dtype),
    r"(?P<dtype>\w+) for integers": lambda dtype: not _is_floating(dtype) and dtype is not opweave.bool,
    r"(?P<dtype>\w+) for bool": lambda dtype: dtype is opweave.bool,
    r"for complex numbers (?P<dtype>complex128)": lambda dtype: dtype.is_complex,
    r"for complex numbers that of their parts( for (?P<results>.*))?": lambda dtype: dtype.is_complex,
    r"(?P<dtype>\w+) for (?P<results>positions|`.*|the .*)": lambda _: True,
    r"(?P<dtype>\w+) for an input of uint8": lambda dtype: dtype is opweave.uint8,
}
"""What follows the first words: when it holds, and of which results."""


def _is_floating(dtype: opweave.dtype) -> bool:
    return dtype.is_floating_point or dtype.is_complex


def check_dtypes(text: str, call: Call, results: list[opweave.Tensor], names: tuple[str, ...]) -> None:
    tensors = [each for value in call.values.values() for each in flat(value)]
    if not tensors:
        return
    first, promoted = tensors[0].dtype, functools.reduce(opweave.promote_types, [each.dtype for each in tensors])
    start, *clauses = re.split(r"[;,] (?:and )?(?!or )", text.removeprefix("`dtype`, or "))
    if start not in DTYPES:
        return
    named = (f"`{name}`" for name in names) if names else ("the first", "the second", "the third")
    for result, name in zip(results, named, strict=False):
        dtype = DTYPES[start](first, promoted)
        for clause in clauses:
            dtype = _changed(clause, dtype, promoted if "promote" in start else first, name)
        assert result.dtype is dtype, f"{name} of {first}, documented as {text}"


def _changed(clause: str, dtype: opweave.dtype, given: opweave.dtype, name: str) -> opweave.dtype:
    """The dtype of the result of that name, after a clause about inputs or results of some kind."""
    for pattern, holds in CLAUSES.items():
        if match := re.fullmatch(pattern, clause):
            groups = match.groupdict()
            concerned = (groups.get("results") or name).replace("positions", "`indices`")
            if not holds(given) or name not in concerned:
                return dtype
            return DTYPES[groups["dtype"]](dtype, dtype) if groups.get("dtype") else dtype.to_real()
    return dtype


def flat(value: Any) -> list[opweave.Tensor]:
    """The tensors in an argument or a result."""
    if isinstance(value, opweave.Tensor):
        return [value]
    return [tensor for each in value for tensor in flat(each)] if isinstance(value, (tuple, list)) else []
