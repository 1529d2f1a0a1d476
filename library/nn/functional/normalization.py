"""Normalization in terms of batch and group normalization, and by means of squares."""

from __future__ import annotations

from typing import Any

from ... import _operators as ops

__all__ = ["instance_norm", "local_response_norm"]


def instance_norm(
    input: Any,
    running_mean: Any = None,
    running_var: Any = None,
    weight: Any = None,
    bias: Any = None,
    use_input_stats: bool = True,
    momentum: float = 0.1,
    eps: float = 1e-5,
) -> Any:
    """Apply instance normalization: scale each channel of each element of the batch to mean zero and variance one, then
    by `weight`, and add `bias`.

    Args:
        input (Tensor): of shape (N, C, *).
        running_mean, running_var (Tensor): of shape (C), which move towards the means over the batch.
        weight, bias (Tensor): of shape (C).
        use_input_stats (bool): otherwise the running ones are used.
        momentum (float): the share of the new ones.
        eps (float): is added to the variance.

    Raises:
        ValueError: channels have a single element.
        RuntimeError: sizes do not fit.
    """
    if use_input_stats and input.dim() >= 2:
        count = 1
        for size in input.shape[2:]:
            count *= size
        if count == 1:
            raise ValueError(f"Expected more than 1 spatial element when training, got input size {input.size()}")
    if not use_input_stats and (running_mean is None or running_var is None):
        raise RuntimeError("Expected running_mean and running_var to be defined when use_input_stats is false")
    batch, channels, *rest = input.shape

    def repeated(vector: Any) -> Any:
        return None if vector is None else vector.repeat(batch)

    mean, var = repeated(running_mean), repeated(running_var)
    result = ops.batch_norm(
        input.reshape(1, batch * channels, *rest), mean, var, repeated(weight), repeated(bias), use_input_stats,
        momentum, eps
    )  # fmt: skip
    if use_input_stats:
        for running, values in ((running_mean, mean), (running_var, var)):
            if running is not None:
                running.copy_(values.view(batch, channels).mean(0))
    return result.view(input.shape)


def local_response_norm(input: Any, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1.0) -> Any:
    """Apply local response normalization: divide by a power of the mean of squares over `size` neighbouring channels
    (Krizhevsky and others, 2012).

    Args:
        input (Tensor): of shape (N, C, *).
        size (int): how many channels.
        alpha, beta, k (float): it is divided by `(k + alpha * mean) ** beta`.

    Raises:
        ValueError: there are fewer than three dimensions.
        RuntimeError: the size is not positive.
    """
    if input.dim() < 3:
        raise ValueError(f"Expected 3D or higher dimensionality input (got {input.dim()} dimensions)")
    if size <= 0:
        raise RuntimeError(f"local_response_norm(): size should be greater than zero, but got {size}")
    if not input.numel():
        return input
    margins = [0, 0] * (input.dim() - 2) + [size // 2, (size - 1) // 2]
    windows = ops.pad(input.square(), margins).unfold(1, size, 1)
    if input.is_floating_point() or input.is_complex():
        means = windows.mean(-1)
    else:
        means = windows.sum(-1).div(size, rounding_mode="trunc")
    return input / (means * alpha + k) ** beta
