"""opweave.array_api: the array API standard 2025.12 (https://data-apis.org/array-api).

Its functions take tensors and return arrays, which are tensors too: class Array says where they differ. They are
derived from the operators (_derive.py, _signatures.py) but for those that torch has in another way or not at all.
"""

from __future__ import annotations

from math import e, inf, nan, pi
from typing import TYPE_CHECKING, Any

from . import _creation, _elementwise, _products, _reductions, _shaping, _signatures, fft, linalg
from ._array import Array, add_operators
from ._derive import elementwise, functions

__array_api_version__ = "2025.12"
VERSIONS = ("2021.12", "2022.12", "2023.12", "2024.12", "2025.12")
"""The versions of the standard whose functions are all here."""
newaxis = None


def __array_namespace_info__() -> _creation.NamespaceInfo:  # noqa: N807 (the name in the standard)
    """Return an object that says what is optional in the standard and is there, and which dtypes and devices are."""
    return _creation.NamespaceInfo()


_FUNCTIONS: dict[str, Any] = {
    **{name: elementwise(name, name) for name in _signatures.ELEMENTWISE},
    **{name: elementwise(name, operator) for name, operator in _signatures.ELEMENTWISE_NAMED.items()},
    **functions(_signatures.SIGNATURES),
    **{name: getattr(_products, name) for name in ("matmul", "tensordot", "vecdot")},
    **{
        name: getattr(module, name)
        for module in (_creation, _elementwise, _reductions, _shaping)
        for name in module.__all__
    },
}
add_operators(_FUNCTIONS)
__all__ = ["Array", "e", "fft", "inf", "linalg", "nan", "newaxis", "pi", *_FUNCTIONS]
globals().update(_FUNCTIONS)
globals().update({each.name: each for each in _creation.DTYPES})
__all__ += [each.name for each in _creation.DTYPES if each.name != "bool"]

if TYPE_CHECKING:

    def __getattr__(name: str) -> Any: ...  # what is derived
