"""Anomaly detection: gradients that are NaN or fail name the line of the forward pass that they belong to."""

from __future__ import annotations

import traceback
import warnings
from collections.abc import Sequence
from typing import Any

from .._base.type_names import wrong_type
from .._handle import ANOMALY, anomaly, set_watcher
from .grad_mode import BitsMode, Switch
from .node import Node

_PACKAGE_NAMES = ["is_anomaly_check_nan_enabled", "is_anomaly_enabled", "set_anomaly_enabled"]

_UNCHECKED = 1 << 1
"""Bit of anomaly(): nothing looks for NaN."""
_FORWARD = "traceback_"


def is_anomaly_enabled() -> bool:
    """Return whether anomaly detection is on."""
    return bool(anomaly() & ANOMALY)


def is_anomaly_check_nan_enabled() -> bool:
    """Return whether anomaly detection raises for gradients that are NaN."""
    return not anomaly() & _UNCHECKED


def _remember(node: Node) -> None:
    # Without the frames of this package, the last of which made the node.
    frames = traceback.extract_stack()
    ours_left_out = [frame for frame in frames if not _is_ours(frame.filename)]
    node.metadata[_FORWARD] = traceback.format_list(ours_left_out or frames)


def _is_ours(path: str) -> bool:
    from pathlib import Path

    return Path(path).is_relative_to(Path(__file__).parent.parent)


set_watcher(_remember)


def _change(mode: BitsMode, enabled: bool, check_nan: bool) -> None:
    """Set the bits that the mode changes."""
    mode._word, mode._cleared = 1, ANOMALY | _UNCHECKED
    mode._set = (ANOMALY if enabled else 0) | (0 if check_nan else _UNCHECKED)


class set_detect_anomaly(Switch):  # noqa: N801 (PyTorch's name)
    """Turns anomaly detection on or off at once; as a context manager, until it is left."""

    __module__ = "opweave.autograd"

    def _configure(self, mode: bool, check_nan: bool = True) -> None:
        self.mode, self.check_nan = mode, check_nan
        _change(self, mode, check_nan)


def set_anomaly_enabled(enabled: bool, check_nan: bool = True) -> None:
    """Turn anomaly detection on or off, and say whether it raises for gradients that are NaN.

    Raises:
        TypeError: an argument is no bool.
    """
    if not isinstance(enabled, bool):
        raise wrong_type("set_anomaly_enabled", "enabled", "bool", enabled, position=1)
    if not isinstance(check_nan, bool):
        raise wrong_type("set_anomaly_enabled", "check_nan", "bool", check_nan)
    set_detect_anomaly(enabled, check_nan)


class detect_anomaly(BitsMode):  # noqa: N801 (PyTorch's name)
    """Context manager for finding faults: a gradient that fails or is NaN names the call of the forward pass that it
    belongs to. It is slow."""

    __module__ = "opweave.autograd"

    def __init__(self, check_nan: bool = True) -> None:
        self.check_nan = check_nan
        _change(self, True, check_nan)
        warnings.warn(
            "Anomaly Detection has been enabled. This mode will increase the runtime and should only be enabled for "
            "debugging.",
            stacklevel=2,
        )


def call(node: Node, grads: list[Any]) -> Sequence[Any]:
    """The gradients of a node; a failure is told with the call that made the node."""
    try:
        gradients = node.apply(*grads)
    except Exception:
        _warn(node)
        raise
    if is_anomaly_check_nan_enabled():
        for index, grad in enumerate(gradients):
            if grad is not None and bool((grad != grad).any()):
                _warn(node)
                raise RuntimeError(f"Function '{node.name()}' returned nan values in its {index}th output.")
    return gradients


def _warn(node: Node) -> None:
    trace = node.metadata.get(_FORWARD)
    if trace is None:
        text = (
            f"Error detected in {node.name()}. No forward pass information available. Enable detect anomaly during "
            "forward pass for more information."
        )
    else:
        text = f"Error detected in {node.name()}. Traceback of forward call that caused the error:\n{''.join(trace)}"
    warnings.warn(text, UserWarning, stacklevel=4)
