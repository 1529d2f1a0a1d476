"""Pooling: one call of a function each."""

from __future__ import annotations

from typing import Any

from ._declared import Call
from .conv import spread

__all__ = [
    "AdaptiveAvgPool1d", "AdaptiveAvgPool2d", "AdaptiveAvgPool3d", "AdaptiveMaxPool1d", "AdaptiveMaxPool2d",
    "AdaptiveMaxPool3d", "AvgPool1d", "AvgPool2d", "AvgPool3d", "Fold", "LPPool1d", "LPPool2d", "LPPool3d", "MaxPool1d",
    "MaxPool2d", "MaxPool3d", "Unfold",
]  # fmt: skip

_MAX = "kernel_size={kernel_size}, stride={stride}, padding={padding}, dilation={dilation}, ceil_mode={ceil_mode}"
_AVERAGE = "kernel_size={kernel_size}, stride={stride}, padding={padding}"
_WINDOWS = "kernel_size={kernel_size}, dilation={dilation}, padding={padding}, stride={stride}"


class _Pool(Call):
    """Base of pooling whose stride is by default the kernel."""

    def _ow_begin(self, options: dict[str, Any]) -> None:
        if options["stride"] is None:
            options["stride"] = options["kernel_size"]
        super()._ow_begin(options)


class _MaxPool(_Pool):
    kernel_size: Any
    stride: Any
    padding: Any
    dilation: Any
    return_indices: bool
    ceil_mode: bool


class MaxPool1d(_MaxPool, call="max_pool1d", shown=_MAX):
    """Max pooling of inputs (N, C, L) or (C, L); with `return_indices` also the indices of the maxima.

    Example:
        >>> opweave.nn.MaxPool1d(kernel_size=2, stride=2)(opweave.arange(6.0).view(1, 6))
        tensor([[1., 3., 5.]])
    """

    kernel_size: Any
    stride: Any = None
    padding: Any = 0
    dilation: Any = 1
    return_indices: bool = False
    ceil_mode: bool = False


class MaxPool2d(_MaxPool, call="max_pool2d", shown=_MAX):
    """Max pooling of inputs (N, C, H, W) or (C, H, W); with `return_indices` also the indices of the maxima.

    Example:
        >>> opweave.nn.MaxPool2d(kernel_size=2, stride=2)(opweave.ones(2, 4, 8, 8)).shape
        opweave.Size([2, 4, 4, 4])
    """

    kernel_size: Any
    stride: Any = None
    padding: Any = 0
    dilation: Any = 1
    return_indices: bool = False
    ceil_mode: bool = False


class MaxPool3d(_MaxPool, call="max_pool3d", shown=_MAX):
    """Max pooling of inputs (N, C, D, H, W) or (C, D, H, W); with `return_indices` also the indices of the maxima.

    Example:
        >>> opweave.nn.MaxPool3d(kernel_size=2, stride=2)(opweave.ones(2, 4, 8, 8, 8)).shape
        opweave.Size([2, 4, 4, 4, 4])
    """

    kernel_size: Any
    stride: Any = None
    padding: Any = 0
    dilation: Any = 1
    return_indices: bool = False
    ceil_mode: bool = False


class AvgPool1d(_Pool, call="avg_pool1d", shown=_AVERAGE):
    """Average pooling of inputs (N, C, L) or (C, L).

    Example:
        >>> opweave.nn.AvgPool1d(2)(opweave.arange(6.0).view(1, 6))
        tensor([[0.5000, 2.5000, 4.5000]])
    """

    kernel_size: Any
    stride: Any = None
    padding: Any = 0
    ceil_mode: bool = False
    count_include_pad: bool = True

    def _ow_begin(self, options: dict[str, Any]) -> None:
        super()._ow_begin(options)
        for name in ("kernel_size", "stride", "padding"):
            setattr(self, name, spread(getattr(self, name), 1))


class AvgPool2d(_Pool, call="avg_pool2d", shown=_AVERAGE):
    """Average pooling of inputs (N, C, H, W) or (C, H, W); sums divided by `divisor_override`, if it is given.

    Example:
        >>> opweave.nn.AvgPool2d(2)(opweave.ones(2, 4, 8, 8)).shape
        opweave.Size([2, 4, 4, 4])
    """

    kernel_size: Any
    stride: Any = None
    padding: Any = 0
    ceil_mode: bool = False
    count_include_pad: bool = True
    divisor_override: int | None = None


class AvgPool3d(_Pool, call="avg_pool3d", shown=_AVERAGE):
    """Average pooling of inputs (N, C, D, H, W) or (C, D, H, W); sums divided by `divisor_override`, if it is given.

    Example:
        >>> opweave.nn.AvgPool3d(2)(opweave.ones(2, 4, 8, 8, 8)).shape
        opweave.Size([2, 4, 4, 4, 4])
    """

    kernel_size: Any
    stride: Any = None
    padding: Any = 0
    ceil_mode: bool = False
    count_include_pad: bool = True
    divisor_override: int | None = None


class LPPool1d(Call, call="lp_pool1d"):
    """Power-average pooling, the `norm_type`-norm of windows, of inputs (N, C, L) or (C, L).

    Example:
        >>> opweave.nn.LPPool1d(2, kernel_size=2)(opweave.arange(6.0).view(1, 6))
        tensor([[1.0000, 3.6056, 6.4031]])
    """

    norm_type: float
    kernel_size: Any
    stride: Any = None
    ceil_mode: bool = False


class LPPool2d(Call, call="lp_pool2d"):
    """Power-average pooling, the `norm_type`-norm of windows, of inputs (N, C, H, W) or (C, H, W).

    Example:
        >>> opweave.nn.LPPool2d(2, kernel_size=2)(opweave.ones(2, 4, 8, 8)).shape
        opweave.Size([2, 4, 4, 4])
    """

    norm_type: float
    kernel_size: Any
    stride: Any = None
    ceil_mode: bool = False


class LPPool3d(Call, call="lp_pool3d"):
    """Power-average pooling, the `norm_type`-norm of windows, of inputs (N, C, D, H, W) or (C, D, H, W).

    Example:
        >>> opweave.nn.LPPool3d(2, kernel_size=2)(opweave.ones(2, 4, 8, 8, 8)).shape
        opweave.Size([2, 4, 4, 4, 4])
    """

    norm_type: float
    kernel_size: Any
    stride: Any = None
    ceil_mode: bool = False


class AdaptiveAvgPool1d(Call, call="adaptive_avg_pool1d"):
    """Adaptive average pooling to `output_size`, of inputs (N, C, L) or (C, L).

    Example:
        >>> opweave.nn.AdaptiveAvgPool1d(3)(opweave.arange(6.0).view(1, 6))
        tensor([[0.5000, 2.5000, 4.5000]])
    """

    output_size: Any


class AdaptiveAvgPool2d(Call, call="adaptive_avg_pool2d"):
    """Adaptive average pooling to `output_size`, of inputs (N, C, H, W) or (C, H, W).

    Example:
        >>> opweave.nn.AdaptiveAvgPool2d(3)(opweave.ones(2, 4, 8, 8)).shape
        opweave.Size([2, 4, 3, 3])
    """

    output_size: Any


class AdaptiveAvgPool3d(Call, call="adaptive_avg_pool3d"):
    """Adaptive average pooling to `output_size`, of inputs (N, C, D, H, W) or (C, D, H, W).

    Example:
        >>> opweave.nn.AdaptiveAvgPool3d(3)(opweave.ones(2, 4, 8, 8, 8)).shape
        opweave.Size([2, 4, 3, 3, 3])
    """

    output_size: Any


class AdaptiveMaxPool1d(Call, call="adaptive_max_pool1d", shown="output_size={output_size}"):
    """Adaptive max pooling to `output_size`, of inputs (N, C, L) or (C, L).

    Example:
        >>> opweave.nn.AdaptiveMaxPool1d(3)(opweave.arange(6.0).view(1, 6))
        tensor([[1., 3., 5.]])
    """

    output_size: Any
    return_indices: bool = False


class AdaptiveMaxPool2d(Call, call="adaptive_max_pool2d", shown="output_size={output_size}"):
    """Adaptive max pooling to `output_size`, of inputs (N, C, H, W) or (C, H, W).

    Example:
        >>> opweave.nn.AdaptiveMaxPool2d(3)(opweave.ones(2, 4, 8, 8)).shape
        opweave.Size([2, 4, 3, 3])
    """

    output_size: Any
    return_indices: bool = False


class AdaptiveMaxPool3d(Call, call="adaptive_max_pool3d", shown="output_size={output_size}"):
    """Adaptive max pooling to `output_size`, of inputs (N, C, D, H, W) or (C, D, H, W).

    Example:
        >>> opweave.nn.AdaptiveMaxPool3d(3)(opweave.ones(2, 4, 8, 8, 8)).shape
        opweave.Size([2, 4, 3, 3, 3])
    """

    output_size: Any
    return_indices: bool = False


class Unfold(Call, call="unfold", shown=_WINDOWS):
    """Sliding windows of images, as columns (im2col).

    Example:
        >>> opweave.nn.Unfold(kernel_size=3)(opweave.ones(2, 4, 8, 8)).shape
        opweave.Size([2, 36, 36])
    """

    kernel_size: Any
    dilation: Any = 1
    padding: Any = 0
    stride: Any = 1


class Fold(Call, call="fold", shown="output_size={output_size}, " + _WINDOWS):
    """Sums of overlapping windows in images of the sizes `output_size` (col2im).

    Example:
        >>> opweave.nn.Fold(output_size=(3, 3), kernel_size=2)(opweave.ones(1, 4, 4))
        tensor([[[[1., 2., 1.],
                  [2., 4., 2.],
                  [1., 2., 1.]]]])
    """

    output_size: Any
    kernel_size: Any
    dilation: Any = 1
    padding: Any = 0
    stride: Any = 1
