"""Modules that mark where a model is to be quantized, and where its results are to be float again: they pass tensors on
until then."""

from __future__ import annotations

from typing import Any

from ...nn import Module

__all__ = ["DeQuantStub", "QuantStub", "QuantWrapper"]


class _Stub(Module):
    """Passes a tensor on."""

    def __init__(self, qconfig: Any = None) -> None:
        super().__init__()
        if qconfig:
            self.qconfig = qconfig

    def forward(self, x: Any) -> Any:
        """Return the tensor."""
        return x


class QuantStub(_Stub):
    """Passes a tensor on; becomes `Quantize` when the model is converted."""


class DeQuantStub(_Stub):
    """Passes a tensor on; becomes `DeQuantize` when the model is converted."""


class QuantWrapper(Module):
    """A module between both stubs."""

    def __init__(self, module: Module) -> None:
        super().__init__()
        qconfig = getattr(module, "qconfig", None)
        self.add_module("quant", QuantStub(qconfig))
        self.add_module("dequant", DeQuantStub(qconfig))
        self.add_module("module", module)
        self.train(module.training)

    def forward(self, X: Any) -> Any:  # noqa: N803 (torch's name)
        """Return the module's result for the tensor, with the stubs before and after it."""
        return self.dequant(self.module(self.quant(X)))
