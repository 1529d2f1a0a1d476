"""Queries about tensors that a compiler traces with: there are none, as programs are recorded with real tensors."""

from __future__ import annotations

from typing import Any

from ._names.refusals import refused_class

_META = "there are no such tensors. Compute shapes with tensors on the device 'meta'"
FakeTensor, FakeTensorMode = (refused_class(__name__, name, _META) for name in ("FakeTensor", "FakeTensorMode"))


def is_fake(x: Any) -> bool:
    """Return whether a tensor has no elements because a compiler looks at shapes: False."""
    return False


def active_fake_mode() -> None:
    """Return the mode in which such tensors are made: None."""


def detect_fake_mode(inputs: Any = None) -> None:
    """Return the mode that such tensors were made in: None."""


def get_proxy_mode() -> None:
    """Return the mode in which calls become a graph: None. `opweave.fx` traces without one."""
