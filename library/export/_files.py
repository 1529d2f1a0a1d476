"""Files of programs: a zip with the graph as JSON and the bytes of each tensor. Nothing in them is run to read them."""

from __future__ import annotations

import json
import operator
import os
import sys
import zipfile
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from math import inf
from typing import IO, Any

from .._base.dtypes import EXPORTS
from .._base.interchange import bytes_of_tensor, tensor_of_bytes
from .._base.tensor_class import Tensor
from .._dispatch.overloads import namespace
from ..fx.graph import Graph
from ..fx.node import Node
from ..nn import Parameter
from ..serialization.atomic import replacing
from ..utils._pytree import structure_data, structure_of
from ._dims import Dim
from ._program import CallSpec, ExportedProgram
from ._recorder import described
from ._values import to_json, value_of
from .graph_signature import (
    ConstantArgument,
    ExportGraphSignature,
    InputKind,
    InputSpec,
    OutputKind,
    OutputSpec,
    TensorArgument,
)

__all__ = ["load", "save"]

_VERSION = 2
_PROGRAM = "program.json"
_FUNCTIONS = {each.__name__: each for each in (operator.getitem, operator.add, operator.mul)}
"""The functions besides operators that programs call: what has several results, and what is computed of sizes."""
_SIZE = "size"
"""The method that they call."""


def save(
    ep: Any,
    f: str | os.PathLike[str] | IO[bytes],
    *,
    extra_files: Mapping[str, Any] | None = None,
    opset_version: Mapping[str, int] | None = None,
    pickle_protocol: int = 2,
) -> None:
    """Write a program with its tensors to a file, which is there whole or not at all.

    Args:
        ep (ExportedProgram): the program.
        f (str | PathLike | file): the path, or a file that is open for writing bytes.
        extra_files (dict): further texts or bytes by name, which `load` gives back.
        opset_version (dict): without effect.
        pickle_protocol (int): without effect: nothing is pickled.

    Raises:
        TypeError: it is no program; or an argument, or the context of a container, is none that files have.
        NotImplementedError: a container among the arguments or results is of a class without a name in files.
    """
    if not isinstance(ep, ExportedProgram):
        kind = type(ep).__name__
        raise TypeError(f"The 'ep' parameter must be an instance of 'ExportedProgram', got '{kind}' instead.")
    tensors = ep._tensors()
    distinct = list({id(each): each for each in tensors.values()}.values())
    numbers = {id(each): number for number, each in enumerate(distinct)}
    program = {
        "version": _VERSION,
        "byteorder": sys.byteorder,
        "nodes": [_node_text(each) for each in ep.graph.nodes],
        "inputs": [_input_text(each) for each in ep.graph_signature.input_specs],
        "outputs": [_argument_text(each.arg) for each in ep.graph_signature.output_specs],
        "arguments": structure_data(ep.call_spec.in_spec),
        "result": structure_data(ep.call_spec.out_spec),
        "dims": {str(each): [each.min, to_json(each.max)] for each in ep.range_constraints},
        "sizes": {name: {str(dim): str(each) for dim, each in of.items()} for name, of in ep._dims.items()},
        "tensors": [_tensor_text(each) for each in distinct],
        "state": {name: numbers[id(each)] for name, each in ep.state_dict.items()},
        "constants": {name: numbers[id(each)] for name, each in ep.constants.items()},
    }
    text = json.dumps(program, indent=1)
    size = len(text) + sum(each.nbytes + 256 for each in distinct) + 4096
    is_path = isinstance(f, (str, os.PathLike))
    with replacing(f, size) if is_path else nullcontext(f) as file, zipfile.ZipFile(file, "w") as archive:
        archive.writestr(_PROGRAM, text)
        for number, each in enumerate(distinct):
            archive.writestr(f"tensors/{number}", bytes_of_tensor(each))
        for name, data in (extra_files or {}).items():
            archive.writestr(f"extra/{name}", data)


def _tensor_text(tensor: Any) -> dict[str, Any]:
    return {
        "dtype": tensor.dtype.name,
        "shape": list(tensor.shape),
        "parameter": isinstance(tensor, Parameter),
        "requires_grad": tensor.requires_grad,
    }


def _node_text(node: Node) -> dict[str, Any]:
    text: dict[str, Any] = {"name": node.name, "op": node.op}
    if node.op.startswith("call"):
        known = node.op == "call_method" or node.target in _FUNCTIONS.values()
        text["target"] = getattr(node.target, "__name__", node.target) if known else str(node.target)
    if node.op != "placeholder":
        text["args"] = [to_json(each) for each in node.args]
        text["kwargs"] = {name: to_json(each) for name, each in node.kwargs.items()}
    if isinstance(node.meta.get("val"), Tensor):
        value = node.meta["val"]
        text["type"] = node.type
        text["value"] = [value.dtype.name, list(value.shape), list(value.stride())]
    return text


def _input_text(spec: InputSpec) -> list[Any]:
    return [spec.kind.name, _argument_text(spec.arg), spec.target, spec.persistent]


def _argument_text(argument: TensorArgument | ConstantArgument) -> dict[str, Any]:
    constant = {"value": to_json(argument.value)} if isinstance(argument, ConstantArgument) else {}
    return {"name": argument.name, **constant}


# ---- reading ------------------------------------------------------------------------------------------------


def load(
    f: str | os.PathLike[str] | IO[bytes],
    *,
    extra_files: dict[str, Any] | None = None,
    expected_opset_version: Mapping[str, int] | None = None,
) -> ExportedProgram:
    """Return the program in a file that `save` has written.

    Args:
        f (str | PathLike | file): the path, or a file that is open for reading bytes and can seek.
        extra_files (dict): the names of further files, whose texts take the places of the values.
        expected_opset_version (dict): without effect.

    Raises:
        zipfile.BadZipFile: it is no zip.
        RuntimeError: it is no file of a program, one of another version, a damaged one, or one whose program calls an
            operator that there is not.
        NotImplementedError: a container is of a class that nobody has registered.
    """
    with zipfile.ZipFile(f) as archive:
        names = archive.namelist()
        if _PROGRAM not in names:
            raise RuntimeError(f"the file is no exported program: it has no {_PROGRAM}")
        for name in extra_files or {}:
            if extra_files is not None and f"extra/{name}" in names:
                extra_files[name] = archive.read(f"extra/{name}").decode("utf-8")
        try:
            program = json.loads(archive.read(_PROGRAM))
            version = program["version"]
            if version != _VERSION:
                raise RuntimeError(f"the program has version {version}, and this opweave reads version {_VERSION}")
            if program["byteorder"] != sys.byteorder:
                raise RuntimeError("the program was written on a machine with another order of bytes")
            return _program_of(program, archive)
        except (KeyError, ValueError, TypeError, IndexError, AttributeError, StopIteration) as error:
            raise RuntimeError(f"the file of the program is damaged: {type(error).__name__}: {error}") from error


def _program_of(program: dict[str, Any], archive: zipfile.ZipFile) -> ExportedProgram:
    tensors = [_tensor(each, archive.read(f"tensors/{number}")) for number, each in enumerate(program["tensors"])]
    inputs = [
        InputSpec(InputKind[kind], _argument(argument), target, persistent)
        for kind, argument, target, persistent in program["inputs"]
    ]
    outputs = [OutputSpec(OutputKind.USER_OUTPUT, _argument(each)) for each in program["outputs"]]
    dims = {}
    for name, (least, greatest) in program["dims"].items():
        most = value_of(greatest, {})
        dims[name] = Dim(name, min=least, max=None if most == inf else most)
    return ExportedProgram(
        _graph(program["nodes"]),
        ExportGraphSignature(inputs, outputs),
        {name: tensors[number] for name, number in program["state"].items()},
        {name: tensors[number] for name, number in program["constants"].items()},
        CallSpec(structure_of(program["arguments"]), structure_of(program["result"])),
        dims={name: {int(dim): dims[each] for dim, each in of.items()} for name, of in program["sizes"].items()},
    )


def _tensor(text: Mapping[str, Any], data: bytes) -> Any:
    tensor: Any = tensor_of_bytes(data, tuple(text["shape"]), EXPORTS[text["dtype"]])
    if text["parameter"]:
        return Parameter(tensor, text["requires_grad"])
    return tensor.requires_grad_(text["requires_grad"])


def _argument(text: Mapping[str, Any]) -> TensorArgument | ConstantArgument:
    if "value" in text:
        return ConstantArgument(text["name"], value_of(text["value"], {}))
    return TensorArgument(text["name"])


def _graph(texts: Sequence[Mapping[str, Any]]) -> Graph:
    graph = Graph()
    nodes: dict[str, Node] = {}
    for text in texts:
        name, kind = text["name"], text["op"]
        if kind == "placeholder":
            node = graph.placeholder(name)
        elif kind == "output":
            node = graph.output(value_of(text["args"], nodes)[0])
        else:
            kwargs = {key: value_of(each, nodes) for key, each in text["kwargs"].items()}
            args, target = tuple(value_of(text["args"], nodes)), text["target"]
            if kind == "call_function":
                target = _FUNCTIONS.get(target) or _operator(target)
            elif (kind, target) != ("call_method", _SIZE):
                raise ValueError(f"the node {name} is a {kind} of {target}")
            node = graph.create_node(kind, target, args, kwargs, name)
        nodes[name] = node
        if "value" in text:
            of, shape, stride = text["value"]
            described(node, (EXPORTS[of], tuple(shape), tuple(stride)))
            node.type = str(text["type"])
    return graph


def _operator(target: str) -> Any:
    space, name, overload = target.split(".")
    try:
        return getattr(getattr(namespace(space), name), overload)
    except AttributeError:
        raise RuntimeError(f"the program calls the operator {target}, which there is not here") from None
