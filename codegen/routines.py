"""The routines of the core that an `extern` body may name; runtime/core/extern.c implements each."""

from __future__ import annotations

ROUTINES = ("gemm", "gemv", "dot", "bmm", "addmm", "addmv")
