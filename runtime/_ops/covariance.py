"""Covariances of weighted observations, for the composite `cov`; messages are torch's."""

from __future__ import annotations

from typing import Any

from .._base.warn import warn
from .._dispatch.ops import ops

__all__ = ["covariances"]


def covariances(x: Any, correction: int, fweights: Any, aweights: Any) -> Any:
    """Return the covariance matrix (n, n) of the rows of `x` (n, k).

    Each column is an observation that occurs `fweights` times and has the weight `aweights`.
    """
    if x.ndim > 2:
        raise RuntimeError(
            f"cov(): expected input to have two or fewer dimensions but got an input with {x.ndim} dimensions"
        )
    if x.dtype.scalar_name == "Bool":
        raise RuntimeError("cov(): bool dtype is not supported for input")
    x = x if x.ndim == 2 else x.reshape(1, -1)
    weights, total = None, x.size(1)
    for name, given in (("fweights", fweights), ("aweights", aweights)):
        if given is not None:
            _check_weights(name, given, x.size(1))
            weights = given if weights is None else weights * given
    if weights is not None:
        total = weights.sum()
        if not total:
            raise RuntimeError("cov(): weights sum to zero, can't be normalized")
    weighted = x if weights is None else x * weights
    freedom = total - correction
    if aweights is not None and correction:
        freedom = total - correction * (weights * aweights).sum() / total
    if freedom <= 0:
        warn(
            "cov(): degrees of freedom is <= 0. Correction should be strictly less than the number of observations.",
        )
        freedom = freedom * 0
    means = weighted.sum(1, True) / total
    centred = x - means
    weighted = centred if weights is None else centred * weights
    return (centred.mm(weighted.t().conj_physical()) / freedom).squeeze()


def _check_weights(name: str, weights: Any, count: int) -> None:
    if weights.ndim > 1:
        raise RuntimeError(
            f"cov(): expected {name} to have one or fewer dimensions but got {name} with {weights.ndim} dimensions"
        )
    kind = "integral" if name == "fweights" else "floating point"
    if weights.is_floating_point() != (kind != "integral") or weights.is_complex():
        raise RuntimeError(
            f"cov(): expected {name} to have {kind} dtype but got {name} with {weights.dtype.scalar_name} dtype"
        )
    if weights.numel() != count:
        raise RuntimeError(
            f"cov(): expected {name} to have the same numel as there are observations in the input but got "
            f"{weights.numel()} != {count}"
        )
    ops.assert_values(~(weights < 0), "RuntimeError", f"cov(): {name} cannot be negative")
