"""Dropout of elements and of whole channels, by the random numbers that torch draws."""

from __future__ import annotations

import math
from typing import Any

from ... import _operators
from ..._base.warn import warn
from ..._operators import empty_like

__all__ = ["alpha_dropout", "dropout", "dropout1d", "dropout2d", "dropout3d", "feature_alpha_dropout"]

_ALPHA = 1.7580993408473766
"""The limit of selu for large negative numbers, without its sign."""


def _check(p: float) -> None:
    if not 0.0 <= p <= 1.0:
        raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")


def dropout(input: Any, p: float = 0.5, training: bool = True, inplace: bool = False) -> Any:
    """Apply dropout: set elements to zero with probability `p` when training, and multiply the others by `1 / (1 - p)`.

    Shape and dtype are those of `input`, which is overwritten if `inplace`. Raises ValueError if `p` is not between
    0 and 1. `opweave.dropout` is the same without defaults.
    """
    _check(p)
    result = _operators.dropout(input, p, training)
    return input.copy_(result) if inplace else result


def dropped(input: Any, p: float, inplace: bool, features: bool, alpha: bool) -> Any:
    """Dropout when training, of elements or of channels, to zero or as `alpha_dropout` does."""
    if not p or not input.numel():
        return input
    if p == 1:
        return input.mul_(0) if inplace else input * 0
    if features:
        if input.ndim < 2:
            raise RuntimeError("Feature dropout requires at least 2 dimensions in the input")
        noise = input.new_empty((*input.shape[:2], *(1,) * (input.ndim - 2)))
    else:
        noise = empty_like(input)
    noise = noise.detach().bernoulli_(1 - p)
    if not alpha:
        noise.div_(1 - p)
        return input.mul_(noise) if inplace else input * noise
    # What is dropped becomes the limit of selu; this scale and shift keep mean and variance.
    scale = 1.0 / math.sqrt((_ALPHA * _ALPHA * p + 1) * (1 - p))
    shift = noise.add(-1).mul_(_ALPHA * scale).add_(_ALPHA * scale * p)
    noise.mul_(scale)
    return input.mul_(noise).add_(shift) if inplace else (input * noise).add_(shift)


def alpha_dropout(input: Any, p: float = 0.5, training: bool = False, inplace: bool = False) -> Any:
    """Apply alpha dropout for networks with SELU: mean and variance stay as they are (Klambauer and others, 2017).

    Shape and dtype are those of `input`, which is overwritten if `inplace`. Raises ValueError if `p` is not between
    0 and 1.
    """
    _check(p)
    return dropped(input, p, inplace, False, True) if training else input


def feature_alpha_dropout(input: Any, p: float = 0.5, training: bool = False, inplace: bool = False) -> Any:
    """Apply `alpha_dropout` to whole channels: all positions of one pair of the first two dimensions.

    Raises ValueError if `p` is not between 0 and 1, RuntimeError if there are fewer than two dimensions.
    """
    _check(p)
    return dropped(input, p, inplace, True, True) if training else input


def _channels(input: Any, p: float, training: bool, inplace: bool, batched: bool) -> Any:
    _check(p)
    if not training:
        return input
    if batched:
        return dropped(input, p, inplace, True, False)
    result = dropped(input.unsqueeze_(0) if inplace else input.unsqueeze(0), p, inplace, True, False)
    return result.squeeze_(0) if inplace else result.squeeze(0)


def dropout1d(input: Any, p: float = 0.5, training: bool = True, inplace: bool = False) -> Any:
    """Apply dropout of channels: set them to zero with probability `p` when training, and multiply the others by `1 /
    (1 - p)`.

    Args:
        input (Tensor): of shape (N, C, L) or (C, L).
        p (float): the probability.
        training (bool): whether anything is dropped.
        inplace (bool): whether `input` is overwritten.

    Raises:
        ValueError: `p` is not between 0 and 1.
        RuntimeError: the input has another number of dimensions.
    """
    ndim = input.dim()
    _check(p)
    if ndim not in (2, 3):
        raise RuntimeError(
            f"dropout1d: Expected 2D or 3D input, but received a {ndim}D input. Note that dropout1d exists to provide "
            "channel-wise dropout on inputs with 1 spatial dimension, a channel dimension, and an optional batch "
            "dimension (i.e. 2D or 3D inputs)."
        )
    return _channels(input, p, training, inplace, ndim == 3)


def dropout2d(input: Any, p: float = 0.5, training: bool = True, inplace: bool = False) -> Any:
    """Apply dropout of channels: set them to zero with probability `p` when training, and multiply the others by `1 /
    (1 - p)`.

    Args:
        input (Tensor): of shape (N, C, H, W). With three dimensions it is (N, C, L), of which torch warns.
        p (float): the probability.
        training (bool): whether anything is dropped.
        inplace (bool): whether `input` is overwritten.

    Raises:
        ValueError: `p` is not between 0 and 1.
    """
    ndim = input.dim()
    _check(p)
    if ndim not in (3, 4):
        warn(f"dropout2d: a {ndim}-D input is not (N, C, H, W) or (N, C, L), and is deprecated. Use dropout instead.")
    if ndim == 3:
        warn(
            "dropout2d: a 3-D input is taken as (N, C, L), and channels of one dimension are dropped. Use dropout1d, "
            "or add a dimension of size one at the front."
        )
    return _channels(input, p, training, inplace, True)


def dropout3d(input: Any, p: float = 0.5, training: bool = True, inplace: bool = False) -> Any:
    """Apply dropout of channels: set them to zero with probability `p` when training, and multiply the others by `1 /
    (1 - p)`.

    Args:
        input (Tensor): of shape (N, C, D, H, W) or (C, D, H, W).
        p (float): the probability.
        training (bool): whether anything is dropped.
        inplace (bool): whether `input` is overwritten.

    Raises:
        ValueError: `p` is not between 0 and 1.
    """
    ndim = input.dim()
    _check(p)
    if ndim not in (4, 5):
        warn(
            f"dropout3d: a {ndim}-D input is not (N, C, D, H, W) or (C, D, H, W), and is deprecated. Use dropout "
            "instead."
        )
    return _channels(input, p, training, inplace, ndim == 5)
