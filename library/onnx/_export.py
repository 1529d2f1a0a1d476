"""`export`: a module as an ONNX model, in a file or in memory."""

from __future__ import annotations

import os
import threading
from collections.abc import Mapping, Sequence
from typing import Any

from .._base.lazy_imports import load
from .._base.notes import explained
from .._base.warn import warn
from .._tensor.construct import tensor
from ..export import Dim, ExportedProgram
from ..export import export as exported
from ..export._export import positional_names
from ..nn import Module

__all__ = ["ONNXProgram", "OnnxExporterError", "export", "is_in_onnx_export"]

_LEAST_OPSET, _OPSET = 20, 20
_MISSING = "the package onnx is missing: pip install opweave[onnx]"
_PAGE = "docs/export.md#onnx"


class OnnxExporterError(RuntimeError):
    """Error: a module cannot be written as an ONNX model."""


class ONNXProgram:
    """A model and the program that it was made of.

    Attributes:
        model_proto: the model, an `onnx.ModelProto`.
        exported_program (ExportedProgram): the program.
    """

    def __init__(self, model_proto: Any, exported_program: ExportedProgram) -> None:
        self.model_proto = model_proto
        self.exported_program = exported_program

    def save(
        self,
        destination: str | os.PathLike[str],
        *,
        include_initializers: bool = True,
        keep_initializers_as_inputs: bool = False,
        external_data: bool | None = None,
    ) -> None:
        """Write the model to a file.

        Args:
            destination (str | PathLike): the path.
            include_initializers (bool): without effect, the tensors are always written.
            keep_initializers_as_inputs (bool): without effect, they are no inputs.
            external_data (bool): whether tensors are in a file beside it, as they have to be above 2 GB.
        """
        load("onnx").save(self.model_proto, os.fspath(destination), save_as_external_data=bool(external_data))

    def call_reference(self, *args: Any) -> tuple[Any, ...]:
        """Return the results of the model for tensors, in the order of its inputs, as the evaluator of the package onnx
        computes them."""
        evaluator = load("onnx.reference").ReferenceEvaluator(self.model_proto)
        names = [each.name for each in self.model_proto.graph.input]
        given = {name: each.detach().numpy() for name, each in zip(names, args, strict=True)}
        return tuple(tensor(each) for each in evaluator.run(None, given))

    __call__ = call_reference

    def __repr__(self) -> str:
        return f"ONNXProgram(\n{load('onnx').printer.to_text(self.model_proto)}\n)"


class _State(threading.local):
    is_exporting = False


_state = _State()


def is_in_onnx_export() -> bool:
    """Return whether this thread exports a model."""
    return _state.is_exporting


def export(
    model: Module | ExportedProgram,
    args: Any = (),
    f: str | os.PathLike[str] | None = None,
    *,
    kwargs: dict[str, Any] | None = None,
    verbose: bool | None = None,
    input_names: Sequence[str] | None = None,
    output_names: Sequence[str] | None = None,
    opset_version: int | None = None,
    dynamo: bool = True,
    external_data: bool = False,
    dynamic_shapes: Any = None,
    dynamic_axes: Mapping[str, Any] | None = None,
    export_params: bool = True,
    do_constant_folding: bool = True,
    **options: Any,
) -> ONNXProgram:
    """Return a module as an ONNX model, and write it to a file.

    Operators of elements follow from their entries in ops.yaml; others have a row in a table, or are decomposed until
    they do.

    Args:
        model (Module | ExportedProgram): the module, which should be in evaluation mode, or a program of one.
        args (tuple): its arguments; tensors among them become the inputs of the model.
        f (str | PathLike): the path of the file; None: none is written.
        kwargs (dict): its arguments by name.
        verbose (bool): whether the model is printed.
        input_names (sequence): the names of the inputs, in their order.
        output_names (sequence): the names of the results.
        opset_version (int): the version of the operators of ONNX, 20 or later.
        dynamo (bool): without effect.
        external_data (bool): whether tensors are in a file beside it, as they have to be above 2 GB.
        dynamic_shapes (dict | tuple): sizes that may be several, as `opweave.export.export` takes them.
        dynamic_axes (dict): the same by the names of inputs: their dimensions, or names of these by dimension.
        export_params (bool): without effect, parameters are always part of the model.
        do_constant_folding (bool): without effect.
        options: torch's other arguments, without effect.

    Raises:
        ImportError: the package onnx is missing.
        ValueError: the version is too low, or a dynamic axis is none of an input.
        OnnxExporterError: ONNX has nothing for an operator, or the module cannot be exported at all.
    """
    try:
        load("onnx")
    except ImportError as error:
        raise explained(ImportError(_MISSING), _PAGE) from error
    from ._model import model_of

    opset = _OPSET if opset_version is None else opset_version
    if opset < _LEAST_OPSET:
        raise ValueError(f"models are written with opset {_LEAST_OPSET} or later, and not with {opset}")
    if not isinstance(args, tuple):
        args = (args,)
    _state.is_exporting = True
    try:
        if isinstance(model, ExportedProgram):
            program = model
        else:
            if model.training and any(model.children()):
                warn("the module is exported in training mode: call eval() before, unless this is meant")
            if dynamic_axes:
                dynamic_shapes = _shapes(dynamic_axes, positional_names(model, args, kwargs or {}), input_names, args)
            program = exported(model, args, kwargs, dynamic_shapes=dynamic_shapes)
        made = model_of(program, input_names or (), output_names or (), opset)
    except RuntimeError as error:
        raise explained(OnnxExporterError(str(error)), _PAGE) from error
    finally:
        _state.is_exporting = False
    result = ONNXProgram(made, program)
    if f is not None:
        result.save(f, external_data=external_data)
    if verbose:
        print(result)
    return result


def _shapes(
    axes: Mapping[str, Any], names: Sequence[str], input_names: Sequence[str] | None, args: Sequence[Any]
) -> tuple[Any, ...]:
    """The dynamic sizes of the arguments, by the names of inputs, or of arguments. Those of results follow."""
    given = [*(input_names or ())]
    places = {name: place for place, name in enumerate(names)} | {name: place for place, name in enumerate(given)}
    dims: dict[str, Dim] = {}
    found: list[Any] = [None] * len(args)
    for name, of in axes.items():
        if name in places and places[name] < len(args):
            named = of if isinstance(of, Mapping) else {dim: f"{name}_dynamic_axes_{dim + 1}" for dim in of}
            found[places[name]] = {dim: dims.setdefault(each, Dim(each, min=1)) for dim, each in named.items()}
    return tuple(found)
