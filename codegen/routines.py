"""The routines of the core that an `extern` body may name. The core has a function ow_routine_NAME for each."""

from __future__ import annotations

ROUTINES = ("gemm", "gemv", "dot", "bmm", "addmm", "addmv")
