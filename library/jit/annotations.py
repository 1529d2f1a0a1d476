"""opweave.jit.annotations: what annotations of compiled functions are written with. They are Python's."""

from __future__ import annotations

from typing import Any, Dict, Final, List, Optional, Tuple, Union  # noqa: UP035 (which programs take from here)

from ..futures import Future

__all__ = [
    "Any", "BroadcastingList1", "BroadcastingList2", "BroadcastingList3", "Dict", "Final", "Future", "List", "Optional",
    "Tuple", "Union",
]  # fmt: skip

BroadcastingList1 = BroadcastingList2 = BroadcastingList3 = list
"""`BroadcastingList2[int]`: a list for which one number may stand."""
