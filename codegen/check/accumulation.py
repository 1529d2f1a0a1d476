"""Checks at sample values that `combine` of a reduction or a scan does not depend on how the elements are grouped.

Kernels combine parts of a line separately, each part from the identity, and then join the parts: threads do so, and the
lanes of a vector, each of which takes every n-th element. A `combine` that depends on the grouping would give results
that depend on the length of the line.
"""

from __future__ import annotations

from collections.abc import Callable

from ..dtypes import DType
from ..errors import Diagnostics, Span
from ..expr import ExpressionError
from ..model.accumulation import Accumulation
from ..model.operator import Expression, Operator
from . import samples
from .samples import Array

_FEW = 8
_ULPS = 2**12
_HELP = "lines are combined in parts, which are joined: what depends on the grouping is a composite, or 'rows'"


def check(operator: Operator, body: Accumulation, diagnostics: Diagnostics) -> None:
    """Report reductions and scans whose `combine` depends on how the elements are grouped."""
    for dtype in samples.dtypes(operator):
        try:
            violation = _violation(body, dtype)
        except ExpressionError:
            return  # the expression has a wrong type, which is reported separately
        if violation is not None:
            span, message = violation
            diagnostics.report(span, message, _HELP)
            return


def _violation(body: Accumulation, dtype: DType) -> tuple[Span, str] | None:
    """Return the first law that does not hold as (span, message), or None."""
    import numpy as np

    def combine(acc: Array, self: Array) -> Array:
        return samples.value(body.combine.tree, {"acc": acc, "self": self}, dtype)

    each = body.map
    x = samples.matrix(dtype).ravel()[:_FEW]
    mapped = x if each is None else samples.value(each.tree, {"self": x}, dtype)
    start = samples.identity(body, dtype)
    accumulated = combine(start, mapped)
    a, b, c = (np.ravel(part) for part in np.meshgrid(accumulated, accumulated, accumulated))
    combine_span = body.combine.source.span
    neutral = body.identity.source.span if isinstance(body.identity, Expression) else combine_span
    wrong = _first(accumulated, mapped)
    if wrong is not None and not _makes_accumulators(combine, accumulated, mapped):
        gives = f"combined with {_show(mapped[wrong])} it gives {_show(accumulated[wrong])}"
        return neutral, f"the identity {_show(start)} is not neutral: {gives}"
    left, right = combine(combine(a, b), c), combine(a, combine(b, c))
    wrong = _first(left, right, a, b, c)
    if wrong is not None:
        operands = f"{_show(a[wrong])}, {_show(b[wrong])} and {_show(c[wrong])}"
        return combine_span, (
            f"'combine' is not associative: {operands} give {_show(left[wrong])} when the first two are combined "
            f"first, {_show(right[wrong])} when the last two are"
        )
    left, right = combine(a, b), combine(b, a)
    wrong = _first(left, right, a, b)
    if wrong is not None and not body.is_scan:
        operands = f"{_show(a[wrong])} and {_show(b[wrong])}"
        return (
            combine_span,
            f"'combine' depends on the order: {operands} give {_show(left[wrong])} or {_show(right[wrong])}",
        )
    return None


def _makes_accumulators(combine: Callable[[Array, Array], Array], accumulated: Array, mapped: Array) -> bool:
    """True if combining with the identity turns elements into accumulators, as `acc | (self != 0)` and `acc * self % 7`
    do, so that the identity need not leave elements unchanged."""
    import numpy as np

    if _first(accumulated, (mapped != 0).astype(accumulated.dtype)) is None:
        return True
    others = np.tile(mapped, len(mapped))
    combined, plain = (np.repeat(each, len(mapped)) for each in (accumulated, mapped))
    return _first(combine(combined, others), combine(plain, others)) is None


def _first(left: Array, right: Array, *operands: Array) -> int | None:
    """Return the index of the first element in which two results differ by more than rounding, or None."""
    import numpy as np

    if left.dtype.kind not in "fc":
        differing = left != right
    else:
        with np.errstate(all="ignore"):
            size = np.maximum.reduce([np.abs(each) for each in (left, right, *operands)])
            same = (left == right) | (np.isnan(left) & np.isnan(right))
            differing = ~(same | (np.abs(left - right) <= _ULPS * np.spacing(np.where(np.isfinite(size), size, 0))))
    indices = np.flatnonzero(differing)
    return int(indices[0]) if len(indices) else None


def _show(number: Array) -> str:
    return f"{number.item():g}" if number.dtype.kind == "f" else str(number.item())
