"""Whether two libraries agree about a call of linear algebra: types, dtypes, shapes and strides, errors and their texts
exactly, values to rounding.

A call sees the library as `L` and what SETUP makes; what is compared of eigenvectors and the like does not depend on
their signs."""

from __future__ import annotations

import warnings
from types import ModuleType
from typing import Any

import numpy as np
from compare import own_name

SETUP = """
g = lambda *shape: L.tensor(R.standard_normal(shape).tolist(), dtype=L.float64).reshape(shape)
A = g(4, 4)
B = g(4, 3)
v = g(4)
T = g(5, 3)
W = g(3, 5)
AA = g(2, 3, 4, 4)
BB = g(3, 4, 2)
E = g(0, 0)
Z = g(0, 3, 3)
S = A @ A.mT + 4 * L.eye(4, dtype=L.float64)
SS = AA @ AA.mT + 4 * L.eye(4, dtype=L.float64)
C = L.complex(A, g(4, 4))
H = C @ C.mH + 4 * L.eye(4, dtype=L.complex128)
D = L.complex(T, g(5, 3))
f = A.float()
one = L.tensor([[1.0, 2.0], [2.0, 4.0]], dtype=L.float64)
sing = L.stack([L.eye(2, dtype=L.float64), one])
n = L.full((3, 3), float("nan"))
i = L.arange(9).reshape(3, 3)
h = L.ones(3, 3, dtype=L.float16)
inf = L.full((3, 3), float("inf"))
lin = L.linalg
"""

Found = tuple[list[Any], list[np.ndarray[Any, Any]]]
"""What must be equal, and the values."""


def outcome(call: str, library: ModuleType) -> Found:
    names: dict[str, Any] = {"L": library, "R": np.random.default_rng(0)}
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            exec(SETUP, names)
            values: list[np.ndarray[Any, Any]] = []
            return [_described(eval(call, names), library, values)], values
    except Exception as error:
        kind = "LinAlgError" if isinstance(error, library.linalg.LinAlgError) else type(error).__name__
        return [kind, _named(str(error).partition("\nException raised")[0], library)], []


def _named(text: str, library: ModuleType) -> str:
    """opweave's messages may call functions by torch's names."""
    return own_name(text, library).replace("torch.", "L.")


def _described(value: Any, library: ModuleType, values: list[np.ndarray[Any, Any]]) -> Any:
    if isinstance(value, library.Tensor):
        values.append(np.array(value.tolist()).reshape(value.shape))
        strides = [stride for size, stride in zip(value.shape, value.stride(), strict=True) if size > 1]
        return own_name(str(value.dtype), library), tuple(value.shape), strides if value.numel() else []
    if isinstance(value, (tuple, list)):
        return _kind(value), [_described(each, library, values) for each in value]
    return repr(value)


def _kind(value: Any) -> str:
    """torch has classes of their own for named tuples that are the `out` of a call."""
    return type(value).__name__.removesuffix("_out")


def differences(left: Found, right: Found) -> str:
    """What they disagree about; nothing where they agree."""
    if left[0] != right[0]:
        return f"{left[0]} and {right[0]}"
    for one, other in zip(left[1], right[1], strict=True):
        single = "float32" in str(left[0]) or "complex64" in str(left[0])
        tolerance = 1e-4 if single else 1e-9
        size = np.abs(other[np.isfinite(other)]).max(initial=1.0)
        if not np.allclose(one, other, rtol=tolerance, atol=tolerance * size, equal_nan=True):
            return f"{one} and {other}"
    return ""
