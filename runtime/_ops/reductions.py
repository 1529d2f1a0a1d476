"""Common parts of composites that reduce or scan: torch's reading of arguments, differences and areas."""

from __future__ import annotations

import math
from typing import Any

from .._base.shapes import distinct_dims, wrap_dim
from .._base.warn import warn

__all__ = ["gradients", "moment_arguments", "refuse_empty_norm", "trapezoid_areas"]


def moment_arguments(name: str, tensor: Any, dim: Any, unbiased: Any, keepdim: Any, correction: Any) -> tuple[Any, ...]:
    """Return `dim`, `keepdim` and `correction` of a variance.

    `unbiased` may stand in the position of `dim`, and means a correction of 1 or 0.
    """
    if isinstance(dim, bool):
        dim, unbiased = None, dim
    if unbiased is not None:
        if correction is not None:
            raise TypeError(f"{name}() received an invalid combination of arguments: 'unbiased' and 'correction'")
        correction = int(unbiased)
    correction = 1 if correction is None else correction
    shape = tensor.shape
    dims = [dim] if isinstance(dim, int) else dim
    count = math.prod([shape[wrap_dim(each, len(shape))] for each in dims if shape]) if dims else tensor.numel()
    if count <= correction and count:
        warn(
            f"{name}(): degrees of freedom is <= 0. Correction should be strictly less than the reduction factor "
            "(input numel divided by output numel).",
        )
    return dim, keepdim, correction


def refuse_empty_norm(tensor: Any, order: float, dim: Any) -> None:
    """Raise if a norm without identity (ord < 0 or inf) is taken over an empty dimension."""
    shape = tensor.shape
    text = f"{order:g}" if math.isfinite(order) else "inf" if order > 0 else "-inf"
    dims = [dim] if isinstance(dim, int) else dim
    if not dims and not tensor.numel():
        raise RuntimeError(
            f"linalg.vector_norm cannot compute the {text} norm on an empty tensor because the operation does not have "
            "an identity"
        )
    for each in (dims or ()) if shape else ():
        if not shape[wrap_dim(each, len(shape))]:
            raise RuntimeError(
                f"linalg.vector_norm cannot compute the {text} norm on the dimension {each}because this dimension is "
                "empty and the operation does not have an identity"
            )


# ---- areas --------------------------------------------------------------------------------------------------


def _parts(tensor: Any, dim: int) -> tuple[Any, Any]:
    """Return all positions along `dim` but the first, and all but the last."""
    size = tensor.size(dim)
    return tensor.narrow(dim, min(1, size), max(size - 1, 0)), tensor.narrow(dim, 0, max(size - 1, 0))


def trapezoid_areas(y: Any, x: Any, dx: float, dim: int) -> Any:
    """Return the areas between neighbours along `dim`."""
    right, left = _parts(y, dim)
    if x is None:
        return (left + right) * (dx / 2)
    along = dim - y.ndim if dim >= 0 else dim
    if x.ndim == 1:
        x = x.reshape([-1 if position == y.ndim + along else 1 for position in range(y.ndim)])
    if x.size(along) != y.size(dim):
        raise RuntimeError("trapezoid: There must be one `x` value for each sample point")
    ahead, behind = _parts(x, along)
    return (ahead - behind) * (left + right) / 2


# ---- gradients ----------------------------------------------------------------------------------------------


def gradients(tensor: Any, spacing: Any, dim: Any, edge_order: int) -> tuple[Any, ...]:
    """Return derivatives by central differences, with one-sided ones of order `edge_order` at the ends."""
    if edge_order not in (1, 2):
        raise RuntimeError("torch.gradient only supports edge_order=1 and edge_order=2.")
    dims = [*range(tensor.ndim)] if dim is None else [dim] if isinstance(dim, int) else [*dim]
    spacings = [*spacing] if isinstance(spacing, (tuple, list)) else [1 if spacing is None else spacing] * len(dims)
    if len(spacings) != len(dims):
        raise RuntimeError(
            "torch.gradient expected spacing to be unspecified, a scalar or a list of length equal to 'len(dim)' = "
            f"{len(dims)}, but got a list of length {len(spacings)}"
        )
    distinct = distinct_dims(dims, tensor.ndim)
    for each in distinct:
        if tensor.size(each) < edge_order + 1:
            raise RuntimeError("torch.gradient expected each dimension size to be at least edge_order+1")
    source = tensor if tensor.is_floating_point() else tensor / 1
    return tuple([_gradient(source, step, each, edge_order) for step, each in zip(spacings, dims, strict=True)])


def _gradient(x: Any, spacing: Any, dim: int, edge_order: int) -> Any:
    n = x.size(dim)
    shape = [-1 if each == wrap_dim(dim, x.ndim) else 1 for each in range(x.ndim)]
    even = not hasattr(spacing, "reshape") or not spacing.ndim
    result = x.clone()

    def at(start: int, count: int = 1) -> Any:
        return x.narrow(dim, start, count)

    def step(start: int, count: int = 1) -> Any:
        """Return the distances from positions to the next ones."""
        if even:
            return spacing
        return (spacing.narrow(0, start + 1, count) - spacing.narrow(0, start, count)).reshape(shape)

    if n > 2 and even:
        result.narrow(dim, 1, n - 2).copy_((at(2, n - 2) - at(0, n - 2)) / (2 * spacing))
    elif n > 2:
        before, after = step(0, n - 2), step(1, n - 2)
        left, middle, right = at(0, n - 2), at(1, n - 2), at(2, n - 2)
        slopes = (middle - left) / before * after + (right - middle) / after * before
        result.narrow(dim, 1, n - 2).copy_(slopes / (before + after))
    for end, sign in ((0, 1), (n - 1, -1)):
        near = step(0) if sign > 0 else step(n - 2)
        slope = (at(end + sign) - at(end)) * sign / near
        if edge_order == 2:
            far = step(1) if sign > 0 else step(n - 3)
            beyond = (at(end + 2 * sign) - at(end + sign)) * sign / far
            slope = slope + (slope - beyond) * near / (near + far)
        result.narrow(dim, end, 1).copy_(slope)
    return result
