"""opweave.utils.data.datapipes: data sets that are made of one another, step by step."""

from __future__ import annotations

from . import iter, map  # noqa: A004 (PyTorch's names)

__all__ = ["iter", "map"]
