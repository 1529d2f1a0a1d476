"""The namespace `opweave.onnx`: models are not exported, and programs that ask whether they are learn so."""

from __future__ import annotations

from ._base.refusals import refused_class, refused_function

__all__ = [
    "ONNXProgram",
    "OnnxExporterError",
    "dynamo_export",
    "export",
    "is_in_onnx_export",
    "register_custom_op_symbolic",
]

_NOT = "models are not written as ONNX. Save the state_dict() of the module, and export it where torch is installed"

export = refused_function(__name__, "export", _NOT)
dynamo_export = refused_function(__name__, "dynamo_export", _NOT)
register_custom_op_symbolic = refused_function(__name__, "register_custom_op_symbolic", _NOT)
ONNXProgram = refused_class(__name__, "ONNXProgram", _NOT)


class OnnxExporterError(RuntimeError):
    """What torch's exporter raises."""


def is_in_onnx_export() -> bool:
    """Return whether a model is being exported: False."""
    return False
