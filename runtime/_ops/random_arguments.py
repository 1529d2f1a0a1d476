"""Arguments of random operators that may stand in several positions; messages are torch's."""

from __future__ import annotations

from typing import Any

from .._base.finfo import finfo
from .._base.handles import integer, type_name
from .._dispatch.check import integers
from .._dispatch.ops import ops

__all__ = [
    "check_binomial",
    "check_multinomial",
    "check_one_dtype",
    "check_weights",
    "normal_size",
    "permutation_size",
    "randint_high",
    "randint_low",
    "randint_size",
    "share_bounds",
]


# ---- randint(high, size) or randint(low, high, size) ---------------------------------------------------------


def randint_low(low: Any, high: Any, size: Any) -> int:
    """Return the lower bound of `randint`, which may be left out and is 0 then."""
    return 0 if _has_no_low(low, high, size) else integer("randint", "low", low)


def randint_high(low: Any, high: Any, size: Any) -> int:
    """Return the upper bound of `randint`, in either order of arguments."""
    if _has_no_low(low, high, size):
        return integer("randint", "high", high if low is None else low)
    return integer("randint", "high", high, 2)


def randint_size(low: Any, high: Any, size: Any) -> Any:
    """Return the size for `randint`, in either order of arguments. Raises TypeError where there is none."""
    size = high if size is None and _has_no_low(low, high, size) else size
    if size is None or isinstance(size, int):
        position = 2 if _has_no_low(low, high, None) else 3
        raise TypeError(
            f"randint(): argument 'size' (position {position}) must be tuple of ints, not {type_name(size)}"
        )
    return integers("randint", "size", size)


def _has_no_low(low: Any, high: Any, size: Any) -> bool:
    return size is None or low is None or high is None


_NO_WEIGHT = "invalid multinomial distribution (sum of probabilities <= 0)"


# ---- others --------------------------------------------------------------------------------------------------


def permutation_size(n: Any) -> tuple[int]:
    """Return the size of the result of `randperm`."""
    return (integer("randperm", "n", n),)


def normal_size(mean: Any, std: Any, size: Any) -> Any:
    """Return the size of a result whose mean and deviation are numbers; None if either is a tensor."""
    tensors = [hasattr(value, "dim") for value in (mean, std)]
    if any(tensors) == (size is not None):
        given = ", ".join(type_name(value) for value in (mean, std, size) if value is not None)
        raise TypeError(
            f"normal() received an invalid combination of arguments - got ({given}), but expected one of:\n"
            " * (Tensor mean, Tensor std, *, Generator generator = None, Tensor out = None)\n"
            " * (Tensor mean, float std = 1, *, Generator generator = None, Tensor out = None)\n"
            " * (float mean, Tensor std, *, Generator generator = None, Tensor out = None)\n"
            " * (float mean, float std, tuple of ints size, *, Generator generator = None, Tensor out = None)\n"
        )
    if tensors[1]:
        ops.assert_values(~(std < 0), "RuntimeError", "normal expects all elements of std >= 0.0")
    return size


def check_binomial(count: Any, prob: Any) -> None:
    """Check the arguments of `binomial`. Raises ValueError for integers, RuntimeError for different dtypes."""
    for name, value in (("count", count), ("prob", prob)):
        if not value.is_floating_point():
            raise ValueError(f"binomial only supports floating-point dtypes for {name}, got: {value.dtype.scalar_name}")
    check_one_dtype(count, prob)


def check_one_dtype(*tensors: Any) -> None:
    """Raise RuntimeError unless all tensors have the same dtype."""
    for tensor in tensors:
        if tensor.dtype is not tensors[0].dtype:
            raise RuntimeError(f"Found dtype {tensor.dtype.scalar_name} but expected {tensors[0].dtype.scalar_name}")


def share_bounds(dtype: Any) -> tuple[float, float]:
    """The range of shares, whose logarithms are finite and those of the rest are."""
    facts = finfo(dtype)
    return facts.tiny, 1 - facts.eps / 2


def check_multinomial(weights: Any, count: int, replacement: bool) -> None:
    """Check the arguments of `multinomial`. Raises RuntimeError for shapes, dtypes and counts that it does not have."""
    if weights.ndim not in (1, 2):
        raise RuntimeError("prob_dist must be 1 or 2 dim")
    if not weights.is_floating_point():
        raise RuntimeError(
            f"multinomial only supports floating-point dtypes for input, got: {weights.dtype.scalar_name}"
        )
    if count <= 0:
        raise RuntimeError("cannot sample n_sample <= 0 samples")
    categories = weights.size(-1)
    if count > categories and not replacement:
        raise RuntimeError("cannot sample n_sample > prob_dist.size(-1) samples without replacement")
    if categories > 2**24:
        raise RuntimeError("number of categories cannot exceed 2^24")
    if not categories and (weights.ndim == 1 or weights.size(0)):
        raise RuntimeError(_NO_WEIGHT)


def check_weights(weights: Any) -> None:
    """Raise RuntimeError for weights that are negative, infinite or NaN, or all zero."""
    inside = (weights >= 0) & (weights < float("inf"))
    ops.assert_values(inside, "RuntimeError", "probability tensor contains either `inf`, `nan` or element < 0")
    ops.assert_values(weights.any(-1), "RuntimeError", _NO_WEIGHT)
