"""torch's table of operators with sample inputs: the samples that are small are recorded with the answers."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from functools import cache
from itertools import islice
from typing import Any, TypeAlias

import numpy as np
import opweave

from . import recording
from .oracle import CLOSE, Like
from .outcome import Described, Items, Table, Text, Values

Sample: TypeAlias = tuple[list[Any], dict[str, Any]]

SMALL = 80
"""Elements of the inputs of a sample that is recorded."""
INPUTS = Like(strides=False, few=SMALL, rtol=CLOSE, atol=CLOSE, scale=True)
"""Some are products of complex matrices, whose last digits differ between processors. Of real numbers few digits are
kept."""


def function_of(name: str, library: Any = opweave) -> Any:
    result: Any = library
    for part in name.split("."):
        result = getattr(result, part, None)
    return result or getattr(library.Tensor, name, None)


def name_of(dtype: Any) -> str:
    """The name of a dtype of torch."""
    return str(dtype).removeprefix("torch.")


@cache
def table() -> dict[str, Any]:
    """torch's operators by name and variant, those that opweave has; the module needs the package expecttest."""
    module: Any = importlib.import_module("torch.testing._internal.common_methods_invocations")
    table = {f"{op.name}-{op.variant_test_name}".rstrip("-"): op for op in module.op_db}
    return {name: op for name, op in table.items() if callable(function_of(op.name))}


def recorded(module: str) -> list[str]:
    """The parameters of the tests of a module that are recorded."""
    return [name.partition("[")[2].removesuffix("]") for name in recording.load(module)[1]]


def samples(op: Any, dtype: str, live: int, kept: int, requires_grad: bool = False) -> list[Sample]:
    """Arguments, positional and named, for a dtype: the first of the table, or the first small ones of these."""
    torch = importlib.import_module("torch")
    torch_dtype = getattr(torch, dtype)
    if torch_dtype not in op.supported_dtypes("cpu"):
        return []
    torch.manual_seed(0)
    drawn = islice(op.sample_inputs("cpu", torch_dtype, requires_grad=requires_grad), live)
    results = [([each.input, *each.args], dict(each.kwargs)) for each in drawn]
    if recording.SESSION.mode == "live":
        return results
    sized = [(sum(each.numel() for each in tensors(sample, torch.Tensor)), sample) for sample in results]
    return [sample for size, sample in sized if 0 < size <= SMALL][:kept]


def tensors(value: Any, kind: type) -> Iterator[Any]:
    if isinstance(value, kind):
        yield value
    elif isinstance(value, (list, tuple, dict)):
        for each in value.values() if isinstance(value, dict) else value:
            yield from tensors(each, kind)


def rounded(value: Any) -> Any:
    """Numbers of few digits, which take little space."""
    if hasattr(value, "requires_grad"):
        exact = value.detach()
        kept = (exact * 4096).round() / 4096 if exact.is_floating_point() else exact
        return kept.requires_grad_(value.requires_grad)
    if isinstance(value, dict):
        return {name: rounded(each) for name, each in value.items()}
    return type(value)(map(rounded, value)) if type(value) in (list, tuple) else value


def rebuilt(value: Described, library: Any) -> Any:
    """An argument, from its description."""
    if isinstance(value, Values):
        assert value.values is not None
        numbers = library.from_numpy(np.array(value.values).reshape(value.shape))
        tensor = numbers.to(getattr(library, value.dtype))
        return tensor.requires_grad_() if value.requires_grad else tensor
    if isinstance(value, Items):
        items = [rebuilt(each, library) for each in value.items]
        return items if value.kind == "list" else tuple(items)
    if isinstance(value, Table):
        return dict(zip(rebuilt(value.keys, library), rebuilt(value.values, library), strict=True))
    return eval(value.text, {"L": library}) if isinstance(value, Text) else value
