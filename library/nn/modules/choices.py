"""Pooling whose windows are drawn, and what undoes pooling."""

from __future__ import annotations

from typing import Any

from ..._tensor.tensor import Tensor
from .. import functional
from .conv import spread
from .module import Module

__all__ = ["FractionalMaxPool2d", "FractionalMaxPool3d", "MaxUnpool1d", "MaxUnpool2d", "MaxUnpool3d"]


class _MaxUnpool(Module):
    _ow_dims: int

    def __init__(self, kernel_size: Any, stride: Any = None, padding: Any = 0) -> None:
        super().__init__()
        self.kernel_size = spread(kernel_size, self._ow_dims)
        self.stride = spread(kernel_size if stride is None else stride, self._ow_dims)
        self.padding = spread(padding, self._ow_dims)

    def extra_repr(self) -> str:
        return f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}"

    def forward(self, input: Any, indices: Any, output_size: Any = None) -> Any:
        """Return a tensor of the usual size, or of `output_size`, in which the elements of `input` are at `indices`."""
        unpool: Any = getattr(functional, f"max_unpool{self._ow_dims}d")
        return unpool(input, indices, self.kernel_size, self.stride, self.padding, output_size)


class MaxUnpool1d(_MaxUnpool):
    """Partial inverse of MaxPool1d: its values at their indices, among zeros. Options, shapes and errors are those of
    `nn.functional.max_unpool1d`.

    Example:
        >>> largest, places = opweave.nn.MaxPool1d(2, return_indices=True)(opweave.tensor([[1.0, 3.0, 4.0, 2.0]]))
        >>> opweave.nn.MaxUnpool1d(2)(largest, places)
        tensor([[0., 3., 4., 0.]])
    """

    _ow_dims = 1


class MaxUnpool2d(_MaxUnpool):
    """Partial inverse of MaxPool2d: its values at their indices, among zeros. Options, shapes and errors are those of
    `nn.functional.max_unpool2d`.

    Example:
        >>> largest, places = opweave.nn.MaxPool2d(2, return_indices=True)(opweave.ones(1, 1, 4, 4))
        >>> opweave.nn.MaxUnpool2d(2)(largest, places).shape
        opweave.Size([1, 1, 4, 4])
    """

    _ow_dims = 2


class MaxUnpool3d(_MaxUnpool):
    """Partial inverse of MaxPool3d: its values at their indices, among zeros. Options, shapes and errors are those of
    `nn.functional.max_unpool3d`.

    Example:
        >>> largest, places = opweave.nn.MaxPool3d(2, return_indices=True)(opweave.ones(1, 1, 4, 4, 4))
        >>> opweave.nn.MaxUnpool3d(2)(largest, places).shape
        opweave.Size([1, 1, 4, 4, 4])
    """

    _ow_dims = 3


class _FractionalMaxPool(Module):
    _ow_dims: int

    def __init__(
        self,
        kernel_size: Any,
        output_size: Any = None,
        output_ratio: Any = None,
        return_indices: bool = False,
        _random_samples: Any = None,
    ) -> None:
        super().__init__()
        if any(extent <= 0 for extent in spread(kernel_size, self._ow_dims)):
            raise ValueError(f"kernel_size must be greater than 0, but got {kernel_size}")
        name = type(self).__name__
        if output_size is None and output_ratio is None:
            raise ValueError(f"{name} requires specifying either an output size, or a pooling ratio")
        if output_size is not None and output_ratio is not None:
            raise ValueError("only one of output_size and output_ratio may be specified")
        self.kernel_size = spread(kernel_size, self._ow_dims)
        self.return_indices = return_indices
        self.register_buffer("_random_samples", _random_samples)
        self.output_size = None if output_size is None else spread(output_size, self._ow_dims)
        self.output_ratio = None if output_ratio is None else spread(output_ratio, self._ow_dims)
        if self.output_ratio is not None and not all(0 < ratio < 1 for ratio in self.output_ratio):
            raise ValueError(f"output_ratio must be between 0 and 1 (got {output_ratio})")

    def forward(self, input: Tensor) -> Tensor:
        """Return the largest elements of windows, with `return_indices` also where they stand."""
        pool: Any = getattr(functional, f"fractional_max_pool{self._ow_dims}d")
        options = (self.kernel_size, self.output_size, self.output_ratio, self.return_indices)
        result: Tensor = pool(input, *options, _random_samples=self._random_samples)
        return result


class FractionalMaxPool2d(_FractionalMaxPool):
    """Fractional max pooling: windows whose distances are drawn, so that there are `output_size` of them, or
    `output_ratio` times as many as elements, of inputs (N, C, H, W) or (C, H, W).

    Example:
        >>> opweave.nn.FractionalMaxPool2d(2, output_size=5)(opweave.ones(2, 4, 8, 8)).shape
        opweave.Size([2, 4, 5, 5])
    """

    _ow_dims = 2


class FractionalMaxPool3d(_FractionalMaxPool):
    """Fractional max pooling, as FractionalMaxPool2d, of inputs (N, C, D, H, W) or (C, D, H, W).

    Example:
        >>> opweave.nn.FractionalMaxPool3d(2, output_size=5)(opweave.ones(2, 4, 8, 8, 8)).shape
        opweave.Size([2, 4, 5, 5, 5])
    """

    _ow_dims = 3
