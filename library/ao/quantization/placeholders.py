"""Observers that observe nothing, or keep everything: what stands where a scale is known, or found while running."""

from __future__ import annotations

from typing import Any

from ..._base.dtypes import EXPORTS, dtype, quint8
from ..._base.types import per_tensor_affine, qscheme
from ..._tensor.construct import tensor
from .observer import EPS, ObserverBase, quant_range

__all__ = ["FixedQParamsObserver", "NoopObserver", "PlaceholderObserver", "RecordingObserver"]

_FLOAT32 = EXPORTS["float32"]


class FixedQParamsObserver(ObserverBase):
    """An observer whose scale and zero point are known."""

    def __init__(
        self,
        scale: float,
        zero_point: int,
        dtype: dtype = quint8,
        qscheme: qscheme = per_tensor_affine,
        quant_min: int = 0,
        quant_max: int = 255,
        is_dynamic: bool = False,
        **kwargs: Any,
    ) -> None:
        if is_dynamic:
            raise NotImplementedError("FixedQParamsObserver doesn't support dynamic quantization")
        super().__init__(dtype=dtype, is_dynamic=is_dynamic, **kwargs)
        self.quant_min, self.quant_max = quant_min, quant_max
        self.register_buffer("scale", tensor([scale], dtype=EXPORTS["float32"]))
        self.register_buffer("zero_point", tensor([zero_point], dtype=EXPORTS["int32"]))
        self.qscheme = qscheme

    def forward(self, x: Any) -> Any:
        """Return the tensor."""
        return x

    def calculate_qparams(self) -> tuple[Any, Any]:  # type: ignore[override]
        """Return scale and zero point."""
        return self.scale, self.zero_point


class PlaceholderObserver(ObserverBase):
    """An observer that states a dtype and observes nothing: scales are found while running."""

    def __init__(
        self,
        dtype: dtype = _FLOAT32,
        custom_op_name: str = "",
        compute_dtype: dtype | None = None,
        quant_min: int | None = None,
        quant_max: int | None = None,
        qscheme: qscheme | None = None,
        eps: float | None = None,
        is_dynamic: bool = False,
    ) -> None:
        super().__init__(dtype=dtype, is_dynamic=is_dynamic or bool(compute_dtype))
        self.qscheme = per_tensor_affine if qscheme is None else qscheme
        self.quant_min = quant_min
        self.quant_max = quant_max
        self.eps = EPS if eps is None else eps
        self.custom_op = custom_op_name

    def forward(self, x: Any) -> Any:
        """Return the tensor."""
        return x

    def extra_repr(self) -> str:
        """Return the dtype and whether scales are found while running."""
        return f"dtype={self.dtype}, is_dynamic={self.is_dynamic}"

    def get_quant_range(self) -> tuple[int, int]:
        """Return the integers that are used."""
        return quant_range(self.dtype, self.quant_min, self.quant_max, False)

    def calculate_qparams(self) -> Any:  # type: ignore[override]
        """Raise Exception: there are no scales."""
        raise Exception("calculate_qparams should not be called for PlaceholderObserver")  # torch's class


class NoopObserver(ObserverBase):
    """An observer that passes inputs on and keeps nothing."""

    def __init__(self, dtype: dtype = EXPORTS["float16"], custom_op_name: str = "") -> None:
        super().__init__(dtype=dtype, is_dynamic=False)
        self.dtype = dtype
        self.custom_op = custom_op_name

    def forward(self, x: Any) -> Any:
        """Return the tensor."""
        return x

    def calculate_qparams(self) -> Any:  # type: ignore[override]
        """Raise Exception: there are no scales."""
        raise Exception("calculate_qparams should not be called for NoopObserver")  # torch's class


class RecordingObserver(ObserverBase):
    """Keeps a copy of every tensor."""

    def __init__(self, dtype: dtype = quint8) -> None:
        super().__init__(dtype=dtype, is_dynamic=False)
        self.tensor_val: list[Any] = []

    def forward(self, x: Any) -> Any:
        """Keep a copy of a tensor and return the tensor."""
        self.tensor_val.append(x.clone())
        return x

    def calculate_qparams(self) -> Any:  # type: ignore[override]
        """Raise Exception: there are no scales."""
        raise Exception("calculate_qparams should not be called for RecordingObserver")  # torch's class

    def get_tensor_value(self) -> list[Any]:
        """Return the copies."""
        return self.tensor_val
