"""Pooling that gives positions as well if it is asked to."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from ... import _nn_functional, _operators
from ..._dispatch.autocast import computed
from ..._dispatch.ops import ops

if TYPE_CHECKING:
    from ..._tensor.tensor import Tensor

Sizes = int | Sequence[int]


def _max_pool(dims: int) -> Callable[..., Any]:
    name = f"max_pool{dims}d"
    autocast = getattr(ops, name).op.autocast
    chosen: Any = getattr(_nn_functional, f"{name}_with_indices")

    def max_pool(
        input: Tensor,
        kernel_size: Sizes,
        stride: Sizes | None = None,
        padding: Sizes = 0,
        dilation: Sizes = 1,
        ceil_mode: bool = False,
        return_indices: bool = False,
    ) -> Tensor | tuple[Tensor, Tensor]:
        arguments = input, kernel_size, stride, padding, dilation, ceil_mode
        if return_indices:
            both: tuple[Tensor, Tensor] = chosen(*arguments)
            return both
        values: Tensor = computed(autocast, chosen, *arguments)[0]
        return values

    max_pool.__doc__ = f"""Return the maxima of windows (max pooling); with `return_indices` also their indices.

    The arguments, the shape and the errors are those of `max_pool{dims}d_with_indices`; `stride` is by default the
    kernel.
    """
    max_pool.__name__ = max_pool.__qualname__ = name
    return max_pool


def _adaptive_max_pool(dims: int) -> Callable[..., Any]:
    chosen: Any = getattr(_nn_functional, f"adaptive_max_pool{dims}d_with_indices")

    def adaptive_max_pool(
        input: Tensor, output_size: Any, return_indices: bool = False
    ) -> Tensor | tuple[Tensor, Tensor]:
        values, indices = chosen(input, output_size)
        return (values, indices) if return_indices else values

    adaptive_max_pool.__doc__ = f"""Return the maxima of `output_size` parts (adaptive max pooling).

    With `return_indices` the result has their indices, too. The arguments, the shape and the errors are those of
    `adaptive_max_pool{dims}d_with_indices`.
    """
    adaptive_max_pool.__name__ = adaptive_max_pool.__qualname__ = f"adaptive_max_pool{dims}d"
    return adaptive_max_pool


def _lp_pool(dims: int) -> Callable[..., Any]:
    module: Any = _operators if dims == 1 else _nn_functional
    mean: Any = getattr(module, f"avg_pool{dims}d")

    def lp_pool(
        input: Tensor, norm_type: float, kernel_size: Sizes, stride: Sizes | None = None, ceil_mode: bool = False
    ) -> Tensor:
        count = 1
        for extent in [kernel_size] * dims if isinstance(kernel_size, int) else kernel_size:
            count *= extent
        means = mean(input.pow(norm_type), kernel_size, stride, 0, ceil_mode)
        # Sums may be negative for odd norms; torch's root is of their magnitude then.
        result: Tensor = (means.sign() * means.abs().relu() * count).pow(1.0 / norm_type)
        return result

    lp_pool.__doc__ = f"""Return the `norm_type`-norms of windows (power-average pooling).

    Shape, dtype and errors are those of `avg_pool{dims}d`; `stride` is by default the kernel.
    """
    lp_pool.__name__ = lp_pool.__qualname__ = f"lp_pool{dims}d"
    return lp_pool


max_pool1d, max_pool2d, max_pool3d = map(_max_pool, (1, 2, 3))
adaptive_max_pool1d, adaptive_max_pool2d, adaptive_max_pool3d = map(_adaptive_max_pool, (1, 2, 3))
lp_pool1d, lp_pool2d, lp_pool3d = map(_lp_pool, (1, 2, 3))

__all__ = [
    "adaptive_max_pool1d", "adaptive_max_pool2d", "adaptive_max_pool3d", "lp_pool1d", "lp_pool2d", "lp_pool3d",
    "max_pool1d", "max_pool2d", "max_pool3d",
]  # fmt: skip
