"""The Python function that does what a graph says: its text, and what the names in it stand for."""

from __future__ import annotations

import builtins
import enum
import operator
import sys
from collections.abc import Callable
from dataclasses import dataclass
from math import inf, nan
from typing import TYPE_CHECKING, Any

from .._base.devices import device
from .._base.dtypes import dtype
from .._base.types import Size, layout, memory_format
from ._names import Names, qualified_name, resolved, root_name
from .node import Node

if TYPE_CHECKING:
    from .graph import Graph

__all__ = ["CodeGen", "PythonCode", "last_uses"]

_SIGNS: dict[Callable[..., Any], str] = {
    operator.add: "{} + {}",
    operator.sub: "{} - {}",
    operator.mul: "{} * {}",
    operator.truediv: "{} / {}",
    operator.floordiv: "{} // {}",
    operator.mod: "{} % {}",
    operator.pow: "{} ** {}",
    operator.matmul: "{} @ {}",
    operator.lshift: "{} << {}",
    operator.rshift: "{} >> {}",
    operator.and_: "{} & {}",
    operator.or_: "{} | {}",
    operator.xor: "{} ^ {}",
    operator.eq: "{} == {}",
    operator.ne: "{} != {}",
    operator.lt: "{} < {}",
    operator.gt: "{} > {}",
    operator.le: "{} <= {}",
    operator.ge: "{} >= {}",
    operator.getitem: "{}[{}]",
    operator.neg: "-{}",
    operator.pos: "+{}",
    operator.invert: "~{}",
}
_LITERALS = (str, int, complex, bytes, type(None), type(...), range)


@dataclass(frozen=True)
class PythonCode:
    """The text of a function, and the values of the names in it that are not its own."""

    src: str
    globals: dict[str, Any]


class CodeGen:
    """Writes the function of a graph; a derived class given to `Graph.set_codegen` may write another one."""

    def gen_fn_def(self, free_vars: list[str], maybe_return_annotation: str) -> str:
        """Return the line with `def`.

        Args:
            free_vars (list): the parameters with annotations and defaults.
            maybe_return_annotation (str): the annotation of the result, or nothing.
        """
        if not free_vars or free_vars[0].split(":")[0].split("=")[0].strip() != "self":
            free_vars = ["self", *free_vars]
        return f"def forward({', '.join(free_vars)}){maybe_return_annotation}:"

    def generate_output(self, output_args: Any) -> str:
        """Return the line that returns the result.

        Args:
            output_args: the text of it.
        """
        return f"return {output_args}"

    def process_inputs(self, *args: Any) -> Any:
        """Return the values of the inputs, from the arguments of the function."""
        return args

    def process_outputs(self, outputs: Any) -> Any:
        """Return what the function returns, from the values of the result."""
        return outputs

    def additional_globals(self) -> list[tuple[str, Any]]:
        """Return names that the lines of a derived class use, with their values."""
        return []

    def python_code(self, graph: Graph, root_module: str) -> PythonCode:
        """Return the function of a graph.

        Args:
            graph (Graph): the graph.
            root_module (str): what the module is called in which attributes are looked up, `self`.
        """
        return _Writer(self, graph, root_module).code()


class _Writer:
    """The state of writing the code of a graph's function."""

    def __init__(self, codegen: CodeGen, graph: Graph, root_module: str) -> None:
        self.codegen = codegen
        self.graph = graph
        self.root = root_module
        self.names = Names()
        for node in graph.nodes:  # which other names are not to hide
            self.names.create_name(node.name)
        self.hidden = {node.target.lstrip("*") for node in graph.nodes if node.op == "placeholder"}
        package = sys.modules[__name__.partition(".")[0]]
        self.globals: dict[str, Any] = {
            "inf": inf,
            "nan": nan,
            "NoneType": type(None),
            "device": device,
            package.__name__: package,
            root_name(): package,
        }
        for name, value in codegen.additional_globals():
            self.globals.setdefault(name, value)
        self.parameters: list[str] = []
        self.result = ""

    def code(self) -> PythonCode:
        last_used = last_uses(self.graph)
        lines = []
        for node in self.graph.nodes:
            line = self._line(node)
            dead = [each.name for each in last_used.get(node, ())]
            if node.op not in ("placeholder", "output"):
                if not node.users:
                    dead.append(node.name)
                if dead:
                    line += f";  {' = '.join([*dead, 'None'])}"
            if line:
                lines.append(line)
        head = self.codegen.gen_fn_def(self.parameters, self.result)
        if self.graph._transform_code is not None:
            lines = self.graph._transform_code([f"{each}\n" for each in lines])
        body = "".join(f"    {line}\n" for text in lines or ["pass"] for line in text.splitlines())
        source = f"\n\n\n{head}\n{body}    "
        return PythonCode(source, self.globals)

    # ---- lines ----

    def _line(self, node: Node) -> str:
        if node.op == "placeholder":
            return self._parameter(node)
        if node.op == "output":
            if node.type is not None:
                self.result = f" -> {self._annotation(node.type)}"
            return self.codegen.generate_output(self.text(node.args[0]))
        kind = "" if node.type is None else f" : {self._annotation(node.type)}"
        return f"{node.name}{kind} = {self._value(node)}"

    def _parameter(self, node: Node) -> str:
        kind = "" if node.type is None else f" : {self._annotation(node.type)}"
        default = f" = {self.text(node.args[0])}" if node.args else ""
        self.parameters.append(f"{node.target}{kind}{default}")
        plain = node.target.lstrip("*")
        return "" if plain == node.name else f"{node.name} = {plain}"

    def _value(self, node: Node) -> str:
        arguments = [self.text(each) for each in node.args]
        if node.op == "get_attr":
            return self._path(node.target)
        if node.op == "call_module":
            return self._call(self._path(node.target), node)
        if node.op == "call_method":
            return self._call(f"{self._operand(node.args[0])}.{node.target}", node, 1)
        sign = _SIGNS.get(node.target)
        if sign is not None and not node.kwargs and len(arguments) == sign.count("{}"):
            if node.target is operator.getitem:
                return f"{self._operand(node.args[0])}[{arguments[1]}]"
            if node.target is operator.pow and arguments[0].startswith("-"):
                arguments[0] = f"({arguments[0]})"
            return sign.format(*arguments)
        if node.target is getattr and len(node.args) == 2 and str(node.args[1]).isidentifier():
            return f"{self._operand(node.args[0])}.{node.args[1]}"
        return self._call(self.name_of(node.target), node)

    def _call(self, function: str, node: Node, first: int = 0) -> str:
        positional = [self.text(each) for each in node.args[first:]]
        if all(name.isidentifier() for name in node.kwargs):
            named = [f"{name} = {self.text(value)}" for name, value in node.kwargs.items()]
        else:
            named = [f"**{self.text(dict(node.kwargs))}"]
        return f"{function}({', '.join([*positional, *named])})"

    def _path(self, target: str) -> str:
        """An attribute: `self.layer.weight`, where a part is no name it is `getattr(self.layer, "0").weight`."""
        text = self.root
        for each in target.split("."):
            text = f"{text}.{each}" if each.isidentifier() else f'getattr({text}, "{each}")'
        return text

    def _operand(self, value: Any) -> str:
        text = self.text(value)
        return text if isinstance(value, Node) else f"({text})"

    # ---- values ----

    def text(self, value: Any) -> str:
        """An argument as it is written in the code."""
        if isinstance(value, Node):
            return value.name
        if isinstance(value, enum.Enum):
            return f"{self.name_of(type(value))}.{value.name}"
        if isinstance(value, Size):
            return f"{root_name()}.Size({list(value)})"
        if isinstance(value, tuple):
            parts = [self.text(each) for each in value]
            if hasattr(value, "_fields"):
                return f"{self.name_of(type(value))}({', '.join(parts)})"
            return f"({parts[0]},)" if len(parts) == 1 else f"({', '.join(parts)})"
        if isinstance(value, list):
            return f"[{', '.join(map(self.text, value))}]"
        if isinstance(value, dict):
            return f"{{{', '.join(f'{self.text(key)}: {self.text(each)}' for key, each in value.items())}}}"
        if isinstance(value, slice):
            return f"slice({self.text(value.start)}, {self.text(value.stop)}, {self.text(value.step)})"
        if isinstance(value, device):
            return repr(value)
        if isinstance(value, (dtype, memory_format, layout)):
            return f"{root_name()}.{str(value).rpartition('.')[2]}"
        if isinstance(value, (float, *_LITERALS)):
            return repr(value)
        return self.name_of(value)

    def name_of(self, value: Any) -> str:
        """A name for a function, a class or another object: a builtin's own, the public one of the package's, or one
        that is made a global of the code."""
        qualified = qualified_name(value)
        if resolved(qualified) is value:
            first, _, rest = qualified.partition(".")
            if first in self.globals:
                return qualified
            if first == "builtins":
                return self._global(rest, value)
        return self._global(qualified, value)

    def _global(self, hint: str, value: Any) -> str:
        for name, known in self.globals.items():
            if known is value:
                return name
        if getattr(builtins, hint, None) is value and hint not in self.hidden:
            name = hint
        else:
            name = self.names.create_name(hint.replace(".", "_"), value)
        self.globals[name] = value
        return name

    def _annotation(self, kind: Any) -> str:
        if isinstance(kind, str):  # of a module with postponed annotations
            return repr(kind)
        if kind is None or kind is type(None):
            return "None"
        if kind is Ellipsis:
            return "..."
        return self.name_of(kind)


def last_uses(graph: Graph) -> dict[Node, list[Node]]:
    """Return for each node those whose values no later node takes: their memory is released there."""
    seen: set[Node] = set()
    found: dict[Node, list[Node]] = {}
    for node in reversed(graph.nodes):
        for each in node.all_input_nodes:
            if each not in seen:
                seen.add(each)
                found.setdefault(node, []).append(each)
    return found
