"""The routines of the core that entries may name. The core must have the C of each name added here."""

from __future__ import annotations

from types import MappingProxyType

EXTERN = ("gemm", "gemv", "dot", "bmm", "addmm", "addmv")

LAPACK = (
    "getrf", "getrs", "getri", "gesv", "potrf", "potrs", "potri", "geqrf", "orgqr", "ormqr", "sytrf", "sytrs", "syevd",
    "geev", "gesdd", "gels", "trsm", "laswp",
)  # fmt: skip
"""Routines of LAPACK, without the letter of the dtype: functions ow_lapack_NAME."""

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
"""Routines that work by index, functions ow_indexing_NAME; true if they update (a copy of) `self`."""

CORE = (
    "clone",
    "to_copy",
    "copy",
    "fill",
    "zero",
    "cat",
    "stack",
    "index",
    "index_put",
    "flip",
    "roll",
    "repeat",
    "sort",
    "argsort",
    "topk",
    "sort_values",
    "csr_product",
    "csr_product_pattern",
    "csr_starts",
    "csr_rows",
    "csr_order",
    "coo_places",
    "byte_product",
    "wide_bmm",
    "fft_c2c",
    "fft_r2c",
    "fft_c2r",
)
"""Functions that are given the whole call: ow_core_NAME."""

CORE_CALLS = (
    "item", "all_true", "contiguous", "split", "chunk", "unbind", "median", "matmul", "moment",
)  # fmt: skip
"""Calls that `fast_path` of composites may name: functions of the module `_handle`, which return None for calls that
need the slow path."""

DISTRIBUTIONS = (
    "uniform", "normal", "log_normal", "exponential", "cauchy", "geometric", "integers", "bernoulli", "permutation",
    "poisson", "binomial", "gamma", "choices",
)  # fmt: skip
"""Distributions that a `random` body may name: the core has a constant ow_distribution_NAME for each."""
