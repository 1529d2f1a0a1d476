"""Images of other sizes, by `nn.functional.interpolate`."""

from __future__ import annotations

from typing import Any

from ._declared import Call

__all__ = ["Upsample", "UpsamplingBilinear2d", "UpsamplingNearest2d"]


class Upsample(Call, call="interpolate"):
    """Resampling of signals, images or volumes (N, C, *) to another `size`, or to their size times `scale_factor`.

    Example:
        >>> opweave.nn.Upsample(scale_factor=2, mode="nearest")(opweave.tensor([[[1.0, 2.0]]]))
        tensor([[[1., 1., 2., 2.]]])
    """

    size: Any = None
    scale_factor: Any = None
    mode: str = "nearest"
    align_corners: bool | None = None
    recompute_scale_factor: bool | None = None

    def _ow_begin(self, options: dict[str, Any]) -> None:
        factor = options["scale_factor"]
        if isinstance(factor, tuple):
            options["scale_factor"] = tuple(map(float, factor))
        elif factor:
            options["scale_factor"] = float(factor)
        super()._ow_begin(options)

    def extra_repr(self) -> str:
        given = f"size={self.size}" if self.scale_factor is None else f"scale_factor={self.scale_factor}"
        return f"{given}, mode={self.mode!r}"


class UpsamplingNearest2d(Upsample):
    """Resampling of images (N, C, H, W) by nearest neighbours.

    Example:
        >>> opweave.nn.UpsamplingNearest2d(scale_factor=2)(opweave.ones(2, 4, 8, 8)).shape
        opweave.Size([2, 4, 16, 16])
    """

    def __init__(self, size: Any = None, scale_factor: Any = None) -> None:
        super().__init__(size, scale_factor, "nearest")


class UpsamplingBilinear2d(Upsample):
    """Resampling of images (N, C, H, W) by bilinear interpolation, with corners in their places.

    Example:
        >>> opweave.nn.UpsamplingBilinear2d(scale_factor=2)(opweave.ones(2, 4, 8, 8)).shape
        opweave.Size([2, 4, 16, 16])
    """

    def __init__(self, size: Any = None, scale_factor: Any = None) -> None:
        super().__init__(size, scale_factor, "bilinear", True)
