"""Losses over classes, for the composites `nll_loss` and `cross_entropy`; messages are torch's."""

from __future__ import annotations

from typing import Any

from .._base.devices import stands_for_others
from .._base.dtypes import EXPORTS
from .losses import reduced_loss
from .values import holds

__all__ = [
    "check_classes",
    "class_dim",
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
    """Return the classes that are named, with class 0 where none counts; and where one counts, None if everywhere."""
    target = target.to(EXPORTS["int64"])
    if input.ndim == 1:
        target = target.reshape(())
    ignored = target == ignore
    counted = None if holds(~ignored.any(), False, every=True) else ~ignored
    places = target if counted is None else target.masked_fill(ignored, 0)
    outside = (places < 0) | (places >= input.size(class_dim(input)))
    if holds(outside.any(), False):
        wrong = "" if stands_for_others(places) else f"{places[outside][0].item()} "
        raise IndexError(f"Target {wrong}is out of bounds.")
    return places, counted


def reduced_classes(losses: Any, places: Any, counted: Any, weight: Any, word: str) -> Any:
    """Return the losses, their sum, or their mean by the weights of the classes that count."""
    factors = None if weight is None else weight.index_select(0, places.flatten()).reshape(places.shape)
    if counted is not None:
        losses = losses.masked_fill(~counted, 0)
        factors = counted.to(losses.dtype) if factors is None else factors.masked_fill(~counted, 0)
    if weight is not None:
        losses = losses * factors
    if word != "mean" or factors is None:
        return reduced_loss(losses, word)
    return losses.sum() / factors.sum()


def smoothed_entropy(input: Any, places: Any, counted: Any, weight: Any, word: str, smoothing: float) -> Any:
    """Return cross entropy with targets that give a share of `smoothing` to all classes alike."""
    dim = class_dim(input)
    logarithms = input.log_softmax(dim)
    named = -logarithms.gather(dim, places.unsqueeze(dim)).squeeze(dim)
    named = reduced_classes(named, places, counted, weight, word)
    if weight is not None:
        logarithms = logarithms * weight.reshape(-1, *(1,) * (input.ndim - 1 - dim))
    everywhere = -logarithms.sum(dim)
    if counted is not None:
        everywhere = everywhere.masked_fill(~counted, 0)
    if word != "mean":
        spread = reduced_loss(everywhere, word)
    else:
        factors = (
            places.new_ones(places.shape, dtype=input.dtype)
            if weight is None
            else (weight.index_select(0, places.flatten()).reshape(places.shape))
        )
        spread = everywhere.sum() / (factors if counted is None else factors.masked_fill(~counted, 0)).sum()
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
