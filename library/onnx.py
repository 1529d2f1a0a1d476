"""The namespace `opweave.onnx`: models are not exported, and programs that ask whether they are learn so."""

from __future__ import annotations

from collections.abc import Callable
from enum import IntEnum
from typing import TYPE_CHECKING, Any, TypeVar

from ._names.module_names import submodule
from ._names.refusals import refused_class, refused_function

__all__ = [
    "ONNXProgram",
    "OnnxExporterError",
    "OperatorExportTypes",
    "TensorProtoDataType",
    "TrainingMode",
    "dynamo_export",
    "export",
    "is_in_onnx_export",
    "register_custom_op_symbolic",
    "unregister_custom_op_symbolic",
]

__path__: list[str] = []  # so that it has the submodules that module_names.py knows
_Called = TypeVar("_Called", bound=Callable[..., Any])

_NOT = "models are not written as ONNX. Save the state_dict() of the module, and export it where torch is installed"

export = refused_function(__name__, "export", _NOT)
dynamo_export = refused_function(__name__, "dynamo_export", _NOT)
ONNXProgram = refused_class(__name__, "ONNXProgram", _NOT)


class OnnxExporterError(RuntimeError):
    """The exception of torch's exporter."""


class TrainingMode(IntEnum):
    """The mode in which a model is exported."""

    EVAL = 0
    PRESERVE = 1
    TRAINING = 2


class OperatorExportTypes(IntEnum):
    """The kinds of operators that an exported model may have."""

    ONNX = 0
    ONNX_ATEN = 1
    ONNX_ATEN_FALLBACK = 2
    ONNX_FALLTHROUGH = 3


class TensorProtoDataType(IntEnum):
    """The numbers of dtypes in ONNX."""

    UNDEFINED = 0
    FLOAT = 1
    UINT8 = 2
    INT8 = 3
    UINT16 = 4
    INT16 = 5
    INT32 = 6
    INT64 = 7
    STRING = 8
    BOOL = 9
    FLOAT16 = 10
    DOUBLE = 11
    UINT32 = 12
    UINT64 = 13
    COMPLEX64 = 14
    COMPLEX128 = 15
    BFLOAT16 = 16


def register_custom_op_symbolic(symbolic_name: str, symbolic_fn: Any, opset_version: int) -> None:
    """Do nothing: libraries say here, when they are imported, how they export operators, and nothing exports."""


def unregister_custom_op_symbolic(symbolic_name: str, opset_version: int) -> None:
    """Do nothing: nothing was registered."""


def parse_args(*arg_descriptors: str) -> Callable[[_Called], _Called]:
    """Return a decorator that returns the function, which only an export would call."""
    return lambda function: function


if not TYPE_CHECKING:  # type checkers would take every name for one of these

    def __getattr__(name: str) -> Any:
        return submodule(__name__, name)


def is_in_onnx_export() -> bool:
    """Return whether a model is being exported: False."""
    return False
