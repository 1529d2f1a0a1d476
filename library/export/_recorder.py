"""Records the operators that a module calls, as a graph: every operator of users is one node, however it is made."""

from __future__ import annotations

import operator
import sys
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from types import FrameType
from typing import Any, NamedTuple

from .._base.pytree import Structure, flatten
from .._base.tensor_class import Tensor
from .._C import lib
from .._dispatch.dispatcher import redispatch
from .._dispatch.modes import RECORDED
from .._dispatch.op import NEW, Op
from .._dispatch.ops import ops
from .._dispatch.overloads import as_called, of_call
from .._dispatch.schemas import schema
from .._operators import empty_strided
from ..amp.autocast_state import is_autocast_enabled
from ..compiler._python_state import is_own, is_own_frame
from ..compiler._recording import Call, Facts, Place, Recording, Unsupported, active, record
from ..fx.graph import Graph
from ..fx.interpreter import Interpreter
from ..fx.node import Node
from .graph_signature import (
    ConstantArgument,
    ExportGraphSignature,
    InputKind,
    InputSpec,
    OutputKind,
    OutputSpec,
    TensorArgument,
)

__all__ = ["PLAIN", "Again", "Input", "Recorded", "copied", "described", "recorded"]

PLAIN = (bool, int, float, complex, str, type(None))
"""Classes of values that are part of programs, besides tensors."""

_AUTOGRAD = 1
"""The dispatch key of tensors with a history."""
_READING = frozenset(("__array__", "__array_interface__", "__dlpack__", "data_ptr", "numpy", "tolist"))
"""Methods that read elements, or memory, and are no operators."""


class Input(NamedTuple):
    """A tensor that is there before the first call, or an argument that is no tensor."""

    name: str
    """The name that its node has, with a number where it is taken."""
    kind: InputKind
    target: str | None
    """The path of a parameter or a buffer."""
    persistent: bool | None
    value: Any


class Recorded(NamedTuple):
    """A graph, and what belongs to it."""

    graph: Graph
    signature: ExportGraphSignature
    constants: dict[str, Any]
    """Tensors that the module uses and that are neither parameters nor buffers."""
    structure: Structure
    """The nesting of the result."""


class _Calls(Recording):
    """The calls of a module. An error names the line of what no program can do."""

    page = "docs/export.md#how-it-works"
    is_export = True

    def __init__(self, given: Sequence[Any], keeps: Callable[[Op], bool]) -> None:
        super().__init__(given, is_own_frame)
        self.raises = True
        self.writing: list[bool] = []
        """For each call, whether it wrote to a tensor that it was given."""
        self.at: Place | None = None
        """The line of the program that a graph which is recorded again was made of."""
        self._keeps = keeps

    def _call(self, op: Op, args: Sequence[Any], out: Any, mode: int) -> Any:
        # Checks are made again within the operators that call them, and facts are those of the example.
        if op is _CHECK or (not op.data_dependent and _gives_facts(op)):
            return redispatch(op, args, out, mode, below=RECORDED)
        before = [(each, each._version) for each in _tensors((tuple(args), out))]
        result = super()._call(op, args, out, mode)
        self.writing.append(any(each._version != version for each, version in before))
        return result

    def decomposes(self, op: Op, out: Any, mode: int) -> bool:
        # Which casts are made within operators depends on autocast, which is none of a program's facts.
        return (
            op is not _CHECK
            and super().decomposes(op, out, mode)
            and (is_autocast_enabled("cpu") or not self._keeps(op))
        )

    def place(self, frame: FrameType | None = None) -> Place:
        return self.at or super().place(frame or sys._getframe(1))

    def keep(self, constant: Any) -> Any:
        if id(constant) not in self.constants:
            if constant.requires_grad:
                self.refuse("a tensor that requires gradients is no parameter of the module")
            if int(lib.storage_of(constant._h)) in self._storages:
                self.refuse("a tensor has a part that no operator has made")
            self.constants[id(constant)] = constant, constant.detach().clone()
        return self.constants[id(constant)][1]


class _Readers:
    """Function that Python calls for each function that begins: refuses those that read elements."""

    def __init__(self, recording: Recording) -> None:
        self._recording = recording

    def __call__(self, frame: FrameType, event: str, argument: Any) -> None:
        if self._recording.is_paused or self._recording.reason is not None:
            return
        if event == "call":
            name = frame.f_code.co_name
            if name in _READING and is_own(frame.f_globals.get("__name__")):
                self._recording.refuse(f"{name}() reads elements", frame.f_back)
        elif event == "c_call" and argument.__name__ in _READING and isinstance(argument.__self__, Tensor):
            self._recording.refuse(f"{argument.__name__}() reads elements", frame)


def recorded(
    run: Callable[[], Any], inputs: Sequence[Input], keeps: Callable[[Op], bool] = lambda op: True
) -> Recorded:
    """Return the graph of what a function does.

    Args:
        run (Callable): takes nothing, and has the values of the inputs.
        inputs (sequence): what becomes inputs of the graph.
        keeps (Callable): whether an operator that is made of others is one node.

    Raises:
        RuntimeError: elements are read for Python, or the result has what is neither a tensor nor a plain value.
    """
    given = [each.value for each in inputs if isinstance(each.value, Tensor)]
    recording = _Calls(given, keeps)
    result = record(recording, _Readers(recording), run)
    leaves, structure = flatten(result)
    made = {id(each) for call in recording.calls for each in _tensors(call.result)}
    for each in _tensors(leaves):
        if id(each) not in made and not any(each is one for one in given):
            recording.keep(each)
    return _Builder(recording, inputs).finish(leaves, structure)


class _Builder:
    """Makes nodes of calls."""

    def __init__(self, recording: _Calls, inputs: Sequence[Input]) -> None:
        self._graph = Graph()
        self._recording = recording
        self._nodes: dict[int, Node] = {}
        self._specs: dict[Node, InputSpec] = {}
        self._constants: dict[str, Any] = {}
        self._kept: set[Node] = set()
        """Calls that write to what they are given."""
        for each in inputs:
            if each.kind is not InputKind.USER_INPUT:
                self._input(each)
        for number, (tensor, kept) in enumerate(recording.constants.values()):
            node = self._input(Input(f"c_{number}", InputKind.CONSTANT_TENSOR, None, None, tensor))
            self._specs[node] = self._specs[node]._replace(target=node.name)
            self._constants[node.name] = kept
        for each in inputs:
            if each.kind is InputKind.USER_INPUT:
                self._input(each)
        for call, is_writing in zip(recording.calls, recording.writing, strict=True):
            self._call(call, is_writing)

    def _input(self, given: Input) -> Node:
        node = self._graph.placeholder(given.name)
        node.target = node.name
        is_tensor = isinstance(given.value, Tensor)
        if is_tensor:
            self._bind(given.value, node)
        argument = TensorArgument(node.name) if is_tensor else ConstantArgument(node.name, given.value)
        self._specs[node] = InputSpec(given.kind, argument, given.target, given.persistent)
        return node

    def _bind(self, tensor: Any, node: Node) -> None:
        self._nodes[id(tensor)] = node
        described(node, self._recording.facts(tensor))

    def _call(self, call: Call, is_writing: bool) -> None:
        if call.mode == NEW and call.out is None and id(call.result) in self._nodes and not call.op.is_inplace:
            return  # it gives an argument as it is
        if call.casts is not None and _is_cast(call):
            raise Unsupported(f"autocast casts within {call.op.name}(), which is no part of programs", call.place)
        args, kwargs = as_called(call.op, call.args, call.out, call.mode)
        target = of_call(call.op, call.mode, call.out)
        node = self._graph.create_node(
            "call_function", target, self._mapped(args), self._mapped(kwargs), target._opname
        )
        node.meta["place"] = call.place
        if is_writing:
            self._kept.add(node)
        if isinstance(call.result, (tuple, list)):
            node.meta["val"] = tuple(_described(self._recording.facts(each)) for each in _tensors(call.result))
            for place, each in enumerate(call.result):
                if isinstance(each, Tensor):
                    part = self._graph.call_function(operator.getitem, (node, place))
                    part.meta["place"] = call.place
                    self._bind(each, part)
            return
        self._bind(call.result, node)
        if call.excluded & _AUTOGRAD and call.mode == NEW and any(each.requires_grad for each in _tensors(call.args)):
            self._bind(call.result, self._graph.call_function(_DETACH, (node,)))

    def _mapped(self, value: Any) -> Any:
        if isinstance(value, Tensor):
            return self._nodes[id(value)]
        if isinstance(value, dict):
            return {key: self._mapped(each) for key, each in value.items()}
        if isinstance(value, list):
            return [*map(self._mapped, value)]
        return tuple(map(self._mapped, value)) if isinstance(value, tuple) else value

    def finish(self, leaves: Sequence[Any], structure: Structure) -> Recorded:
        """The graph with its result, without what nothing uses."""
        results = tuple(map(self._mapped, leaves))
        for each in results:
            if not isinstance(each, (Node, *PLAIN)):
                raise RuntimeError(f"the result has an object of class {type(each).__qualname__}, which is no tensor")
        self._graph.output(results)
        self._graph.eliminate_dead_code(lambda node: node.op != "call_function" or node in self._kept)
        for node, spec in [*self._specs.items()]:
            if spec.kind is InputKind.CONSTANT_TENSOR and spec.target in self._constants and not node.users:
                self._graph.erase_node(node)
                del self._specs[node], self._constants[spec.target]
        outputs = [OutputSpec(OutputKind.USER_OUTPUT, _argument(each)) for each in results]
        signature = ExportGraphSignature([*self._specs.values()], outputs)
        return Recorded(self._graph, signature, self._constants, structure)


def _argument(result: Any) -> TensorArgument | ConstantArgument:
    return TensorArgument(result.name) if isinstance(result, Node) else ConstantArgument("", result)


_CHECK: Op = ops.assert_values.op
"""Looks whether elements are in a range."""
_DETACH = of_call(ops.detach.op, NEW, None)


@cache
def _gives_facts(op: Op) -> bool:
    """Return whether an operator gives no tensors, as `is_floating_point` does."""
    return op.is_composite and "Tensor" not in str(schema(op, NEW)).partition("->")[2]


def _is_cast(call: Call) -> bool:
    """Return whether a result has the dtype to which autocast casts within a call, and no argument has it."""
    given = {each.dtype for each in _tensors((tuple(call.args), call.out))}
    return any(each.dtype not in given and each.dtype.is_floating_point for each in _tensors(call.result))


def _tensors(values: Any) -> Iterator[Any]:
    return (each for each in flatten(values)[0] if isinstance(each, Tensor))


class Again(Interpreter):
    """Runs a graph while it is recorded again: its calls are those of the lines of its nodes."""

    def run_node(self, n: Node) -> Any:
        """Return the value of a node."""
        recording = active()
        if isinstance(recording, _Calls):
            recording.at = n.meta.get("place")
        return super().run_node(n)


def copied(value: Any) -> Any:
    """Return a copy of a tensor that has no history, and requires gradients if it does; other values as they are."""
    return value.detach().clone().requires_grad_(value.requires_grad) if isinstance(value, Tensor) else value


def described(node: Node, facts: Facts | tuple[Any, Any, Any]) -> None:
    """Give a node its dtype and sizes: as a tensor without elements, `meta["val"]`, and as text."""
    node.meta["val"] = _described(facts)
    name = facts[0].name
    node.type = f"{_SHORT.get(name, name)}{list(facts[1])}"


def _described(facts: Facts | tuple[Any, Any, Any]) -> Any:
    dtype, shape, stride = facts
    return empty_strided(shape, stride, dtype=dtype, device="meta")


_SHORT = {
    "bool": "b8", "uint8": "u8", "int8": "i8", "int16": "i16", "int32": "i32", "int64": "i64", "float16": "f16",
    "bfloat16": "bf16", "float32": "f32", "float64": "f64", "complex64": "c64", "complex128": "c128",
}  # fmt: skip
"""The names of dtypes in the text of a program, which are torch's."""
