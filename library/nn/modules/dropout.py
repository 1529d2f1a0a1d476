"""Dropout: in evaluation modules return their input."""

from __future__ import annotations

from typing import Any

from ._declared import Call

__all__ = ["AlphaDropout", "Dropout", "Dropout1d", "Dropout2d", "Dropout3d", "FeatureAlphaDropout"]

_SHOWN = "p={p}, inplace={inplace}"


class _Dropout(Call):
    p: float
    inplace: bool

    def _ow_begin(self, options: dict[str, Any]) -> None:
        p = options["p"]
        if p < 0 or p > 1:
            raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")
        super()._ow_begin(options)


class Dropout(_Dropout, call="dropout", trains=True, shown=_SHOWN):
    """Dropout: elements become zero with probability `p` in training, and the others are multiplied by `1 / (1 -
    p)`.

    Example:
        >>> dropout = opweave.nn.Dropout(p=0.5)
        >>> dropout.eval()(opweave.ones(3))
        tensor([1., 1., 1.])
        >>> _ = opweave.manual_seed(0)
        >>> dropout.train()(opweave.ones(6))
        tensor([0., 0., 2., 0., 0., 0.])
    """

    p: float = 0.5
    inplace: bool = False


class Dropout1d(_Dropout, call="dropout1d", trains=True, shown=_SHOWN):
    """Dropout of channels, of inputs (N, C, L) or (C, L).

    Example:
        >>> opweave.nn.Dropout1d(p=0.5)(opweave.ones(2, 4, 8)).shape
        opweave.Size([2, 4, 8])
    """

    p: float = 0.5
    inplace: bool = False


class Dropout2d(_Dropout, call="dropout2d", trains=True, shown=_SHOWN):
    """Dropout of channels, of inputs (N, C, H, W).

    Example:
        >>> opweave.nn.Dropout2d(p=0.5)(opweave.ones(2, 4, 8, 8)).shape
        opweave.Size([2, 4, 8, 8])
    """

    p: float = 0.5
    inplace: bool = False


class Dropout3d(_Dropout, call="dropout3d", trains=True, shown=_SHOWN):
    """Dropout of channels, of inputs (N, C, D, H, W) or (C, D, H, W).

    Example:
        >>> opweave.nn.Dropout3d(p=0.5)(opweave.ones(2, 4, 8, 8, 8)).shape
        opweave.Size([2, 4, 8, 8, 8])
    """

    p: float = 0.5
    inplace: bool = False


class AlphaDropout(_Dropout, call="alpha_dropout", trains=True, shown=_SHOWN):
    """Alpha dropout for networks with SELU, which keeps mean and variance.

    Example:
        >>> opweave.nn.AlphaDropout(p=0.5)(opweave.ones(2, 3)).shape
        opweave.Size([2, 3])
    """

    p: float = 0.5
    inplace: bool = False


class FeatureAlphaDropout(_Dropout, call="feature_alpha_dropout", trains=True, shown=_SHOWN):
    """Alpha dropout of whole channels.

    Example:
        >>> opweave.nn.FeatureAlphaDropout(p=0.5)(opweave.ones(2, 4, 8, 8)).shape
        opweave.Size([2, 4, 8, 8])
    """

    p: float = 0.5
    inplace: bool = False
