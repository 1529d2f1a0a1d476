"""Dropout with a probability and `train` that must be given, in place where the name ends with `_`.

Shape and dtype are those of the input. All raise RuntimeError where the probability is not between 0 and 1, those of
features also for inputs of fewer than two dimensions.
"""

# mypy: disable-error-code="no-any-return"

from __future__ import annotations

from typing import Any

from .. import _operators as ops
from .._tensor.tensor import Tensor
from ..nn.functional.dropout_family import dropped

_PACKAGE_NAMES = [
    "alpha_dropout",
    "alpha_dropout_",
    "dropout_",
    "feature_alpha_dropout",
    "feature_alpha_dropout_",
    "feature_dropout",
    "feature_dropout_",
]


def _applied(input: Any, p: float, train: bool, inplace: bool, features: bool, alpha: bool) -> Any:
    if not 0 <= p <= 1:
        raise RuntimeError(f"dropout probability has to be between 0 and 1, but got {p:g}")
    return dropped(input, p, inplace, features, alpha) if train else input


def dropout_(input: Tensor, p: float, train: bool) -> Tensor:
    """`opweave.dropout` that overwrites its input, and returns it."""
    result = ops.dropout(input, p, train)
    return input if result is input else input.copy_(result)


def alpha_dropout(input: Tensor, p: float, train: bool) -> Tensor:
    """`nn.functional.alpha_dropout`, which leaves mean and variance as they are."""
    return _applied(input, p, train, False, False, True)


def alpha_dropout_(input: Tensor, p: float, train: bool) -> Tensor:
    """`alpha_dropout` that overwrites its input, and returns it."""
    return _applied(input, p, train, True, False, True)


def feature_dropout(input: Tensor, p: float, train: bool) -> Tensor:
    """Dropout of whole channels: all positions of one pair of the first two dimensions."""
    return _applied(input, p, train, False, True, False)


def feature_dropout_(input: Tensor, p: float, train: bool) -> Tensor:
    """`feature_dropout` that overwrites its input, and returns it."""
    return _applied(input, p, train, True, True, False)


def feature_alpha_dropout(input: Tensor, p: float, train: bool) -> Tensor:
    """`alpha_dropout` of whole channels."""
    return _applied(input, p, train, False, True, True)


def feature_alpha_dropout_(input: Tensor, p: float, train: bool) -> Tensor:
    """`feature_alpha_dropout` that overwrites its input, and returns it."""
    return _applied(input, p, train, True, True, True)
