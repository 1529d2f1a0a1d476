"""Losses over classes, for the composites `nll_loss` and `cross_entropy`; messages are torch's."""

from __future__ import annotations

from typing import Any

from .._base.dtypes import EXPORTS
from .._dispatch.ops import ops
from .assertions import assert_explained
from .losses import reduced_loss

__all__ = [
    "check_classes",
    "class_dim",
    "entropies",
    "entropy_of_probabilities",
    "named_classes",
    "reduced_classes",
    "smoothed_entropy",
]


def class_dim(input: Any) -> int:
    """Return the dimension of the classes."""
    return 0 if input.ndim == 1 else 1


def check_classes(input: Any, target: Any, weight: Any) -> None:
    """Check the shapes of scores, targets and weights of a loss. Raises ValueError and RuntimeError as torch does."""
    if not input.ndim:
        raise ValueError("Expected 1 or more dimensions (got 0)")
    if input.ndim == 1:
        if target.ndim > 1 or target.numel() != 1:
            raise RuntimeError(
                "For 1D input, 1D target must have size 1, but got target size: "
                f"{target.numel() if target.ndim == 1 else list(target.shape)}"
            )
    else:
        if not target.ndim or input.size(0) != target.size(0):
            count = target.size(0) if target.ndim else 0
            raise ValueError(f"Expected input batch_size ({input.size(0)}) to match target batch_size ({count}).")
        if input.ndim == 2 and target.ndim > 1:
            raise RuntimeError("0D or 1D target tensor expected, multi-target not supported")
        wanted = [input.size(0), *input.shape[2:]]
        if list(target.shape) != wanted:
            if input.ndim in (3, 4) and target.ndim != input.ndim - 1:
                raise RuntimeError(
                    f"only batches of spatial targets supported ({input.ndim - 1}D tensors) but got targets of size: "
                    f": {list(target.shape)}"
                )
            raise RuntimeError(f"Expected target size {wanted}, got {list(target.shape)}")
    if target.dtype not in (EXPORTS["int64"], EXPORTS["uint8"]):
        raise RuntimeError(f"expected target dtype to be Long or Byte, but got {target.dtype.scalar_name}")
    _check_weight(input, weight)


def _check_weight(input: Any, weight: Any) -> None:
    count = input.size(class_dim(input))
    if weight is not None and (weight.ndim != 1 or weight.numel() != count):
        raise RuntimeError(
            f"weight tensor should be defined either for all {count} classes or no classes but got weight tensor of "
            f"shape: {list(weight.shape)}"
        )


def named_classes(input: Any, target: Any, ignore: int) -> tuple[Any, Any]:
    """Return the classes that are named, with class 0 where none counts; and where none does."""
    target = target.to(EXPORTS["int64"])
    if input.ndim == 1:
        target = target.reshape(())
    ignored = target == ignore
    places = target.masked_fill(ignored, 0)
    inside = ops.is_between(places, 0, input.size(class_dim(input)))
    assert_explained(inside, "IndexError", "Target is out of bounds.", lambda: _outside(places[~inside]))
    return places, ignored


def _outside(wrong: Any) -> IndexError:
    return IndexError(f"Target {wrong[0].item()} is out of bounds.")


def entropies(input: Any, target: Any, dim: int) -> tuple[Any, Any, Any]:
    """Return the negative logarithm of softmax at the positions that `target` names, and what it is made of: the
    largest element and the sum of exponentials."""
    top, total = ops.softmax_parts(input, dim)
    return total.log() + (top - input.gather(dim, target.unsqueeze(dim)).squeeze(dim)), top, total


def reduced_classes(losses: Any, places: Any, ignored: Any, weight: Any, word: str) -> Any:
    """Return the losses, their sum, or their mean by the weights of the classes that count."""
    if word == "mean" and weight is None:
        return _mean_of_counted(losses, ignored)
    losses = losses.masked_fill(ignored, 0)
    if weight is None:
        return reduced_loss(losses, word)
    factors = _factors(weight, places, ignored)
    losses = losses * factors
    return losses.sum() / factors.sum() if word == "mean" else reduced_loss(losses, word)


def _mean_of_counted(losses: Any, ignored: Any) -> Any:
    return ops.counted_mean(losses, ignored)[0]


def _factors(weight: Any, places: Any, ignored: Any) -> Any:
    """Return the weights of the classes that are named, zero where none counts."""
    return weight.index_select(0, places.flatten()).reshape(places.shape).masked_fill(ignored, 0)


def smoothed_entropy(input: Any, places: Any, ignored: Any, weight: Any, word: str, smoothing: float) -> Any:
    """Return cross entropy with targets that give a share of `smoothing` to all classes alike."""
    dim = class_dim(input)
    logarithms = input.log_softmax(dim)
    named = -logarithms.gather(dim, places.unsqueeze(dim)).squeeze(dim)
    named = reduced_classes(named, places, ignored, weight, word)
    if weight is not None:
        logarithms = logarithms * weight.reshape(-1, *(1,) * (input.ndim - 1 - dim))
    everywhere = -logarithms.sum(dim)
    if word == "mean" and weight is None:
        spread = _mean_of_counted(everywhere, ignored)
    else:
        spread = reduced_loss(everywhere.masked_fill(ignored, 0), "sum" if word == "mean" else word)
        if word == "mean":
            spread = spread / _factors(weight, places, ignored).sum()
    return (1 - smoothing) * named + spread * (smoothing / input.size(dim))


def entropy_of_probabilities(input: Any, target: Any, weight: Any, ignore: int, word: str, smoothing: float) -> Any:
    """Return cross entropy with targets that are probabilities."""
    if not target.dtype.is_floating_point:
        raise RuntimeError(
            "Expected floating point type for target with class probabilities, got " + target.dtype.scalar_name
        )
    if ignore >= 0:
        raise RuntimeError("ignore_index is not supported for floating point target")
    dim = class_dim(input)
    count = input.size(dim)
    if weight is not None and (weight.ndim != 1 or weight.numel() != count):
        raise RuntimeError(
            f"cross_entropy: weight tensor should be defined either for all {count} classes or no classes but got "
            f"weight tensor of shape: {list(weight.shape)}"
        )
    if smoothing:
        target = target * (1 - smoothing) + smoothing / count
    products = input.log_softmax(dim) * target
    if weight is not None:
        products = products * weight.reshape(-1, *(1,) * (input.ndim - 1 - dim))
    if word == "none":
        return -products.sum(dim)
    total = -products.sum()
    if word == "sum":
        return total
    return total * float("nan") if not input.numel() else total / (input.numel() // count)
