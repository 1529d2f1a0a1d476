"""Programs as ONNX models: node by node, by the table of operators."""

from __future__ import annotations

import operator
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from .._C import lib
from .._dispatch.dispatcher import call as dispatch
from .._dispatch.op import INPLACE, NEW, OUT, Op
from .._operators import empty_strided
from ..export import ExportedProgram
from ..export.graph_signature import InputKind
from ..fx.node import Node
from . import _rows
from ._builder import NUMBERS, Builder, NotMapped, Value
from ._calls import ROWS, Call, Result
from ._memory import Cell, Stored

__all__ = ["model_of"]

_IR_VERSION = 10
"""The version of the format of files, of the time of opset 21."""


def model_of(program: ExportedProgram, input_names: Sequence[str], output_names: Sequence[str], opset: int) -> Any:
    """Return the model of a program, an `onnx.ModelProto`.

    Raises:
        RuntimeError: ONNX has nothing for a call; the error names the operator and its line.
    """
    return _Lowering(program._decomposed(lambda op: op.name in ROWS)).model(input_names, output_names, opset)


class _Lowering:
    """A program while it becomes a model."""

    def __init__(self, program: ExportedProgram) -> None:
        self._program = program
        self._builder = Builder()
        self._made: dict[Node, Any] = {}
        self._inputs: list[Value] = []

    def model(self, input_names: Sequence[str], output_names: Sequence[str], opset: int) -> Any:
        tensors = self._program._tensors()
        specs = {each.arg.name: each for each in self._program.graph_signature.input_specs}
        names = iter(input_names)
        outputs: list[Value] = []
        for node in self._program.graph.nodes:
            if node.op == "placeholder":
                spec = specs[node.name]
                if "val" not in node.meta:
                    continue
                if spec.kind is InputKind.USER_INPUT:
                    value = Value(next(names, node.name), *_results(node)[0])
                    self._inputs.append(value)
                else:
                    value = Value(self._builder.tensor(tensors[str(spec.target)], str(spec.target)), *_results(node)[0])
                self._made[node] = Stored(Cell(value))
            elif node.op == "output":
                outputs = [self._argument(each) for each in node.args[0] if isinstance(each, Node)]
            else:
                self._made[node] = self._step(node)
        return self._finished(outputs, output_names, opset)

    def _finished(self, outputs: Sequence[Value], names: Sequence[str], opset: int) -> Any:
        if not outputs:
            raise RuntimeError("the module gives no tensor, and a model has results")
        helper, builder = self._builder.onnx.helper, self._builder
        results = []
        given = iter(names)
        for place, each in enumerate(outputs):
            name = next(given, f"output_{place}" if len(outputs) > 1 else "output")
            builder.nodes.append(helper.make_node("Identity", [each.name], [name]))
            results.append(each._replace(name=name))
        used = {name for node in builder.nodes for name in node.input}
        graph = helper.make_graph(
            builder.nodes,
            "opweave",
            [_described(helper, each) for each in self._inputs],
            [_described(helper, each) for each in results],
            [each for each in builder.initializers if each.name in used],
        )
        imports = [helper.make_opsetid("", opset)]
        return helper.make_model(graph, opset_imports=imports, ir_version=_IR_VERSION, producer_name="opweave")

    # ---- nodes ----

    def _argument(self, value: Any) -> Any:
        """An argument of a call, with tensors of the model."""
        if isinstance(value, Node):
            made = self._made[value]
            return made.value if isinstance(made, Stored) else made
        if isinstance(value, list):
            return [*map(self._argument, value)]
        return tuple(map(self._argument, value)) if isinstance(value, tuple) else value

    def _step(self, node: Node) -> Any:
        if node.op == "call_method":
            return self._size(self._argument(node.args[0]), node.args[1])
        if node.target is operator.getitem:
            return self._made[node.args[0]][node.args[1]]
        if node.target in (operator.add, operator.mul):
            kind = "Add" if node.target is operator.add else "Mul"
            one, other = (self._builder.tensor_of_integer(self._argument(each)) for each in node.args)
            return Value(self._builder.node(kind, one, other), "int64", ())
        try:
            return self._call(node)
        except NotMapped as error:
            place = node.meta.get("place")
            where = "" if place is None else f" ({place})"
            raise RuntimeError(f"{node.target.op.name}() cannot be exported to ONNX: {error}{where}") from None

    def _size(self, value: Value, dim: int) -> Value:
        shape = self._builder.node("Shape", value.name)
        return Value(self._builder.node("Gather", shape, self._builder.number(dim, "int64")), "int64", ())

    def _call(self, node: Node) -> Any:
        op: Op = node.target.op
        bound = _bound(op, node)
        out = node.kwargs.get("out")
        mode = INPLACE if node.target.mode == INPLACE or op.is_inplace else OUT if out is not None else NEW
        if mode == NEW:
            views = self._aliased(op, bound, node)
            if views is not None:
                return views
            made = self._computed(op, bound, _results(node))
            stored = [Stored(Cell(each)) for each in made] if isinstance(made, list) else Stored(Cell(made))
            if op.name in ROWS and _is_view(op) and isinstance(stored, Stored):
                self._made[bound[op.names[op.target]]].cell.has_copy = stored.cell.has_copy = self._is_sized(op, bound)
            return stored
        target: Any = bound[op.names[op.target]] if mode == INPLACE else out
        stored = self._made[target]
        before = stored.value
        sizes = before.sizes
        value = self._written(op, bound, before)
        if value.sizes != sizes:
            value = Value(
                self._builder.node("Expand", value.name, self._builder.integers(before.shape)), value.dtype, sizes
            )
        stored.write(self._builder, self._builder.cast(value, before.dtype))
        return stored

    def _written(self, op: Op, bound: Mapping[str, Any], before: Value) -> Value:
        """The elements that a write puts into a tensor."""
        if op.name in ("copy_", "fill_", "zero_"):
            source = self._argument(bound.get("other", bound.get("value", 0)))
            if not isinstance(source, Value):
                source = Value(self._builder.number(source, before.dtype), before.dtype, ())
            return source
        if op.is_inplace and op.name not in ROWS:
            raise NotMapped("it draws random numbers" if op.family == "random" else "this write is not mapped")
        made = self._computed(op, bound, [Result(before.dtype, before.sizes)])
        assert isinstance(made, Value)
        return made

    def _computed(self, op: Op, bound: Mapping[str, Any], results: Sequence[Result]) -> Any:
        """The result of a call, or the list of its results."""
        arguments = {name: self._argument(value) for name, value in bound.items()}
        call = Call(self._builder, op, arguments, results)
        has_tensors = any(isinstance(each, Value) for each in _leaves([*arguments.values()]))
        if op.family in ("factory", "composite") and not has_tensors:
            return self._constant(op, arguments)
        row = ROWS.get(op.name)
        if row is None and op.family == "elementwise":
            row = _rows.elements.by_expression
        if row is None:
            raise NotMapped("there is nothing like it")
        made = row(self._builder, call)
        if isinstance(made, (list, tuple)):
            return [Value(name, *result) for name, result in zip(made, results, strict=True)]
        return Value(made, *results[0])

    def _constant(self, op: Op, arguments: Mapping[str, Any]) -> Value:
        """The tensor that a call without tensors gives."""
        if op.random or op.family not in ("factory", "composite"):
            raise NotMapped(
                "it draws random numbers" if op.random or op.family == "random" else "there is nothing like it"
            )
        made: Any = dispatch(op, tuple(arguments[name] for name in op.names), None, NEW)
        return Value(self._builder.tensor(made), made.dtype.name, tuple(made.shape))

    def _is_sized(self, op: Op, bound: Mapping[str, Any]) -> bool:
        """True if a call has arguments that are computed of sizes."""
        source = bound[op.names[op.target]]
        return any(isinstance(each, Node) and each is not source for each in _leaves(bound.values()))

    def _aliased(self, op: Op, bound: Mapping[str, Any], node: Node) -> Any:
        """The view that a call gives, or the list of them; None: its results have memory of their own."""
        if op.name not in ROWS or not _is_view(op) or self._is_sized(op, bound):
            return None
        source: Node = bound[op.names[op.target]]
        results = _results(node)

        def views_of(tensor: Any) -> Any:
            arguments = tuple(tensor if each is source else each for each in (bound[name] for name in op.names))
            return dispatch(op, arguments, None, NEW)

        def views_in_model(value: Value) -> Any:
            arguments = {name: value if each is source else each for name, each in bound.items()}
            return ROWS[op.name](self._builder, Call(self._builder, op, arguments, results))

        def view(place: int | None) -> Stored:
            def in_model(value: Value) -> Value:
                made = views_in_model(value)
                return Value(made if place is None else made[place], *results[place or 0])

            def of_positions(tensor: Any) -> Any:
                made = views_of(tensor)
                return made if place is None else made[place]

            stored: Stored = self._made[source]
            return stored.view(in_model, of_positions)

        like = source.meta["val"]
        memory = empty_strided(like.shape, like.stride(), dtype=like.dtype, device="meta")
        views = views_of(memory)
        first = views[0] if isinstance(views, (tuple, list)) else views
        if lib.storage_of(first._h) != lib.storage_of(memory._h):
            return None
        return [view(place) for place in range(len(views))] if isinstance(views, (tuple, list)) else view(None)


def _is_view(op: Op) -> bool:
    return op.view or op.family == "view"


def _leaves(values: Any) -> Iterator[Any]:
    for each in values:
        if isinstance(each, (list, tuple)) and not isinstance(each, Value):
            yield from _leaves(each)
        else:
            yield each


def _bound(op: Op, node: Node) -> dict[str, Any]:
    """The arguments of a call by name, with defaults."""
    given = dict(zip(op.names, node.args, strict=False)) | {k: v for k, v in node.kwargs.items() if k != "out"}
    return {name: given.get(name, default) for name, default in zip(op.names, op.defaults, strict=True)}


def _results(node: Node) -> list[Result]:
    """The dtypes and sizes of the results of a node."""
    values = node.meta["val"] if isinstance(node.meta["val"], tuple) else (node.meta["val"],)
    sizes = node.meta.get("sizes") or [each.shape for each in values]
    return [Result(each.dtype.name, tuple(of)) for each, of in zip(values, sizes, strict=True)]


def _described(helper: Any, value: Value) -> Any:
    sizes = [each if isinstance(each, int) else str(each) for each in value.sizes]
    return helper.make_tensor_value_info(value.name, NUMBERS[value.dtype], sizes)
