"""Every operator with named tensors: it computes what it computes without names, and its results have the names that
the rule of its entry or its family gives them, or it refuses, as docs/generalized-tensors.md says."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import numpy as np
import opweave
import pytest
from harness import samples
from harness.catalog import described
from harness.paths import ROOT

pytestmark = pytest.mark.filterwarnings("ignore")

_PAGE = (ROOT / "docs" / "generalized-tensors.md").read_text("utf-8")
REFUSING = frozenset(re.findall(r"`(\w+)`", _PAGE.partition("These refuse names: ")[2].partition("\n\n")[0]))
REFUSAL = "not yet supported with named tensors"
DTYPES = (("float32", "float32"), ("int64", "int64"), ("complex64", "complex64"))


def own_names(tensor: opweave.Tensor) -> tuple[str, ...]:
    """A name for each dimension by its place from the right, so that those of all tensors match."""
    return tuple(f"d{place}" for place in range(tensor.ndim, 0, -1))


def with_names(value: Any) -> Any:
    if isinstance(value, opweave.Tensor):
        return value.clone().rename(*own_names(value)) if value.ndim else value.clone()
    return [with_names(each) for each in value] if isinstance(value, list) else value


def tensors(value: Any) -> list[opweave.Tensor]:
    if isinstance(value, (tuple, list)):
        return [tensor for each in value for tensor in tensors(each)]
    return [value] if isinstance(value, opweave.Tensor) else []


def called(function: Any, args: list[Any]) -> Any:
    opweave.manual_seed(0)
    try:
        return function(*args)
    except Exception as error:
        return error


def calls(operator: dict[str, Any]) -> Iterator[tuple[Any, list[Any]]]:
    """Functions and methods with arguments, among them a tensor that has dimensions."""
    paths = [*samples.calls_of(operator)]
    for arrays in samples.arguments(operator["schema"], DTYPES) if paths else ():
        given = arrays[0] if "varargs" in operator["tags"] else arrays
        if any(each.ndim for each in tensors(samples.own(given, opweave))):
            for kind, path in paths:
                yield samples.function_of(kind, path, opweave), given


def values(result: Any) -> list[Any]:
    return [np.asarray(each.rename(None).resolve_conj().tolist()) for each in tensors(result)]


def expected(operator: dict[str, Any], args: list[Any], result: opweave.Tensor) -> Any:
    """The names that a result has by the rule; None: it is one for which more has to be known."""
    rule = operator["names"]
    if rule == "keep":
        return own_names(tensors(args)[0])
    if rule in ("unify", "join"):
        return own_names(result)
    if rule == "drop":
        return (None,) * result.ndim
    if rule == "select":
        return (None,)
    if rule == "reduce":
        names, default = own_names(tensors(args)[0]), re.search(r"dim=(-?\d+)", operator["schema"])
        over = [int(default[1])] if default else range(len(names))
        dims = next((each for each in args[1:] if isinstance(each, (int, list))), over)
        gone = [dim % len(names) for dim in ([dims] if isinstance(dims, int) else dims)]
        kept = tuple(name for dim, name in enumerate(names) if dim not in gone)
        return names if result.ndim == len(names) else kept
    return None


@pytest.mark.parametrize(
    "operator", [each for each in described() if any(True for _ in calls(each))], ids=lambda each: each["name"]
)
def test_operator(operator: dict[str, Any]) -> None:
    refuses = answers = False
    for function, given in calls(operator):
        args = samples.own(given, opweave)
        plain = called(function, samples.own(given, opweave))
        if isinstance(plain, Exception):
            continue
        result = called(function, with_names(args))
        if isinstance(result, RuntimeError):
            assert type(result) is RuntimeError
            refuses |= REFUSAL in str(result)
            continue
        answers = True
        assert not isinstance(result, Exception), result
        if "empty" not in operator["name"]:
            for mine, other in zip(values(result), values(plain), strict=True):
                np.testing.assert_array_equal(mine, other)
        for tensor, other in zip(tensors(result), tensors(plain), strict=True):
            assert not other.has_names()
            assert tensor.shape == other.shape
            assert all(tensor.names.count(name) == 1 for name in tensor.names if name is not None)
            names = expected(operator, args, tensor)
            assert names in (None, tensor.names), f"{operator['names']} {[each.shape for each in tensors(args)]}"
    hint = "docs/generalized-tensors.md lists the operators that refuse names"
    assert (operator["name"] in REFUSING) == (refuses and not answers), hint
