"""opweave.__config__: how the package was built, as text, as in torch.__config__."""

from __future__ import annotations

import platform
import sys

from ._base.threads import get_num_interop_threads, get_num_threads
from .backends.cpu import get_cpu_capability
from .version import __version__

__all__ = ["parallel_info", "show"]


def show() -> str:
    """Return what the package was built with, a line for each."""
    lines = [
        f"opweave {__version__}",
        f"  - Python {sys.version.split()[0]} on {platform.platform()}",
        "  - OpenBLAS for matrix products and LAPACK",
        f"  - CPU capability usage: {get_cpu_capability()}",
    ]
    return "\n".join(lines) + "\n"


def parallel_info() -> str:
    """Return how many threads there are."""
    lines = ["ATen/Parallel:"]
    lines += [f"\tat::get_num_threads() : {get_num_threads()}"]
    lines += [f"\tat::get_num_interop_threads() : {get_num_interop_threads()}"]
    return "\n".join(lines) + "\n"
