"""opweave.utils.data.datapipes: data sets that are made of one another, as far as programs still use them."""

from __future__ import annotations

from . import iter  # noqa: A004 (PyTorch's name)

__all__ = ["iter"]
