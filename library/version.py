"""The namespace `opweave.version`: which release this is, and for which kinds of devices it was built."""

from __future__ import annotations

from importlib.metadata import version

__all__ = ["__version__", "cuda", "debug", "hip", "rocm", "xpu"]

__version__ = version("opweave")
debug = False

# The releases of what it was compiled with: of nothing but a C compiler.
cuda: str | None = None
hip: str | None = None
rocm: str | None = None
xpu: str | None = None
