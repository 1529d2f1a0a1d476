"""A graph that was traced, as a function that is called as the program was."""

from __future__ import annotations

from typing import Any

from .._base.tensor_class import Tensor
from .._base.type_names import type_name
from ..fx.graph import Graph
from ..fx.graph_module import _compiled

__all__ = ["TracedMethod"]


class TracedMethod:
    """A graph and the names of its arguments. Copies and pickles have the graph, and compile it again.

    Args:
        name (str): what errors call it.
        graph (Graph): the graph.
        tensors (dict): the names of arguments in their order, and whether each is a tensor.
        on_module (bool): whether the module is the first argument in the declaration.
    """

    def __init__(self, name: str, graph: Graph, tensors: dict[str, bool], on_module: bool) -> None:
        self.name, self.graph, self._tensors, self._on_module = name, graph, tensors, on_module
        self._function: Any = None

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_function": None}

    @property
    def code(self) -> str:
        """The text of the function."""
        return f"{self.graph.python_code('self').src.strip()}\n"

    def __call__(self, module: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Return the results of the graph; attributes that it names are those of the module."""
        if self._function is None:
            self._function = _compiled(self.graph.python_code("self"))
        return self._function(module, *self._bound(args, kwargs))

    def _bound(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[Any]:
        extra = int(self._on_module)
        if len(args) + len(kwargs) > len(self._tensors):
            raise RuntimeError(
                f"{self.name}() expected at most {len(self._tensors) + extra} argument(s) but received "
                f"{len(args) + len(kwargs) + extra} argument(s). Declaration: {self._declaration()}"
            )
        values = list(args)
        for name in list(self._tensors)[len(args) :]:
            if name not in kwargs:
                raise RuntimeError(
                    f"{self.name}() is missing value for argument '{name}'. Declaration: {self._declaration()}"
                )
            values.append(kwargs[name])
        for place, (value, (name, is_tensor)) in enumerate(zip(values, self._tensors.items(), strict=True)):
            if is_tensor and not isinstance(value, Tensor):
                raise RuntimeError(
                    f"{self.name}() Expected a value of type 'Tensor' for argument '{name}' but instead found type "
                    f"'{type_name(value)}'.\nPosition: {place + extra}\nValue: {value}\n"
                    f"Declaration: {self._declaration()}"
                )
        return values

    def _declaration(self) -> str:
        names = [f"Tensor {name}" if is_tensor else name for name, is_tensor in self._tensors.items()]
        return f"{self.name}({', '.join(['self'] * self._on_module + names)})"
