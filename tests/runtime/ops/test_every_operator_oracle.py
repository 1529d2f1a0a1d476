"""Every operator with real and with complex numbers, against torch: which calls it takes or refuses, and what comes of
them.

Operators and schemas are those of operators.json; arguments are chosen by their types and names alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from types import ModuleType
from typing import Any

import numpy as np
import opweave
import pytest
from harness import oracle
from harness.catalog import described
from harness.oracle import Like, differences
from harness.outcome import Described, Error, Items, Values, outcome
from harness.recording import current
from harness.samples import COMPLEX, REAL, arguments, call, calls_of

from codegen.schema import parse

LIKE = Like(rtol=1e-4, atol=1e-6, strides=False, grad=False, few=8)


def is_alike(got: Described, want: Described) -> bool:
    """Are these errors about complex numbers? Of two mistakes in one call either may be named."""
    if not isinstance(want, Error):
        return not differences(got, want, LIKE)
    of_complex = want.kind == "NotImplementedError" or "complex" in want.text
    kinds = {want.kind} | ({"NotImplementedError"} if want.kind == "RuntimeError" else set())
    return isinstance(got, Error) and (not of_complex or got.kind in kinds)


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
