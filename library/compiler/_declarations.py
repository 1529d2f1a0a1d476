"""The declarations of the package's operators, each read when it is asked for."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from .._base import package_data

if TYPE_CHECKING:
    from ..codegen.library import Entries
    from ..codegen.model.operator import Operator


@cache
def _entries() -> Entries:
    from ..codegen.library import Entries

    return Entries(package_data.path("ops.yaml"))


@cache
def declared(name: str) -> Operator | None:
    """Return the operator of an entry; None: it follows from another one, or is no operator of kernels."""
    try:
        return _entries().operator(name)
    except (AssertionError, KeyError):
        return None
