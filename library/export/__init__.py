"""opweave.export: what modules do as programs, to print, save, load and run without their Python (docs/export.md).

A module runs once with example arguments, and the operators that it calls become the nodes of a graph (`_recorder`,
`_export`). The graph and the tensors of the module are an `ExportedProgram` (`_program`), which `_module` runs and
`_files` writes and reads.
"""

from __future__ import annotations

from .._names.refusals import refused_class, refused_function
from ..utils._pytree import register_dataclass
from . import graph_signature
from ._dims import Dim, dims
from ._export import export
from ._files import load, save
from ._program import ExportedProgram
from .graph_signature import ExportGraphSignature

__all__ = [
    "Constraint",
    "CustomDecompTable",
    "Dim",
    "ExportBackwardSignature",
    "ExportGraphSignature",
    "ExportedProgram",
    "FlatArgsAdapter",
    "ModuleCallEntry",
    "ModuleCallSignature",
    "ShapesCollection",
    "UnflattenedModule",
    "default_decompositions",
    "dims",
    "draft_export",
    "export",
    "graph_signature",
    "load",
    "register_dataclass",
    "save",
    "unflatten",
]

_ONE_GRAPH = "a program is one graph, without the modules' borders and gradients. Use export(), Dim and module()"
Constraint, CustomDecompTable, ExportBackwardSignature, FlatArgsAdapter, ModuleCallEntry = (
    refused_class(__name__, name, _ONE_GRAPH)
    for name in ("Constraint", "CustomDecompTable", "ExportBackwardSignature", "FlatArgsAdapter", "ModuleCallEntry")
)
ModuleCallSignature, ShapesCollection, UnflattenedModule = (
    refused_class(__name__, name, _ONE_GRAPH)
    for name in ("ModuleCallSignature", "ShapesCollection", "UnflattenedModule")
)
default_decompositions, draft_export, unflatten = (
    refused_function(__name__, name, _ONE_GRAPH) for name in ("default_decompositions", "draft_export", "unflatten")
)
