"""Exported programs: a graph of calls of operators, the tensors of the module, and what they are called."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from textwrap import indent
from typing import Any, NamedTuple

from .._base.pytree import Structure, flatten
from .._dispatch.op import Op
from .._operators import empty_strided
from ..fx.graph import Graph
from ..fx.graph_module import GraphModule
from ..fx.node import Node
from ._dynamic import with_dims
from ._module import module_of
from ._recorder import Again, Input, Recorded, copied, recorded
from .graph_signature import ConstantArgument, ExportGraphSignature, InputKind

__all__ = ["CallSpec", "ExportedProgram", "program_of"]


class CallSpec(NamedTuple):
    """The nesting of the arguments, `(args, kwargs)`, and of the result."""

    in_spec: Structure
    out_spec: Structure


class ExportedProgram:
    """Program of a module: a graph of calls of operators, with its parameters, buffers and constants.

    `module()` gives a module that runs it. Printing it shows the graph as Python.

    Attributes:
        graph_signature (ExportGraphSignature): what the inputs and the results of the graph are.
        state_dict (dict): parameters and persistent buffers by their paths.
        constants (dict): other tensors that the module uses, by name.
        call_spec (CallSpec): the nesting of the arguments and of the result.
        example_inputs (tuple): the arguments `(args, kwargs)` with which it was exported; None: it was loaded.
        range_constraints (dict): the least and the greatest size, by each dimension that may have several.
    """

    def __init__(
        self,
        graph: Graph,
        graph_signature: ExportGraphSignature,
        state_dict: dict[str, Any],
        constants: dict[str, Any],
        call_spec: CallSpec,
        example_inputs: Any = None,
        dims: Mapping[str, Mapping[int, Any]] | None = None,
    ) -> None:
        """Make a program. `dims` are, by the names of inputs and dimensions, the sizes that may be several."""
        self.graph_signature = graph_signature
        self.state_dict = state_dict
        self.constants = constants
        self.call_spec = call_spec
        self.example_inputs = example_inputs
        self._graph_module = GraphModule({}, graph)
        self._dims = dims or {}
        self.range_constraints = {
            each: (each.min, each.max) for sizes in self._dims.values() for each in sizes.values()
        }

    @property
    def graph(self) -> Graph:
        """The graph, whose inputs are parameters, buffers, constants and the leaves of the arguments."""
        return self._graph_module.graph

    @property
    def graph_module(self) -> GraphModule:
        """The graph as a module without parameters, which takes all inputs."""
        return self._graph_module

    def module(self, check_guards: bool = True) -> GraphModule:
        """Return a module that takes the arguments of the exported one and runs the graph. It shares the tensors of the
        program. It cannot be switched between training and evaluation.

        Args:
            check_guards (bool): without effect, arguments are always compared with those of the example.

        Calls raise ValueError where the nesting of arguments is another one, and AssertionError where a dtype, a size
        or a value that is no tensor is another than the graph is for.
        """
        return module_of(self)

    def run_decompositions(self, decomp_table: Any = None, **options: Any) -> ExportedProgram:
        """Return the program in which operators that are made of others are decomposed.

        Args:
            decomp_table (dict): operators, of which those that are not among the keys are left as they are; None: all
                are decomposed.
        """
        chosen = None if decomp_table is None else {each.op for each in decomp_table}
        return self._decomposed(lambda op: chosen is not None and op not in chosen)

    def _decomposed(self, keeps: Callable[[Op], bool]) -> ExportedProgram:
        """The program in which operators made of others are decomposed, but for those that `keeps` says."""
        tensors = self._tensors()
        state: list[Input] = []
        given: list[Input] = []
        example = iter(flatten(self.example_inputs)[0] if self.example_inputs is not None else ())
        for spec, node in zip(self.graph_signature.input_specs, self.graph.nodes, strict=False):
            if isinstance(spec.arg, ConstantArgument):
                value = spec.arg.value
            else:
                value = self._like(node) if spec.target is None else tensors[spec.target]
            if spec.kind is InputKind.USER_INPUT:
                value = next(example, value)
            each = Input(node.name, spec.kind, spec.target, spec.persistent, value)
            (given if spec.kind is InputKind.USER_INPUT else state).append(each)

        def record(leaves: Sequence[Any]) -> Recorded:
            named = (each._replace(value=leaf) for each, leaf in zip(given, leaves, strict=True))
            inputs = [each._replace(value=copied(each.value)) for each in (*state, *named)]
            return recorded(lambda: Again(self.graph_module).run(*[each.value for each in inputs]), inputs, keeps)

        dims = [self._dims.get(each.name, {}) for each in given]
        return program_of(with_dims(record, [each.value for each in given], dims), self)

    def _like(self, node: Node) -> Any:
        """An argument with dtype and sizes of that of the example, which loaded programs do not have."""
        known = node.meta["val"]
        return empty_strided(known.shape, known.stride(), dtype=known.dtype).zero_()

    def _tensors(self) -> dict[str, Any]:
        """The parameters, buffers and constants by their paths."""
        return {**self.state_dict, **self.constants}

    def _sizes_of(self, node: Node) -> list[Any]:
        """The sizes of an input that is a tensor, of which those that may be several are dimensions."""
        dims = self._dims.get(node.name, {})
        return [dims.get(place, size) for place, size in enumerate(node.meta["val"].shape)]

    # ---- state ----

    def named_parameters(self) -> Iterator[tuple[str, Any]]:
        """Yield the paths and the parameters."""
        return ((name, self.state_dict[name]) for name in self.graph_signature.parameters)

    def parameters(self) -> Iterator[Any]:
        """Yield the parameters."""
        return (each for _, each in self.named_parameters())

    def named_buffers(self) -> Iterator[tuple[str, Any]]:
        """Yield the paths and the buffers."""
        tensors = self._tensors()
        return ((name, tensors[name]) for name in self.graph_signature.buffers)

    def buffers(self) -> Iterator[Any]:
        """Yield the buffers."""
        return (each for _, each in self.named_buffers())

    @property
    def tensor_constants(self) -> dict[str, Any]:
        """The constants by name."""
        return self.constants

    # ---- text ----

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Raise RuntimeError: `module()` gives what is called."""
        raise RuntimeError(
            "Unable to call ExportedProgram directly. You should use `exported_program.module()` instead."
        )

    def __str__(self) -> str:
        code = indent(self.graph_module.print_readable(print_output=False), "    ")
        signature = indent(str(self.graph_signature).strip(), "    ")
        ranges = {str(each): f"[{least}, {greatest}]" for each, (least, greatest) in self.range_constraints.items()}
        return f"ExportedProgram:\n{code}\nGraph signature:\n{signature}\n\nRange constraints: {ranges}\n"


def program_of(found: Recorded, like: ExportedProgram) -> ExportedProgram:
    """Return the program of a graph with the tensors of another one and its own constants."""
    call = CallSpec(like.call_spec.in_spec, like.call_spec.out_spec)
    constants = {**like.constants, **found.constants}
    return ExportedProgram(
        found.graph, found.signature, like.state_dict, constants, call, like.example_inputs, like._dims
    )
