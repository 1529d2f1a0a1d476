"""Anomaly detection: gradients that are NaN or fail name the line of the forward pass that they belong to."""

from __future__ import annotations

import traceback
import warnings
from collections.abc import Sequence
from typing import Any

from .._handle import set_watcher
from .grad_mode import _Mode
from .node import Node

_state = {"enabled": False, "check_nan": True}
_FORWARD = "traceback_"


def enabled() -> bool:
    return _state["enabled"]


def is_anomaly_enabled() -> bool:
    """Is anomaly detection on?"""
    return _state["enabled"]


def is_anomaly_check_nan_enabled() -> bool:
    """Does it look for NaN?"""
    return _state["check_nan"]


def _set(mode: bool, check_nan: bool) -> None:
    _state.update(enabled=mode, check_nan=check_nan)
    set_watcher(_remember if mode else None)


def _remember(node: Node) -> None:
    # Without the frames of this package, the last of which made the node.
    frames = traceback.extract_stack()
    ours_left_out = [frame for frame in frames if not _is_ours(frame.filename)]
    node.metadata = {_FORWARD: traceback.format_list(ours_left_out or frames)}


def _is_ours(path: str) -> bool:
    from pathlib import Path

    return Path(path).is_relative_to(Path(__file__).parent.parent)


class set_detect_anomaly(_Mode):  # noqa: N801 (PyTorch's name)
    """Turns anomaly detection on or off at once; as a context manager, until it is left."""

    __module__ = "opweave.autograd"

    def __init__(self, mode: bool, check_nan: bool = True) -> None:
        self.mode, self.check_nan = mode, check_nan
        self._before = dict(_state)
        _set(mode, check_nan)

    def clone(self) -> Any:
        return type(self)(self.mode, self.check_nan)

    def __enter__(self) -> None:
        _set(self.mode, self.check_nan)

    def __exit__(self, *exception: object) -> None:
        _set(self._before["enabled"], self._before["check_nan"])


class detect_anomaly(_Mode):  # noqa: N801 (PyTorch's name)
    """Within, a gradient that fails or is NaN names the call of the forward pass that it belongs to. Slow: to find
    faults."""

    __module__ = "opweave.autograd"

    def __init__(self, check_nan: bool = True) -> None:
        self.check_nan = check_nan
        self._before = dict(_state)
        warnings.warn(
            "Anomaly Detection has been enabled. This mode will increase the runtime and should only be enabled for "
            "debugging.",
            stacklevel=2,
        )

    def clone(self) -> Any:
        return type(self)(self.check_nan)

    def __enter__(self) -> None:
        self._before = dict(_state)
        _set(True, self.check_nan)

    def __exit__(self, *exception: object) -> None:
        _set(self._before["enabled"], self._before["check_nan"])


def call(node: Node, grads: list[Any]) -> Sequence[Any]:
    """The gradients of a node; a failure is told with the call that made the node."""
    try:
        found = node.apply(*grads)
    except Exception:
        _warn(node)
        raise
    if _state["check_nan"]:
        for place, grad in enumerate(found):
            if grad is not None and bool((grad != grad).any()):
                _warn(node)
                raise RuntimeError(f"Function '{node.name()}' returned nan values in its {place}th output.")
    return found


def _warn(node: Node) -> None:
    trace = getattr(node, "metadata", {}).get(_FORWARD)
    if trace is None:
        text = (
            f"Error detected in {node.name()}. No forward pass information available. Enable detect anomaly during "
            "forward pass for more information."
        )
    else:
        text = f"Error detected in {node.name()}. Traceback of forward call that caused the error:\n{''.join(trace)}"
    warnings.warn(text, UserWarning, stacklevel=4)
