"""Modules that stand for functions, so that the scales of their results have a place."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...._dispatch.ops import ops
from ....nn.modules.linear import Identity
from ....nn.modules.module import Module
from . import functional
from .scaled import Scaled

__all__ = ["FloatFunctional", "QFunctional"]


class FloatFunctional(Module):
    """Functions of float tensors, whose results an observer may see as `activation_post_process`."""

    def __init__(self) -> None:
        super().__init__()
        self.activation_post_process = Identity()

    def forward(self, x: Any) -> Any:
        """Raise RuntimeError: call `add` or another method."""
        raise RuntimeError(
            f"{type(self).__name__} is not intended to use the 'forward'. Please use the underlying operation, such "
            "as add()"
        )

    def add(self, x: Any, y: Any) -> Any:
        """Return `x + y`."""
        return self.activation_post_process(ops.add(x, y))

    def add_scalar(self, x: Any, y: float) -> Any:
        """Return `x + y` for a number."""
        return ops.add(x, y)

    def mul(self, x: Any, y: Any) -> Any:
        """Return `x * y`."""
        return self.activation_post_process(ops.mul(x, y))

    def mul_scalar(self, x: Any, y: float) -> Any:
        """Return `x * y` for a number."""
        return ops.mul(x, y)

    def cat(self, x: Sequence[Any], dim: int = 0) -> Any:
        """Return tensors one after the other."""
        return self.activation_post_process(ops.cat(x, dim=dim))

    def add_relu(self, x: Any, y: Any) -> Any:
        """Return the positive part of `x + y`."""
        return self.activation_post_process(ops.relu(ops.add(x, y)))

    def matmul(self, x: Any, y: Any) -> Any:
        """Return `x @ y`."""
        return self.activation_post_process(ops.matmul(x, y))


class QFunctional(Scaled):
    """The same functions of quantized tensors, whose results have the module's scale and zero point."""

    def __init__(self) -> None:
        super().__init__()
        self.activation_post_process = Identity()

    def extra_repr(self) -> str:
        """Return the scale and the zero point."""
        return f"scale={self.scale}, zero_point={self.zero_point}"

    def forward(self, x: Any) -> Any:
        """Raise RuntimeError: call `add` or another method."""
        raise RuntimeError(
            "Functional is not intended to use the 'forward'. Please use the underlying operation, such as add()"
        )

    def add(self, x: Any, y: Any) -> Any:
        """Return `x + y`."""
        return self.activation_post_process(functional.add(x, y, self.scale, self.zero_point))

    def mul(self, x: Any, y: Any) -> Any:
        """Return `x * y`."""
        return self.activation_post_process(functional.mul(x, y, self.scale, self.zero_point))

    def cat(self, x: Sequence[Any], dim: int = 0) -> Any:
        """Return tensors one after the other."""
        from ...._representations.quantized.products import computed

        joined = computed(lambda *each: ops.cat(each, dim=dim), "cat", self.scale, self.zero_point, *x)
        return self.activation_post_process(joined)

    def add_relu(self, x: Any, y: Any) -> Any:
        """Return the positive part of `x + y`."""
        return self.activation_post_process(functional.add_relu(x, y, self.scale, self.zero_point))

    def matmul(self, x: Any, y: Any) -> Any:
        """Return `x @ y`."""
        return self.activation_post_process(functional.matmul(x, y, self.scale, self.zero_point))

    @classmethod
    def from_float(cls, mod: Any, use_precomputed_fake_quant: bool = False) -> QFunctional:
        """The quantized counterpart of a FloatFunctional whose results were observed."""
        if type(mod) is not FloatFunctional:
            raise AssertionError(
                f"QFunctional.from_float expects an instance of FloatFunctional, but got {type(mod).__name__}"
            )
        scale, zero_point = mod.activation_post_process.calculate_qparams()
        made = cls()
        made.scale, made.zero_point = float(scale), int(zero_point)
        return made
