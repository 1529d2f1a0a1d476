"""opweave.onnx: modules as ONNX models (docs/export.md).

A module becomes a program (`opweave.export`), and its calls nodes (`_model`) by a table of operators (`_rows`).
Operators of elements have no rows: the expressions of their entries are printed as nodes (`_expressions`).
"""

from __future__ import annotations

from collections.abc import Callable
from enum import IntEnum
from typing import TYPE_CHECKING, Any, TypeVar

from .._names.module_names import submodule
from .._names.refusals import refused_function
from ._export import OnnxExporterError, ONNXProgram, export, is_in_onnx_export

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

_Called = TypeVar("_Called", bound=Callable[..., Any])

dynamo_export = refused_function(__name__, "dynamo_export", "it is the old name. Use opweave.onnx.export")


class TrainingMode(IntEnum):
    """The mode in which a model is exported."""

    EVAL = 0
    PRESERVE = 1
    TRAINING = 2


class OperatorExportTypes(IntEnum):
    """The kinds of operators that an exported model may have, of which there is the first."""

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
    """Do nothing: libraries say here how their operators are exported, and here these are decomposed."""


def unregister_custom_op_symbolic(symbolic_name: str, opset_version: int) -> None:
    """Do nothing: nothing was registered."""


def parse_args(*arg_descriptors: str) -> Callable[[_Called], _Called]:
    """Return a decorator that returns the function, which nothing calls."""
    return lambda function: function


if not TYPE_CHECKING:  # type checkers would take every name for one of these

    def __getattr__(name: str) -> Any:
        return submodule(__name__, name)
