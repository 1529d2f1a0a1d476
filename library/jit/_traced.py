"""Modules that were traced: they have the parameters and modules of the original, and the graphs of its methods."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .._names.refusals import refused_function
from ..nn import Module
from ._script import SAVED, ScriptMethod, ScriptModule

if TYPE_CHECKING:
    from ..fx.graph import Graph
    from ._method import TracedMethod

__all__ = ["TopLevelTracedModule", "TracedModule"]


class TracedModule(ScriptModule):
    """A module in one that was traced: parameters, buffers and modules, which it shares with the original.

    Args:
        orig (Module): the original.
        known (dict): by original, the modules that were made.
    """

    __module__ = "opweave.jit._trace"

    def __init__(self, orig: Module, known: dict[Module, TracedModule] | None = None) -> None:
        super().__init__()
        known = {} if known is None else known
        known[orig] = self
        self.training = orig.training
        self.original_name = getattr(orig, "original_name", orig._get_name())
        for name, parameter in orig._parameters.items():
            self.register_parameter(name, parameter)
        for name, buffer in orig._buffers.items():
            self.register_buffer(name, buffer)  # as in torch, all of them are part of the state
        for name, module in orig._modules.items():
            if module is not None:
                self.add_module(name, known[module] if module in known else TracedModule(module, known))

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """Raise RuntimeError: what it does is part of the graph of the whole."""
        raise RuntimeError("Trace submodules cannot be called.")

    def _get_name(self) -> str:
        return str(self.original_name)

    def extra_repr(self) -> str:
        """Return the name of the class of the original."""
        return f"original_name={self.original_name}"


class TopLevelTracedModule(TracedModule):
    """The module that `trace` returns: each traced method runs the operators that the example ran.

    Args:
        orig (Module): the original.
    """

    __module__ = "opweave.jit._trace"

    def __init__(self, orig: Module) -> None:
        super().__init__(orig)
        self._methods: dict[str, TracedMethod] = {}

    def _add_method(self, name: str, method: TracedMethod, constants: dict[str, Any]) -> None:
        """Add a method that runs a graph. Constants are attributes, and are not in the state of the module."""
        self._methods[name] = method
        self.__dict__.update(constants)

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """Return what the operators return.

        Raises:
            RuntimeError: the arguments are not those of the example: too many, too few, or not tensors.
        """
        return self._methods["forward"](self, args, kwargs)

    def __getattr__(self, name: str) -> Any:
        methods = self.__dict__.get("_methods", {})
        return ScriptMethod(methods[name], self) if name in methods else super().__getattr__(name)

    @property
    def graph(self) -> Graph:
        """The graph of `forward`, as `opweave.fx` has it."""
        return self._methods["forward"].graph

    inlined_graph = graph

    @property
    def code(self) -> str:
        """The graph of `forward` as Python."""
        return self._methods["forward"].code

    save: Any = staticmethod(refused_function("opweave.jit", "ScriptModule.save", SAVED))
