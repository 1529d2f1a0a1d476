"""The module that runs an exported graph: parameters and buffers under the names that they had."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from .._base.pytree import Structure, flatten
from .._base.tensor_class import Tensor
from ..fx._code import CodeGen
from ..fx.graph import Graph
from ..fx.graph_module import GraphModule
from .graph_signature import ConstantArgument, InputKind

if TYPE_CHECKING:
    from ..fx.node import Node
    from ._program import ExportedProgram

__all__ = ["module_of"]


class _Calling(CodeGen):
    """Writes a function that takes the arguments of the exported module, and gives a result like its own."""

    def __init__(self, inputs: Sequence[tuple[str, Any, Any]], taken: Structure, given: Structure) -> None:
        """Make a writer. `inputs` are the leaves of the arguments: their names, tensors without elements or values, and
        sizes, of which those that are no numbers may be any."""
        super().__init__()
        self._inputs = inputs
        self._taken = taken
        self._given = given

    def gen_fn_def(self, free_vars: list[str], maybe_return_annotation: str) -> str:
        """Return the lines that take the arguments apart."""
        names = "".join(f"{each.partition(':')[0].strip()}, " for each in free_vars)
        return f"def forward(self, *args, **kwargs):\n    {names or '_ '}= _leaves(args, kwargs)"

    def generate_output(self, output_args: Any) -> str:
        """Return the line that makes the result of its leaves."""
        return f"return _result({output_args})"

    def additional_globals(self) -> list[tuple[str, Any]]:
        """Return the functions that these lines call."""
        return [("_leaves", self._leaves), ("_result", self._given.unflatten)]

    def process_outputs(self, outputs: Any) -> Any:
        """Return the result of its leaves."""
        return self._given.unflatten(outputs)

    def process_inputs(self, *args: Any) -> Any:
        """Return the leaves of the arguments."""
        return self._leaves(args, {})

    def _leaves(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[Any]:
        """The leaves of the arguments. Raises ValueError for others than the example's, AssertionError where one of
        them is unlike it."""
        names = self._taken.children[1].context
        if kwargs.keys() == {*names}:
            kwargs = {name: kwargs[name] for name in names}
        leaves, structure = flatten((args, kwargs))
        if structure != self._taken:
            raise ValueError(
                f"Trying to flatten user inputs with exported input tree spec: \n{self._taken!r}\nbut actually got "
                f"inputs with tree spec of: \n{structure!r}.\nPlease check that the inputs have the same number and "
                "type of args and kwargs as the ones you used when tracing."
            )
        sizes: dict[Any, int] = {}
        for leaf, (name, example, expected) in zip(leaves, self._inputs, strict=True):
            if isinstance(example, Tensor):
                _check(leaf, name, example, expected, sizes)
            elif type(leaf) is not type(example) or leaf != example:
                raise AssertionError(f"Guard failed: {name} == {example!r}")
        return leaves


def _check(leaf: Any, name: str, example: Any, expected: Sequence[Any], sizes: dict[Any, int]) -> None:
    """Raise AssertionError if a tensor is not one that the graph is for."""
    if not isinstance(leaf, Tensor):
        raise AssertionError(f"Guard failed: isinstance({name}, Tensor)")
    if leaf.dtype != example.dtype:
        raise AssertionError(f"Guard failed: {name}.dtype == {example.dtype}")
    if leaf.ndim != example.ndim:
        raise AssertionError(f"Guard failed: {name}.dim() == {example.ndim}")
    for dim, (size, wanted) in enumerate(zip(leaf.shape, expected, strict=True)):
        if isinstance(wanted, int):
            if size != wanted:
                raise AssertionError(f"Guard failed: {name}.size()[{dim}] == {wanted}")
            continue
        if not wanted.min <= size <= wanted.max:
            raise AssertionError(f"Guard failed: {wanted.min} <= {name}.size()[{dim}] <= {wanted.max}")
        if sizes.setdefault(wanted, size) != size:
            raise AssertionError(f"Guard failed: {name}.size()[{dim}] == {sizes[wanted]}")


def module_of(program: ExportedProgram) -> GraphModule:
    """Return a module of a program, which shares its tensors. Parameters and buffers have the names that they had."""
    graph, tensors = Graph(), program._tensors()
    made: dict[Node, Node] = {}
    specs = {each.arg.name: each for each in program.graph_signature.input_specs}
    inputs: list[tuple[str, Any, Sequence[Any]]] = []
    for node in program.graph.nodes:
        spec = specs.get(node.name)
        if node.op != "placeholder" or spec is None:
            made[node] = graph.node_copy(node, made.__getitem__)
        elif spec.kind is InputKind.USER_INPUT:
            made[node] = graph.node_copy(node, made.__getitem__)
            if isinstance(spec.arg, ConstantArgument):
                inputs.append((node.name, spec.arg.value, ()))
            else:
                inputs.append((node.name, node.meta["val"], program._sizes_of(node)))
        else:
            made[node] = graph.get_attr(str(spec.target))
        made[node].meta = dict(node.meta)
    graph.set_codegen(_Calling(inputs, program.call_spec.in_spec, program.call_spec.out_spec))
    module = GraphModule(_by_path(program, tensors), graph)
    for name in program.graph_signature.non_persistent_buffers:
        path, _, last = name.rpartition(".")
        module.get_submodule(path)._non_persistent_buffers_set.add(last)
    for name in program.graph_signature.lifted_tensor_constants:
        module._non_persistent_buffers_set.add(name)
    vars(module).update(train=_refused, eval=_refused)
    return module


def _by_path(program: ExportedProgram, tensors: Mapping[str, Any]) -> dict[str, Any]:
    paths = (str(each.target) for each in program.graph_signature.input_specs if each.target is not None)
    return {path: tensors[path] for path in paths}


def _refused(*args: Any) -> Any:
    raise NotImplementedError("Calling train() or eval() is not supported yet: what the module does is recorded.")
