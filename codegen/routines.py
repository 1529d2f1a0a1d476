"""The routines of the core that an `extern` body may name. The core has a function ow_routine_NAME for each."""

from __future__ import annotations

from types import MappingProxyType

ROUTINES = ("gemm", "gemv", "dot", "bmm", "addmm", "addmv")

INDEXINGS = MappingProxyType(
    {
        "index_select": False,
        "gather": False,
        "take": False,
        "masked_select": False,
        "argwhere": False,
        "index_copy": True,
        "index_fill": True,
        "index_add": True,
        "index_reduce": True,
        "scatter": True,
        "scatter_add": True,
        "scatter_reduce": True,
        "put": True,
        "masked_fill": True,
        "masked_scatter": True,
        "tril": True,
        "triu": True,
    }
)
"""Those that an `indexing` body may name, functions ow_indexing_NAME, and whether they update (a copy of) `self`."""
